//! [`ToHost`]: every line an agent writes.

use crate::{
    content::Content,
    control::{ControlCancelRequest, ControlRequest, ControlResponse},
    ids::{AgentId, MessageId, SessionId, TaskId, ToolUseId, Uuid},
    json::{Json, Number, Text},
    message::{ModelMessage, Usage},
    result::TurnResult,
    stream::StreamEvent,
    system::System,
    tool::ToolName,
    user::User,
    wire::{Nullable, TextOrJson, wire_enum, wire_structs},
};

wire_enum! {
    /// A line that an agent writes, by its type.
    pub enum ToHost by "type" {
        /// A message in progress.
        "stream_event" => StreamEvent(Box<StreamEventLine>),
        /// What the model said: one block a line.
        "assistant" => Assistant(Box<Assistant>),
        /// What a tool gave, or an echo of what the host said.
        "user" => User(Box<User>),
        /// What the agent tells of itself.
        "system" => System(System),
        /// How a turn ended.
        "result" => Result(Box<TurnResult>),
        /// A question to the host.
        "control_request" => ControlRequest(Box<ControlRequest>),
        /// An answer to the host.
        "control_response" => ControlResponse(Box<ControlResponse>),
        /// A question that needs no answer any more.
        "control_cancel_request" => ControlCancelRequest(Box<ControlCancelRequest>),
        /// A tool still runs.
        "tool_progress" => ToolProgress(Box<ToolProgress>),
        /// What several calls did, in one line.
        "tool_use_summary" => ToolUseSummary(Box<ToolUseSummary>),
        /// What became of a message that had a uuid.
        "command_lifecycle" => CommandLifecycle(Box<CommandLifecycle>),
        /// The conversation starts over.
        "conversation_reset" => ConversationReset(Box<ConversationReset>),
        /// How far a limit of the plan is.
        "rate_limit_event" => RateLimit(Box<RateLimit>),
        /// Signing in.
        "auth_status" => AuthStatus(Box<AuthStatus>),
        /// What to ask next.
        "prompt_suggestion" => PromptSuggestion(Box<PromptSuggestion>),
        /// What the agent works towards.
        "active_goal" => ActiveGoal(Box<ActiveGoal>),
        /// Transcript records, for a copy.
        "transcript_mirror" => TranscriptMirror(Box<TranscriptMirror>),
        /// A sign of life.
        "keep_alive" => KeepAlive(KeepAlive),
        /// Something was wrong with what the host wrote (documents 000 and 003).
        "error" => Error(Box<ErrorLine>),
        /// A tool call on a line of its own (document 001).
        "tool_use" => ToolUse(Box<ToolUseLine>),
        /// What a tool gave, on a line of its own (documents 001 and 002).
        "tool_result" => ToolResult(Box<ToolResultLine>),
        /// The session has begun (document 003).
        "session.created" => SessionCreated(Box<SessionCreated>),
        /// A question to the host (document 003).
        "callback.request" => CallbackRequest(Box<ControlRequest>),
    }
}

/// The same field of the lines that say whose they are.
macro_rules! of_each_line {
    ($message:ident, $line:ident => $field:expr, else $other:ident => $rest:expr) => {
        match $message {
            ToHost::StreamEvent($line) => $field,
            ToHost::Assistant($line) => $field,
            ToHost::User($line) => $field,
            ToHost::Result($line) => $field,
            ToHost::ToolProgress($line) => $field,
            ToHost::ToolUseSummary($line) => $field,
            ToHost::CommandLifecycle($line) => $field,
            ToHost::ConversationReset($line) => $field,
            ToHost::RateLimit($line) => $field,
            ToHost::AuthStatus($line) => $field,
            ToHost::PromptSuggestion($line) => $field,
            ToHost::ActiveGoal($line) => $field,
            ToHost::ToolUse($line) => $field,
            ToHost::ToolResult($line) => $field,
            $other => $rest,
        }
    };
}

impl CommandLifecycle {
    /// Whether the agent has taken the message up.
    pub fn has_begun(&self) -> bool {
        self.state == "started"
    }

    /// Whether the message does not wait any more: its turn has come, or it was taken back.
    pub fn is_over_or_begun(&self) -> bool {
        self.state != "queued"
    }

    /// Whether the message was taken back before its turn.
    pub fn was_taken_back(&self) -> bool {
        self.state == "cancelled"
    }
}

impl ToHost {
    /// The session the line belongs to.
    pub fn session_id(&self) -> Option<&SessionId> {
        of_each_line!(self, line => line.session_id.as_ref(), else other => match other {
            Self::System(line) => line.session_id(),
            Self::Error(line) => line.session_id.as_ref(),
            Self::SessionCreated(line) => Some(&line.session_id),
            _ => None,
        })
    }

    /// The id of the line.
    pub fn uuid(&self) -> Option<&Uuid> {
        of_each_line!(self, line => line.uuid.as_ref(), else other => match other {
            Self::System(line) => line.uuid(),
            _ => None,
        })
    }

