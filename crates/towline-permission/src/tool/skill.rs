//! Skills: `Skill(name)` and `Skill(name:*)`.

use towline_protocol::Behavior;

use super::{Opinion, settle, suggest, with_content};
use crate::{
    call::{Call, Facts},
    decision::Decision,
    policy::Policy,
    rule::Rule,
};

/// Decides about a skill. One that brings no tools of its own is only a text.
///
/// A rule with content that asks is ignored, as CLI 2.1.325 does.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    let name = without_slash(call.text("skill").unwrap_or_default());
    let is_meant = |content: &str| matches(content, name);
    let opinion = Opinion {
        denied: with_content(policy, &Behavior::Deny, call.tool, is_meant),
        allowed: with_content(policy, &Behavior::Allow, call.tool, is_meant),
        harmless: !facts.skill_brings_tools,
        suggestions: vec![
            suggest(&Rule::with_content("Skill", name)),
            suggest(&Rule::with_content("Skill", format!("{name}:*"))),
        ],
        ..Opinion::default()
    };
    settle(policy, call.tool, opinion)
}

fn matches(content: &str, name: &str) -> bool {
    let content = without_slash(content);
    match content.strip_suffix(":*").or(content.strip_suffix(" *")) {
        Some(prefix) => name.starts_with(prefix),
        None => content == name,
    }
}

/// A skill may be written as the command that it is.
fn without_slash(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}
