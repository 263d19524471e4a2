//! The dialect of document 003 (`session.create`, `callback.request`, …), translated line by line.
//!
//! The standard wire and the dialect share their types: both are variants of [`ToAgent`] and [`ToHost`]. This module
//! maps one set of variants and spellings to the other, in all four ways: [`to_standard`] and [`to_dialect`] for lines
//! to the agent, [`host_to_standard`] and [`host_to_dialect`] for lines to the host. [`Session`] adds the little
//! memory that an agent needs to speak the dialect on its own stdin, and [`Opening`] what a translator in front of one
//! needs to keep the document's order.
//!
//! Lines the dialect has no word for (stream events, task events, …) pass through unchanged.

mod opening;
mod spelling;

pub use opening::Opening;

use crate::{
    control::{ControlRequest, ControlResponse, Reply, Success, request::Request},
    ids::{RequestId, SessionId},
    json::Text,
    peer::ControlLine,
    system::System,
    to_agent::{SessionMessage, ToAgent},
    to_host::{ErrorBody, ErrorLine, SessionCreated, ToHost},
    user::User,
    wire::{Extra, Nullable, wire_strings},
};

wire_strings! {
    /// What went wrong, in an `error` line of the dialect.
    pub enum ErrorCode {
        /// The line is not JSON, or not a message of the dialect.
        InvalidMessage = "INVALID_MESSAGE",
        /// A message of a type that nobody here knows.
        UnknownType = "UNKNOWN_TYPE",
        /// A message for a session that was not created.
        SessionNotFound = "SESSION_NOT_FOUND",
        /// A session was created already.
        SessionExists = "SESSION_EXISTS",
        /// A control request failed.
        RequestFailed = "REQUEST_FAILED",
        /// The agent behind wrote what is no line of the protocol.
        AgentLine = "INVALID_AGENT_LINE",
        /// The agent behind has ended.
        AgentExited = "AGENT_EXITED",
    }
}

/// Whether a line can only be of the dialect: an agent switches its connection on the first such line.
pub fn is_dialect(line: &ToAgent) -> bool {
    matches!(
        line,
        ToAgent::SessionCreate(_) | ToAgent::SessionSend(_) | ToAgent::CallbackResponse(_)
    )
}

/// A line to the agent, from the dialect to the standard wire.
pub fn to_standard(line: ToAgent) -> ToAgent {
    match line {
        ToAgent::SessionCreate(create) | ToAgent::SessionSend(create) => {
            let mut user = User::say("");
            user.message = create.message;
            user.message.kind = None;
            user.extra = create.extra;
            ToAgent::User(Box::new(user))
        }
        ToAgent::CallbackResponse(response) | ToAgent::ControlResponse(response) => {
            ToAgent::ControlResponse(Box::new(spelling::standard_answer(nested(*response))))
        }
        ToAgent::ControlRequest(mut request) => {
            if let Request::Initialize(initialize) = &mut request.request {
                spelling::standard_initialize(initialize);
            }
            ToAgent::ControlRequest(request)
        }
        other => other,
    }
}

/// A line to the agent, from the standard wire to the dialect. The first message creates the session.
pub fn to_dialect(line: ToAgent, first: bool) -> ToAgent {
    match line {
        ToAgent::User(user) => {
            let message = Box::new(SessionMessage {
                message: user.message,
                extra: user.extra,
            });
            if first {
                ToAgent::SessionCreate(message)
            } else {
                ToAgent::SessionSend(message)
            }
        }
        ToAgent::ControlResponse(response) => {
            ToAgent::CallbackResponse(Box::new(spelling::dialect_answer(nested(*response))))
        }
        ToAgent::ControlRequest(mut request) => {
            if let Request::Initialize(initialize) = &mut request.request {
                spelling::dialect_initialize(initialize);
            }
            ToAgent::ControlRequest(request)
        }
        other => other,
    }
}

/// A line to the host, from the standard wire to the dialect.
pub fn host_to_dialect(line: ToHost) -> ToHost {
    match line {
        ToHost::ControlRequest(mut request) => {
            let Request::CanUseTool(question) = &mut request.request else {
                return ToHost::ControlRequest(request);
            };
            spelling::dialect_question(question);
            ToHost::CallbackRequest(request)
        }
        ToHost::ControlResponse(response) => match response.reply {
            Reply::Success(success) => {
                let mut success = *success;
                spelling::note_pending(&mut success);
                let response = success.response.into_option().unwrap_or_default();
                ToHost::ControlResponse(Box::new(ControlResponse {
                    reply: Reply::Flat {
                        request_id: success.request_id,
                        response: spelling::dialect_initialize_answer(response),
                    },
                    extra: success.extra,
                }))
            }
            Reply::Error(failure) => ToHost::Error(Box::new(spelling::dialect_failure(&failure))),
            other @ (Reply::Flat { .. } | Reply::Unknown(_)) => {
                ToHost::ControlResponse(Box::new(ControlResponse {
                    reply: other,
                    extra: response.extra,
                }))
            }
        },
        ToHost::System(mut system) => {
            spelling::dialect_system(&mut system);
            ToHost::System(system)
        }
        ToHost::Assistant(mut assistant) => {
            spelling::dialect_assistant(&mut assistant);
            ToHost::Assistant(assistant)
        }
        ToHost::User(mut user) => {
            spelling::dialect_user(&mut user);
            ToHost::User(user)
        }
        ToHost::Result(mut result) => {
            spelling::dialect_result(&mut result);
            ToHost::Result(result)
        }
        other => other,
    }
}

