//! The tools that look at files and change them.

use towline_protocol::{Behavior, Destination, PermissionMode, PermissionUpdate};

use super::{suggest_at, wide};
use crate::{
    call::{Call, Facts},
    decision::{Decision, Reason},
    path::{self, Access, PathVerdict},
    policy::Policy,
    rule::{Entry, Rule},
};

/// What a tool does to the file or directory that a call names; nothing if it is no such tool.
pub(crate) fn access(tool: &str) -> Option<Access> {
    match tool {
        "Read" | "NotebookRead" | "Glob" | "Grep" | "LS" => Some(Access::Read),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => Some(Access::Write),
        _ => None,
    }
}

/// The path that a call names, absolute. A tool that searches has the current directory if it names none.
pub(crate) fn target(policy: &Policy, call: &Call<'_>) -> Option<String> {
    let places = &policy.places;
    let absolute = |path: &str| path::absolute(path, &places.current, &places.home);
    match call.tool {
        "Glob" => {
            let base = absolute(call.text("path").unwrap_or("."));
            let start = call
                .text("pattern")
                .map_or("", |pattern| glob_start(pattern).unwrap_or("/"));
            Some(path::absolute(start, &base, &places.home))
        }
        "Grep" | "LS" => Some(absolute(call.text("path").unwrap_or("."))),
        "NotebookEdit" | "NotebookRead" => call.text("notebook_path").map(absolute),
        _ => call.text("file_path").map(absolute),
    }
}

/// The directories of a glob in front of the first name that is special, as they are written: where a search begins, below
/// the directory that it is given. Nothing for a glob that may lead anywhere behind them.
///
/// ```
/// use towline_permission::glob_start;
///
/// assert_eq!(glob_start("src/*/mod.rs"), Some("src"));
/// assert_eq!(glob_start("*.rs"), Some(""));
/// assert_eq!(glob_start("src/lib.rs"), Some("src/lib.rs"));
/// // A single name is found at any depth.
/// assert_eq!(glob_start("lib.rs"), Some(""));
/// assert_eq!(glob_start("src/{a,../../etc}/*"), None);
/// ```
pub fn glob_start(pattern: &str) -> Option<&str> {
    let special = pattern.find(['*', '?', '[', '{']);
    let behind = &pattern[special.unwrap_or(pattern.len())..];
    let climbs = behind.split(['/', '{', '}', ',']).any(|name| name == "..");
    if climbs
        || ["{/", ",/", "[/", "{~", ",~"]
            .iter()
            .any(|jump| behind.contains(jump))
    {
        return None;
    }
    let plain = &pattern[..special.unwrap_or(pattern.len())];
    Some(match (special, plain.rfind('/')) {
        (None, None) if matches!(plain, "." | ".." | "~") => plain,
        (_, None) => "",
        (None, Some(_)) => plain,
        (Some(_), Some(0)) => "/",
        (Some(_), Some(end)) => &plain[..end],
    })
}

/// Decides about a call that names a path.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts, access: Access) -> Decision {
    if let Some(entry) = wide(policy, &Behavior::Deny, call.tool) {
        return Decision::deny(Reason::Rule(entry.clone()));
    }
    let Some(path) = target(policy, call) else {
        let reason = format!("the call of {} names no path", call.tool);
        return Decision::ask(Reason::Other(reason));
    };
    let verdict = path::check_for_tool(policy, facts, access, &path);
    if let PathVerdict::Denied(entry) = verdict {
        return Decision::deny(Reason::Rule(entry.clone()));
    }
    // What must not be read must not be written by a tool that shows what was there.
    if access == Access::Write
        && let Some(entry) = path::denied(policy, facts, Access::Read, &path)
            .or_else(|| wide(policy, &Behavior::Deny, "Read"))
    {
        return Decision::deny(Reason::Rule(entry.clone()));
    }
    if let Some(entry) = wide(policy, &Behavior::Ask, call.tool) {
        return Decision::ask(Reason::Rule(entry.clone()));
    }
    if let PathVerdict::Asked(entry) = verdict {
        return Decision::ask(Reason::Rule(entry.clone()));
    }
    if policy.mode == PermissionMode::BypassPermissions {
        return Decision::allow(Reason::Mode(policy.mode.clone()));
    }
    let file = File {
        policy,
        facts,
        tool: call.tool,
        path: &path,
    };
    match access {
        Access::Read => file.decide_read(verdict),
        Access::Write => file.decide_write(&verdict),
    }
}

/// A file that no rule denies or asks about.
struct File<'a> {
    policy: &'a Policy,
    facts: &'a Facts,
    tool: &'a str,
    path: &'a str,
}

