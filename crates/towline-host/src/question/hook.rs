//! `hook_callback`: something the host wanted to hear of is about to happen, or has.

use towline_protocol::{
    Behavior, CallbackId, HookDecision, HookEvent, HookInput, HookOutput, HookSpecificOutput, Text,
    ToolUseId, Wire, control::request::HookCallback,
};

use super::{Responder, common_to_questions, nothing};

/// A hook that was registered with [`AgentCommand::hook`](crate::AgentCommand::hook).
///
/// Dropped, it fails: the agent then goes on without it, or blocks, as the registration says.
///
/// ```
/// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
/// match hook.event() {
///     Some(HookEvent::PreToolUse) => hook.deny("nothing runs on Sundays"),
///     Some(HookEvent::Stop) => hook.block("the tests have not been run"),
///     _ => hook.proceed(),
/// }
/// # assert_eq!(end_of_turn(&mut session).await, r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"nothing runs on Sundays"}}"#);
/// # });
/// ```
#[derive(Debug)]
pub struct Hook {
    request: Box<HookCallback>,
    pub(super) responder: Responder,
}

common_to_questions!(Hook, "hook done");

impl Hook {
    pub(crate) fn new(request: Box<HookCallback>, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// The name it was registered under.
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// assert_eq!(hook.callback_id(), "guard");
    /// # });
    /// ```
    pub fn callback_id(&self) -> &CallbackId {
        &self.request.callback_id
    }

    /// What is about to happen, or has; nothing if the agent does not say.
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// assert_eq!(hook.event(), Some(&HookEvent::PreToolUse));
    /// # });
    /// ```
    pub fn event(&self) -> Option<&HookEvent> {
        self.request.input.event.as_ref()
    }

    /// What there is to know about it, as the event has it.
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// assert_eq!(hook.input().tool_name, Some("Bash".into()));
    /// # });
    /// ```
    pub fn input(&self) -> &HookInput {
        &self.request.input
    }

    /// The call it is about; a fresh id where there is none.
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// assert_eq!(hook.tool_use_id(), Some(&"call-0".into()));
    /// # });
    /// ```
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// Goes on as if there were no hook.
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.proceed();
    /// # assert_eq!(end_of_turn(&mut session).await, "{}");
    /// # });
    /// ```
    pub fn proceed(self) {
        self.responder.answer(Ok(Some(nothing())));
    }

    /// Lets a tool call run without asking anybody (`PreToolUse`).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.allow("it only reads");
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"it only reads"}}"#);
    /// # });
    /// ```
    pub fn allow(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Allow, why));
    }

    /// Does not let a tool call run (`PreToolUse`).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.deny("it writes");
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"it writes"}}"#);
    /// # });
    /// ```
    pub fn deny(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Deny, why));
    }

    /// Has the agent ask: the question comes as [`Event::Permission`](crate::Event::Permission) (`PreToolUse`).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.ask("better ask");
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"better ask"}}"#);
    /// # });
    /// ```
    pub fn ask(self, why: impl Into<Text>) {
        self.answer(&HookOutput::pre_tool_use(Behavior::Ask, why));
    }

    /// Does not let the turn end, the prompt pass or the result stand (`Stop`, `UserPromptSubmit`, `PostToolUse`, …).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.block("the tests have not been run");
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"decision":"block","reason":"the tests have not been run"}"#);
    /// # });
    /// ```
    pub fn block(self, why: impl Into<Text>) {
        self.answer(&HookOutput::block(why));
    }

    /// Lets the turn end (`Stop`); the older way to allow (`PreToolUse`).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.approve();
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"decision":"approve"}"#);
    /// # });
    /// ```
    pub fn approve(self) {
        self.answer(&HookOutput {
            decision: Some(HookDecision::Approve),
            ..HookOutput::default()
        });
    }

    /// Tells the model something (`UserPromptSubmit`, `PostToolUse`, …).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.add_context("The build takes ten minutes.");
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"The build takes ten minutes."}}"#);
    /// # });
    /// ```
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
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.fail("the database is gone");
    /// # assert_eq!(end_of_turn(&mut session).await, "refused: the database is gone");
    /// # });
    /// ```
    pub fn fail(self, why: impl Into<Text>) {
        self.responder.answer(Err(why.into()));
    }

    /// Gives any other answer: of all events, in both formats (`hookSpecificOutput`, or `decision` and `reason`).
    ///
    /// ```
    /// # towline_testkit::in_session!(AgentCommand::new("fake").hook(HookOn::new(HookEvent::PreToolUse, "guard")), |session, "hook guard" => Event::Hook(hook)| {
    /// hook.answer(&HookOutput::block("not yet"));
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"decision":"block","reason":"not yet"}"#);
    /// # });
    /// ```
    pub fn answer(self, output: &HookOutput) {
        self.responder.answer(Ok(Some(output.to_standard_json())));
    }
}
