//! [`ToServer`]: every message an app writes, and those about turns. Others are beside their answers.

use super::{
    ArchiveSession, BridgeId, Effort, ExecutionMode, Fork, GetDiff, GetDiffImage, GetHistoryDelta,
    Input, ListDirectory, ListFiles, ListRecentSessions, ListWorktrees, Provider, PushRegister,
    ReadFile, RemoveWorktree, RenameSession, ResolveSessionLink, Rewind, RewindDryRun, ToClient,
};
use crate::{
    ids::{SessionId, ToolUseId},
    json::{Number, Text},
    permission::PermissionMode,
    wire::{wire_enum, wire_structs},
};

wire_enum! {
    /// A message that an app writes, by its type. The first eleven are those of document 004 §8.1.
    pub enum ToServer by "type" {
        /// Begin a session.
        "start" => Start(Box<Start>),
        /// What the person says.
        "input" => Input(Box<Input>),
        /// Let a tool run.
        "approve" => Approve(Approve),
        /// Let a tool run, now and later in the session.
        "approve_always" => ApproveAlways(ApproveAlways),
        /// Do not let a tool run.
        "reject" => Reject(Reject),
        /// What the person answers to the agent's questions.
        "answer" => Answer(Answer),
        /// Which sessions are there?
        "list_sessions" => ListSessions(NoFields),
        /// End a session.
        "stop_session" => StopSession(SessionRef),
        /// What has been said in a session?
        "get_history" => GetHistory(SessionRef),
        /// Which sessions were there?
        "list_recent_sessions" => ListRecentSessions(Box<ListRecentSessions>),
        /// Go on with an old session.
        "resume_session" => ResumeSession(Box<ResumeSession>),
        /// What the app can do.
        "client_capabilities" => ClientCapabilities(ClientCapabilities),
        /// Stop what you are doing.
        "interrupt" => Interrupt(Interrupt),
        /// Change the permission mode.
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        /// Change the sandbox.
        "set_sandbox_mode" => SetSandboxMode(SetSandboxMode),
        /// What has been said since?
        "get_history_delta" => GetHistoryDelta(GetHistoryDelta),
        /// Give a session a name.
        "rename_session" => RenameSession(Box<RenameSession>),
        /// Take an old session out of the lists.
        "archive_session" => ArchiveSession(ArchiveSession),
        /// Where does a link to a session lead?
        "resolve_session_link" => ResolveSessionLink(ResolveSessionLink),
        /// What is in this file?
        "read_file" => ReadFile(ReadFile),
        /// Which files has a project?
        "list_files" => ListFiles(ListFiles),
        /// What is in this directory?
        "list_directory" => ListDirectory(ListDirectory),
        /// What has changed in a project?
        "get_diff" => GetDiff(GetDiff),
        /// How has a picture changed?
        "get_diff_image" => GetDiffImage(GetDiffImage),
        /// Which worktrees has a project?
        "list_worktrees" => ListWorktrees(ListWorktrees),
        /// Delete a worktree.
        "remove_worktree" => RemoveWorktree(RemoveWorktree),
        /// Go back to a message.
        "rewind" => Rewind(Rewind),
        /// What would going back change?
        "rewind_dry_run" => RewindDryRun(RewindDryRun),
        /// Go on from a message in a session of its own.
        "fork" => Fork(Fork),
        /// Which projects were there?
        "list_project_history" => ListProjectHistory(NoFields),
        /// How far are the limits of the plan?
        "get_usage" => GetUsage(NoFields),
        /// Where to send notifications.
        "push_register" => PushRegister(PushRegister),
    }
}

impl ToServer {
    /// The answer to a kind of message that has no name here; nothing for the others.
    pub fn unsupported(&self) -> Option<ToClient> {
        match self {
            Self::Unknown(unknown) => Some(ToClient::unsupported(unknown.kind())),
            _ => None,
        }
    }
}

