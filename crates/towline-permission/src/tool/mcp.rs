//! Tools of MCP servers: `mcp__server__tool`.

use towline_protocol::{Behavior, PermissionMode};

use super::{decide_plain, wide};
use crate::{
    call::{Call, Facts},
    decision::{Decision, Reason},
    policy::Policy,
    rule::Rule,
};

/// Decides about a tool of an MCP server.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    let ruled_out = [Behavior::Deny, Behavior::Ask]
        .iter()
        .any(|behavior| wide(policy, behavior, call.tool).is_some());
    // While planning, what may change something is asked about whatever the rules allow, as with edits.
    if policy.mode == PermissionMode::Plan && !facts.tool_only_reads && !ruled_out {
        return Decision::ask(Reason::Mode(PermissionMode::Plan));
    }
    decide_plain(policy, call.tool)
}

/// Whether a rule is about a tool, where one of the two is of an MCP server.
///
/// `mcp__server` is all of its tools, `mcp__server__tool` one, and a star stands for any text. What allows must name
/// the server: a star there would allow servers that nobody thought of. Content never matches.
pub(super) fn covers(rule: &Rule, behavior: &Behavior, tool: &str) -> bool {
    if rule.content().is_some() {
        return false;
    }
    let name = rule.tool();
    if name == tool {
        return true;
    }
    let allows = *behavior == Behavior::Allow;
    let (server, rest) = match name.strip_prefix("mcp__") {
        Some(rest) => rest
            .split_once("__")
            .map_or((rest, None), |(server, tool)| (server, Some(tool))),
        None => ("*", None),
    };
    if name.contains('*') {
        return !(allows && server.contains('*')) && fast_glob::glob_match(plain_stars(name), tool);
    }
    let is_server = !server.is_empty() && rest.is_none_or(|rest| !allows && !rest.is_empty());
    is_server
        && tool
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with("__"))
}

/// Names of tools have no slashes, so that one star is as good as two; nothing else in them is special.
fn plain_stars(name: &str) -> String {
    let mut glob = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '*' if glob.ends_with('*') => {}
            '*' => glob.push('*'),
            other if other.is_alphanumeric() || other == '_' || other == '-' => glob.push(other),
            other => glob.extend(['\\', other]),
        }
    }
    glob
}
