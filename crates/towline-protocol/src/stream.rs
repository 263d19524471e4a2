//! Stream events: a message while it is being written, as the Messages API sends it.

use crate::{
    content::Block,
    json::{Json, Text},
    message::{ModelMessage, StopReason, Usage},
    wire::{Nullable, wire_enum, wire_structs},
};

wire_enum! {
    /// One event of a streamed message.
    pub enum StreamEvent by "type" {
        /// A message begins.
        "message_start" => MessageStart(Box<MessageStart>),
        /// A block begins.
        "content_block_start" => BlockStart(Box<BlockStart>),
        /// A block grows.
        "content_block_delta" => BlockDelta(BlockDelta),
        /// A block is complete.
        "content_block_stop" => BlockStop(BlockStop),
        /// The message's stop reason and usage.
        "message_delta" => MessageDelta(Box<MessageDelta>),
        /// The message is complete.
        "message_stop" => MessageStop(MessageStop),
        /// A sign of life.
        "ping" => Ping(MessageStop),
        /// The API failed in the middle of a message.
        "error" => Error(StreamError),
    }
}

wire_enum! {
    /// What a block grows by.
    pub enum Delta by "type" {
        /// Words.
        "text_delta" => Text(TextDelta),
        /// Thoughts.
        "thinking_delta" => Thinking(ThinkingDelta),
        /// A piece of the JSON of a tool's input.
        "input_json_delta" => InputJson(InputJsonDelta),
        /// The signature of the thoughts.
        "signature_delta" => Signature(SignatureDelta),
        /// A citation.
        "citations_delta" => Citations(CitationsDelta),
    }
}

wire_structs! {
    /// `message_start`
    pub struct MessageStart {
        /// The message, still without content.
        message: ModelMessage,
    }

    /// `content_block_start`
    pub struct BlockStart {
        /// The place of the block in the message.
        index: u64,
        /// The block, still empty.
        content_block: Block,
    }

    /// `content_block_delta`
    pub struct BlockDelta {
        /// The place of the block in the message.
        index: u64,
        /// What it grows by.
        delta: Delta,
    }

    /// `content_block_stop`
    pub struct BlockStop {
        /// The place of the block in the message.
        index: u64,
    }

    /// `message_delta`
    #[derive(Default)]
    pub struct MessageDelta {
        /// What changes in the message.
        delta: Option<MessageChange>,
        /// The tokens so far.
        usage: Nullable<Usage>,
        /// What the API cleared from the context.
        context_management: Nullable<Json>,
    }

    /// The `delta` of a `message_delta`.
    #[derive(Default)]
    pub struct MessageChange {
        /// Why the model stopped.
        stop_reason: Nullable<StopReason>,
        /// The stop sequence that was met.
        stop_sequence: Nullable<Text>,
        /// More about a refusal.
        stop_details: Nullable<Json>,
        /// The container of a code execution tool.
        container: Nullable<Json>,
    }

    /// `message_stop` and `ping`, which carry nothing.
    #[derive(Default)]
    pub struct MessageStop {}

    /// `error`
    pub struct StreamError {
        /// What happened.
        error: Json,
    }

    /// `text_delta`
    #[derive(Default)]
    pub struct TextDelta {
        /// More words.
        text: Text,
    }

    /// `thinking_delta`
    #[derive(Default)]
    pub struct ThinkingDelta {
        /// More thoughts.
        thinking: Text,
        /// An estimate of the tokens so far.
        estimated_tokens: Option<u64>,
    }

    /// `input_json_delta`
    #[derive(Default)]
    pub struct InputJsonDelta {
        /// More of the input's JSON text.
        partial_json: Text,
    }

    /// `signature_delta`
    #[derive(Default)]
    pub struct SignatureDelta {
        /// The signature.
        signature: Text,
    }

    /// `citations_delta`
    pub struct CitationsDelta {
        /// One more citation.
        citation: Json,
    }
}
