//! The records of a transcript: what the real CLI appends to `~/.claude/projects/…/<session>.jsonl`.
//!
//! They look like the lines of the wire and are not: ids are camelCase, and records hang on each other by
//! `parentUuid`. Reading and writing the files is the business of another crate; here are only the shapes.

use crate::{
    ids::{AgentId, MessageId, SessionId, ToolUseId, Uuid},
    json::{Json, Number, Text},
    message::{ModelMessage, ModelUsages},
    permission::PermissionMode,
    result::TurnResult,
    user::UserMessage,
    wire::{Nullable, Wire, wire_enum, wire_structs},
};

wire_enum! {
    /// A record of a transcript, by its type.
    pub enum Record by "type" {
        /// What was said to the model, or what a tool gave.
        "user" => User(Box<UserRecord>),
        /// What the model said: one block a record.
        "assistant" => Assistant(Box<AssistantRecord>),
        /// What the agent notes.
        "system" => System(Box<SystemRecord>),
        /// What the agent adds to a prompt.
        "attachment" => Attachment(Box<AttachmentRecord>),
        /// A prompt waits, or waits no more.
        "queue-operation" => QueueOperation(Box<QueueOperation>),
        /// The last prompt, for lists of sessions.
        "last-prompt" => LastPrompt(Box<LastPrompt>),
        /// What the session has cost so far.
        "cost-state" => CostState(Box<CostState>),
        /// The title a person gave.
        "custom-title" => CustomTitle(Box<CustomTitle>),
        /// The title a model gave (Python SDK 0.2.182 reads it).
        "ai-title" => AiTitle(Box<AiTitle>),
        /// The word a host put on the session (both official SDKs write it).
        "tag" => Tag(Box<TagRecord>),
        /// Parts of the conversation that were replaced (Python SDK 0.2.182 copies it into a fork).
        "content-replacement" => ContentReplacement(Box<ContentReplacement>),
        /// How far a tool is; older CLIs put it into the chain (Python SDK 0.2.182 follows it).
        "progress" => Progress(Box<ProgressRecord>),
        /// The name of the agent.
        "agent-name" => AgentName(Box<AgentName>),
        /// The agent that the session runs as.
        "agent-setting" => AgentSetting(Box<AgentSetting>),
        /// A pull request that the session made.
        "pr-link" => PrLink(Box<PrLink>),
        /// The mode.
        "mode" => Mode(Box<ModeRecord>),
        /// The tools used so far.
        "tools-used" => ToolsUsed(Box<ToolsUsed>),
        /// A mark of the CLI's own.
        "atis-latch" => AtisLatch(Box<AtisLatch>),
        /// The files as they were at a message.
        "file-history-snapshot" => FileHistorySnapshot(Box<FileHistorySnapshot>),
        /// One more file of a snapshot.
        "file-history-delta" => FileHistoryDelta(Box<FileHistoryDelta>),
        /// A request to the API.
        "api-request" => ApiRequest(Box<ApiRequest>),
        /// What requests have in common.
        "api-request-shape" => ApiRequestShape(Box<ApiRequestShape>),
        /// A message of requests.
        "api-request-blob" => ApiRequestBlob(Box<ApiRequestBlob>),
        /// The summary of an older session.
        "summary" => Summary(Box<Summary>),
        /// The result of a turn (document 001 §4.4; the real CLI writes none).
        "result" => Result(Box<TurnResult>),
    }
}