    /// The session id that counts for a host that has not been told one: document 001 §4.1 skips `system` and
    /// `stream_event` lines, because a fork's new id is only sure in the others.
    pub fn settled_session_id(&self) -> Option<&SessionId> {
        match self {
            Self::System(_) | Self::StreamEvent(_) => None,
            other => other.session_id().filter(|id| !id.as_str().is_empty()),
        }
    }

    /// The call whose subagent wrote the line; nothing for the main thread.
    pub fn parent_tool_use_id(&self) -> Option<&ToolUseId> {
        match self {
            Self::StreamEvent(line) => line.parent_tool_use_id.as_option(),
            Self::Assistant(line) => line.parent_tool_use_id.as_option(),
            Self::User(line) => line.parent_tool_use_id.as_option(),
            Self::ToolProgress(line) => line.parent_tool_use_id.as_option(),
            _ => None,
        }
    }

    /// What the line is, with its subtype: `system/init`, `stream_event/content_block_delta`, `result/success`.
    pub fn full_kind(&self) -> String {
        let kind = self.kind();
        let subtype = match self {
            Self::System(system) => system.kind(),
            Self::StreamEvent(line) => line.event.kind(),
            Self::Result(result) => match &result.subtype {
                Some(subtype) => subtype.as_str(),
                None => return kind.to_owned(),
            },
            Self::Assistant(line) if line.delta.is_some() => "delta",
            Self::ControlRequest(line) | Self::CallbackRequest(line) => line.request.kind(),
            Self::ControlResponse(line) => line.subtype(),
            _ => return kind.to_owned(),
        };
        if subtype.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}/{subtype}")
        }
    }
}

