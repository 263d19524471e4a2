//! Rules that change nothing, since another one decides wherever they would, or says the same.
//!
//! Nothing is compared as text. Calls are made up that a rule is about, with a word in the place of each `*` that nobody
//! uses, and they are decided by the rules that come first: a rule that decides the made-up word decides all words.

use std::collections::HashMap;

use serde_json::{Value, json};
use towline_protocol::{Behavior, PermissionMode};

use super::{Fault, Finding, FindingKind, Written, never};
use crate::{
    call::{Call, Facts},
    decide::decide,
    decision::Reason,
    policy::{Places, Policy},
    rule::{Entry, Rule},
};

/// The findings about all rules that are pointless.
pub(super) fn pointless(written: &[Written], places: &Places) -> Vec<Finding> {
    let mut findings = duplicates(written);
    let denying = stronger(written, places, &[Behavior::Deny]);
    let both = stronger(written, places, &[Behavior::Deny, Behavior::Ask]);
    for rule in written {
        let stronger = match rule.entry.behavior {
            Behavior::Allow => &both,
            Behavior::Ask => &denying,
            _ => continue,
        };
        if let Some(entry) = shadow_of(rule, stronger) {
            let place = place_of(written, &entry, rule.file);
            let says = if entry.behavior == Behavior::Deny {
                "denies all of it"
            } else {
                "asks about all of it"
            };
            findings.push(rule.finding(Fault {
                kind: FindingKind::Shadowed,
                why: format!("`{}` in {place} {says}", entry.rule),
                instead: Vec::new(),
            }));
        }
    }
    findings
}

/// The same rule a second time, in the same file or in another.
fn duplicates(written: &[Written]) -> Vec<Finding> {
    let mut first: HashMap<(&Behavior, Rule), &Written> = HashMap::new();
    let mut findings = Vec::new();
    for rule in written {
        let key = (&rule.entry.behavior, canonical(&rule.entry.rule));
        match first.get(&key) {
            None => {
                first.insert(key, rule);
            }
            // `/x` is another place in another source.
            Some(known) if is_anchored(&rule.entry) && known.entry.source != rule.entry.source => {}
            Some(known) => {
                let place = place(known, rule.file);
                findings.push(rule.finding(Fault {
                    kind: FindingKind::Duplicate,
                    why: format!("`{}` in {place} says the same", known.entry.rule),
                    instead: Vec::new(),
                }));
            }
        }
    }
    findings
}

/// One spelling for rules that are the same: `x *` is `x:*`, `Tool(*)` is `Tool` where it denies.
fn canonical(rule: &Rule) -> Rule {
    match (rule.tool(), rule.content()) {
        ("Bash", Some(content)) => match content.strip_suffix(" *") {
            Some(prefix) if !prefix.contains('*') => {
                Rule::with_content("Bash", format!("{prefix}:*"))
            }
            _ if rule.is_tool_wide() => Rule::tool_wide("Bash"),
            _ => rule.clone(),
        },
        ("Task", None) => Rule::tool_wide("Agent"),
        ("Task", Some(content)) => Rule::with_content("Agent", content),
        _ => rule.clone(),
    }
}

fn is_anchored(entry: &Entry) -> bool {
    let content = entry.rule.content().unwrap_or_default();
    content.starts_with('/') && !content.starts_with("//")
}

fn stronger(written: &[Written], places: &Places, behaviors: &[Behavior]) -> Policy {
    let mut policy = Policy::new(PermissionMode::Default, places.clone());
    for rule in written {
        let Entry {
            rule: text,
            behavior,
            source,
        } = &rule.entry;
        if behaviors.contains(behavior) && never::matches_nothing(rule).is_none() {
            policy.add(text.clone(), behavior.clone(), source.clone());
        }
    }
    policy
}

/// The rule that decides every call that a rule is about.
fn shadow_of(written: &Written, stronger: &Policy) -> Option<Entry> {
    let own = canonical(&written.entry.rule);
    let same = stronger.entries().iter().find(|entry| {
        let same_place = !is_anchored(entry) || entry.source == written.entry.source;
        same_place && canonical(&entry.rule) == own
    });
    if let Some(entry) = same {
        return Some(entry.clone());
    }
    if stronger.entries().is_empty() {
        return None;
    }
    let mut found = None;
    for (tool, input) in calls(&written.entry, &stronger.places) {
        let call = Call::new(&tool, &input);
        match decide(stronger, &call, &Facts::default()).reason {
            Reason::Rule(entry) => found.get_or_insert(entry),
            _ => return None,
        };
    }
    found
}

