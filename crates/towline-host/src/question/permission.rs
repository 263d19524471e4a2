//! `can_use_tool`: may this call run?

use towline_protocol::{
    AgentId, Behavior, Destination, Json, PermissionAnswer, PermissionUpdate, Text, ToolInput,
    ToolName, ToolUseId, control::request::CanUseTool,
};

use super::{Responder, common_to_questions};

/// A tool call that waits for permission. Dropped, it is denied.
///
/// ```
/// use towline_host::Permission;
///
/// fn decide(permission: Permission) {
///     match permission.tool_name().as_str() {
///         "Read" => permission.allow(),
///         "Bash" => permission.accept_suggestions(), // and do not ask again
///         other => {
///             let why = format!("{other} is not wanted here");
///             permission.deny(why);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Permission {
    request: Box<CanUseTool>,
    pub(super) responder: Responder,
}

common_to_questions!(Permission, "permission");

impl Permission {
    pub(crate) fn new(request: Box<CanUseTool>, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// The whole question, as the agent wrote it.
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The tool.
    pub fn tool_name(&self) -> &ToolName {
        &self.request.tool_name
    }

    /// The call.
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// The subagent that asks; nothing for the main thread.
    pub fn agent_id(&self) -> Option<&AgentId> {
        self.request.agent_id.as_ref()
    }

    /// What the tool is called with.
    pub fn input(&self) -> &Json {
        &self.request.input
    }

    /// What the tool is called with, typed. Nothing if it is not of the form that the tool takes.
    pub fn typed_input(&self) -> Option<ToolInput> {
        ToolInput::read(&self.request.tool_name, &self.request.input).ok()
    }

    /// What could be allowed for good: send some back with [`Permission::allow_and`].
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        self.request
            .permission_suggestions
            .as_option()
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Lets it run.
    pub fn allow(self) {
        let allowance = self.allowance();
        self.answer(allowance);
    }

    /// Lets it run with another input.
    pub fn allow_with(self, input: Json) {
        self.answer(PermissionAnswer::allow_with(input));
    }

    /// Lets it run and changes permissions from now on.
    pub fn allow_and(self, updates: impl IntoIterator<Item = PermissionUpdate>) {
        // The real CLI ignores forms that only documents show, so every one is sent in the form that it takes.
        let updates = updates.into_iter().filter_map(|update| update.standard());
        let allowance = self.allowance();
        self.answer(PermissionAnswer {
            updated_permissions: Some(updates.collect()),
            ..allowance
        });
    }

    /// Lets it run and accepts all suggestions: it will not be asked again.
    pub fn accept_suggestions(self) {
        let suggestions = self.suggestions().to_vec();
        self.allow_and(suggestions);
    }

    /// Lets it run and allows the whole tool for the rest of the session.
    pub fn allow_tool_for_session(self) {
        let rule = towline_protocol::RuleValue::tool(self.tool_name().clone());
        self.allow_and([PermissionUpdate::add_rules(
            vec![rule],
            Behavior::Allow,
            Destination::Session,
        )]);
    }

    /// Does not let it run. The model reads why, and goes on.
    pub fn deny(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny(why));
    }

    /// Does not let it run, and ends the turn.
    pub fn deny_and_interrupt(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny_and_interrupt(why));
    }

    /// Any other answer.
    pub fn answer(self, answer: PermissionAnswer) {
        let call = self.request.tool_use_id;
        self.responder.answer_permission(call, answer);
    }

    /// The input goes back as it came: the real CLI does not need that, agents after document 000 do.
    fn allowance(&self) -> PermissionAnswer {
        PermissionAnswer::allow_with(self.request.input.clone())
    }
}
