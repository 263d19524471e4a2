//! [`Unshown`]: why a change of permissions may not go with an answer (pure). An answer grants what was shown with its
//! question, and for this session alone the very call that was asked about; nothing else.

use thiserror::Error;
use towline_protocol::{Behavior, Destination, PermissionUpdate, RuleValue, UpdateKind, Wire as _};

use crate::{
    Ask, Question,
    hub::{Verdict, suggestions},
};

/// A change that was not shown with the question, and allows more than the call.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{change}` was not suggested with this question and is more than its call for this session: leave it out, take a \
     suggestion, or start the bridge with --allow-any-rule"
)]
pub struct Unshown {
    /// The change in words.
    change: String,
}

impl Unshown {
    /// Looks at all that changes with an answer.
    pub(super) fn check(question: &Question, verdict: &Verdict) -> Result<(), Self> {
        let suggested: Vec<Part> = suggestions(question).iter().flat_map(parts).collect();
        for part in verdict.updates().iter().flat_map(parts) {
            let was_shown = suggested.iter().any(|shown| part.is_within(shown));
            if !was_shown && !part.is_no_more_than(question) {
                return Err(Self {
                    change: part.to_string(),
                });
            }
        }
        Ok(())
    }
}

/// One thing that an update changes, and where that is kept.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    kind: Option<UpdateKind>,
    what: What,
    destination: Option<Destination>,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Rule(Behavior, String, Option<String>),
    Directory(String),
    Mode(String),
    /// A whole update without parts, such as an update of an unknown kind.
    Whole(String),
}

/// All that updates change, in words: for the audit.
pub(super) fn changes(updates: &[PermissionUpdate]) -> Vec<String> {
    let parts = updates.iter().flat_map(parts);
    parts.map(|part| part.to_string()).collect()
}

fn parts(update: &PermissionUpdate) -> Vec<Part> {
    let rule = |rule: &RuleValue| {
        let behavior = update.behavior.clone().unwrap_or(Behavior::Allow);
        let content = rule.rule_content.as_deref().map(ToString::to_string);
        What::Rule(behavior, rule.tool_name.to_string(), content)
    };
    let rules = update.rules.iter().flatten().map(rule);
    let directories = update.directories.iter().flatten();
    let directories = directories.map(|directory| What::Directory(directory.to_string()));
    let mode = update.mode.iter().map(|mode| What::Mode(mode.to_string()));
    let mut all: Vec<What> = rules.chain(directories).chain(mode).collect();
    if all.is_empty() {
        all.push(What::Whole(update.to_json().to_string()));
    }
    all.into_iter()
        .map(|what| Part {
            kind: update.kind.clone(),
            what,
            destination: update.destination.clone(),
        })
        .collect()
}

impl Part {
    /// Whether it is what was shown, there or for this session alone.
    fn is_within(&self, shown: &Self) -> bool {
        let is_there =
            self.destination == shown.destination || self.destination == Some(Destination::Session);
        self.kind == shown.kind && self.what == shown.what && is_there
    }

    /// Whether it lets nothing run that was not asked about, and ends with the session.
    fn is_no_more_than(&self, question: &Question) -> bool {
        if self.destination != Some(Destination::Session) {
            return false;
        }
        match (&self.kind, &self.what) {
            // The page offers the modes with a plan, whatever the agent suggests.
            (Some(UpdateKind::SetMode), What::Mode(_)) => question.ask == Ask::Plan,
            (Some(UpdateKind::AddRules), What::Rule(Behavior::Deny | Behavior::Ask, ..)) => true,
            (Some(UpdateKind::AddRules), What::Rule(Behavior::Allow, tool, Some(content))) => {
                question.ask == Ask::Permission
                    && tool == question.tool_name.as_str()
                    && is_very_call(question, content)
            }
            _ => false,
        }
    }
}

/// Whether the content of a rule is the call itself and nothing besides: no pattern, and no folder.
fn is_very_call(question: &Question, content: &str) -> bool {
    let input: serde_json::Value = serde_json::from_str(question.input.get()).unwrap_or_default();
    let text = |key: &str| input.get(key).and_then(serde_json::Value::as_str);
    match question.tool_name.as_str() {
        "Bash" => {
            // `x:*` and `*` anywhere make a pattern of it.
            text("command") == Some(content) && !content.contains('*') && !content.trim().is_empty()
        }
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            let path = text("file_path").or_else(|| text("notebook_path"));
            let is_pattern = content.contains(['*', '?', '[', '!', '\\']) || content.ends_with('/');
            // A whole path has one more slash in a rule.
            let is_path = path.is_some_and(|path| {
                path.starts_with('/') && content.strip_prefix('/') == Some(path)
            });
            is_path && !is_pattern
        }
        _ => false,
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.as_ref().map_or("", UpdateKind::as_str);
        match &self.what {
            What::Rule(behavior, tool, content) => {
                write!(f, "{kind} {behavior} {tool}")?;
                if let Some(content) = content {
                    write!(f, "({content})")?;
                }
            }
            What::Directory(what) | What::Mode(what) => write!(f, "{kind} {what}")?,
            What::Whole(update) => f.write_str(update)?,
        }
        match &self.destination {
            Some(destination) => write!(f, " in {destination}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