impl File<'_> {
    fn decide_read(&self, verdict: PathVerdict<'_>) -> Decision {
        if path::has_other_name(self.path) {
            let reason = format!("{} may be another file on some systems", self.path);
            return Decision::ask(Reason::Safety(reason)).suggest(Vec::new());
        }
        let target = match verdict {
            PathVerdict::Allowed(entry) => return Decision::allow(Reason::Rule(entry.clone())),
            PathVerdict::Inside => return Decision::allow(Reason::Harmless),
            PathVerdict::Outside { target } => target,
            _ => None,
        };
        if let Some(entry) = self.allowed_everywhere() {
            return Decision::allow(Reason::Rule(entry.clone()));
        }
        // Looking does not need the classifier that this mode is about.
        if self.policy.mode == PermissionMode::Auto {
            return Decision::allow(Reason::Mode(PermissionMode::Auto));
        }
        let reason = Reason::WorkingDirectory(self.why_outside(target.as_deref()));
        let directories = self.both_ends(self.directory()).into_iter();
        let suggestions = directories
            .filter(|directory| *directory != "/")
            .map(|directory| {
                let rule = Rule::with_content("Read", format!("/{directory}/**"));
                suggest_at(&rule, Destination::Session)
            })
            .collect();
        self.blocked(Decision::ask(reason).suggest(suggestions), target)
    }

    fn decide_write(&self, verdict: &PathVerdict<'_>) -> Decision {
        let target = match verdict {
            PathVerdict::Protected => {
                let reason = format!("{} decides what runs or what is allowed", self.path);
                return Decision::ask(Reason::Safety(reason)).suggest(self.suggest_write());
            }
            PathVerdict::Outside { target } => target.clone(),
            _ => None,
        };
        // A link that leads out of the project: who allowed the tool did not see that place.
        if target.is_some() {
            let reason = Reason::Safety(self.why_outside(target.as_deref()));
            return self.blocked(Decision::ask(reason).suggest(self.suggest_write()), target);
        }
        if self.policy.mode == PermissionMode::Plan {
            return Decision::ask(Reason::Mode(PermissionMode::Plan));
        }
        let is_inside = *verdict == PathVerdict::Inside;
        match verdict {
            PathVerdict::Allowed(entry) => {
                return Decision::allow(Reason::Rule((*entry).clone()));
            }
            PathVerdict::Inside if self.edits_are_accepted() => {
                return Decision::allow(Reason::Mode(self.policy.mode.clone()));
            }
            _ => {}
        }
        let rule = if is_inside {
            wide(self.policy, &Behavior::Allow, self.tool)
        } else {
            self.allowed_everywhere()
        };
        if let Some(entry) = rule {
            return Decision::allow(Reason::Rule(entry.clone()));
        }
        let reason = if is_inside {
            Reason::Unknown
        } else {
            Reason::WorkingDirectory(self.why_outside(None))
        };
        Decision::ask(reason).suggest(self.suggest_write())
    }

    fn edits_are_accepted(&self) -> bool {
        matches!(
            self.policy.mode,
            PermissionMode::AcceptEdits | PermissionMode::Auto
        )
    }

    /// The rule that allows the tool without brackets: with `(*)` it would stay inside of the working directories.
    fn allowed_everywhere(&self) -> Option<&Entry> {
        let mut rules = self.policy.rules(&Behavior::Allow);
        rules.find(|entry| entry.rule.tool() == self.tool && entry.rule.content().is_none())
    }

    fn suggest_write(&self) -> Vec<PermissionUpdate> {
        if let Some(rule) = self.skill() {
            return vec![suggest_at(&rule, Destination::Session)];
        }
        let mut updates = Vec::new();
        if self.policy.mode != PermissionMode::AcceptEdits {
            updates.push(PermissionUpdate::set_mode(
                PermissionMode::AcceptEdits,
                Destination::Session,
            ));
        }
        let directories = self.both_ends(path::parent(self.path));
        if directories
            .iter()
            .any(|end| !path::is_inside(self.policy, end))
        {
            let directories = directories.into_iter().map(Into::into).collect();
            updates.push(PermissionUpdate::add_directories(
                directories,
                Destination::Session,
            ));
        }
        updates
    }

    /// The rule for everything in the skill that the path belongs to.
    fn skill(&self) -> Option<Rule> {
        let places = &self.policy.places;
        [(&*places.project, ""), (&*places.home, "~")]
            .into_iter()
            .find_map(|(base, written)| {
                let inner = path::below(self.path, base)?.strip_prefix(SKILLS)?;
                let (name, _) = inner.split_once('/')?;
                let content = format!("{written}/{SKILLS}{name}/**");
                Some(Rule::with_content("Edit", content))
            })
    }

    /// The directory to suggest: the path itself if it is one.
    fn directory(&self) -> &str {
        if self.facts.directories.contains(self.path) {
            self.path
        } else {
            path::parent(self.path)
        }
    }

    /// A directory, and where it leads.
    fn both_ends<'d>(&'d self, directory: &'d str) -> Vec<&'d str> {
        let target = self.facts.links.get(directory).map(String::as_str);
        std::iter::once(directory).chain(target).collect()
    }

    fn why_outside(&self, target: Option<&str>) -> String {
        match target {
            None => "Path is outside allowed working directories".to_owned(),
            Some(target) => format!(
                "{} leads to {target}, which is outside of the working directories",
                self.path
            ),
        }
    }

    fn blocked(&self, decision: Decision, target: Option<String>) -> Decision {
        match target {
            Some(target) => decision.blocked_by(target),
            None => decision,
        }
    }
}

const SKILLS: &str = ".claude/skills/";
