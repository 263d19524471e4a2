//! The control conversation: questions that either side asks and the other must answer.
//!
//! Here are the envelopes; the questions are in [`request`], the answers in [`answer`]. Who still waits for what is
//! the business of [`Peer`](crate::Peer).

pub mod answer;
pub mod request;

use crate::{
    ids::RequestId,
    json::{Json, Likely, Reader, Spelling, Tag, Text, Writer},
    permission::PermissionAnswer,
    wire::{
        Body, Extra, Field, Names, Nullable, Object, Parts, Result, Unknown, Unnamed, Wire,
        wire_structs,
    },
};
use request::Request;

/// `control_request`: a question, with the id under which its answer will come.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlRequest {
    /// The id; without one the answer has none either.
    pub request_id: Option<RequestId>,
    /// The question.
    pub request: Request,
    /// The fields of a second envelope around it, where it came wrapped in one under `message` (document 000).
    pub wrapped: Option<Extra>,
    /// Fields that have no name here, kept and written back.
    pub extra: Extra,
}

impl ControlRequest {
    /// A question under an id.
    pub fn new(request_id: impl Into<RequestId>, request: Request) -> Self {
        Self {
            request_id: Some(request_id.into()),
            request,
            wrapped: None,
            extra: Extra::default(),
        }
    }
}

impl Body for ControlRequest {
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self> {
        const NAMES: &Names = &Names {
            standard: &[
                Likely::new("\"request_id\":"),
                Likely::new("\"request\":"),
                Likely::new("\"message\":"),
            ],
            other: &[],
        };
        let (mut request_id, mut request, mut message) = (None, None, None);
        let mut message_at = 0;
        let mut object = Object::new(NAMES, tags);
        object.begin(reader)?;
        while let Some(index) = object.next(reader)? {
            match index {
                0 => object.take::<Option<RequestId>>(&mut request_id, reader)?,
                1 => object.take::<Request>(&mut request, reader)?,
                _ => {
                    message_at = reader.offset();
                    object.take::<Json>(&mut message, reader)?;
                }
            }
        }
        match (request, message) {
            (None, None) => Err(object.missing(1)),
            (Some(request), message) => {
                let mut extra = object.into_extra();
                if let Some(message) = message {
                    extra.insert("message", message);
                }
                Ok(Self {
                    request_id,
                    request,
                    wrapped: None,
                    extra,
                })
            }
            (None, Some(message)) => {
                let mut extra = object.into_extra();
                if let Some(id) = request_id {
                    extra.insert("request_id", id.to_json());
                }
                let inner = Self::read_body(&mut Reader::new(message.text()), tags);
                let inner = inner.map_err(|error| error.shifted(message_at).within("message"))?;
                Ok(Self {
                    wrapped: Some(extra),
                    ..inner
                })
            }
        }
    }

    fn write_body(&self, writer: &mut Writer) {
        let wrapped = self
            .wrapped
            .as_ref()
            .filter(|_| writer.spelling == Spelling::AsRead);
        if wrapped.is_some() {
            writer.key("message");
            writer.begin_object();
            writer.str_field("type", "control_request");
        }
        self.request_id
            .write_field("request_id", &self.extra, writer);
        self.request.write_field("request", &self.extra, writer);
        self.extra.write(writer);
        if let Some(outer) = wrapped {
            writer.end_object();
            outer.write(writer);
        }
    }

    fn unnamed_body(&self, found: &mut Unnamed) {
        self.request.unnamed_field("request", found);
        self.extra.unnamed(found);
        if let Some(outer) = &self.wrapped {
            outer.unnamed(found);
        }
    }
}

/// `control_response`, and `callback.response` of document 003: the answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlResponse {
    /// The answer.
    pub reply: Reply,
    /// Fields of the envelope that have no name here, kept and written back.
    pub extra: Extra,
}

/// How a question was answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `{"subtype":"success","request_id":…,"response":…}`
    Success(Box<Success>),
    /// `{"subtype":"error","request_id":…,"error":…}`
    Error(Box<Failure>),
    /// The flat form of document 003: the id in the envelope, and `response` the answer itself.
    Flat {
        /// The question.
        request_id: Option<RequestId>,
        /// The answer.
        response: Json,
    },
    /// A kind of answer that has no name here, kept whole.
    Unknown(Unknown),
}

wire_structs! {
    /// An answer.
    #[derive(Default)]
    pub struct Success {
        /// The question.
        request_id: Option<RequestId>,
        /// What was asked for; many answers have none.
        response: Nullable<Json>,
        /// Questions the agent is still waiting for, told on `initialize`.
        pending_permission_requests: Option<Vec<Json>>,
        /// Dialogs the agent is still waiting for, told on `initialize`.
        pending_user_dialog_requests: Option<Vec<Json>>,
        /// Elicitations the agent is still waiting for, told on `initialize`.
        pending_elicitation_requests: Option<Vec<Json>>,
    }

    /// A refusal.
    #[derive(Default)]
    pub struct Failure {
        /// The question.
        request_id: Option<RequestId>,
        /// What went wrong.
        error: Text,
        /// What went wrong, for programs, such as `unsupported_request`.
        error_code: Option<Text>,
        /// The model that stays, when it could not be changed.
        model: Option<Text>,
        /// Questions the agent is still waiting for.
        pending_permission_requests: Option<Vec<Json>>,
        /// Dialogs the agent is still waiting for.
        pending_user_dialog_requests: Option<Vec<Json>>,
        /// Elicitations the agent is still waiting for.
        pending_elicitation_requests: Option<Vec<Json>>,
    }

    /// `control_cancel_request`: the asker no longer wants an answer.
    pub struct ControlCancelRequest {
        /// The question.
        request_id: RequestId,
    }
}