/// Calls that a rule is about, so many that what decides them all decides all that the rule is about.
fn calls(entry: &Entry, places: &Places) -> Vec<(String, Value)> {
    let rule = &entry.rule;
    let tool = rule.tool();
    let content = rule.content().filter(|content| *content != "*");
    if tool.starts_with("mcp__") {
        return mcp_tools(tool)
            .into_iter()
            .map(|tool| (tool, json!({})))
            .collect();
    }
    let inputs: Vec<Value> = match (tool, content) {
        ("Bash", None) => vec![json!({"command": ANY})],
        ("Bash", Some(content)) => commands(content)
            .into_iter()
            .map(|command| json!({"command": command}))
            .collect(),
        ("Read" | "Edit" | "Write" | "MultiEdit", content) => files(entry, content, places)
            .into_iter()
            .map(|path| json!({"file_path": path}))
            .collect(),
        ("NotebookEdit", content) => files(entry, content, places)
            .into_iter()
            .map(|path| json!({"notebook_path": path}))
            .collect(),
        ("WebFetch", None) => vec![json!({"url": format!("https://{ANY}.invalid/")})],
        ("WebFetch", Some(content)) => content
            .strip_prefix("domain:")
            .map(|host| json!({"url": format!("https://{}/", host.replace('*', ANY))}))
            .into_iter()
            .collect(),
        ("Agent" | "Task", content) => vec![json!({"subagent_type": content.unwrap_or(ANY)})],
        ("Skill", content) => skills(content.unwrap_or(":*"))
            .into_iter()
            .map(|skill| json!({"skill": skill}))
            .collect(),
        (_, None) => vec![json!({})],
        (_, Some(_)) => Vec::new(),
    };
    inputs
        .into_iter()
        .map(|input| (tool.to_owned(), input))
        .collect()
}

/// `mcp__server` is every tool of it.
fn mcp_tools(rule: &str) -> Vec<String> {
    let is_server = !rule.trim_start_matches("mcp__").contains("__");
    let tool = rule.replace('*', ANY);
    if is_server {
        vec![format!("{tool}__{ANY}")]
    } else {
        vec![tool]
    }
}

fn commands(content: &str) -> Vec<String> {
    let prefix = content
        .strip_suffix(":*")
        .or_else(|| content.strip_suffix(" *"));
    match prefix {
        Some(prefix) if !prefix.contains('*') => {
            vec![prefix.to_owned(), format!("{prefix} {ANY}")]
        }
        _ => vec![content.replace('*', ""), content.replace('*', ANY)],
    }
}

/// Paths in all places that a rule is about.
fn files(entry: &Entry, content: Option<&str>, places: &Places) -> Vec<String> {
    let Some(content) = content else {
        let inside = format!("{}/{ANY}", places.project);
        return vec![format!("/{ANY}"), inside];
    };
    let (base, rest) = if let Some(rest) = content.strip_prefix("//") {
        ("", rest)
    } else if let Some(rest) = content.strip_prefix("~/") {
        (places.home.as_str(), rest)
    } else if let Some(rest) = content.strip_prefix('/') {
        (root(entry, places), rest)
    } else {
        (
            places.project.as_str(),
            content.strip_prefix("./").unwrap_or(content),
        )
    };
    // A set of characters has no character that stands for all of them.
    if rest.contains('[') {
        return Vec::new();
    }
    let name = filled(rest);
    // Without a slash that ties it to a place, it is about every depth.
    let floats = !content.starts_with(['/', '~']) && !rest.trim_end_matches('/').contains('/');
    let deep = floats.then(|| format!("{base}/{ANY}/{name}"));
    deep.into_iter().chain([format!("{base}/{name}")]).collect()
}

fn root<'p>(entry: &Entry, places: &'p Places) -> &'p str {
    use towline_protocol::Destination::{FlagSettings, UserSettings};

    match entry.source {
        UserSettings => &places.config,
        FlagSettings => places.flag_settings.as_deref().unwrap_or(&places.project),
        _ => &places.project,
    }
}

fn filled(pattern: &str) -> String {
    let deep = format!("{ANY}/{ANY}");
    pattern
        .trim_end_matches('/')
        .replace("**", &deep)
        .replace('*', ANY)
        .replace('?', ANY_CHARACTER)
}

/// `name:*` is every skill that begins so.
fn skills(content: &str) -> Vec<String> {
    let prefix = content
        .strip_suffix(":*")
        .or_else(|| content.strip_suffix(" *"));
    match prefix {
        Some("") => vec![ANY.to_owned()],
        Some(prefix) => vec![prefix.to_owned(), format!("{prefix}{ANY}")],
        None => vec![content.to_owned()],
    }
}

fn place_of(written: &[Written], entry: &Entry, file: usize) -> String {
    written
        .iter()
        .find(|known| known.entry == *entry)
        .map_or_else(String::new, |known| place(known, file))
}

/// Where a rule is, as seen from a file.
fn place(written: &Written, file: usize) -> String {
    let key = written.key();
    if written.file == file {
        format!("`{key}` of the same file")
    } else {
        format!("`{key}` of {}", written.entry.source)
    }
}

/// A word that stands for any word, since no rule has it.
const ANY: &str = "towline-any-word";
/// The same for one character.
const ANY_CHARACTER: &str = "\u{2c7b}";
