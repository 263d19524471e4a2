//! The model's messages and what they cost, as the Messages API and the result lines give them.

use crate::{
    content::Content,
    ids::MessageId,
    json::{Json, Number, Text},
    wire::{Map, Nullable, wire_strings, wire_structs},
};

wire_strings! {
    /// Who speaks.
    pub enum Role {
        /// The person, the host, or a tool.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Reminders that the CLI adds.
        System = "system",
    }

    /// Why the model stopped.
    pub enum StopReason {
        /// It was done.
        EndTurn = "end_turn",
        /// It wants tools to run.
        ToolUse = "tool_use",
        /// It ran out of output.
        MaxTokens = "max_tokens",
        /// It met a stop sequence; also on messages the CLI makes for API errors.
        StopSequence = "stop_sequence",
        /// It refused.
        Refusal = "refusal",
        /// A long turn of the API's own tools was paused.
        PauseTurn = "pause_turn",
        /// The context is full.
        ContextWindowExceeded = "model_context_window_exceeded",
    }
}

wire_structs! {
    /// A message of the Messages API, as `assistant` lines and `message_start` events carry it.
    #[derive(Default)]
    pub struct ModelMessage {
        /// Its id; all lines of one message share it.
        id: Option<MessageId>,
        /// Always `message`.
        kind: Option<Text> = "type",
        /// Always `assistant`; absent in documents 002 and 003.
        role: Option<Role>,
        /// The model; `<synthetic>` when the CLI made the message.
        model: Option<Text>,
        /// The blocks; the real CLI writes exactly one on each `assistant` line.
        content: Nullable<Content>,
        /// `null` until the message is over.
        stop_reason: Nullable<StopReason>,
        /// The stop sequence that was met.
        stop_sequence: Nullable<Text>,
        /// More about a refusal.
        stop_details: Nullable<Json>,
        /// Tokens.
        usage: Nullable<Usage>,
        /// What the API cleared from the context.
        context_management: Nullable<Json>,
        /// The container of a code execution tool.
        container: Nullable<Json>,
        /// Notes of the API.
        diagnostics: Nullable<Json>,
    }

    /// Tokens of one model call or of one turn.
    #[derive(Default)]
    pub struct Usage {
        /// Tokens read, without the cached ones.
        input_tokens: Option<u64>,
        /// Tokens written.
        output_tokens: Option<u64>,
        /// Tokens put into the cache.
        cache_creation_input_tokens: Nullable<u64>,
        /// Tokens taken from the cache.
        cache_read_input_tokens: Nullable<u64>,
        /// Of the tokens written: thinking.
        output_tokens_details: Nullable<OutputTokensDetails>,
        /// Calls of the API's own tools.
        server_tool_use: Nullable<ServerToolUse>,
        /// Such as `standard`.
        service_tier: Nullable<Text>,
        /// Tokens put into the cache, by how long they stay.
        cache_creation: Nullable<CacheCreation>,
        /// Where the model ran.
        inference_geo: Nullable<Text>,
        /// The model calls behind one message.
        iterations: Nullable<Vec<Json>>,
        /// Such as `standard`.
        speed: Nullable<Text>,
        /// Credit for a fallback.
        fallback_credit: Nullable<Json>,
        /// Web searches, where document 002 has them.
        web_search_requests: Option<u64>,
    }

    /// What the written tokens were.
    #[derive(Default)]
    pub struct OutputTokensDetails {
        /// Thinking.
        thinking_tokens: Option<u64>,
    }

    /// Calls of the API's own tools.
    #[derive(Default)]
    pub struct ServerToolUse {
        /// Web searches.
        web_search_requests: Option<u64>,
        /// Web fetches.
        web_fetch_requests: Option<u64>,
    }

    /// Tokens put into the cache.
    #[derive(Default)]
    pub struct CacheCreation {
        /// For an hour.
        ephemeral_1h_input_tokens: Option<u64>,
        /// For five minutes.
        ephemeral_5m_input_tokens: Option<u64>,
    }

    /// What one model has used in a session so far, subagents included.
    #[derive(Default)]
    pub struct ModelUsage {
        /// Tokens read.
        input_tokens: Option<u64> = "inputTokens" | "input_tokens",
        /// Tokens written.
        output_tokens: Option<u64> = "outputTokens" | "output_tokens",
        /// Tokens taken from the cache.
        cache_read_input_tokens: Option<u64> = "cacheReadInputTokens" | "cache_read_input_tokens",
        /// Tokens put into the cache.
        cache_creation_input_tokens: Option<u64> = "cacheCreationInputTokens" | "cache_creation_input_tokens",
        /// Web searches.
        web_search_requests: Option<u64> = "webSearchRequests" | "web_search_requests",
        /// Cost in US dollars.
        cost_usd: Option<Number> = "costUSD" | "cost_usd",
        /// The size of the context.
        context_window: Option<u64> = "contextWindow" | "context_window",
        /// The most it may write at once.
        max_output_tokens: Option<u64> = "maxOutputTokens" | "max_output_tokens",
        /// Tokens of thinking.
        thinking_tokens: Option<u64> = "thinkingTokens",
        /// Tokens put into the cache for five minutes.
        cache_creation_5m: Option<u64> = "cacheCreationEphemeral5mInputTokens",
        /// Tokens put into the cache for an hour.
        cache_creation_1h: Option<u64> = "cacheCreationEphemeral1hInputTokens",
        /// The model's full name.
        canonical_model: Option<Text> = "canonicalModel",
        /// Who serves it.
        provider: Option<Text>,
        /// How the cost was found.
        cost_basis: Option<Text> = "costBasis",
    }
}

/// Usage by model name.
pub type ModelUsages = Map<ModelUsage>;

impl Usage {
    /// All tokens that were in the context of this call: read, cached and written (document 001 §6.4).
    pub fn context_tokens(&self) -> u64 {
        let cached = |count: &Nullable<u64>| count.as_option().copied().unwrap_or(0);
        self.input_tokens.unwrap_or(0)
            + cached(&self.cache_creation_input_tokens)
            + cached(&self.cache_read_input_tokens)
            + self.output_tokens.unwrap_or(0)
    }
}
