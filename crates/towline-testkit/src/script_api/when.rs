//! Which requests a reply answers.

use super::seen::{Seen, Side};

/// A condition on a request. All that is set must hold; nothing set holds for every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The words of the person: the last user message that has text which is not a `<system-reminder>`.
    pub prompt_contains: Option<String>,
    /// Any string of the request, at any depth.
    pub contains: Option<String>,
    /// The last user message brings the result of this tool call, by its id or by the tool's name.
    pub tool_result_for: Option<String>,
    /// Whether the last user message brings any tool result.
    pub has_tool_result: Option<bool>,
    /// A part of the model's name.
    pub model_contains: Option<String>,
    /// A tool that the request offers to the model.
    pub tool_offered: Option<String>,
    /// Whether the main agent asks or a subagent.
    pub agent: Option<Agent>,
    /// A side request of this kind. Without it a reply never answers side requests.
    pub side: Option<Side>,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The agent that the person talks to.
    Main,
    /// An agent that it started.
    Subagent,
}

impl When {
    /// Whether it holds for every request that is no side request.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn holds(&self, seen: &Seen) -> bool {
        let Self {
            prompt_contains,
            contains,
            tool_result_for,
            has_tool_result,
            model_contains,
            tool_offered,
            agent,
            side,
        } = self;
        *side == seen.side
            && is_met(prompt_contains.as_ref(), |words| {
                let prompt = seen.prompt.as_deref();
                prompt.is_some_and(|prompt| prompt.contains(words))
            })
            && is_met(contains.as_ref(), |words| seen.contains(words))
            && is_met(tool_result_for.as_ref(), |tool| {
                let mut results = seen.tool_results.iter();
                results.any(|result| result.id == *tool || result.name.as_ref() == Some(tool))
            })
            && is_met(has_tool_result.as_ref(), |has| {
                seen.tool_results.is_empty() != *has
            })
            && is_met(model_contains.as_ref(), |part| seen.model.contains(part))
            && is_met(tool_offered.as_ref(), |tool| seen.tools.contains(tool))
            && is_met(agent.as_ref(), |agent| *agent == seen.agent)
    }
}

fn is_met<T>(condition: Option<&T>, holds: impl FnOnce(&T) -> bool) -> bool {
    condition.is_none_or(holds)
}
