//! The order in which things are asked.

use towline_protocol::{Behavior, PermissionMode};

use crate::{
    bash::{self, Looks},
    call::{Call, Facts, HookVerdict},
    decision::{Decision, Reason, Verdict},
    path,
    policy::Policy,
    tool::{self, agent, files, mcp, skill, web_fetch},
};

/// Decides about a call.
///
/// ```
/// use serde_json::json;
/// use towline_permission::{Call, Facts, PermissionMode, Places, Policy, Verdict, decide};
///
/// let places = Places { project: "/project".into(), current: "/project".into(), ..Places::default() };
/// let policy = Policy::new(PermissionMode::Default, places);
/// let verdict = |path: &str| {
///     let input = json!({"file_path": path});
///     decide(&policy, &Call::new("Read", &input), &Facts::default()).verdict
/// };
/// assert_eq!(verdict("notes.txt"), Verdict::Allow);
/// assert_eq!(verdict("/etc/passwd"), Verdict::Ask);
/// ```
pub fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    finish(policy, call, facts, decide_alone(policy, call, facts))
}

/// The paths that a call touches, and the directories that might be suggested for them.
///
/// ```
/// use towline_permission::{Call, PermissionMode, Places, Policy, paths};
///
/// let places = Places { current: "/project".into(), ..Places::default() };
/// let policy = Policy::new(PermissionMode::Default, places);
/// let input = serde_json::json!({"file_path": "src/../notes.txt"});
/// assert_eq!(paths(&policy, &Call::new("Read", &input)), ["/project", "/project/notes.txt"]);
/// ```
///
/// Where they really are is for the caller to find out, see [`Facts::links`].
pub fn paths(policy: &Policy, call: &Call<'_>) -> Vec<String> {
    match call.tool {
        "Bash" => bash::paths(policy, call.text("command").unwrap_or_default()),
        _ if files::access(call.tool).is_some() => match files::target(policy, call) {
            // What is suggested is a directory, which may be a link, too.
            Some(path) => vec![path::parent(&path).to_owned(), path],
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Globs and trees of a command line, in which links may lead elsewhere: a caller looks at them before it decides.
///
/// ```
/// use towline_permission::{Call, PermissionMode, Places, Policy, looks};
///
/// let places = Places { current: "/project".into(), ..Places::default() };
/// let policy = Policy::new(PermissionMode::Default, places);
/// let input = serde_json::json!({"command": "cat notes/*.txt; grep -R key ."});
/// let looks = looks(&policy, &Call::new("Bash", &input));
/// assert_eq!((looks.globs, looks.trees), (vec!["/project/notes/*.txt".to_owned()], vec!["/project".to_owned()]));
/// ```
///
/// The links that it finds go into [`Facts::globs`] and [`Facts::trees`].
pub fn looks(policy: &Policy, call: &Call<'_>) -> Looks {
    match call.tool {
        "Bash" => bash::looks(policy, call.text("command").unwrap_or_default()),
        _ => Looks::default(),
    }
}

/// The path that a tool for files is to open, absolute and without `.` and `..`: the last of [`paths`]. Nothing for other
/// tools and where the call names none.
///
/// ```
/// use towline_permission::{Call, PermissionMode, Places, Policy, target};
///
/// let places = Places { current: "/project".into(), ..Places::default() };
/// let policy = Policy::new(PermissionMode::Default, places);
/// // `..` takes a name away, as with CLI 2.1.325; where `link` leads does not matter.
/// let input = serde_json::json!({"file_path": "link/../notes.txt"});
/// assert_eq!(target(&policy, &Call::new("Read", &input)).as_deref(), Some("/project/notes.txt"));
/// let input = serde_json::json!({"pattern": "src/*.rs"});
/// assert_eq!(target(&policy, &Call::new("Glob", &input)).as_deref(), Some("/project/src"));
/// ```
///
/// The decision is about where this path really is: a caller opens that and no other.
pub fn target(policy: &Policy, call: &Call<'_>) -> Option<String> {
    files::access(call.tool).and_then(|_| files::target(policy, call))
}

/// The decision without hooks, and before the modes that never ask.
fn decide_alone(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    match call.tool {
        "Bash" => match tool::wide(policy, &Behavior::Deny, call.tool) {
            Some(entry) => Decision::deny(Reason::Rule(entry.clone())),
            None => bash::decide(policy, call, facts),
        },
        "WebFetch" => web_fetch::decide(policy, call),
        "Agent" | "Task" => agent::decide(policy, call),
        "Skill" => skill::decide(policy, call, facts),
        server if server.starts_with("mcp__") => mcp::decide(policy, call, facts),
        question if tool::is_question(question) => tool::decide_question(policy, question),
        other => match files::access(other) {
            Some(access) => files::decide(policy, call, facts, access),
            None => tool::decide_plain(policy, other),
        },
    }
}

/// What hooks, `dontAsk` and the absence of anybody to ask make of a decision.
fn finish(policy: &Policy, call: &Call<'_>, facts: &Facts, decision: Decision) -> Decision {
    let decision = match &facts.hook {
        None => decision,
        Some(HookVerdict::Deny(why)) => return Decision::deny(Reason::Hook(why.clone())),
        Some(HookVerdict::Ask(why))
            if decision.verdict == Verdict::Allow || is_plain(call, &decision) =>
        {
            let asked = Decision {
                parts: decision.parts,
                ..Decision::ask(Reason::Hook(why.clone()))
            };
            // It is asked even in `dontAsk`, if there is anybody.
            return without_asking(policy.can_ask, asked);
        }
        Some(HookVerdict::Allow(why))
            if is_plain(call, &decision) && !holds_in_plan(policy, call) =>
        {
            Decision {
                parts: decision.parts,
                ..Decision::allow(Reason::Hook(why.clone()))
            }
        }
        Some(_) => decision,
    };
    if policy.mode == PermissionMode::DontAsk && decision.verdict == Verdict::Ask {
        return Decision {
            verdict: Verdict::Deny,
            reason: Reason::Mode(PermissionMode::DontAsk),
            suggestions: None,
            ..decision
        };
    }
    without_asking(policy.can_ask, decision)
}

/// A question that is asked for no better reason than that nothing allows the call.
fn is_plain(call: &Call<'_>, decision: &Decision) -> bool {
    decision.verdict == Verdict::Ask
        && !tool::is_question(call.tool)
        && !matches!(decision.reason, Reason::Rule(_) | Reason::Safety(_))
}

/// What is being planned is not done because a hook says so; it may look around.
fn holds_in_plan(policy: &Policy, call: &Call<'_>) -> bool {
    policy.mode == PermissionMode::Plan && files::access(call.tool) != Some(path::Access::Read)
}

fn without_asking(can_ask: bool, decision: Decision) -> Decision {
    if can_ask || decision.verdict != Verdict::Ask {
        return decision;
    }
    Decision {
        verdict: Verdict::Deny,
        suggestions: None,
        ..decision
    }
}
