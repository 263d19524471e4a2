//! Rules about a tool as a whole, and the order of questions that all simple tools share.

pub(crate) mod agent;
pub(crate) mod files;
pub(crate) mod mcp;
pub(crate) mod skill;
pub(crate) mod web_fetch;

pub use files::glob_start;

use towline_protocol::{Behavior, Destination, PermissionMode, PermissionUpdate};

use crate::{
    decision::{Decision, Reason},
    policy::Policy,
    rule::{Entry, Rule},
};

/// What a tool's own check has to say of a call.
#[derive(Debug, Default)]
pub(crate) struct Opinion<'p> {
    /// The rule about this call that denies it.
    pub(crate) denied: Option<&'p Entry>,
    /// The rule about this call that asks.
    pub(crate) asked: Option<&'p Entry>,
    /// The rule about this call that allows it.
    pub(crate) allowed: Option<&'p Entry>,
    /// Whether such a call does no harm.
    pub(crate) harmless: bool,
    /// What to suggest with a question.
    pub(crate) suggestions: Vec<PermissionUpdate>,
}

/// Denied, asked, bypassed, harmless, allowed: in this order, and a question if nothing of it holds.
pub(crate) fn settle(policy: &Policy, tool: &str, opinion: Opinion<'_>) -> Decision {
    let suggestions = opinion.suggestions;
    if let Some(entry) = wide(policy, &Behavior::Deny, tool).or(opinion.denied) {
        return Decision::deny(Reason::Rule(entry.clone()));
    }
    if let Some(entry) = wide(policy, &Behavior::Ask, tool) {
        return Decision::ask(Reason::Rule(entry.clone()));
    }
    if let Some(entry) = opinion.asked {
        return Decision::ask(Reason::Rule(entry.clone())).suggest(suggestions);
    }
    if policy.mode == PermissionMode::BypassPermissions {
        return Decision::allow(Reason::Mode(policy.mode.clone()));
    }
    if opinion.harmless {
        return Decision::allow(Reason::Harmless);
    }
    if let Some(entry) = wide(policy, &Behavior::Allow, tool).or(opinion.allowed) {
        return Decision::allow(Reason::Rule(entry.clone()));
    }
    Decision::ask(Reason::Unknown).suggest(suggestions)
}

/// A tool that has no check of its own.
pub(crate) fn decide_plain(policy: &Policy, tool: &str) -> Decision {
    let opinion = Opinion {
        harmless: HARMLESS.contains(&tool),
        suggestions: vec![suggest(&Rule::tool_wide(tool))],
        ..Opinion::default()
    };
    settle(policy, tool, opinion)
}

/// A tool that is a question to a person: no rule, mode or hook answers it.
pub(crate) fn decide_question(policy: &Policy, tool: &str) -> Decision {
    match wide(policy, &Behavior::Deny, tool) {
        Some(entry) => Decision::deny(Reason::Rule(entry.clone())),
        None => Decision::ask(Reason::Unknown),
    }
}

/// Whether a tool is a question to a person.
pub(crate) fn is_question(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode")
}

/// The rule about a tool as a whole.
pub(crate) fn wide<'p>(policy: &'p Policy, behavior: &Behavior, tool: &str) -> Option<&'p Entry> {
    policy
        .rules(behavior)
        .find(|entry| covers_tool(&entry.rule, behavior, tool))
}

/// The first rule of a tool with content that `matches` says yes to.
pub(crate) fn with_content<'p>(
    policy: &'p Policy,
    behavior: &Behavior,
    tool: &str,
    matches: impl Fn(&str) -> bool,
) -> Option<&'p Entry> {
    policy.rules(behavior).find(|entry| {
        modern_name(entry.rule.tool()) == modern_name(tool)
            && entry.rule.content().is_some_and(&matches)
    })
}

fn covers_tool(rule: &Rule, behavior: &Behavior, tool: &str) -> bool {
    if rule.tool().starts_with("mcp__") || tool.starts_with("mcp__") {
        return mcp::covers(rule, behavior, tool);
    }
    // A star that allows tools nobody thought of is ignored; one that denies them is not.
    let named = if rule.tool().contains('*') {
        *behavior != Behavior::Allow && fast_glob::glob_match(rule.tool(), tool)
    } else {
        modern_name(rule.tool()) == modern_name(tool)
    };
    named && rule.is_tool_wide()
}

/// `Task` is what `Agent` was called before.
fn modern_name(tool: &str) -> &str {
    match tool {
        "Task" => "Agent",
        other => other,
    }
}

/// The update that would allow it from now on in this project.
pub(crate) fn suggest(rule: &Rule) -> PermissionUpdate {
    suggest_at(rule, Destination::LocalSettings)
}

/// The update that would allow it, to be kept somewhere.
pub(crate) fn suggest_at(rule: &Rule, destination: Destination) -> PermissionUpdate {
    PermissionUpdate::add_rules(vec![rule.into()], Behavior::Allow, destination)
}

/// Tools that change nothing but the session itself. The last two are document 001's (§3.3); CLI 2.1.325 does not have
/// them.
const HARMLESS: &[&str] = &[
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "EnterPlanMode",
    "CronList",
    "ListAgents",
    "TodoRead",
    "TodoWrite",
    "TaskStop",
    "TaskOutput",
    "BashOutput",
    "KillShell",
    "KillBash",
];
