//! The control conversation: questions that either side asks and the other must answer.
//!
//! Here are the envelopes; the questions are in [`request`], the answers in [`answer`]. Who still waits for what is
//! the business of [`Peer`](crate::Peer).

pub mod answer;
pub mod request;

use crate::{
    ids::RequestId,
    json::{DecodeError, Json, Reader, Spelling, Tag, Text, Writer},
    permission::PermissionAnswer,
    wire::{Body, Extra, Field, Nullable, Parts, Result, Unnamed, take, wire_structs},
};
use request::Request;

/// `control_request`: a question, with the id under which its answer will come.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlRequest {
    /// The id; without one the answer has none either.
    pub request_id: Option<RequestId>,
    /// The question.
    pub request: Request,
    /// Whether it came wrapped in a second envelope under `message` (document 000).
    pub wrapped: bool,
    /// Fields that have no name here, kept and written back.
    pub extra: Extra,
}

impl ControlRequest {
    /// A question under an id.
    pub fn new(request_id: impl Into<RequestId>, request: Request) -> Self {
        Self {
            request_id: Some(request_id.into()),
            request,
            wrapped: false,
            extra: Extra::default(),
        }
    }
}

impl Body for ControlRequest {
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self> {
        let object = reader.offset();
        let mut extra = Extra::default();
        let (mut request_id, mut request, mut inner) = (None, None, None);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                "request_id" => {
                    take::<Option<_>>(&mut request_id, "request_id", &mut extra, reader)?;
                }
                "request" => take::<Request>(&mut request, "request", &mut extra, reader)?,
                "message" if reader.peek() == b'{' => {
                    let wrapped =
                        Self::read_body(reader, tags).map_err(|error| error.within("message"))?;
                    inner = Some(wrapped);
                }
                tag if tags.contains(&tag) => reader.skip_value()?,
                unknown => extra.keep(unknown, reader)?,
            }
        }
        match (request, inner) {
            (Some(request), _) => Ok(Self {
                request_id,
                request,
                wrapped: false,
                extra,
            }),
            (None, Some(inner)) => Ok(Self {
                wrapped: true,
                ..inner
            }),
            (None, None) => Err(DecodeError::shape("missing field `request`", object)),
        }
    }

    fn write_body(&self, writer: &mut Writer) {
        let wrap = self.wrapped && writer.spelling == Spelling::AsRead;
        if wrap {
            writer.key("message");
            writer.begin_object();
            writer.str_field("type", "control_request");
        }
        self.request_id
            .write_field("request_id", &self.extra, writer);
        self.request.write_field("request", &self.extra, writer);
        self.extra.write(writer);
        if wrap {
            writer.end_object();
        }
    }

    fn unnamed_body(&self, found: &mut Unnamed) {
        self.request.unnamed_field("request", found);
        self.extra.unnamed(found);
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
        Self::success(request_id, Some(crate::Wire::to_standard_json(answer)))
    }

    /// `success` or `error`; nothing in the flat form of document 003.
    pub fn subtype(&self) -> &'static str {
        match &self.reply {
            Reply::Success(_) => "success",
            Reply::Error(_) => "error",
            Reply::Flat { .. } => "",
        }
    }

    /// The question it answers.
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.reply {
            Reply::Success(success) => success.request_id.as_ref(),
            Reply::Error(failure) => failure.request_id.as_ref(),
            Reply::Flat { request_id, .. } => request_id.as_ref(),
        }
    }

    /// The answer, or the refusal.
    pub fn outcome(&self) -> std::result::Result<Option<&Json>, &Failure> {
        match &self.reply {
            Reply::Success(success) => Ok(success.response.as_option()),
            Reply::Error(failure) => Err(failure),
            Reply::Flat { response, .. } => Ok(Some(response)),
        }
    }
}

impl Body for ControlResponse {
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self> {
        let object = reader.offset();
        let mut extra = Extra::default();
        let (mut outer_id, mut reply) = (None, None);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                "request_id" => {
                    take::<Option<RequestId>>(&mut outer_id, "request_id", &mut extra, reader)?;
                }
                "response" => {
                    reply = Some(Reply::read(reader).map_err(|error| error.within("response"))?);
                }
                tag if tags.contains(&tag) => reader.skip_value()?,
                unknown => extra.keep(unknown, reader)?,
            }
        }
        let mut reply =
            reply.ok_or_else(|| DecodeError::shape("missing field `response`", object))?;
        match (&mut reply, outer_id) {
            (Reply::Flat { request_id, .. }, Some(id)) => *request_id = Some(id),
            (_, Some(id)) => {
                let mut writer = Writer::new(Spelling::AsRead);
                id.write(&mut writer);
                extra.insert("request_id", Json::from_checked(writer.finish()));
            }
            (_, None) => {}
        }
        Ok(Self { reply, extra })
    }

    fn write_body(&self, writer: &mut Writer) {
        match (&self.reply, writer.spelling) {
            (Reply::Success(success), _) => write_nested("success", &**success, writer),
            (Reply::Error(failure), _) => write_nested("error", &**failure, writer),
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
        });
        self.extra.unnamed(found);
    }
}

impl Reply {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        const TAGS: &[&str] = &["subtype"];
        const SUBTYPE: Tag = Tag::new("subtype", "{\"subtype\":\"");
        match reader.tag(&SUBTYPE)?.as_deref() {
            Some("success") => Body::read_body(reader, TAGS).map(Self::Success),
            Some("error") => Body::read_body(reader, TAGS).map(Self::Error),
            _ => reader.json().map(|response| Self::Flat {
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
