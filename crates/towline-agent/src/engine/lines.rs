//! The lines that the agent writes, made from what happens.

use towline_protocol::{
    ApiRetry, Assistant, Block, CommandLifecycle, Content, ControlRequestProgress, ErrorBody,
    ErrorLine, Extra, Informational, Json, MessageId, ModelFallback, ModelMessage, Nullable,
    PermissionDenied, PermissionMode, RequestId, Role, ServerToolUse, SessionId, SessionState,
    SessionStateChanged, Status, StopReason, StreamEvent, StreamEventLine, System, Text, ToHost,
    ToolResultBlock, Usage, User, UserMessage, Uuid, Wire,
};

use super::Prompts;
use crate::{
    model::{ApiError, Retry},
    turn::{Call, Ended, Said},
};

/// A new id for a line.
pub(super) fn new_uuid() -> Uuid {
    uuid::Uuid::new_v4().to_string().into()
}

/// Now, as lines and records have it.
pub(super) fn timestamp() -> Text {
    let now = jiff::Timestamp::now();
    format!("{now:.3}").into()
}

/// What most lines have: whose they are, and which prompts they answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    /// The session.
    pub(super) session: &'a SessionId,
    /// The prompts of the turn.
    pub(super) prompts: &'a Prompts,
}

impl Lines<'_> {
    fn session(&self) -> Option<SessionId> {
        Some(self.session.clone())
    }

    /// What the model said.
    pub(super) fn assistant(&self, said: &Said, request_id: Option<Text>) -> Assistant {
        Assistant {
            message: Some(said.message.clone()),
            aborted: said.aborted.then_some(true),
            request_id,
            ..self.assistant_line()
        }
    }

    fn assistant_line(&self) -> Assistant {
        Assistant {
            parent_tool_use_id: Nullable::Null,
            session_id: self.session(),
            uuid: Some(new_uuid()),
            timestamp: Some(timestamp()),
            user_message_uuid: self.prompts.last(),
            user_message_uuids: self.prompts.all(),
            ..Assistant::default()
        }
    }

    /// Words of the agent where the model's should be.
    fn synthetic(&self, text: &str, stop_reason: StopReason) -> Assistant {
        let usage = Usage {
            input_tokens: Some(0),
            output_tokens: Some(0),
            cache_creation_input_tokens: Nullable::Value(0),
            cache_read_input_tokens: Nullable::Value(0),
            output_tokens_details: Nullable::Null,
            server_tool_use: Nullable::Value(ServerToolUse {
                web_search_requests: Some(0),
                web_fetch_requests: Some(0),
                ..ServerToolUse::default()
            }),
            service_tier: Nullable::Null,
            cache_creation: Nullable::Value(towline_protocol::CacheCreation {
                ephemeral_1h_input_tokens: Some(0),
                ephemeral_5m_input_tokens: Some(0),
                ..towline_protocol::CacheCreation::default()
            }),
            inference_geo: Nullable::Null,
            iterations: Nullable::Null,
            speed: Nullable::Null,
            fallback_credit: Nullable::Null,
            ..Usage::default()
        };
        Assistant {
            message: Some(ModelMessage {
                id: Some(MessageId::from(uuid::Uuid::new_v4().to_string())),
                kind: Some(Text::from_static("message")),
                role: Some(Role::Assistant),
                model: Some(Text::from_static("<synthetic>")),
                content: Nullable::Value(Content::Blocks(vec![Block::text(text)])),
                stop_reason: Nullable::Value(stop_reason),
                stop_sequence: Nullable::Value(Text::new()),
                stop_details: Nullable::Null,
                usage: Nullable::Value(usage),
                context_management: Nullable::Null,
                container: Nullable::Null,
                diagnostics: Nullable::Null,
                extra: Extra::default(),
            }),
            ..self.assistant_line()
        }
    }

    /// The API failed for good.
    pub(super) fn api_failed(&self, error: &ApiError) -> Assistant {
        Assistant {
            error: Some(error.name.into()),
            is_api_error_message: Some(true),
            request_id: error.request_id.as_deref().map(Text::from),
            api_error_status: error
                .status
                .map_or(Nullable::Absent, |status| Nullable::Value(status.into())),
            api_error_type: error.kind.as_deref().map(Text::from),
            api_error: error.code.map(Text::from_static),
            ..self.synthetic(&error.message, StopReason::StopSequence)
        }
    }

    /// The model refused for good.
    pub(super) fn refused(&self, text: &str, message: Option<MessageId>) -> Assistant {
        Assistant {
            error: Some(Text::from_static("invalid_request")),
            is_api_error_message: Some(true),
            refused_message_id: message,
            ..self.synthetic(text, StopReason::Refusal)
        }
    }

    /// A line in the user's place.
    pub(super) fn user(&self, content: Vec<Block>) -> User {
        User {
            message: UserMessage {
                role: Some(Role::User),
                content: Nullable::Value(Content::Blocks(content)),
                ..UserMessage::default()
            },
            parent_tool_use_id: Nullable::Null,
            session_id: self.session(),
            uuid: Some(new_uuid()),
            timestamp: Some(timestamp()),
            ..User::default()
        }
    }

    /// What a call gave.
    pub(super) fn tool_result(&self, ended: &Ended) -> User {
        let block = ToolResultBlock {
            tool_use_id: ended.call.id.clone(),
            content: Nullable::Value(ended.outcome.content.clone()),
            is_error: ended
                .outcome
                .is_error
                .map_or(Nullable::Absent, Nullable::Value),
            cache_control: Nullable::Absent,
            extra: Extra::default(),
        };
        User {
            tool_use_result: Json::of(&ended.outcome.data).ok(),
            tool_result_meta: ended.meta.clone().map(|meta| vec![meta]),
            ..self.user(vec![Block::ToolResult(Box::new(block))])
        }
    }

    /// The echo of a prompt.
    pub(super) fn replay(&self, content: Option<&Content>, uuid: Option<Uuid>) -> User {
        User {
            message: UserMessage {
                role: Some(Role::User),
                content: content.cloned().into(),
                ..UserMessage::default()
            },
            parent_tool_use_id: Nullable::Null,
            session_id: self.session(),
            uuid: uuid.or_else(|| Some(new_uuid())),
            is_replay: Some(true),
            ..User::default()
        }
    }

    /// What became of a prompt.
    pub(super) fn lifecycle(&self, prompt: &Uuid, state: &'static str) -> ToHost {
        ToHost::CommandLifecycle(Box::new(CommandLifecycle {
            command_uuid: prompt.clone(),
            state: Text::from_static(state),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            extra: Extra::default(),
        }))
    }

    /// An event of the stream. It is written from the text it came as.
    pub(super) fn stream_event(
        &self,
        event: StreamEvent,
        message: Option<&MessageId>,
    ) -> StreamEventLine {
        StreamEventLine {
            event,
            session_id: self.session(),
            parent_tool_use_id: Nullable::Null,
            uuid: Some(new_uuid()),
            api_message_id: message.cloned(),
            ttft_ms: None,
            thinking_display: None,
            user_message_uuid: None,
            user_message_uuids: None,
            owed_rows: None,
            abandoned_blocks: None,
            resume_reason: None,
            extra: Extra::default(),
        }
    }

    /// The model is called.
    pub(super) fn requesting(&self) -> ToHost {
        system(System::Status(Box::new(Status {
            status: Nullable::Value(Text::from_static("requesting")),
            user_message_uuids: self.prompts.all(),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            ..Status::default()
        })))
    }

    /// The mode changed.
    pub(super) fn mode(&self, mode: &PermissionMode) -> ToHost {
        system(System::Status(Box::new(Status {
            status: Nullable::Null,
            permission_mode: Some(mode.clone()),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            ..Status::default()
        })))
    }

    /// What the session does now.
    pub(super) fn state(&self, state: SessionState) -> ToHost {
        system(System::SessionStateChanged(Box::new(SessionStateChanged {
            state,
            sdk_host_only: Some(true),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            extra: Extra::default(),
        })))
    }

    /// The API is tried again.
    pub(super) fn retried(&self, retry: &Retry) -> ToHost {
        system(System::ApiRetry(Box::new(ApiRetry {
            attempt: Some(retry.attempt),
            max_retries: Some(retry.max_retries),
            retry_delay_ms: Some(retry.delay_ms.into()),
            error_status: retry
                .error
                .status
                .map_or(Nullable::Null, |status| Nullable::Value(status.into())),
            error: Some(retry.error.name.into()),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            ..ApiRetry::default()
        })))
    }

    /// Another model goes on.
    pub(super) fn fell_back(&self, from: &str, to: &str) -> ToHost {
        system(System::ModelFallback(Box::new(ModelFallback {
            trigger: Some(Text::from_static("overloaded")),
            original_model: Some(from.into()),
            fallback_model: Some(to.into()),
            content: Some(format!("{from} is overloaded; {to} goes on").into()),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            ..ModelFallback::default()
        })))
    }

    /// Somebody works on the answer to a request.
    pub(super) fn request_started(&self, request: Option<RequestId>) -> ToHost {
        system(System::ControlRequestProgress(Box::new(
            ControlRequestProgress {
                request_id: request,
                status: Some(Text::from_static("started")),
                uuid: Some(new_uuid()),
                session_id: Some(self.session.clone()),
                ..ControlRequestProgress::default()
            },
        )))
    }

    /// Something to know.
    pub(super) fn informational(&self, content: &str) -> ToHost {
        self.told(content, "notice")
    }

    /// Something that went otherwise than was wanted.
    pub(super) fn warning(&self, content: &str) -> ToHost {
        self.told(content, "warning")
    }

    fn told(&self, content: &str, level: &'static str) -> ToHost {
        system(System::Informational(Box::new(Informational {
            content: Some(content.into()),
            level: Some(Text::from_static(level)),
            session_id: self.session(),
            uuid: Some(new_uuid()),
            ..Informational::default()
        })))
    }

    /// A call was denied without anybody being asked.
    pub(super) fn denied(
        &self,
        call: &Call,
        message: &str,
        reason: (Option<&str>, Option<&str>),
    ) -> ToHost {
        system(System::PermissionDenied(Box::new(PermissionDenied {
            tool_name: call.name.clone(),
            tool_use_id: Some(call.id.clone()),
            message: Some(message.into()),
            decision_reason_type: reason.0.map(Text::from),
            decision_reason: reason.1.map(Text::from),
            decision_reason_code: None,
            agent_id: None,
            session_id: self.session(),
            uuid: Some(new_uuid()),
            extra: Extra::default(),
        })))
    }
}

/// Something was wrong with what the host wrote.
pub(super) fn error(message: impl Into<Text>, session: &SessionId) -> ToHost {
    ToHost::Error(Box::new(ErrorLine {
        error: ErrorBody {
            kind: Some(Text::from_static("invalid_request")),
            message: Some(message.into()),
            ..ErrorBody::default()
        },
        session_id: Some(session.clone()),
        extra: Extra::default(),
    }))
}

pub(super) fn system(line: System) -> ToHost {
    ToHost::System(line)
}

/// An event that the agent makes itself.
pub(super) fn made_event(text: &str) -> StreamEvent {
    StreamEvent::from_json(text).expect("an event that is written here")
}