wire_structs! {
    /// `start`
    #[derive(Default)]
    pub struct Start {
        /// Where to work.
        project_path: Text = "projectPath",
        /// The agent's session to go on with.
        session_id: Option<SessionId> = "sessionId",
        /// Go on with the latest session of the project.
        continue_latest: Option<bool> = "continue",
        /// How much may be done without asking.
        permission_mode: Option<PermissionMode> = "permissionMode",
        /// Whose agent to start.
        provider: Option<Provider>,
        /// The model.
        model: Option<Text>,
        /// How hard the model tries.
        effort: Option<Effort>,
        /// The most turns it may take.
        max_turns: Option<u64> = "maxTurns",
        /// The most it may cost, in US dollars.
        max_budget_usd: Option<Number> = "maxBudgetUsd",
        /// The model to use when the other is overloaded.
        fallback_model: Option<Text> = "fallbackModel",
        /// Go on under a new session id.
        fork_session: Option<bool> = "forkSession",
        /// Whether to keep the session on disk.
        persist_session: Option<bool> = "persistSession",
        /// How much may be done without asking, in three steps.
        execution_mode: Option<ExecutionMode> = "executionMode",
        /// Look, do not touch.
        plan_mode: Option<bool> = "planMode",
        /// The sandbox.
        sandbox_mode: Option<Text> = "sandboxMode",
        /// Work in a new worktree.
        use_worktree: Option<bool> = "useWorktree",
        /// The branch of the new worktree.
        worktree_branch: Option<Text> = "worktreeBranch",
        /// Work in this worktree.
        existing_worktree_path: Option<Text> = "existingWorktreePath",
        /// Find a name for the session after its first turn.
        auto_rename: Option<bool> = "autoRename",
        /// More directories it may write to.
        additional_writable_roots: Option<Vec<Text>> = "additionalWritableRoots",
    }

    /// `resume_session`
    #[derive(Default)]
    pub struct ResumeSession {
        /// The agent's session.
        session_id: SessionId = "sessionId",
        /// Where it worked.
        project_path: Text = "projectPath",
        /// How much may be done without asking.
        permission_mode: Option<PermissionMode> = "permissionMode",
        /// Whose agent it is.
        provider: Option<Provider>,
        /// The model.
        model: Option<Text>,
        /// How hard the model tries.
        effort: Option<Effort>,
        /// The most turns it may take.
        max_turns: Option<u64> = "maxTurns",
        /// The most it may cost, in US dollars.
        max_budget_usd: Option<Number> = "maxBudgetUsd",
        /// The model to use when the other is overloaded.
        fallback_model: Option<Text> = "fallbackModel",
        /// Go on under a new session id.
        fork_session: Option<bool> = "forkSession",
        /// Whether to keep the session on disk.
        persist_session: Option<bool> = "persistSession",
        /// How much may be done without asking, in three steps.
        execution_mode: Option<ExecutionMode> = "executionMode",
        /// Look, do not touch.
        plan_mode: Option<bool> = "planMode",
        /// The sandbox.
        sandbox_mode: Option<Text> = "sandboxMode",
        /// More directories it may write to.
        additional_writable_roots: Option<Vec<Text>> = "additionalWritableRoots",
        /// Comes back in the `system` messages about it.
        resume_request_id: Option<Text> = "resumeRequestId",
    }

    /// `approve`
    #[derive(Default)]
    pub struct Approve {
        /// The call.
        id: ToolUseId = "id" | "toolUseId",
        /// Forget the conversation first: for plans.
        clear_context: Option<bool> = "clearContext",
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `approve_always`
    #[derive(Default)]
    pub struct ApproveAlways {
        /// The call.
        id: ToolUseId = "id" | "toolUseId",
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `reject`
    #[derive(Default)]
    pub struct Reject {
        /// The call.
        id: ToolUseId = "id" | "toolUseId",
        /// Why, for the model.
        message: Option<Text>,
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `answer`
    #[derive(Default)]
    pub struct Answer {
        /// The call that asks.
        tool_use_id: ToolUseId = "toolUseId" | "id",
        /// The answer to one question, or an [`AnswerEnvelope`](super::AnswerEnvelope) as a string.
        result: Text,
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// A message without fields.
    #[derive(Default)]
    pub struct NoFields {}

    /// `stop_session`, `get_history`
    #[derive(Default)]
    pub struct SessionRef {
        /// The session.
        session_id: BridgeId = "sessionId",
    }

    /// `client_capabilities`
    #[derive(Default)]
    pub struct ClientCapabilities {
        /// The app's version.
        app_version: Option<Text> = "appVersion",
        /// The version of the protocol: 1.
        protocol_version: Option<u64> = "protocolVersion",
        /// The oldest version of the protocol it can speak.
        minimum_protocol_version: Option<u64> = "minimumProtocolVersion",
        /// Types it wants to get that older apps would choke on.
        supported_server_messages: Option<Vec<Text>> = "supportedServerMessages",
    }

    /// `interrupt`
    #[derive(Default)]
    pub struct Interrupt {
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `set_permission_mode`
    pub struct SetPermissionMode {
        /// The new mode.
        mode: PermissionMode,
        /// The same in three steps.
        execution_mode: Option<ExecutionMode> = "executionMode",
        /// Look, do not touch.
        plan_mode: Option<bool> = "planMode",
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

    /// `set_sandbox_mode`
    #[derive(Default)]
    pub struct SetSandboxMode {
        /// The new sandbox.
        sandbox_mode: Text = "sandboxMode",
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
    }

}
