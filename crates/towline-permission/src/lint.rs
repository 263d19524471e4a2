//! [`lint`]: rules that are no rules, that never match, or that another rule makes pointless.
//!
//! An agent says nothing of all this: it ignores what it cannot read, and a rule that never matches looks like any
//! other. Pure: the texts of the settings files come in, findings go out.

mod never;
mod repair;
mod shadow;

use serde_json::Value;
use towline_protocol::{Behavior, Destination};

use crate::{
    policy::Places,
    rule::{Entry, Rule},
    settings::{Effect, Settings},
};

/// Something about a rule that its writer should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which of the files it is in, counted from 0.
    pub file: usize,
    /// Whose settings they are.
    pub source: Destination,
    /// The key, such as `permissions.allow[3]`; nothing if it is the whole text.
    pub key: String,
    /// The rule as it is written; nothing if it is about something else.
    pub rule: String,
    /// What is the matter.
    pub kind: FindingKind,
    /// Why, in words.
    pub why: String,
    /// What to write instead, if that can be told; several rules where one cannot say it.
    pub instead: Vec<String>,
}

/// What is the matter with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// It cannot be read, and is ignored.
    Malformed,
    /// It is about nothing that can happen.
    NeverMatches,
    /// Another rule decides wherever it would.
    Shadowed,
    /// The same rule is somewhere else.
    Duplicate,
    /// It may not mean what its writer thinks.
    Doubtful,
}

impl FindingKind {
    /// Whether the rule does nothing at all, so that the settings are wrong and not only untidy.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Malformed | Self::NeverMatches)
    }

    /// Its name, for a person and for a program.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NeverMatches => "never matches",
            Self::Shadowed => "shadowed",
            Self::Duplicate => "duplicate",
            Self::Doubtful => "doubtful",
        }
    }
}

/// Looks for what is wrong with the rules of settings files, which are given with where they come from. The findings are
/// in the order of the files and of the rules in them.
///
/// ```
/// use towline_permission::{Destination, FindingKind, Places, lint};
///
/// let user = r#"{"permissions": {"allow": ["Write(src/**)"]}}"#;
/// let project = r#"{"permissions": {"allow": ["Bash(just build)"], "deny": ["Bash(just:*)"]}}"#;
/// let findings = lint(
///     &[(Destination::UserSettings, user), (Destination::ProjectSettings, project)],
///     &Places::default(),
/// );
/// assert_eq!(findings[0].kind, FindingKind::NeverMatches);
/// assert_eq!(findings[0].instead, ["Edit(src/**)"]);
/// assert_eq!(findings[1].kind, FindingKind::Shadowed);
/// assert_eq!(findings[1].why, "`Bash(just:*)` in `permissions.deny[0]` of the same file denies all of it");
/// ```
pub fn lint(files: &[(Destination, &str)], places: &Places) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut written = Vec::new();
    for (file, (source, text)) in files.iter().enumerate() {
        read(file, source, text, &mut written, &mut findings);
    }
    for rule in &written {
        let faults = never::matches_nothing(rule).or_else(|| never::may_be_mistaken(rule));
        findings.extend(faults.map(|fault| rule.finding(fault)));
    }
    findings.extend(shadow::pointless(&written, places));
    findings.sort_by_key(|finding| (finding.file, order(&finding.key), finding.kind));
    findings
}

/// A rule with its place.
struct Written {
    file: usize,
    index: usize,
    entry: Entry,
}

/// What is the matter with a rule, why, and what to write instead.
struct Fault {
    kind: FindingKind,
    why: String,
    instead: Vec<String>,
}

impl Written {
    fn key(&self) -> String {
        format!("permissions.{}[{}]", self.entry.behavior, self.index)
    }

    fn finding(&self, fault: Fault) -> Finding {
        Finding {
            file: self.file,
            source: self.entry.source.clone(),
            key: self.key(),
            rule: self.entry.rule.to_string(),
            kind: fault.kind,
            why: fault.why,
            instead: fault.instead,
        }
    }
}

/// Reads one file: its rules, and what is no rule.
fn read(
    file: usize,
    source: &Destination,
    text: &str,
    written: &mut Vec<Written>,
    findings: &mut Vec<Finding>,
) {
    let lists = serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut told = Vec::new();
    for behavior in [Behavior::Allow, Behavior::Deny, Behavior::Ask] {
        let list = &lists["permissions"][behavior.as_str()];
        for (index, rule) in list.as_array().into_iter().flatten().enumerate() {
            let Some(rule_text) = rule.as_str() else {
                continue;
            };
            match rule_text.parse::<Rule>() {
                Ok(rule) => written.push(Written {
                    file,
                    index,
                    entry: Entry::new(rule, behavior.clone(), source.clone()),
                }),
                Err(error) => {
                    let key = format!("permissions.{behavior}[{index}]");
                    told.push(key.clone());
                    findings.push(Finding {
                        file,
                        source: source.clone(),
                        key,
                        rule: rule_text.to_owned(),
                        kind: FindingKind::Malformed,
                        why: error.to_string(),
                        instead: repair::repaired(rule_text).into_iter().collect(),
                    });
                }
            }
        }
    }
    let problems = Settings::read(text).problems.into_iter();
    let others = problems.filter(|problem| !told.contains(&problem.key));
    findings.extend(others.map(|problem| Finding {
        file,
        source: source.clone(),
        rule: String::new(),
        kind: FindingKind::Malformed,
        why: match problem.effect {
            Effect::EntryIgnored => format!("{}; the entry is ignored", problem.wrong),
            Effect::NothingAllowed => {
                format!("{}; nothing that this file allows counts", problem.wrong)
            }
        },
        key: problem.key,
        instead: Vec::new(),
    }));
}

/// Lists in the order in which they are read, and their entries by number.
fn order(key: &str) -> (usize, usize) {
    let (list, index) = key
        .trim_end_matches(']')
        .split_once('[')
        .unwrap_or((key, ""));
    let lists = [
        "",
        "permissions.allow",
        "permissions.deny",
        "permissions.ask",
    ];
    let list = lists.iter().position(|known| *known == list);
    (list.unwrap_or(lists.len()), index.parse().unwrap_or(0))
}
