//! [`ToClient`]: every message a bridge writes, and those about a turn. Others are beside their requests.

use super::{
    ArchiveResult, BridgeId, DiffImage, DiffResult, DirectoryListing, ErrorCode, ExecutionMode,
    FileContent, FileList, History, HistoryRange, ImageRef, InputAck, InputRejected, Outcome,
    PastHistory, ProjectHistory, Provider, PushRegistration, RecentSessions, RenameResult,
    RewindPreview, RewindResult, SessionLink, SessionList, Status, SystemKind, UsageResult,
    UserInput, WorktreeList, WorktreeRemoved,
};
use crate::{
    content::Block,
    ids::{SessionId, ToolUseId, Uuid},
    json::{DecodeError, Json, Number, Text},
    message::{ModelMessage, StopReason},
    permission::PermissionMode,
    tool::ToolName,
    wire::{Nullable, wire_enum, wire_structs},
};

wire_enum! {
    /// A message that a bridge writes, by its type. The first ten are those of document 004 §8.2.
    pub enum ToClient by "type" {
        /// What the bridge tells of a session.
        "system" => System(Box<System>),
        /// What the model said.
        "assistant" => Assistant(Box<Assistant>),
        /// What a tool gave.
        "tool_result" => ToolResult(Box<ToolResult>),
        /// How a turn ended.
        "result" => Result(Box<TurnEnd>),
        /// Something went wrong.
        "error" => Error(Box<Problem>),
        /// What a session is doing.
        "status" => Status(StatusChange),
        /// What has been said.
        "history" => History(History),
        /// May this tool run?
        "permission_request" => PermissionRequest(Box<PermissionRequest>),
        /// More of the model's words.
        "stream_delta" => StreamDelta(Delta),
        /// More of the model's thinking.
        "thinking_delta" => ThinkingDelta(Delta),
        /// The sessions of the bridge.
        "session_list" => SessionList(Box<SessionList>),
        /// The projects of the bridge.
        "project_history" => ProjectHistory(ProjectHistory),
        /// The sessions on disk.
        "recent_sessions" => RecentSessions(Box<RecentSessions>),
        /// What was said before the bridge had the session.
        "past_history" => PastHistory(PastHistory),
        /// An input has arrived.
        "input_ack" => InputAck(InputAck),
        /// An input was not taken.
        "input_rejected" => InputRejected(InputRejected),
        /// What an app missed.
        "history_delta" => HistoryDelta(HistoryRange),
        /// All there is, where what an app missed is not known.
        "history_snapshot" => HistorySnapshot(HistoryRange),
        /// What a person said, for the other apps.
        "user_input" => UserInput(Box<UserInput>),
        /// What several calls did, in one line.
        "tool_use_summary" => ToolUseSummary(ToolUseSummary),
        /// A question needs no answer any more.
        "permission_resolved" => PermissionResolved(PermissionResolved),
        /// What is in a file.
        "file_content" => FileContent(Box<FileContent>),
        /// The files of a project.
        "file_list" => FileList(Box<FileList>),
        /// What is in a directory.
        "directory_listing" => DirectoryListing(Box<DirectoryListing>),
        /// What has changed in a project.
        "diff_result" => DiffResult(Box<DiffResult>),
        /// How a picture has changed.
        "diff_image_result" => DiffImageResult(Box<DiffImage>),
        /// The worktrees of a project.
        "worktree_list" => WorktreeList(Box<WorktreeList>),
        /// A worktree is gone.
        "worktree_removed" => WorktreeRemoved(WorktreeRemoved),
        /// What going back would change.
        "rewind_preview" => RewindPreview(RewindPreview),
        /// How going back went.
        "rewind_result" => RewindResult(RewindResult),
        /// How renaming went.
        "rename_result" => RenameResult(RenameResult),
        /// How archiving went.
        "archive_result" => ArchiveResult(ArchiveResult),
        /// Where a link leads.
        "session_link_resolution" => SessionLinkResolution(Box<SessionLink>),
        /// How far the limits of the plans are.
        "usage_result" => UsageResult(UsageResult),
        /// Whether notifications will come.
        "push_registration_result" => PushRegistrationResult(PushRegistration),
    }
}

