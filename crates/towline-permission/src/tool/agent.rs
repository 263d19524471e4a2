//! Subagents: `Agent(type)`, formerly `Task(type)`.

use towline_protocol::{Behavior, PermissionMode};

use super::{Opinion, settle, suggest, with_content};
use crate::{
    call::Call,
    decision::{Decision, Reason, Verdict},
    policy::Policy,
    rule::Rule,
};

/// Decides about starting a subagent. What it does then is decided call by call, so that starting it does no harm.
///
/// A rule names one type, in its exact spelling. One with content that asks is ignored, as CLI 2.1.325 does.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>) -> Decision {
    let kind = call.text("subagent_type").unwrap_or(GENERAL);
    let needs_classifier = policy.mode == PermissionMode::Auto;
    let suggestions = vec![suggest(&Rule::with_content("Agent", kind))];
    let opinion = Opinion {
        denied: with_content(policy, &Behavior::Deny, call.tool, |content| {
            content == kind
        }),
        harmless: !needs_classifier,
        suggestions: suggestions.clone(),
        ..Opinion::default()
    };
    let decision = settle(policy, call.tool, opinion);
    // In `auto` a classifier judges what a subagent is told, and rules that allow one do not count.
    if needs_classifier && decision.verdict == Verdict::Allow {
        return Decision::ask(Reason::Mode(PermissionMode::Auto)).suggest(suggestions);
    }
    decision
}

/// What runs if a call names no type.
const GENERAL: &str = "general-purpose";