/// Declares the records that hang on each other: what all of them carry, and what each one adds.
macro_rules! chained_records {
    ($( $(#[$meta:meta])* pub struct $Name:ident { $($own:tt)* } )*) => { wire_structs! {$(
        $(#[$meta])*
        #[derive(Default)]
        pub struct $Name {
            /// The record before; `null` for the first, and after a compaction.
            parent_uuid: Nullable<Uuid> = "parentUuid",
            /// The record before, across a compaction.
            logical_parent_uuid: Nullable<Uuid> = "logicalParentUuid",
            /// Whether it belongs to a subagent.
            is_sidechain: Option<bool> = "isSidechain",
            /// The subagent.
            agent_id: Option<AgentId> = "agentId",
            /// This record; also the `uuid` of its line.
            uuid: Option<Uuid>,
            /// When.
            timestamp: Option<Text>,
            /// The session; `session_id` in document 001.
            session_id: Option<SessionId> = "sessionId" | "session_id",
            /// Always `external`.
            user_type: Option<Text> = "userType",
            /// How the CLI was started, such as `sdk-cli`.
            entrypoint: Option<Text>,
            /// The working directory.
            cwd: Option<Text>,
            /// The CLI's version.
            version: Option<Text>,
            /// The branch.
            git_branch: Option<Text> = "gitBranch",
            /// The session's name in files.
            slug: Option<Text>,
            $($own)*
            /// The team of agents it belongs to.
            team_name: Option<Text> = "teamName",
            /// The agent of the team.
            agent_name: Option<Text> = "agentName",
            /// The record it was copied from, in a fork.
            forked_from: Option<ForkedFrom> = "forkedFrom",
        }
    )*} };
}

chained_records! {
    /// `user`
    pub struct UserRecord {
        /// The message.
        message: UserMessage,
        /// The prompt of the turn.
        prompt_id: Option<Text> = "promptId",
        /// The mode.
        permission_mode: Option<PermissionMode> = "permissionMode",
        /// Who wrote the prompt.
        prompt_source: Option<Text> = "promptSource",
        /// What set the turn off.
        turn_origin: Option<Text> = "turnOrigin",
        /// Which turn it is.
        turn_position: Option<Json> = "turnPosition",
        /// Whether a person need not see it.
        is_meta: Option<bool> = "isMeta",
        /// Whether it came beside the prompt.
        turn_companion: Option<bool> = "turnCompanion",
        /// What a tool gave, as data.
        tool_use_result: Option<Json> = "toolUseResult",
        /// The record of the call.
        source_tool_assistant_uuid: Option<Uuid> = "sourceToolAssistantUUID",
        /// The call it belongs to.
        source_tool_use_id: Option<ToolUseId> = "sourceToolUseID",
        /// Who allowed the call.
        permission_decision: Option<Json> = "permissionDecision",
        /// Why the call was denied.
        tool_denial_kind: Option<Text> = "toolDenialKind",
        /// Whether the command ran in a sandbox.
        sandboxed: Option<bool>,
        /// Whether an MCP call may have changed something.
        mcp_call_not_read_only: Option<Text> = "mcpCallNotReadOnly",
        /// What an MCP server noted.
        mcp_meta: Option<Json> = "mcpMeta",
        /// Whether the tool ends the turn.
        tool_ends_turn: Option<bool> = "toolEndsTurn",
        /// The command a person typed.
        tool_result_typed_command: Option<Text> = "toolResultTypedCommand",
        /// Whether only the transcript has it.
        is_visible_in_transcript_only: Option<bool> = "isVisibleInTranscriptOnly",
        /// Whether it is the summary of a compaction.
        is_compact_summary: Option<bool> = "isCompactSummary",
        /// Whether it repeats one.
        repeats_compact_summary: Option<bool> = "repeatsCompactSummary",
        /// The prompts that a summary stands for.
        summarized_turn_prompt_uuids: Option<Vec<Uuid>> = "summarizedTurnPromptUuids",
        /// The message that was refused.
        refused_message_id: Option<MessageId> = "refusedMessageId",
        /// Who wrote it, if not a person.
        origin: Option<Json>,
        /// Whether nothing is added to it.
        queue_skip_attachments: Option<bool> = "queueSkipAttachments",
        /// Pictures a person pasted.
        image_paste_ids: Option<Vec<Json>> = "imagePasteIds",
        /// What the turn is counted under.
        turn_attribution_key: Option<Text> = "turnAttributionKey",
    }

    /// `assistant`
    pub struct AssistantRecord {
        /// The message, with its final stop reason and usage.
        message: ModelMessage,
        /// The block's place in the API's message.
        api_block_index: Option<u64> = "apiBlockIndex",
        /// The API request.
        request_id: Option<Text> = "requestId",
        /// The record of the API request.
        request_ref: Option<Text> = "requestRef",
        /// The model that was asked for.
        requested_model: Option<Text> = "requestedModel",
        /// Whether caching was asked for.
        prompt_cache_requested: Option<Text> = "promptCacheRequested",
        /// How hard the model tries.
        effort: Option<Text>,
        /// How hard it tries in this turn.
        per_turn_effort: Nullable<Text> = "perTurnEffort",
        /// Who made it.
        made_by: Option<Text> = "madeBy",
        /// How long the tool's input took to stream.
        tool_input_stream_ms: Option<u64> = "toolInputStreamMs",
        /// How long the model thought.
        thinking_duration_ms: Option<u64> = "thinkingDurationMs",
        /// How thinking is shown.
        thinking_display: Option<Text> = "thinkingDisplay",
        /// What the API failed with.
        error: Option<Text>,
        /// More about the failure.
        error_details: Option<Text> = "errorDetails",
        /// Whether it tells of an API failure.
        is_api_error_message: Option<bool> = "isApiErrorMessage",
        /// The HTTP status of the failure.
        api_error_status: Nullable<u64> = "apiErrorStatus",
        /// The API's name for it.
        api_error_type: Option<Text> = "apiErrorType",
        /// Whether it may go away.
        api_error_is_transient: Option<bool> = "apiErrorIsTransient",
        /// Whether nothing was called before it failed.
        failed_response_had_no_tool_call: Option<bool> = "failedResponseHadNoToolCall",
        /// Whether trying again is no use.
        resend_cannot_cure: Option<bool> = "resendCannotCure",
        /// The classifier's request.
        server_classifier_request: Option<Text> = "serverClassifierRequest",
        /// The agent it is counted under.
        attribution_agent: Option<Text> = "attributionAgent",
        /// The skill it is counted under.
        attribution_skill: Option<Text> = "attributionSkill",
        /// The plugin it is counted under.
        attribution_plugin: Option<Text> = "attributionPlugin",
        /// The MCP server it is counted under.
        attribution_mcp_server: Option<Text> = "attributionMcpServer",
        /// The MCP tool it is counted under.
        attribution_mcp_tool: Option<Text> = "attributionMcpTool",
    }

    /// `system`
    pub struct SystemRecord {
        /// `local_command`, `compact_boundary`, `api_error`, `model_fallback`, `informational`, `stop_hook_summary`, …
        subtype: Option<Text>,
        /// For a person.
        content: Option<Text>,
        /// How much it matters.
        level: Option<Text>,
        /// Whether a person need not see it.
        is_meta: Option<bool> = "isMeta",
        /// `compact_boundary`: what was compacted.
        compact_metadata: Option<Json> = "compactMetadata",
        /// `local_command`: what ran.
        command_run: Option<Json> = "commandRun",
        /// `local_command`: how it ended.
        command_outcome: Option<Json> = "commandOutcome",
        /// `local_command`: what fills the context.
        context_usage: Option<Json> = "contextUsage",
        /// `api_error`: what went wrong.
        error: Option<Json>,
        /// `api_error`: how long until the next try.
        retry_in_ms: Option<Number> = "retryInMs",
        /// `api_error`: which try it was.
        retry_attempt: Option<u64> = "retryAttempt",
        /// `api_error`: how many there will be.
        max_retries: Option<u64> = "maxRetries",
        /// `api_error`: what was asked.
        source: Option<Text>,
        /// `model_fallback`: why.
        trigger: Option<Text>,
        /// `model_fallback`: the model that was asked for.
        original_model: Option<Text> = "originalModel",
        /// `model_fallback`: the model that goes on.
        fallback_model: Option<Text> = "fallbackModel",
        /// `informational`: whether the turn ends.
        prevent_continuation: Option<bool> = "preventContinuation",
        /// `informational`: what became of a prompt.
        prompt_submit_ending: Option<Json> = "promptSubmitEnding",
        /// `informational`: why a model may not be used.
        model_restriction: Option<Json> = "modelRestriction",
        /// `stop_hook_summary`: how many ran.
        hook_count: Option<u64> = "hookCount",
        /// `stop_hook_summary`: which.
        hook_infos: Option<Vec<Json>> = "hookInfos",
        /// `stop_hook_summary`: what they complained of.
        hook_errors: Option<Vec<Json>> = "hookErrors",
        /// `stop_hook_summary`: what they added.
        hook_additional_context: Option<Vec<Json>> = "hookAdditionalContext",
        /// `stop_hook_summary`: whether one ended the turn.
        prevented_continuation: Option<bool> = "preventedContinuation",
        /// `stop_hook_summary`: why.
        stop_reason: Option<Text> = "stopReason",
        /// `stop_hook_summary`: whether one printed something.
        has_output: Option<bool> = "hasOutput",
        /// `stop_hook_summary`: under which id they ran.
        tool_use_id: Option<ToolUseId> = "toolUseID",
    }

    /// `attachment`
    pub struct AttachmentRecord {
        /// What is added; its `type` says what it is.
        attachment: Option<Json>,
        /// What the model gets to see.
        rendered: Option<Json>,
        /// In which role.
        rendered_role: Option<Text> = "renderedRole",
        /// Whether beside a tool's result.
        rendered_beside_tool_result: Option<bool> = "renderedBesideToolResult",
        /// What it looks like inside a person's turn.
        rendered_in_human_turn: Option<Json> = "renderedInHumanTurn",
    }

    /// `progress`
    pub struct ProgressRecord {
        /// How far it is.
        data: Option<Json>,
    }
}

wire_structs! {
    /// `queue-operation`
    #[derive(Default)]
    pub struct QueueOperation {
        /// `enqueue`, `dequeue`, …
        operation: Option<Text>,
        /// When.
        timestamp: Option<Text>,
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The prompt.
        content: Option<Json>,
        /// Why.
        reason: Option<Text>,
        /// The message of the host.
        command_uuid: Option<Uuid> = "commandUuid",
        /// This delivery of it.
        delivery_id: Option<Text> = "deliveryId",
    }

    /// `last-prompt`
    #[derive(Default)]
    pub struct LastPrompt {
        /// The prompt.
        last_prompt: Option<Text> = "lastPrompt",
        /// The last record of the conversation.
        leaf_uuid: Option<Uuid> = "leafUuid",
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `cost-state`
    #[derive(Default)]
    pub struct CostState {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// Cost in US dollars.
        total_cost_usd: Option<Number> = "totalCostUSD",
        /// Time in the API.
        total_api_duration: Option<Number> = "totalAPIDuration",
        /// The same without retries.
        total_api_duration_without_retries: Option<Number> = "totalAPIDurationWithoutRetries",
        /// Time in tools.
        total_tool_duration: Option<Number> = "totalToolDuration",
        /// Lines added.
        total_lines_added: Option<u64> = "totalLinesAdded",
        /// Lines removed.
        total_lines_removed: Option<u64> = "totalLinesRemoved",
        /// Time in all.
        total_duration: Option<Number> = "totalDuration",
        /// When it began.
        start_time: Option<Number> = "startTime",
        /// By model.
        model_usage: Option<ModelUsages> = "modelUsage",
        /// Whether a model had no price.
        has_unknown_model_cost: Option<bool> = "hasUnknownModelCost",
    }

    /// `custom-title`
    #[derive(Default)]
    pub struct CustomTitle {
        /// The title.
        custom_title: Option<Text> = "customTitle",
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `ai-title`
    #[derive(Default)]
    pub struct AiTitle {
        /// The title.
        ai_title: Option<Text> = "aiTitle",
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `tag`
    #[derive(Default)]
    pub struct TagRecord {
        /// The word; empty to take it away.
        tag: Option<Text>,
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `content-replacement`
    #[derive(Default)]
    pub struct ContentReplacement {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// What was replaced by what.
        replacements: Option<Vec<Json>>,
        /// This record.
        uuid: Option<Uuid>,
        /// When.
        timestamp: Option<Text>,
    }

    /// Where a record of a fork comes from.
    #[derive(Default)]
    pub struct ForkedFrom {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The record.
        message_uuid: Option<Uuid> = "messageUuid",
    }

    /// What a `compact_boundary` says of the messages that stay; the rest is in `extra`.
    #[derive(Default)]
    pub struct Compaction {
        /// The messages that stay, as a stretch.
        preserved_segment: Option<Stretch> = "preservedSegment",
        /// The messages that stay, one by one.
        preserved_messages: Option<Preserved> = "preservedMessages",
    }

    /// A stretch of messages.
    #[derive(Default)]
    pub struct Stretch {
        /// The first.
        head_uuid: Option<Uuid> = "headUuid",
        /// The record that they follow now.
        anchor_uuid: Option<Uuid> = "anchorUuid",
        /// The last.
        tail_uuid: Option<Uuid> = "tailUuid",
    }

    /// Messages by their ids.
    #[derive(Default)]
    pub struct Preserved {
        /// The record that they follow now.
        anchor_uuid: Option<Uuid> = "anchorUuid",
        /// The messages.
        uuids: Option<Vec<Uuid>>,
        /// The messages and what lies between them.
        all_uuids: Option<Vec<Uuid>> = "allUuids",
    }

    /// `agent-name`
    #[derive(Default)]
    pub struct AgentName {
        /// The name.
        agent_name: Option<Text> = "agentName",
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `agent-setting`
    #[derive(Default)]
    pub struct AgentSetting {
        /// The agent.
        agent_setting: Option<Text> = "agentSetting",
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `pr-link`: CLI 2.1.325 writes one when `gh pr create` has printed an address.
    #[derive(Default)]
    pub struct PrLink {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The number of the pull request.
        pr_number: Option<u64> = "prNumber",
        /// Its address.
        pr_url: Option<Text> = "prUrl",
        /// Its repository, such as `owner/name`.
        pr_repository: Option<Text> = "prRepository",
        /// When.
        timestamp: Option<Text>,
    }

    /// `mode`
    #[derive(Default)]
    pub struct ModeRecord {
        /// The mode.
        mode: Option<Text>,
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `tools-used`
    #[derive(Default)]
    pub struct ToolsUsed {
        /// Their names.
        tools: Option<Vec<Text>>,
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `atis-latch`
    #[derive(Default)]
    pub struct AtisLatch {
        /// The mark.
        atis: Option<Text>,
        /// The session.
        session_id: Option<SessionId> = "sessionId",
    }

    /// `file-history-snapshot`
    #[derive(Default)]
    pub struct FileHistorySnapshot {
        /// The message.
        message_id: Option<Uuid> = "messageId",
        /// The files.
        snapshot: Option<Json>,
        /// Whether it changes an earlier one.
        is_snapshot_update: Option<bool> = "isSnapshotUpdate",
    }

    /// `file-history-delta`
    #[derive(Default)]
    pub struct FileHistoryDelta {
        /// The message.
        message_id: Option<Uuid> = "messageId",
        /// The message of the snapshot.
        snapshot_message_id: Option<Uuid> = "snapshotMessageId",
        /// The file.
        tracking_path: Option<Text> = "trackingPath",
        /// Its copy.
        backup: Option<Json>,
        /// When.
        timestamp: Option<Text>,
    }

    /// `api-request`
    #[derive(Default)]
    pub struct ApiRequest {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The subagent.
        agent_id: Option<AgentId> = "agentId",
        /// This request.
        id: Option<Text>,
        /// When.
        timestamp: Option<Text>,
        /// The CLI's version.
        version: Option<Text>,
        /// What for.
        query_source: Option<Text> = "querySource",
        /// What it has in common with others.
        shape_hash: Option<Text> = "shapeHash",
        /// The request it goes on from.
        base: Option<Text>,
        /// What it has for itself.
        params: Option<Json>,
        /// How many messages of the base stay.
        keep: Option<u64>,
        /// The messages behind them.
        tail: Option<Vec<Json>>,
        /// Marks for prompt caching.
        cache_control: Option<Vec<Json>> = "cacheControl",
        /// A check sum.
        request_digest: Option<Text> = "requestDigest",
    }

    /// `api-request-shape`
    #[derive(Default)]
    pub struct ApiRequestShape {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The subagent.
        agent_id: Option<AgentId> = "agentId",
        /// Its check sum.
        shape_hash: Option<Text> = "shapeHash",
        /// When.
        timestamp: Option<Text>,
        /// The CLI's version.
        version: Option<Text>,
        /// What requests have in common.
        shape: Option<Json>,
    }

    /// `api-request-blob`
    #[derive(Default)]
    pub struct ApiRequestBlob {
        /// The session.
        session_id: Option<SessionId> = "sessionId",
        /// The subagent.
        agent_id: Option<AgentId> = "agentId",
        /// Its check sum.
        hash: Option<Text>,
        /// The message.
        message: Option<Json>,
    }

    /// `summary`
    #[derive(Default)]
    pub struct Summary {
        /// The summary.
        summary: Option<Text>,
        /// The last record it is about.
        leaf_uuid: Option<Uuid> = "leafUuid",
    }
}

/// What all records that hang on each other have in common; see [`Record::chain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<'a> {
    /// The record.
    pub uuid: Option<&'a Uuid>,
    /// The record before.
    pub parent_uuid: Option<&'a Uuid>,
    /// The record before, across a compaction.
    pub logical_parent_uuid: Option<&'a Uuid>,
    /// Whether it belongs to a subagent.
    pub is_sidechain: bool,
    /// The subagent.
    pub agent_id: Option<&'a AgentId>,
    /// The team of agents.
    pub team_name: Option<&'a Text>,
    /// When.
    pub timestamp: Option<&'a Text>,
    /// The session.
    pub session_id: Option<&'a SessionId>,
    /// The working directory.
    pub cwd: Option<&'a Text>,
    /// The branch.
    pub git_branch: Option<&'a Text>,
}

/// Where a copy of a record is put; see [`Record::move_to`].
#[derive(Clone, Debug, PartialEq)]
pub struct NewPlace {
    /// The copy.
    pub uuid: Uuid,
    /// The record before.
    pub parent_uuid: Option<Uuid>,
    /// The record before, across a compaction.
    pub logical_parent_uuid: Option<Uuid>,
    /// The session.
    pub session_id: SessionId,
    /// When, if it changes.
    pub timestamp: Option<Text>,
    /// Where it comes from.
    pub forked_from: ForkedFrom,
}

/// Does the same to a record of any kind that hangs on others; the last argument is for all other kinds.
macro_rules! for_chained {
    ($record:expr, $name:ident => $value:expr, $otherwise:expr) => {
        match $record {
            Record::User($name) => $value,
            Record::Assistant($name) => $value,
            Record::System($name) => $value,
            Record::Attachment($name) => $value,
            Record::Progress($name) => $value,
            _ => $otherwise,
        }
    };
}

impl Record {
    /// The record's own id and that of the record before, for those that hang on each other.
    pub fn link(&self) -> Option<(&Uuid, Option<&Uuid>)> {
        let chain = self.chain()?;
        Some((chain.uuid?, chain.parent_uuid))
    }

    /// What records that hang on each other have in common; nothing for the other kinds.
    ///
    /// ```
    /// use towline_protocol::{Wire, transcript::Record};
    ///
    /// let record = Record::from_json(r#"{"parentUuid":null,"type":"system","uuid":"u1","cwd":"/project"}"#)?;
    /// assert_eq!(record.chain().unwrap().cwd.unwrap(), "/project");
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn chain(&self) -> Option<Chain<'_>> {
        for_chained!(
            self,
            record => Some(Chain {
                uuid: record.uuid.as_ref(),
                parent_uuid: record.parent_uuid.as_option(),
                logical_parent_uuid: record.logical_parent_uuid.as_option(),
                is_sidechain: record.is_sidechain == Some(true),
                agent_id: record.agent_id.as_ref(),
                team_name: record.team_name.as_ref(),
                timestamp: record.timestamp.as_ref(),
                session_id: record.session_id.as_ref(),
                cwd: record.cwd.as_ref(),
                git_branch: record.git_branch.as_ref(),
            }),
            None
        )
    }

    /// Whether a person need not see the record.
    pub fn is_meta(&self) -> bool {
        match self {
            Self::User(record) => record.is_meta == Some(true),
            Self::System(record) => record.is_meta == Some(true),
            _ => false,
        }
    }

    /// When it was written, for the kinds that say.
    pub fn timestamp(&self) -> Option<&Text> {
        match self {
            Self::QueueOperation(record) => record.timestamp.as_ref(),
            Self::FileHistoryDelta(record) => record.timestamp.as_ref(),
            Self::ApiRequest(record) => record.timestamp.as_ref(),
            Self::ApiRequestShape(record) => record.timestamp.as_ref(),
            Self::ContentReplacement(record) => record.timestamp.as_ref(),
            other => other.chain()?.timestamp,
        }
    }

    /// Makes the record a copy of itself in another place, as the official SDKs do when they fork a session: what ties
    /// it to its session, team and call goes. Does nothing to the kinds that hang on no other.
    pub fn move_to(&mut self, place: NewPlace) {
        if let Self::User(record) = self {
            record.source_tool_assistant_uuid = None;
        }
        for_chained!(
            self,
            record => {
                record.uuid = Some(place.uuid);
                record.parent_uuid = place.parent_uuid.into();
                record.logical_parent_uuid = match place.logical_parent_uuid {
                    Some(uuid) => Nullable::Value(uuid),
                    None => Nullable::Absent,
                };
                record.session_id = Some(place.session_id);
                record.is_sidechain = Some(false);
                record.forked_from = Some(place.forked_from);
                record.timestamp = place.timestamp.or(record.timestamp.take());
                record.team_name = None;
                record.agent_name = None;
                record.slug = None;
            },
            ()
        );
    }
}

impl SystemRecord {
    /// What a `compact_boundary` says of the messages that stay.
    pub fn compaction(&self) -> Option<Compaction> {
        let metadata = self.compact_metadata.as_ref()?;
        Compaction::from_json(metadata.text().clone()).ok()
    }
}
