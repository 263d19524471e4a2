//! `ExitPlanMode`: the agent has a plan and wants to begin.

use towline_protocol::{
    Destination, ExitPlanModeInput, PermissionAnswer, PermissionMode, PermissionUpdate, Text,
    ToolUseId, Wire, control::request::CanUseTool,
};

use super::{Responder, common_to_questions};

/// A plan that waits for approval.
///
/// Dropped, it is rejected.
///
/// ```
/// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
/// match plan.text() {
///     Some(text) if text.contains("rm -rf") => plan.reject("not that way"),
///     _ => plan.approve(),
/// }
/// # assert_eq!(end_of_turn(&mut session).await, "begins");
/// # });
/// ```
#[derive(Debug)]
pub struct Plan {
    request: Box<CanUseTool>,
    text: Option<Text>,
    pub(super) responder: Responder,
}

common_to_questions!(Plan, "plan to rest");

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
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// assert_eq!(plan.request().tool_name, "ExitPlanMode");
    /// # });
    /// ```
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The id of the call, the same as in the message of the model.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// assert_eq!(plan.tool_use_id(), Some(&"call-1".into()));
    /// # });
    /// ```
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// The plan, if the agent says what it is.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// assert_eq!(plan.text().unwrap(), "1. Read. 2. Write.");
    /// # });
    /// ```
    pub fn text(&self) -> Option<&Text> {
        self.text.as_ref()
    }

    /// Lets the agent begin.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// plan.approve();
    /// # assert_eq!(end_of_turn(&mut session).await, "begins");
    /// # });
    /// ```
    pub fn approve(self) {
        let input = self.request.input.clone();
        self.answer(PermissionAnswer::allow_with(input));
    }

    /// Lets the agent begin, in another permission mode from now on.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// plan.approve_in(PermissionMode::AcceptEdits);
    /// # assert_eq!(end_of_turn(&mut session).await, "begins, with 1 changed permissions");
    /// # });
    /// ```
    pub fn approve_in(self, mode: PermissionMode) {
        self.approve_and([PermissionUpdate::set_mode(mode, Destination::Session)]);
    }

    /// Lets the agent begin and changes permissions from now on.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// let rule = RuleValue::content("Bash", "cargo test:*");
    /// plan.approve_and([PermissionUpdate::add_rules(vec![rule], Behavior::Allow, Destination::Session)]);
    /// # assert_eq!(end_of_turn(&mut session).await, "begins, with 1 changed permissions");
    /// # });
    /// ```
    pub fn approve_and(self, updates: impl IntoIterator<Item = PermissionUpdate>) {
        let updates = updates.into_iter().filter_map(|update| update.standard());
        let input = self.request.input.clone();
        self.answer(PermissionAnswer {
            updated_permissions: Some(updates.collect()),
            ..PermissionAnswer::allow_with(input)
        });
    }

    /// Has the agent go on planning.
    ///
    /// The model reads why.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "plan 1. Read. 2. Write." => Event::Plan(plan)| {
    /// plan.reject("first the tests");
    /// # assert_eq!(end_of_turn(&mut session).await, "denied: first the tests");
    /// # });
    /// ```
    pub fn reject(self, why: impl Into<Text>) {
        self.answer(PermissionAnswer::deny(why));
    }

    fn answer(self, answer: PermissionAnswer) {
        self.responder
            .answer_permission(self.request.tool_use_id, answer);
    }
}
