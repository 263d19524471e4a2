//! `hook_callback`: something the host wanted to hear of is about to happen, or has.

use towline_protocol::{
    Behavior, CallbackId, HookDecision, HookEvent, HookInput, HookOutput, HookSpecificOutput, Text,
    ToolUseId, Wire, control::request::HookCallback,
};

use super::{Responder, common_to_questions, nothing};

/// A hook that was registered with [`AgentCommand::hook`](crate::AgentCommand::hook). Dropped, it fails: the agent then
/// goes on without it, or blocks, as the registration says.
///
/// ```
/// use towline_host::{Hook, HookEvent};
///
/// fn decide(hook: Hook) {
///     match hook.event() {
///         Some(HookEvent::PreToolUse) => hook.deny("nothing runs on Sundays"),
///         Some(HookEvent::Stop) => hook.block("the tests have not been run"),
///         _ => hook.proceed(),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Hook {
    request: Box<HookCallback>,
    pub(super) responder: Responder,
}

common_to_questions!(Hook, "hook");

impl Hook {
    pub(crate) fn new(request: Box<HookCallback>, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// The name it was registered under.
    pub fn callback_id(&self) -> &CallbackId {
        &self.request.callback_id
    }

    /// What happens. Nothing if the agent does not say.
    pub fn event(&self) -> Option<&HookEvent> {
        self.request.input.event.as_ref()
    }

    /// What there is to know about it.
    pub fn input(&self) -> &HookInput {
        &self.request.input
    }

    /// The call it is about; a fresh id where there is none.
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// Goes on as if there were no hook.
    pub fn proceed(self) {
        self.responder.answer(Ok(Some(nothing())));
    }

    /// Lets a tool call run without asking anybody (`PreToolUse`).
    pub fn allow(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Allow, why));
    }

    /// Does not let a tool call run (`PreToolUse`).
    pub fn deny(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Deny, why));
    }

    /// Has the agent ask: the question comes as [`Event::Permission`](crate::Event::Permission) (`PreToolUse`).
    pub fn ask(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Ask, why));
    }

    /// Does not let the turn end, the prompt pass or the result stand (`Stop`, `UserPromptSubmit`, `PostToolUse`, …).
    pub fn block(self, why: impl Into<Text>) {
        self.answer(&HookOutput::block(why));
    }

    /// Lets the turn end (`Stop`); the older way to allow (`PreToolUse`).
    pub fn approve(self) {
        self.answer(&HookOutput {
            decision: Some(HookDecision::Approve),
            ..HookOutput::default()
        });
    }

    /// Tells the model something (`UserPromptSubmit`, `PostToolUse`, …).
    pub fn add_context(self, words: impl Into<Text>) {
        let specific = HookSpecificOutput {
            event: self.event().cloned(),
            additional_context: Some(words.into()),
            ..HookSpecificOutput::default()
        };
        self.answer(&HookOutput {
            specific: Some(specific),
            ..HookOutput::default()
        });
    }

    /// Says that the hook itself went wrong.
    pub fn fail(self, why: impl Into<Text>) {
        self.responder.answer(Err(why.into()));
    }

    /// Any other answer: of all events, in both formats (`hookSpecificOutput`, or `decision` and `reason`).
    pub fn answer(self, output: &HookOutput) {
        self.responder.answer(Ok(Some(output.to_standard_json())));
    }
}