/// Runs an expression on the frame of a message that has a number in the history of its session.
macro_rules! numbered {
    ($message:expr, $frame:ident => $then:expr, $($rest:tt)*) => {
        match $message {
            ToClient::System($frame) => $then,
            ToClient::Assistant($frame) => $then,
            ToClient::ToolResult($frame) => $then,
            ToClient::Result($frame) => $then,
            ToClient::Error($frame) => $then,
            ToClient::Status($frame) => $then,
            ToClient::PermissionRequest($frame) => $then,
            ToClient::UserInput($frame) => $then,
            ToClient::ToolUseSummary($frame) => $then,
            ToClient::PermissionResolved($frame) => $then,
            $($rest)*
        }
    };
}

/// Runs an expression on the frame of a message that belongs to a session.
macro_rules! scoped {
    ($message:expr, $frame:ident => $then:expr, $otherwise:expr) => {
        numbered!($message, $frame => $then,
            ToClient::History($frame) => $then,
            ToClient::StreamDelta($frame) | ToClient::ThinkingDelta($frame) => $then,
            ToClient::PastHistory($frame) => $then,
            ToClient::InputAck($frame) => $then,
            ToClient::InputRejected($frame) => $then,
            ToClient::HistoryDelta($frame) | ToClient::HistorySnapshot($frame) => $then,
            ToClient::RewindPreview($frame) => $then,
            ToClient::RewindResult($frame) => $then,
            _ => $otherwise,
        )
    };
}

impl ToClient {
    /// The answer to a type of message that the server does not know or does not do.
    pub fn unsupported(kind: &str) -> Self {
        Self::error(ErrorCode::UnsupportedMessage, kind)
    }

    /// The answer to a message that could not be read: which field, at which byte.
    pub fn invalid(error: &DecodeError) -> Self {
        Self::error(ErrorCode::InvalidMessage, error.to_string())
    }

    /// An error for programs and for the person.
    pub fn error(code: ErrorCode, message: impl Into<Text>) -> Self {
        Self::Error(Box::new(Problem {
            message: message.into(),
            error_code: Some(code),
            ..Problem::default()
        }))
    }

    /// The session it belongs to, if it says so.
    pub fn session_id(&self) -> Option<&BridgeId> {
        scoped!(self, frame => frame.session_id.as_ref(), None)
    }

    /// Its number in the history of its session; deltas and answers have none.
    pub fn history_seq(&self) -> Option<u64> {
        numbered!(self, frame => frame.history_seq, _ => None,)
    }

    /// Says which session it belongs to, in the place of what it said before. Nothing changes in a message that
    /// belongs to no session.
    pub fn address(&mut self, session: &BridgeId) {
        scoped!(self, frame => frame.session_id = Some(session.clone()), ());
    }

    /// Gives it its number in the history of its session. Nothing changes in a message that is not part of one.
    pub fn number(&mut self, seq: u64) {
        numbered!(self, frame => frame.history_seq = Some(seq), _ => (),);
    }
}

