//! [`Policy`]: everything that a decision depends on besides the call itself.

use towline_protocol::{Behavior, Destination, PermissionMode};

use crate::rule::{Entry, Rule};

/// The rules, the mode and the places of a session.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much may be done without asking.
    pub mode: PermissionMode,
    /// Where things are.
    pub places: Places,
    /// Whether `bypassPermissions` may be chosen while the session runs.
    pub may_bypass: bool,
    entries: Vec<Entry>,
    directories: Vec<Directory>,
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
    /// A policy without any rule.
    pub fn new(mode: PermissionMode, places: Places) -> Self {
        Self {
            mode,
            places,
            may_bypass: false,
            entries: Vec::new(),
            directories: Vec::new(),
        }
    }

    /// Adds a rule, unless it is there.
    pub fn add(&mut self, rule: Rule, behavior: Behavior, source: Destination) {
        let entry = Entry {
            rule,
            behavior,
            source,
        };
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }

    /// Keeps the rules that `stays` says yes to.
    pub fn retain(&mut self, stays: impl FnMut(&Entry) -> bool) {
        self.entries.retain(stays);
    }

    /// All rules, in the order they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The rules that say one thing.
    pub(crate) fn rules(&self, behavior: &Behavior) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.behavior == *behavior)
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
}