impl ControlResponse {
    /// An answer; nothing for the many that carry none.
    pub fn success(request_id: Option<RequestId>, response: Option<Json>) -> Self {
        let response = response.map_or(Nullable::Absent, Nullable::Value);
        Self {
            reply: Reply::Success(Box::new(Success {
                request_id,
                response,
                ..Success::default()
            })),
            extra: Extra::default(),
        }
    }

    /// A refusal.
    pub fn error(request_id: Option<RequestId>, error: impl Into<Text>) -> Self {
        Self {
            reply: Reply::Error(Box::new(Failure {
                request_id,
                error: error.into(),
                ..Failure::default()
            })),
            extra: Extra::default(),
        }
    }

    /// The refusal of a question nobody here knows, in the real CLI's words.
    pub fn unsupported(request_id: Option<RequestId>, subtype: &str) -> Self {
        Self {
            reply: Reply::Error(Box::new(Failure {
                request_id,
                error: format!("Unsupported control request subtype: {subtype}").into(),
                error_code: Some(Text::from_static("unsupported_request")),
                ..Failure::default()
            })),
            extra: Extra::default(),
        }
    }

    /// The answer to a permission question.
    pub fn permission(request_id: Option<RequestId>, answer: &PermissionAnswer) -> Self {
        Self::success(request_id, Some(answer.to_standard_json()))
    }

    /// `success` or `error`; nothing in the flat form of document 003.
    pub fn subtype(&self) -> &str {
        match &self.reply {
            Reply::Success(_) => "success",
            Reply::Error(_) => "error",
            Reply::Flat { .. } => "",
            Reply::Unknown(unknown) => unknown.kind(),
        }
    }

    /// The question it answers.
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.reply {
            Reply::Success(success) => success.request_id.as_ref(),
            Reply::Error(failure) => failure.request_id.as_ref(),
            Reply::Flat { request_id, .. } => request_id.as_ref(),
            Reply::Unknown(_) => None,
        }
    }

    /// The answer, or the refusal.
    pub fn outcome(&self) -> std::result::Result<Option<&Json>, &Failure> {
        match &self.reply {
            Reply::Success(success) => Ok(success.response.as_option()),
            Reply::Error(failure) => Err(failure),
            Reply::Flat { response, .. } => Ok(Some(response)),
            Reply::Unknown(unknown) => Ok(Some(&unknown.json)),
        }
    }
}

impl Body for ControlResponse {
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self> {
        const NAMES: &Names = &Names {
            standard: &[Likely::new("\"response\":"), Likely::new("\"request_id\":")],
            other: &[],
        };
        let (mut outer_id, mut reply) = (None, None);
        let mut object = Object::new(NAMES, tags);
        object.begin(reader)?;
        while let Some(index) = object.next(reader)? {
            match index {
                0 => {
                    reply = Some(Reply::read(reader).map_err(|error| error.within("response"))?);
                }
                _ => object.take::<Option<RequestId>>(&mut outer_id, reader)?,
            }
        }
        let Some(mut reply) = reply else {
            return Err(object.missing(0));
        };
        let mut extra = object.into_extra();
        match (&mut reply, outer_id) {
            (Reply::Flat { request_id, .. }, Some(id)) => *request_id = Some(id),
            (_, Some(id)) => extra.insert("request_id", id.to_json()),
            (_, None) => {}
        }
        Ok(Self { reply, extra })
    }

    fn write_body(&self, writer: &mut Writer) {
        match (&self.reply, writer.spelling) {
            (Reply::Success(success), _) => write_nested("success", &**success, writer),
            (Reply::Error(failure), _) => write_nested("error", &**failure, writer),
            (Reply::Unknown(unknown), _) => {
                unknown.json.write_field("response", &self.extra, writer);
            }
            (
                Reply::Flat {
                    request_id,
                    response,
                },
                Spelling::Standard,
            ) => {
                let response = Nullable::Value(response.clone());
                let success = Success {
                    request_id: request_id.clone(),
                    response,
                    ..Success::default()
                };
                write_nested("success", &success, writer);
            }
            (
                Reply::Flat {
                    request_id,
                    response,
                },
                Spelling::AsRead,
            ) => {
                request_id.write_field("request_id", &self.extra, writer);
                response.write_field("response", &self.extra, writer);
            }
        }
        self.extra.write(writer);
    }

    fn unnamed_body(&self, found: &mut Unnamed) {
        found.field("response", |found| match &self.reply {
            Reply::Success(success) => success.unnamed(found),
            Reply::Error(failure) => failure.unnamed(found),
            Reply::Flat { .. } => {}
            Reply::Unknown(unknown) => found.field("subtype", |found| found.value(unknown.kind())),
        });
        self.extra.unnamed(found);
    }
}

impl Reply {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        const TAGS: &[&str] = &["subtype"];
        const SUBTYPE: Tag = Tag::new("subtype", "{\"subtype\":\"");
        let subtype = if reader.peek() == b'{' {
            reader.tag(&SUBTYPE)?
        } else {
            None
        };
        match subtype.as_deref() {
            Some("success") => Body::read_body(reader, TAGS).map(Self::Success),
            Some("error") => Body::read_body(reader, TAGS).map(Self::Error),
            Some(unknown) => Unknown::read(Some(unknown), reader).map(Self::Unknown),
            None => reader.json().map(|response| Self::Flat {
                request_id: None,
                response,
            }),
        }
    }
}

fn write_nested(subtype: &str, body: &impl Body, writer: &mut Writer) {
    writer.key("response");
    writer.begin_object();
    writer.str_field("subtype", subtype);
    body.write_body(writer);
    writer.end_object();
}