wire_structs! {
    /// `stream_event`
    pub struct StreamEventLine {
        /// The event.
        event: StreamEvent,
        /// The session.
        session_id: Option<SessionId>,
        /// The call whose subagent writes.
        parent_tool_use_id: Nullable<ToolUseId>,
        /// This line.
        uuid: Option<Uuid>,
        /// The message that grows.
        api_message_id: Option<MessageId>,
        /// Until the first token.
        ttft_ms: Option<u64>,
        /// How thinking is shown.
        thinking_display: Option<Text>,
        /// The message that the turn answers.
        user_message_uuid: Option<Uuid>,
        /// All messages that the turn answers.
        user_message_uuids: Option<Vec<Uuid>>,
        /// Lines still to come for the message.
        owed_rows: Option<Json>,
        /// Blocks that will not be finished.
        abandoned_blocks: Option<AbandonedBlocks>,
        /// Why an old turn goes on.
        resume_reason: Option<Text>,
    }

    /// Blocks that will not be finished.
    #[derive(Default)]
    pub struct AbandonedBlocks {
        /// Of which message.
        api_message_id: Option<MessageId>,
        /// From which block on.
        from_block_index: Option<u64>,
    }

    /// `assistant`
    #[derive(Default)]
    pub struct Assistant {
        /// The message; the real CLI puts one block on each line. Absent where document 000 puts a `delta`.
        message: Option<ModelMessage>,
        /// A piece of a message in progress (document 000).
        delta: Option<StreamEvent>,
        /// The call whose subagent speaks.
        parent_tool_use_id: Nullable<ToolUseId>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line; also the transcript record.
        uuid: Option<Uuid>,
        /// When.
        timestamp: Option<Text>,
        /// The API request.
        request_id: Option<Text>,
        /// The message that the turn answers.
        user_message_uuid: Option<Uuid>,
        /// All messages that the turn answers.
        user_message_uuids: Option<Vec<Uuid>>,
        /// Whether it was cut off by an interrupt.
        aborted: Option<bool>,
        /// What the API failed with.
        error: Option<Text>,
        /// Whether it tells of an API failure.
        is_api_error_message: Option<bool>,
        /// The HTTP status of the failure.
        api_error_status: Nullable<u64>,
        /// The API's name for it.
        api_error_type: Option<Text>,
        /// The agent's name for it.
        api_error: Option<Text>,
        /// The message that was refused.
        refused_message_id: Option<MessageId>,
        /// How long the model thought.
        thinking_duration_ms: Option<u64>,
        /// How thinking is shown.
        thinking_display: Option<Text>,
        /// More about the calls in it, for a person.
        tool_use_meta: Option<Vec<ToolUseMeta>>,
        /// The subagent that speaks.
        agent_id: Option<AgentId>,
        /// Its type.
        subagent_type: Option<Text>,
        /// What it does.
        task_description: Option<Text>,
        /// What a local command printed, in its tags.
        local_command_source: Option<Text>,
        /// The local command.
        local_command_run: Option<LocalCommandRun>,
        /// How the local command ended.
        local_command_outcome: Option<LocalCommandOutcome>,
        /// What fills the context, after `/context`.
        context_usage: Option<Json>,
        /// What was used, after `/usage`.
        usage_report: Option<Json>,
        /// Lines that no longer count.
        supersedes: Option<Vec<Uuid>>,
        /// Why an old turn goes on.
        resume_reason: Option<Text>,
        /// Whether it goes on from a thought that was cut off.
        resumed_from_incomplete_thinking: Option<bool>,
        /// The model, where document 003 has it.
        model: Option<Text>,
        /// Tokens, where document 003 has them.
        usage: Option<Usage>,
    }

    /// More about a call, for a person.
    pub struct ToolUseMeta {
        /// The call.
        id: ToolUseId,
        /// The tool's name for a person.
        display_name: Option<Text>,
        /// The server's name for a person.
        server_display_name: Option<Text>,
        /// The tool's name on the server.
        tool_name: Option<Text>,
    }

    /// A local command.
    pub struct LocalCommandRun {
        /// Its name.
        command: Text,
        /// Its arguments.
        args: Option<Text>,
    }

    /// How a local command ended.
    pub struct LocalCommandOutcome {
        /// Such as `failed` or `unavailable_headless`.
        kind: Text,
    }

    /// `tool_progress`
    #[derive(Default)]
    pub struct ToolProgress {
        /// The call.
        tool_use_id: Option<ToolUseId>,
        /// The tool.
        tool_name: Option<ToolName>,
        /// The call whose subagent runs it.
        parent_tool_use_id: Nullable<ToolUseId>,
        /// How long it has run.
        elapsed_time_seconds: Option<Number>,
        /// Whether it is only a sign of life.
        heartbeat: Option<bool>,
        /// The task.
        task_id: Option<TaskId>,
        /// The subagent's type.
        subagent_type: Option<Text>,
        /// The subagent's API failed and is tried again.
        subagent_retry: Option<Json>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `tool_use_summary`
    #[derive(Default)]
    pub struct ToolUseSummary {
        /// What they did.
        summary: Option<Text>,
        /// The calls.
        preceding_tool_use_ids: Option<Vec<ToolUseId>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `command_lifecycle`
    #[derive(Default)]
    pub struct CommandLifecycle {
        /// The message, by the uuid the host gave it.
        command_uuid: Uuid,
        /// `queued`, `started`, `completed` or `cancelled`.
        state: Text,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `conversation_reset`
    #[derive(Default)]
    pub struct ConversationReset {
        /// The new conversation.
        new_conversation_id: Option<Uuid>,
        /// What did it, such as `clear`.
        trigger: Option<Text>,
        /// The message that did it.
        user_message_uuid: Option<Uuid>,
        /// When.
        timestamp: Option<Text>,
        /// The session so far.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `rate_limit_event`
    #[derive(Default)]
    pub struct RateLimit {
        /// The limit.
        info: Option<Json> = "rate_limit_info",
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `auth_status`
    #[derive(Default)]
    pub struct AuthStatus {
        /// Whether it is going on.
        is_authenticating: Option<bool> = "isAuthenticating",
        /// What there is to read.
        output: Option<Vec<Text>>,
        /// What went wrong.
        error: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `prompt_suggestion`
    #[derive(Default)]
    pub struct PromptSuggestion {
        /// The prompt.
        suggestion: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `active_goal`
    #[derive(Default)]
    pub struct ActiveGoal {
        /// The goal; `null` when there is none.
        value: Nullable<Json>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `transcript_mirror`
    #[derive(Default)]
    pub struct TranscriptMirror {
        /// The transcript.
        file_path: Option<Text> = "filePath",
        /// The records.
        entries: Option<Vec<Json>>,
    }

    /// `keep_alive`, in both directions.
    #[derive(Default)]
    pub struct KeepAlive {}

    /// `error`
    pub struct ErrorLine {
        /// What was wrong.
        error: ErrorBody,
        /// The session.
        session_id: Option<SessionId>,
    }

    /// What was wrong: `type` in document 000, `code` in document 003.
    #[derive(Default)]
    pub struct ErrorBody {
        /// Such as `invalid_request`.
        kind: Option<Text> = "type",
        /// Such as `SESSION_NOT_FOUND`.
        code: Option<Text>,
        /// In words.
        message: Option<Text>,
    }

    /// `tool_use` as a line of its own.
    pub struct ToolUseLine {
        /// The call.
        id: Option<ToolUseId> = "id" | "tool_use_id",
        /// The tool.
        name: Option<ToolName> = "name" | "tool_name",
        /// Its input.
        input: Option<Json>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `tool_result` as a line of its own.
    pub struct ToolResultLine {
        /// The call.
        tool_use_id: Option<ToolUseId>,
        /// What it gave.
        content: Nullable<Content>,
        /// Whether it failed.
        is_error: Nullable<bool> = "is_error" | "isError",
        /// The same as data.
        result: Option<TextOrJson>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `session.created`
    pub struct SessionCreated {
        /// The session.
        session_id: SessionId,
    }
}
