//! Questions that only a person or the program itself can answer: an MCP server's form, a dialog, and what else an
//! agent may ask.

use towline_protocol::{Json, Request, Text, Wire as _};

use super::{Responder, common_to_questions};

/// A question that is neither about a tool call nor a hook.
///
/// Dropped, it is cancelled or refused.
///
/// ```
/// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
/// match dialog.request() {
///     Request::Elicitation(_) => dialog.answer(&DialogAnswer::Decline),
///     _ => dialog.refuse("there is nobody here"),
/// }
/// # assert_eq!(end_of_turn(&mut session).await, r#"{"action":"decline"}"#);
/// # });
/// ```
#[derive(Debug)]
pub struct Dialog {
    request: Request,
    pub(super) responder: Responder,
}

common_to_questions!(Dialog, "form Your name?");

/// How a person ends the form of an MCP server.
///
/// ```
/// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
/// let form = Json::new(r#"{"name":"Ada"}"#)?;
/// dialog.answer(&DialogAnswer::Accept(form));
/// # assert_eq!(end_of_turn(&mut session).await, r#"{"action":"accept","content":{"name":"Ada"}}"#);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DialogAnswer {
    /// With this content.
    Accept(Json),
    /// With a no.
    Decline,
    /// Without an answer.
    Cancel,
}

impl DialogAnswer {
    pub(crate) fn to_json(&self) -> Json {
        let (action, content) = match self {
            Self::Accept(content) => ("accept", Some(content.clone())),
            Self::Decline => ("decline", None),
            Self::Cancel => ("cancel", None),
        };
        towline_protocol::control::answer::ElicitationAnswer {
            action: Some(action.into()),
            content,
            extra: towline_protocol::Extra::default(),
        }
        .to_standard_json()
    }
}

impl Dialog {
    pub(crate) fn new(request: Request, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// The question, as the agent wrote it.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
    /// assert_eq!(dialog.request().kind(), "elicitation");
    /// # });
    /// ```
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Answers the form of an MCP server.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
    /// dialog.answer(&DialogAnswer::Cancel);
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"action":"cancel"}"#);
    /// # });
    /// ```
    pub fn answer(self, answer: &DialogAnswer) {
        self.responder.answer(Ok(Some(answer.to_json())));
    }

    /// Gives any other answer.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
    /// dialog.answer_with(Json::new(r#"{"action":"decline"}"#)?);
    /// # assert_eq!(end_of_turn(&mut session).await, r#"{"action":"decline"}"#);
    /// # });
    /// ```
    pub fn answer_with(self, answer: Json) {
        self.responder.answer(Ok(Some(answer)));
    }

    /// Says that it cannot be answered.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "form Your name?" => Event::Dialog(dialog)| {
    /// dialog.refuse("there is nobody here");
    /// # assert_eq!(end_of_turn(&mut session).await, "refused: there is nobody here");
    /// # });
    /// ```
    pub fn refuse(self, why: impl Into<Text>) {
        self.responder.answer(Err(why.into()));
    }
}