/// A line to the host, from the dialect to the standard wire. Nothing for `session.created`, which only repeats the
/// id that every standard line has.
pub fn host_to_standard(line: ToHost) -> Option<ToHost> {
    Some(match line {
        ToHost::SessionCreated(_) => return None,
        ToHost::CallbackRequest(mut request) => {
            if let Request::CanUseTool(question) = &mut request.request {
                spelling::standard_question(question);
            }
            ToHost::ControlRequest(request)
        }
        ToHost::ControlResponse(response) => {
            let mut response = nested(*response);
            if let Reply::Success(success) = &mut response.reply
                && let Nullable::Value(answer) = &mut success.response
            {
                *answer = spelling::standard_initialize_answer(std::mem::take(answer));
            }
            ToHost::ControlResponse(Box::new(response))
        }
        ToHost::Error(line) => match spelling::standard_failure(&line) {
            Some(failure) => ToHost::ControlResponse(Box::new(ControlResponse {
                reply: Reply::Error(Box::new(failure)),
                extra: Extra::default(),
            })),
            None => ToHost::Error(line),
        },
        ToHost::System(mut system) => {
            spelling::standard_system(&mut system);
            ToHost::System(system)
        }
        ToHost::Assistant(mut assistant) => {
            spelling::standard_assistant(&mut assistant);
            ToHost::Assistant(assistant)
        }
        ToHost::User(mut user) => {
            spelling::standard_user(&mut user);
            ToHost::User(user)
        }
        ToHost::Result(mut result) => {
            spelling::standard_result(&mut result);
            ToHost::Result(result)
        }
        other => other,
    })
}

/// An `error` line of the dialect.
pub fn error(code: &ErrorCode, message: impl Into<Text>) -> ToHost {
    let error = ErrorBody {
        code: Some(code.as_str().into()),
        message: Some(message.into()),
        ..ErrorBody::default()
    };
    ToHost::Error(Box::new(ErrorLine {
        error,
        session_id: None,
        extra: Extra::default(),
    }))
}

/// One connection of an agent that speaks the dialect: it knows whether the session was created and announced.
///
/// ```
/// use towline_protocol::{ToAgent, ToHost, Wire, dialect::session::Session};
///
/// let mut session = Session::default();
/// let create = ToAgent::from_json(r#"{"type":"session.create","message":{"role":"user","content":"hi"}}"#)?;
/// let lines = session.from_host(create).unwrap();
/// assert_eq!(lines[0].kind(), "user");
///
/// let init = ToHost::from_json(r#"{"type":"system","subtype":"init","session_id":"s1"}"#)?;
/// let kinds: Vec<_> = session.to_host(init).iter().map(|line| line.kind().to_owned()).collect();
/// assert_eq!(kinds, ["system", "session.created"]);
/// # Ok::<(), towline_protocol::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Session {
    created: bool,
    announced: Option<SessionId>,
    /// What to say before the agent says it; nothing where the agent speaks for itself.
    opening: Option<Opening>,
    /// The host's `initialize` that waits for its answer, and the servers in it.
    initialize: Option<(Option<RequestId>, Vec<Text>)>,
    /// A `system` line with `init` has gone to the host.
    introduced: bool,
    /// The agent has begun a turn.
    begun: bool,
    /// Requests this translator made itself, whose answers the host did not ask for.
    own_requests: Vec<RequestId>,
}

impl Session {
    /// A connection to an agent that does not know the dialect. The answer to `initialize` is followed by a `system`
    /// line, as the document shows it, and `session.created` comes before whatever tells that the session has begun.
    ///
    /// ```
    /// use towline_protocol::{ToAgent, ToHost, Wire, dialect::session::{Opening, Session}};
    ///
    /// let mut session = Session::opened(Opening { session_id: Some("s1".into()), ..Opening::default() });
    /// let initialize = ToAgent::from_json(
    ///     r#"{"type":"control_request","request_id":"r","request":{"subtype":"initialize"}}"#,
    /// )?;
    /// session.from_host(initialize).unwrap();
    /// let answer = ToHost::from_json(
    ///     r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{}}}"#,
    /// )?;
    /// let lines = session.to_host(answer);
    /// assert_eq!(
    ///     lines[1].to_json().as_str(),
    ///     r#"{"type":"system","subtype":"init","session_id":"s1","tools":[],"mcp_servers":[]}"#
    /// );
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn opened(opening: Opening) -> Self {
        Self {
            opening: Some(opening),
            ..Self::default()
        }
    }

