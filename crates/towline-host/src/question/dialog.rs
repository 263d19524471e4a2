//! Questions that only a person or the program itself can answer: an MCP server's form, a dialog, and what else an
//! agent may ask.

use towline_protocol::{Json, Request, Text, Wire as _};

use super::{Responder, common_to_questions};

/// A question that is neither about a tool call nor a hook. Dropped, it is cancelled or refused.
///
/// ```
/// use towline_host::{Dialog, DialogAnswer, Request};
///
/// fn decide(dialog: Dialog) {
///     match dialog.request() {
///         Request::Elicitation(_) => dialog.answer(&DialogAnswer::Decline),
///         _ => dialog.refuse("there is nobody here"),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Dialog {
    request: Request,
    pub(super) responder: Responder,
}

common_to_questions!(Dialog, "dialog");

/// How a person ends the form of an MCP server.
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

    /// The question.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Answers the form of an MCP server.
    pub fn answer(self, answer: &DialogAnswer) {
        self.responder.answer(Ok(Some(answer.to_json())));
    }

    /// Any other answer.
    pub fn answer_with(self, answer: Json) {
        self.responder.answer(Ok(Some(answer)));
    }

    /// Says that it cannot be answered.
    pub fn refuse(self, why: impl Into<Text>) {
        self.responder.answer(Err(why.into()));
    }
}
