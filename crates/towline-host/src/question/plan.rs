//! `ExitPlanMode`: the agent has a plan and wants to begin.

use towline_protocol::{
    Destination, ExitPlanModeInput, PermissionAnswer, PermissionMode, PermissionUpdate, Text,
    ToolUseId, Wire, control::request::CanUseTool,
};

use super::{Responder, common_to_questions};

/// A plan that waits for approval. Dropped, it is rejected.
///
/// ```
/// use towline_host::Plan;
///
/// fn decide(plan: Plan) {
///     match plan.text() {
///         Some(text) if text.contains("rm -rf") => plan.reject("not that way"),
///         _ => plan.approve(),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Plan {
    request: Box<CanUseTool>,
    text: Option<Text>,
    pub(super) responder: Responder,
}

common_to_questions!(Plan, "plan");

impl Plan {
    pub(crate) fn new(request: Box<CanUseTool>, responder: Responder) -> Self {
        let input = ExitPlanModeInput::from_json(request.input.text().clone());
        Self {
            text: input.ok().and_then(|input| input.plan),
            request,
            responder,
        }
    }

    /// The real CLI takes the plan out of the question; it stands in the call that led to it.
    pub(crate) fn fill_in(&mut self, input: Option<&towline_protocol::Json>) {
        if self.text.is_none()
            && let Some(input) = input
            && let Ok(input) = ExitPlanModeInput::from_json(input.text().clone())
        {
            self.text = input.plan;
        }
    }

    /// The whole question, as the agent wrote it.
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The call.
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// The plan, if the agent says what it is.
    pub fn text(&self) -> Option<&Text> {
        self.text.as_ref()
    }

    /// Lets the agent begin.
    pub fn approve(self) {
        let input = self.request.input.clone();
        self.answer(PermissionAnswer::allow_with(input));
    }

    /// Lets the agent begin, in another permission mode from now on.
    pub fn approve_in(self, mode: PermissionMode) {
        let input = self.request.input.clone();
        self.answer(PermissionAnswer {
            updated_permissions: Some(vec![PermissionUpdate::set_mode(mode, Destination::Session)]),
            ..PermissionAnswer::allow_with(input)
        });
    }

    /// Has the agent go on planning. The model reads why.
    pub fn reject(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny(why));
    }

    fn answer(self, answer: PermissionAnswer) {
        self.responder
            .answer_permission(self.request.tool_use_id, answer);
    }
}
