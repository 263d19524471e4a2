//! `can_use_tool`: may this call run?

use towline_protocol::{
    AgentId, Behavior, Destination, Json, PermissionAnswer, PermissionUpdate, Text, ToolInput,
    ToolName, ToolUseId, control::request::CanUseTool,
};

use super::{Responder, common_to_questions};

/// A tool call that waits for permission.
///
/// Dropped, it is denied.
///
/// ```
/// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
/// match permission.tool_name().as_str() {
///     "Read" => permission.allow(),
///     "Bash" => permission.accept_suggestions(), // and do not ask again
///     _ => permission.deny("this is not wanted here"),
/// }
/// # assert_eq!(end_of_turn(&mut session).await, "ran ls, with 1 changed permissions");
/// # });
/// ```
#[derive(Debug)]
pub struct Permission {
    request: Box<CanUseTool>,
    pub(super) responder: Responder,
}

common_to_questions!(Permission, "run ls");

impl Permission {
    pub(crate) fn new(request: Box<CanUseTool>, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// The whole question, as the agent wrote it.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.request().tool_name, "Bash");
    /// # });
    /// ```
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The tool that is called.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.tool_name(), "Bash");
    /// # });
    /// ```
    pub fn tool_name(&self) -> &ToolName {
        &self.request.tool_name
    }

    /// The id of the call, the same as in the message of the model.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.tool_use_id(), Some(&"call-1".into()));
    /// # });
    /// ```
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// The subagent that asks; nothing for the main thread.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.agent_id(), None); // the main thread asks
    /// # });
    /// ```
    pub fn agent_id(&self) -> Option<&AgentId> {
        self.request.agent_id.as_ref()
    }

    /// What the tool is called with, as it stands on the wire.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.input().as_str(), r#"{"command":"ls"}"#);
    /// # });
    /// ```
    pub fn input(&self) -> &Json {
        &self.request.input
    }

    /// What the tool is called with, typed.
    ///
    /// Nothing if it is not of the form that the tool takes.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// if let Some(ToolInput::Bash(input)) = permission.typed_input() {
    ///     assert_eq!(input.command, "ls");
    /// }
    /// # else { panic!("{:?}", permission.typed_input()) }
    /// # });
    /// ```
    pub fn typed_input(&self) -> Option<ToolInput> {
        ToolInput::read(&self.request.tool_name, &self.request.input).ok()
    }

    /// What a person could allow for good; [`Permission::allow_and`] sends some of it back.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// assert_eq!(permission.suggestions().len(), 1); // a rule for `ls`
    /// permission.accept_suggestions();
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls, with 1 changed permissions");
    /// # });
    /// ```
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        self.request
            .permission_suggestions
            .as_option()
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Lets the tool run.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.allow();
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls");
    /// # });
    /// ```
    pub fn allow(self) {
        let allowance = self.allowance();
        self.answer(allowance);
    }

    /// Lets the tool run with another input.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.allow_with(Json::new(r#"{"command":"ls -l"}"#)?);
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls -l");
    /// # });
    /// ```
    pub fn allow_with(self, input: Json) {
        self.answer(PermissionAnswer::allow_with(input));
    }

    /// Lets the tool run and changes permissions from now on.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// let rule = RuleValue::content("Bash", "ls:*");
    /// permission.allow_and([PermissionUpdate::add_rules(vec![rule], Behavior::Allow, Destination::Session)]);
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls, with 1 changed permissions");
    /// # });
    /// ```
    pub fn allow_and(self, updates: impl IntoIterator<Item = PermissionUpdate>) {
        // The real CLI ignores forms that only documents show, so every one is sent in the form that it takes.
        let updates = updates.into_iter().filter_map(|update| update.standard());
        let allowance = self.allowance();
        self.answer(PermissionAnswer {
            updated_permissions: Some(updates.collect()),
            ..allowance
        });
    }

    /// Lets the tool run and accepts all suggestions, so that it is not asked again.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.accept_suggestions();
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls, with 1 changed permissions");
    /// # });
    /// ```
    pub fn accept_suggestions(self) {
        let suggestions = self.suggestions().to_vec();
        self.allow_and(suggestions);
    }

    /// Lets the tool run and allows the whole tool for the rest of the session.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.allow_tool_for_session();
    /// # assert_eq!(end_of_turn(&mut session).await, "ran ls, with 1 changed permissions");
    /// # });
    /// ```
    pub fn allow_tool_for_session(self) {
        let rule = towline_protocol::RuleValue::tool(self.tool_name().clone());
        self.allow_and([PermissionUpdate::add_rules(
            vec![rule],
            Behavior::Allow,
            Destination::Session,
        )]);
    }

    /// Does not let the tool run.
    ///
    /// The model reads why, and goes on.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.deny("look, but do not touch");
    /// # assert_eq!(end_of_turn(&mut session).await, "denied: look, but do not touch");
    /// # });
    /// ```
    pub fn deny(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny(why));
    }

    /// Does not let the tool run, and ends the turn.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.deny_and_interrupt("stop");
    /// # assert_eq!(end_of_turn(&mut session).await, "interrupted");
    /// # });
    /// ```
    pub fn deny_and_interrupt(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny_and_interrupt(why));
    }

    /// Gives any other answer.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
    /// permission.answer(PermissionAnswer::deny("no"));
    /// # assert_eq!(end_of_turn(&mut session).await, "denied: no");
    /// # });
    /// ```
    pub fn answer(self, answer: PermissionAnswer) {
        let call = self.request.tool_use_id;
        self.responder.answer_permission(call, answer);
    }

    /// The input goes back as it came: the real CLI does not need that, agents after document 000 do.
    fn allowance(&self) -> PermissionAnswer {
        PermissionAnswer::allow_with(self.request.input.clone())
    }
}
