//! The `result` line: how a turn ended and what it took.

use crate::{
    ids::{MessageId, SessionId, ToolUseId, Uuid},
    json::{Json, Number, Text},
    message::{ModelUsages, StopReason, Usage},
    tool::ToolName,
    wire::{Map, Nullable, TextOrJson, wire_strings, wire_structs},
};

wire_strings! {
    /// How a turn ended.
    pub enum ResultSubtype {
        /// With an answer; also, with `is_error`, by an API failure.
        Success = "success",
        /// By an interrupt, or before it began.
        ErrorDuringExecution = "error_during_execution",
        /// By `--max-turns`.
        ErrorMaxTurns = "error_max_turns",
        /// By `--max-budget-usd`.
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        /// The model could not give the form that was asked for.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
        /// By an error (documents 001, 002 and 004).
        Error = "error",
        /// By bad input (document 002).
        ErrorInput = "error_input",
    }

    /// What ended a turn, more exactly.
    pub enum TerminalReason {
        /// The model was done.
        Completed = "completed",
        /// An interrupt while it wrote.
        AbortedStreaming = "aborted_streaming",
        /// An interrupt while tools ran.
        AbortedTools = "aborted_tools",
        /// The API failed.
        ApiError = "api_error",
        /// The model failed.
        ModelError = "model_error",
        /// `--max-turns`.
        MaxTurns = "max_turns",
        /// `--max-budget-usd`.
        BudgetExhausted = "budget_exhausted",
        /// A hook ended it.
        HookStopped = "hook_stopped",
        /// A stop hook ended it.
        StopHookPrevented = "stop_hook_prevented",
        /// The context is full.
        BlockingLimit = "blocking_limit",
        /// The prompt is too long.
        PromptTooLong = "prompt_too_long",
        /// The context fills up faster than it can be compacted.
        RapidRefillBreaker = "rapid_refill_breaker",
        /// A picture could not be used.
        ImageError = "image_error",
        /// The model's tool calls could not be read.
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        /// The model could not give the form that was asked for.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// A tool was put off.
        ToolDeferred = "tool_deferred",
        /// A tool was put off and is gone.
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        /// It goes on in the background.
        BackgroundRequested = "background_requested",
        /// It could not begin.
        TurnSetupFailed = "turn_setup_failed",
    }
}