wire_structs! {
    /// `system`
    #[derive(Default)]
    pub struct System {
        /// What it tells.
        subtype: SystemKind,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// The agent's id of the session.
        claude_session_id: Option<SessionId> = "claudeSessionId",
        /// The model.
        model: Option<Text>,
        /// Whose agent it is.
        provider: Option<Provider>,
        /// Where it works.
        project_path: Option<Text> = "projectPath",
        /// The commands that can be called.
        slash_commands: Option<Vec<Text>> = "slashCommands",
        /// Those of them that are skills.
        skills: Option<Vec<Text>>,
        /// More about the skills.
        skill_metadata: Option<Vec<SkillMetadata>> = "skillMetadata",
        /// How much it may do without asking.
        permission_mode: Option<PermissionMode> = "permissionMode",
        /// The same in three steps.
        execution_mode: Option<ExecutionMode> = "executionMode",
        /// Whether it may only look.
        plan_mode: Option<bool> = "planMode",
        /// Its sandbox.
        sandbox_mode: Option<Text> = "sandboxMode",
        /// Its worktree.
        worktree_path: Option<Text> = "worktreePath",
        /// The branch of its worktree.
        worktree_branch: Option<Text> = "worktreeBranch",
        /// The session it goes on from.
        source_session_id: Option<BridgeId> = "sourceSessionId",
        /// As in `resume_session`.
        resume_request_id: Option<Text> = "resumeRequestId",
        /// Whether the conversation started over.
        clear_context: Option<bool> = "clearContext",
        /// Which advice it is.
        tip_code: Option<Text> = "tipCode",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// A skill, for a list.
    #[derive(Default)]
    pub struct SkillMetadata {
        /// Its name.
        name: Text,
        /// Where it is.
        path: Option<Text>,
        /// What it is for.
        description: Option<Text>,
        /// The same, shorter.
        short_description: Option<Text> = "shortDescription",
        /// Whether it can be called.
        enabled: Option<bool>,
        /// Where it comes from.
        scope: Option<Text>,
        /// Its name for a person.
        display_name: Option<Text> = "displayName",
        /// What to say with it.
        default_prompt: Option<Text> = "defaultPrompt",
        /// Its colour.
        brand_color: Option<Text> = "brandColor",
    }

    /// `assistant`
    #[derive(Default)]
    pub struct Assistant {
        /// The message.
        message: ModelMessage,
        /// The transcript's id of it.
        message_uuid: Option<Uuid> = "messageUuid",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `tool_result`
    #[derive(Default)]
    pub struct ToolResult {
        /// The call.
        tool_use_id: ToolUseId = "toolUseId",
        /// What it gave, as text.
        content: Text,
        /// The tool.
        tool_name: Option<ToolName> = "toolName",
        /// Pictures it gave.
        images: Option<Vec<ImageRef>>,
        /// The transcript's id of it.
        user_message_uuid: Option<Uuid> = "userMessageUuid",
        /// What it gave, in blocks.
        raw_content_blocks: Option<Vec<Block>> = "rawContentBlocks",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `result`
    #[derive(Default)]
    pub struct TurnEnd {
        /// How it ended.
        subtype: Outcome,
        /// The last words.
        result: Option<Text>,
        /// What went wrong.
        error: Option<Text>,
        /// What it has cost, in US dollars.
        cost: Option<Number>,
        /// How long it took, in milliseconds.
        duration: Option<Number>,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Why the model stopped.
        stop_reason: Nullable<StopReason> = "stopReason",
        /// Tokens read.
        input_tokens: Option<u64> = "inputTokens",
        /// Tokens taken from the cache.
        cached_input_tokens: Option<u64> = "cachedInputTokens",
        /// Tokens written.
        output_tokens: Option<u64> = "outputTokens",
        /// How many tools were called.
        tool_calls: Option<u64> = "toolCalls",
        /// How many of the calls changed files.
        file_edits: Option<u64> = "fileEdits",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `error`
    #[derive(Default)]
    pub struct Problem {
        /// What went wrong, for the person; the type of the message for [`ErrorCode::UnsupportedMessage`].
        message: Text,
        /// What went wrong, for programs.
        error_code: Option<ErrorCode> = "errorCode",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// The file or directory.
        path: Option<Text>,
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `status`
    #[derive(Default)]
    pub struct StatusChange {
        /// What the session is doing.
        status: Status,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `permission_request`
    #[derive(Default)]
    pub struct PermissionRequest {
        /// The call.
        tool_use_id: ToolUseId = "toolUseId",
        /// The tool.
        tool_name: ToolName = "toolName",
        /// Its input, raw; [`ToolInput::read`](crate::ToolInput::read) gives it typed.
        input: Json,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `stream_delta`, `thinking_delta`
    #[derive(Default)]
    pub struct Delta {
        /// What is new.
        text: Text,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `tool_use_summary`
    #[derive(Default)]
    pub struct ToolUseSummary {
        /// What they did.
        summary: Text,
        /// The calls.
        preceding_tool_use_ids: Vec<ToolUseId> = "precedingToolUseIds",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }

    /// `permission_resolved`
    #[derive(Default)]
    pub struct PermissionResolved {
        /// The call.
        tool_use_id: ToolUseId = "toolUseId",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history.
        history_seq: Option<u64> = "historySeq",
    }
}