    /// A line of the host, for the agent behind.
    ///
    /// # Errors
    /// With the `error` line to send back: a message before the session was created, a second creation, or a type
    /// that nobody knows.
    pub fn from_host(&mut self, mut line: ToAgent) -> Result<Vec<ToAgent>, Box<ToHost>> {
        match &line {
            ToAgent::Unknown(unknown) => {
                let refusal = error(
                    &ErrorCode::UnknownType,
                    format!("no message has the type `{}`", unknown.kind()),
                );
                return Err(Box::new(refusal));
            }
            ToAgent::ControlRequest(asked) => {
                if let Request::Initialize(initialize) = &asked.request {
                    let servers = opening::server_names(initialize);
                    self.initialize = Some((asked.request_id.clone(), servers));
                }
            }
            ToAgent::SessionCreate(_) if self.created => {
                let refusal = error(
                    &ErrorCode::SessionExists,
                    "this connection has a session already",
                );
                return Err(Box::new(refusal));
            }
            ToAgent::SessionCreate(_) => self.created = true,
            ToAgent::SessionSend(_) if !self.created => {
                let refusal = error(
                    &ErrorCode::SessionNotFound,
                    "no session yet: send session.create first",
                );
                return Err(Box::new(refusal));
            }
            _ => {}
        }
        let servers = spelling::take_mcp_servers(&mut line);
        let mut lines = vec![to_standard(line)];
        if let Some((request_id, request)) = servers {
            self.own_requests.push(request_id.clone());
            lines.push(ControlLine::Request(ControlRequest::new(request_id, request)).into());
        }
        Ok(lines)
    }

    /// A line of the agent behind, for the host.
    pub fn to_host(&mut self, line: ToHost) -> Vec<ToHost> {
        if let ToHost::ControlResponse(response) = &line
            && let Some(id) = response.request_id()
            && let Some(place) = self.own_requests.iter().position(|own| own == id)
        {
            self.own_requests.remove(place);
            return Vec::new();
        }
        let was_introduced = self.introduced;
        if matches!(line, ToHost::System(System::Init(_))) {
            self.introduced = true;
            self.begun = true;
        }
        if let Some(not_found) = self.not_found(&line) {
            return vec![not_found, host_to_dialect(line)];
        }
        let created = self.announcement(&line);
        let introduction = self.introduction(&line);
        let line = host_to_dialect(line);
        // The document has `system` before `session.created`, and that before all else of the session.
        let lines = if was_introduced && self.opening.is_some() {
            [created, Some(line), introduction]
        } else {
            [Some(line), introduction, created]
        };
        lines.into_iter().flatten().collect()
    }

    /// `session.created`, if the line is the first to tell which session it is.
    fn announcement(&mut self, line: &ToHost) -> Option<ToHost> {
        let id = line.session_id().filter(|id| !id.as_str().is_empty())?;
        if !self.created || self.announced.as_ref() == Some(id) {
            return None;
        }
        self.announced = Some(id.clone());
        let created = SessionCreated {
            session_id: id.clone(),
            extra: Extra::default(),
        };
        Some(ToHost::SessionCreated(Box::new(created)))
    }

    /// The `system` line behind the answer to `initialize`.
    fn introduction(&mut self, line: &ToHost) -> Option<ToHost> {
        let ToHost::ControlResponse(response) = line else {
            return None;
        };
        let (id, _) = self.initialize.as_ref()?;
        if response.request_id() != id.as_ref() {
            return None;
        }
        let (_, servers) = self.initialize.take()?;
        let answer = response.outcome().ok()?;
        let opening = self.opening.as_ref().filter(|_| !self.introduced)?;
        self.introduced = true;
        Some(opening.system(answer, servers))
    }

    /// The `error` for a session that should have been resumed: the agent fails before it has begun a turn (trace
    /// `control-09k7_resume_missing`).
    fn not_found(&self, line: &ToHost) -> Option<ToHost> {
        let resumes = self.opening.as_ref().is_some_and(|opening| opening.resumes);
        let ToHost::Result(result) = line else {
            return None;
        };
        if !resumes || self.begun || !result.failed() {
            return None;
        }
        let errors: Vec<&str> = result.errors.iter().flatten().map(Text::as_str).collect();
        let message = if errors.is_empty() {
            "the session cannot be resumed".to_owned()
        } else {
            errors.join("\n")
        };
        Some(error(&ErrorCode::SessionNotFound, message))
    }
}

/// The nested form of an answer, whichever it came in.
fn nested(response: ControlResponse) -> ControlResponse {
    let Reply::Flat {
        request_id,
        response: value,
    } = response.reply
    else {
        return response;
    };
    // The flat form has no way to say that there is no value but `null`.
    let value = if value.is_null() {
        Nullable::Absent
    } else {
        Nullable::Value(value)
    };
    let mut success = Success {
        request_id,
        response: value,
        extra: response.extra,
        ..Success::default()
    };
    spelling::noted_pending(&mut success);
    ControlResponse {
        reply: Reply::Success(Box::new(success)),
        extra: Extra::default(),
    }
}
