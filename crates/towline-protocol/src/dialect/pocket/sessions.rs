//! Lists of sessions and the history of one: what an app asks and what it gets.

use super::{
    BridgeId, Effort, ExecutionMode, Provider, RequestScope, SnapshotReason, Status, ToClient,
};
use crate::{
    content::Content,
    ids::{SessionId, ToolUseId, Uuid},
    json::{Json, Text},
    message::Role,
    permission::PermissionMode,
    tool::ToolName,
    wire::{Map, Nullable, wire_strings, wire_structs},
};

wire_strings! {
    /// Where a link to a session leads.
    pub enum LinkStatus {
        /// To a session of the bridge.
        Live = "live",
        /// To an old session that can be resumed.
        Recent = "recent",
        /// Nowhere.
        Unavailable = "unavailable",
    }
}

wire_structs! {
    /// `session_list`: the sessions of the bridge and what it offers. Sent on connect and after every change.
    #[derive(Default)]
    pub struct SessionList {
        /// The sessions.
        sessions: Vec<SessionSummary>,
        /// Where sessions may work.
        allowed_dirs: Option<Vec<Text>> = "allowedDirs",
        /// The models there are.
        claude_models: Option<Vec<Text>> = "claudeModels",
        /// How hard each model can try.
        claude_model_efforts: Option<Map<Vec<Effort>>> = "claudeModelEfforts",
        /// The version of the bridge.
        bridge_version: Option<Text> = "bridgeVersion",
    }

    /// A session of the bridge.
    #[derive(Default)]
    pub struct SessionSummary {
        /// The bridge's id of it.
        id: BridgeId,
        /// Whose agent it is.
        provider: Option<Provider>,
        /// Where it works.
        project_path: Option<Text> = "projectPath",
        /// The agent's id of it.
        claude_session_id: Option<SessionId> = "claudeSessionId",
        /// The name a person gave it.
        name: Option<Text>,
        /// What it is doing.
        status: Option<Status>,
        /// When it began.
        created_at: Option<Text> = "createdAt",
        /// When it last did something.
        last_activity_at: Option<Text> = "lastActivityAt",
        /// The branch it works on.
        git_branch: Option<Text> = "gitBranch",
        /// The last thing said.
        last_message: Option<Text> = "lastMessage",
        /// Its worktree.
        worktree_path: Option<Text> = "worktreePath",
        /// The branch of its worktree.
        worktree_branch: Option<Text> = "worktreeBranch",
        /// How much it may do without asking.
        permission_mode: Option<PermissionMode> = "permissionMode",
        /// The same in three steps.
        execution_mode: Option<ExecutionMode> = "executionMode",
        /// Whether it may only look.
        plan_mode: Option<bool> = "planMode",
        /// Its model.
        model: Option<Text>,
        /// Whether it has a sandbox.
        sandbox_enabled: Option<bool> = "sandboxEnabled",
        /// What it waits for: how an app that comes late learns of an open question.
        pending_permission: Option<PendingPermission> = "pendingPermission",
    }

    /// An open question of a session.
    pub struct PendingPermission {
        /// The call.
        tool_use_id: ToolUseId = "toolUseId",
        /// The tool.
        tool_name: ToolName = "toolName",
        /// Its input, raw; [`ToolInput::read`](crate::ToolInput::read) gives it typed.
        input: Json,
    }

    /// `project_history`
    #[derive(Default)]
    pub struct ProjectHistory {
        /// Where sessions have worked, the latest first.
        projects: Vec<Text>,
    }

    /// `list_recent_sessions`
    #[derive(Default)]
    pub struct ListRecentSessions {
        /// The most to give.
        limit: Option<u64>,
        /// How many to pass over.
        offset: Option<u64>,
        /// Only of this project.
        project_path: Option<Text> = "projectPath",
        /// Which list of the app it is for.
        request_scope: Option<RequestScope> = "requestScope",
        /// Only of this provider.
        provider: Option<Provider>,
        /// Only those with a name.
        named_only: Option<bool> = "namedOnly",
        /// Only those with these words.
        search_query: Option<Text> = "searchQuery",
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `recent_sessions`
    #[derive(Default)]
    pub struct RecentSessions {
        /// The sessions, the latest first.
        sessions: Vec<RecentSession>,
        /// Whether there are more.
        has_more: Option<bool> = "hasMore",
        /// The most that were to be given.
        limit: Option<u64>,
        /// How many were passed over.
        offset: Option<u64>,
        /// Only of this project.
        project_path: Option<Text> = "projectPath",
        /// Which list of the app it is for.
        request_scope: Option<RequestScope> = "requestScope",
        /// As in the request.
        request_id: Option<Text> = "requestId",
    }

    /// A session on disk.
    #[derive(Default)]
    pub struct RecentSession {
        /// The agent's id of it.
        session_id: SessionId = "sessionId",
        /// Whose agent it is.
        provider: Option<Provider>,
        /// The name a person gave it.
        name: Option<Text>,
        /// What it was about.
        summary: Option<Text>,
        /// The first thing the person said.
        first_prompt: Option<Text> = "firstPrompt",
        /// The last thing the person said.
        last_prompt: Option<Text> = "lastPrompt",
        /// How many messages it has.
        message_count: Option<u64> = "messageCount",
        /// When it began.
        created: Option<Text>,
        /// When it last changed.
        modified: Option<Text>,
        /// The branch it worked on.
        git_branch: Option<Text> = "gitBranch",
        /// Where it worked.
        project_path: Option<Text> = "projectPath",
        /// Where to resume it, if elsewhere.
        resume_cwd: Option<Text> = "resumeCwd",
        /// Whether it belongs to a subagent.
        is_sidechain: Option<bool> = "isSidechain",
    }

    /// `history`
    #[derive(Default)]
    pub struct History {
        /// The messages, the oldest first.
        messages: Vec<ToClient>,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// The number of the last message.
        history_seq: Option<u64> = "historySeq",
    }

    /// `past_history`: what was said before the bridge had the session.
    #[derive(Default)]
    pub struct PastHistory {
        /// The agent's id of the session.
        claude_session_id: SessionId = "claudeSessionId",
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// The messages, the oldest first.
        messages: Vec<PastMessage>,
    }

    /// A message from before.
    pub struct PastMessage {
        /// Who spoke.
        role: Role,
        /// What was said.
        content: Content,
        /// The transcript's id of it.
        uuid: Option<Uuid>,
        /// When.
        timestamp: Option<Text>,
    }

    /// `get_history_delta`
    #[derive(Default)]
    pub struct GetHistoryDelta {
        /// The session.
        session_id: BridgeId = "sessionId",
        /// The last `historySeq` the app has.
        since_seq: u64 = "sinceSeq",
    }

    /// `history_delta`, `history_snapshot`: what an app missed, or all there is when that is no longer known.
    #[derive(Default)]
    pub struct HistoryRange {
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// The first number it covers.
        from_seq: u64 = "fromSeq",
        /// The last number it covers.
        to_seq: u64 = "toSeq",
        /// The messages in order of their numbers.
        messages: Vec<Numbered>,
        /// What the session is doing.
        status: Option<Status>,
        /// Why it is a snapshot.
        reason: Option<SnapshotReason>,
    }

    /// A message and its number.
    pub struct Numbered {
        /// Its `historySeq`.
        seq: u64,
        /// The message.
        message: ToClient,
    }

    /// `rename_session`
    #[derive(Default)]
    pub struct RenameSession {
        /// The session, by the agent's id if it does not run.
        session_id: Text = "sessionId",
        /// The new name; none if absent.
        name: Option<Text>,
        /// Whose agent it is.
        provider: Option<Provider>,
        /// The agent's id of it.
        provider_session_id: Option<SessionId> = "providerSessionId",
        /// Where it worked.
        project_path: Option<Text> = "projectPath",
    }

    /// `rename_result`
    #[derive(Default)]
    pub struct RenameResult {
        /// As in the request.
        session_id: Text = "sessionId",
        /// The name it has now; `null` for none.
        name: Nullable<Text>,
        /// Whether it worked.
        success: bool,
        /// Why not.
        error: Option<Text>,
    }

    /// `archive_session`
    #[derive(Default)]
    pub struct ArchiveSession {
        /// The agent's session.
        session_id: SessionId = "sessionId",
        /// Whose agent it is.
        provider: Option<Provider>,
        /// Where it worked.
        project_path: Option<Text> = "projectPath",
    }

    /// `archive_result`
    #[derive(Default)]
    pub struct ArchiveResult {
        /// The agent's session.
        session_id: SessionId = "sessionId",
        /// Whether it worked.
        success: bool,
        /// Why not.
        error: Option<Text>,
    }

    /// `resolve_session_link`
    #[derive(Default)]
    pub struct ResolveSessionLink {
        /// Comes back in the answer.
        request_id: Text = "requestId",
        /// The session that the link names, by either id.
        session_id: Text = "sessionId",
        /// Whose agent it is.
        provider: Option<Provider>,
    }

    /// `session_link_resolution`
    pub struct SessionLink {
        /// As in the request.
        request_id: Text = "requestId",
        /// The session that the link names, by either id.
        source_session_id: Text = "sourceSessionId",
        /// Where it leads.
        status: LinkStatus,
        /// The session of the bridge.
        bridge_session_id: Option<BridgeId> = "bridgeSessionId",
        /// Whose agent it is.
        provider: Option<Provider>,
        /// The old session.
        recent_session: Option<RecentSession> = "recentSession",
    }
}
