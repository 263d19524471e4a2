//! [`Policy`]: everything that a decision depends on besides the call itself.

use std::collections::HashSet;

use towline_protocol::{Behavior, Destination, PermissionMode};

use crate::{
    path::Pattern,
    rule::{Entry, Rule},
};

/// The rules, the mode and the places of a session.
///
/// ```
/// use towline_permission::{Behavior, Destination, PermissionMode, Places, Policy};
///
/// let mut policy = Policy::new(PermissionMode::Default, Places::default());
/// policy.add("Read(vault)".parse()?, Behavior::Deny, Destination::Session);
/// policy.add("Read(vault)".parse()?, Behavior::Deny, Destination::Session);
/// assert_eq!(policy.entries().len(), 1);
/// policy.retain(|entry| entry.source != Destination::Session);
/// assert_eq!(policy.entries().len(), 0);
/// # Ok::<(), towline_permission::RuleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much may be done without asking.
    pub mode: PermissionMode,
    /// Where things are.
    pub places: Places,
    /// Whether `bypassPermissions` may be chosen while the session runs.
    pub may_bypass: bool,
    /// Whether there is somebody to ask. If not, what would be asked is denied.
    pub can_ask: bool,
    /// Whether nobody's rules but the organisation's may allow something.
    pub only_managed_rules: bool,
    entries: Vec<Entry>,
    known: HashSet<Entry>,
    /// The rules about paths, ready to match: where each stands in `entries`, and its pattern.
    patterns: Vec<(usize, Pattern)>,
    directories: Vec<Directory>,
    before_plan: Option<PermissionMode>,
}

/// The places that paths and rules are relative to. All are absolute, and resolved by the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The project: where the session began, and where the rules of its files are anchored.
    pub project: String,
    /// Where the shell is now.
    pub current: String,
    /// The home directory.
    pub home: String,
    /// Where the user's settings are (`~/.claude`).
    pub config: String,
    /// Where the file of `--settings` is, if there is one.
    pub flag_settings: Option<String>,
}

/// A working directory besides the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Where it is.
    pub path: String,
    /// Who added it.
    pub source: Destination,
}

impl Policy {
    /// A policy without any rule, in a session where somebody can be asked.
    pub fn new(mode: PermissionMode, places: Places) -> Self {
        Self {
            mode,
            places,
            may_bypass: false,
            can_ask: true,
            only_managed_rules: false,
            entries: Vec::new(),
            known: HashSet::new(),
            patterns: Vec::new(),
            directories: Vec::new(),
            before_plan: None,
        }
    }

    /// Adds a rule, unless it is there.
    pub fn add(&mut self, rule: Rule, behavior: Behavior, source: Destination) {
        let entry = Entry::new(rule, behavior, source);
        if self.known.insert(entry.clone()) {
            if let Some(pattern) = Pattern::of(&entry) {
                self.patterns.push((self.entries.len(), pattern));
            }
            self.entries.push(entry);
        }
    }

    /// Keeps the rules that `stays` says yes to.
    pub fn retain(&mut self, mut stays: impl FnMut(&Entry) -> bool) {
        let known = &mut self.known;
        self.entries.retain(|entry| {
            let stays = stays(entry);
            if !stays {
                known.remove(entry);
            }
            stays
        });
        let patterns = self.entries.iter().enumerate();
        self.patterns = patterns
            .filter_map(|(index, entry)| Some((index, Pattern::of(entry)?)))
            .collect();
    }

    /// All rules, in the order they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether a rule forbids the whole tool, so that it need not even be offered.
    ///
    /// ```
    /// use towline_permission::{Behavior, Destination, PermissionMode, Places, Policy};
    ///
    /// let mut policy = Policy::new(PermissionMode::Default, Places::default());
    /// policy.add("Bash(shred:*)".parse()?, Behavior::Deny, Destination::CliArg);
    /// assert!(!policy.forbids_tool("Bash"));
    /// policy.add("Bash".parse()?, Behavior::Deny, Destination::CliArg);
    /// assert!(policy.forbids_tool("Bash"));
    /// # Ok::<(), towline_permission::RuleError>(())
    /// ```
    pub fn forbids_tool(&self, tool: &str) -> bool {
        crate::tool::wide(self, &Behavior::Deny, tool).is_some()
    }

    /// Whether a rule allows the whole tool.
    pub fn allows_tool(&self, tool: &str) -> bool {
        crate::tool::wide(self, &Behavior::Allow, tool).is_some()
    }

    /// The rules that say one thing.
    pub(crate) fn rules(&self, behavior: &Behavior) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.behavior == *behavior)
    }

    /// The rules that are about paths, with what they cover.
    pub(crate) fn path_rules(&self) -> impl Iterator<Item = (&Entry, &Pattern)> {
        self.patterns
            .iter()
            .map(|(index, pattern)| (&self.entries[*index], pattern))
    }

    /// Adds a working directory, unless it is there.
    pub fn add_directory(&mut self, path: impl Into<String>, source: Destination) {
        let directory = Directory {
            path: path.into(),
            source,
        };
        if !self.directories.contains(&directory) {
            self.directories.push(directory);
        }
    }

    /// Takes a working directory away.
    pub fn remove_directory(&mut self, path: &str, source: &Destination) {
        self.directories
            .retain(|known| known.path != path || known.source != *source);
    }

    /// The working directories besides the project.
    pub fn directories(&self) -> &[Directory] {
        &self.directories
    }

    /// Changes to plan mode, and remembers what was before.
    ///
    /// ```
    /// use towline_permission::{PermissionMode, Places, Policy};
    ///
    /// let mut policy = Policy::new(PermissionMode::AcceptEdits, Places::default());
    /// policy.enter_plan();
    /// assert_eq!(policy.mode, PermissionMode::Plan);
    /// policy.leave_plan();
    /// assert_eq!(policy.mode, PermissionMode::AcceptEdits);
    /// ```
    pub fn enter_plan(&mut self) {
        if self.mode != PermissionMode::Plan {
            let before = std::mem::replace(&mut self.mode, PermissionMode::Plan);
            self.before_plan = Some(before);
        }
    }

    /// Changes back to the mode before the plan; a session that began in plan mode goes on in `default`.
    pub fn leave_plan(&mut self) {
        if self.mode == PermissionMode::Plan {
            self.mode = self.before_plan.take().unwrap_or(PermissionMode::Default);
        }
    }
}