wire_structs! {
    /// `result`. The real CLI writes snake_case but for `modelUsage`; document 001 writes camelCase, document 003
    /// counts `turn_count` and `duration_seconds`.
    #[derive(Default)]
    pub struct TurnResult {
        /// How long the API took.
        duration_api_ms: Option<u64> = "duration_api_ms" | "durationApiMs",
        /// Why the model stopped.
        stop_reason: Nullable<StopReason>,
        /// The session.
        session_id: Option<SessionId> = "session_id" | "sessionId",
        /// Cost of the session so far.
        total_cost_usd: Option<Number> = "total_cost_usd" | "totalCostUsd",
        /// Tokens of the turn, main thread only.
        usage: Nullable<Usage>,
        /// Tokens of the session so far, subagents included, by model.
        model_usage: Option<ModelUsages> = "modelUsage" | "model_usage",
        /// Calls that were denied.
        permission_denials: Option<Vec<PermissionDenial>> = "permission_denials" | "permissionDenials",
        /// What ended the turn, more exactly.
        terminal_reason: Option<TerminalReason>,
        /// Fast mode.
        fast_mode_state: Option<Text>,
        /// Why fast mode is off.
        fast_mode_disabled_reason: Option<Text>,
        /// What the subagents did.
        subagent_stats: Option<SubagentStats>,
        /// How often the turn was stopped for safety.
        safety_stops: Option<u64>,
        /// Whether it failed.
        is_error: Option<bool> = "is_error" | "isError",
        /// One more than the user lines of the turn.
        num_turns: Option<u64> = "num_turns" | "numTurns" | "turn_count",
        /// How the turn ended; absent in one form of document 001 §9.1.
        subtype: Option<ResultSubtype>,
        /// The HTTP status of an API failure.
        api_error_status: Nullable<u64>,
        /// The answer.
        result: Nullable<TextOrJson>,
        /// Until the first token.
        ttft_ms: Option<u64>,
        /// What went wrong.
        errors: Option<Vec<Text>>,
        /// How long it took.
        duration_ms: Option<u64> = "duration_ms" | "durationMs",
        /// This line.
        uuid: Option<Uuid>,
        /// Until the first token of the stream.
        ttft_stream_ms: Option<u64>,
        /// Until the request was sent.
        time_to_request_ms: Option<u64>,
        /// Until the first content.
        first_content_frame_ms: Option<u64>,
        /// Messages still waiting.
        queued_turn_count: Option<u64>,
        /// How many results the process has given before.
        result_index: Option<u64>,
        /// The same since the last result.
        model_usage_since_last_result: Option<ModelUsages>,
        /// How long it took, in document 003.
        duration_seconds: Option<Number>,
        /// What went wrong, in the documents.
        error: Option<Text>,
        /// The answer in the form that was asked for.
        structured_output: Option<Json>,
        /// The API's name for it.
        api_error_type: Option<Text>,
        /// The agent's name for it.
        api_error: Option<Text>,
        /// The slash command that ran here.
        local_command: Option<Text>,
        /// What set the turn off, if not the host.
        origin: Option<Origin>,
        /// A call that was put off.
        deferred_tool_use: Option<Json>,
        /// Why the agent could not start.
        startup_failure_reason: Option<Text>,
        /// The file that kept it from starting.
        invalid_config_file: Option<Json>,
        /// Why an old turn goes on.
        resume_reason: Option<Text>,
        /// When the credentials end.
        credential_expires_at: Option<Text>,
        /// The message that the turn answers.
        user_message_uuid: Option<Uuid>,
        /// All messages that the turn answers.
        user_message_uuids: Option<Vec<Uuid>>,
        /// The same from the start of the process.
        time_to_request_from_spawn_ms: Option<u64>,
        /// When the request was sent.
        request_sent_wall_ms: Option<u64>,
        /// Tokens of the first request.
        first_request_input_tokens: Option<u64>,
        /// Cached tokens of the first request.
        first_request_cache_read_input_tokens: Option<u64>,
        /// Until something was posted.
        first_stream_post_ms: Option<u64>,
        /// Until that was taken.
        first_stream_post_ack_ms: Option<u64>,
        /// How long it queued.
        first_stream_post_queue_wait_ms: Option<u64>,
        /// Behind what it queued.
        first_stream_post_queued_behind: Option<Text>,
        /// When it was posted.
        first_stream_post_wall_ms: Option<u64>,
        /// Until text was posted.
        first_text_post_ms: Option<u64>,
        /// How long that queued.
        first_text_post_queue_wait_ms: Option<u64>,
        /// Behind what that queued.
        first_text_post_queued_behind: Option<Text>,
        /// When that was posted.
        first_text_post_wall_ms: Option<u64>,
        /// Whether a waiting process was used.
        warm_spare_claimed: Option<bool>,
        /// Where the clocks begin.
        time_origin_ms: Option<Number>,
    }

    /// A call that was denied.
    pub struct PermissionDenial {
        /// The tool.
        tool_name: ToolName = "tool_name" | "toolName",
        /// The call.
        tool_use_id: Option<ToolUseId> = "tool_use_id" | "toolUseId",
        /// Its input.
        tool_input: Option<Json> = "tool_input" | "toolInput",
    }

    /// What the subagents of a session did.
    #[derive(Default)]
    pub struct SubagentStats {
        /// How many were started.
        spawned: Option<u64>,
        /// How they were asked for: `background`, `foreground`, `unset`.
        requested: Option<Map<u64>>,
        /// How many began in the background.
        started_in_background: Option<u64>,
        /// How deep they went.
        max_depth: Option<u64>,
        /// How many were started by another.
        spawned_by_subagents: Option<u64>,
        /// How many finished.
        completed: Option<u64>,
        /// How many failed.
        failed: Option<u64>,
        /// By whom they were killed: `parent`, `user`, `system`.
        killed: Option<Map<u64>>,
        /// Why they were refused: `depth_limit`, `concurrency_limit`, `budget`.
        refused: Option<Map<u64>>,
        /// How many of each type.
        by_type: Option<Map<u64>>,
    }

    /// What set a turn off, or wrote a message, if not the host.
    #[derive(Default)]
    pub struct Origin {
        /// `human`, `channel`, `peer`, `task-notification`, `coordinator`, …
        kind: Option<Text>,
        /// More exactly.
        subkind: Option<Text>,
        /// Who made it.
        producer: Option<Text>,
        /// The run of the task.
        run_id: Option<Text> = "runId",
        /// Why it fired.
        fire_reason: Option<Text> = "fireReason",
        /// The channel's server.
        server: Option<Text>,
        /// The peer.
        from: Option<Text>,
        /// Its mode.
        from_mode: Option<Text> = "fromMode",
        /// Its name.
        name: Option<Text>,
        /// Its session.
        from_session: Option<SessionId> = "fromSession",
        /// Its task.
        sender_task_id: Option<Text> = "senderTaskId",
        /// What it said.
        body: Option<Text>,
        /// Its process.
        verified_peer_pid: Option<u64> = "verifiedPeerPid",
        /// The message it belongs to.
        message_id: Option<MessageId> = "messageId",
    }
}

impl TurnResult {
    /// The answer, if it is text.
    pub fn text(&self) -> Option<&Text> {
        self.result.as_option().and_then(TextOrJson::as_text)
    }

    /// Whether the turn failed, in whichever way it says so.
    pub fn failed(&self) -> bool {
        self.is_error.unwrap_or(
            self.subtype
                .as_ref()
                .is_some_and(|subtype| *subtype != ResultSubtype::Success),
        )
    }
}
