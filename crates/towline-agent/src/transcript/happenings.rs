//! What a [`Transcript`](super::Transcript) is told: one type for each thing that happens.

use towline_protocol::{Block, Content, Json, ModelMessage, PermissionMode, Text, Uuid};

/// The id of a record and when it was made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stamp {
    /// Its id, also that of its line.
    pub(crate) uuid: Uuid,
    /// When, such as `2026-11-16T00:06:37.873Z`.
    pub(crate) timestamp: Text,
}

/// A prompt that waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queued {
    /// What it says.
    pub(crate) content: Option<Json>,
    /// The id that the host gave it.
    pub(crate) command_uuid: Option<Uuid>,
}

/// A prompt that begins a turn.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// What it says.
    pub(crate) content: Content,
    /// The id of the turn, for all records of it.
    pub(crate) prompt_id: Text,
    /// The mode it begins in.
    pub(crate) permission_mode: PermissionMode,
    /// Who wrote it: `sdk` for a host.
    pub(crate) source: Text,
    /// What set it off, if the agent itself wrote it.
    pub(crate) origin: Option<Json>,
}

/// What is added to a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    /// What it is; an object with a `type`.
    pub(crate) attachment: Json,
    /// What the model gets to see; nothing if it sees nothing.
    pub(crate) rendered: Option<String>,
}

/// A block of the model's message.
#[derive(Clone, Debug, Default)]
pub(crate) struct AssistantBlock {
    /// The message with this block alone, and with its final stop reason and usage.
    pub(crate) message: ModelMessage,
    /// The block's place in the API's message.
    pub(crate) index: Option<u64>,
    /// The API's request.
    pub(crate) request_id: Option<Text>,
    /// The model that was asked for.
    pub(crate) requested_model: Option<Text>,
    /// How hard it tries.
    pub(crate) effort: Option<Text>,
    /// If no model said it: what the API failed with.
    pub(crate) failure: Option<Failure>,
}

/// Why the API gave no answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Failure {
    /// What the protocol calls it, such as `rate_limit`.
    pub(crate) error: Option<Text>,
    /// The HTTP status.
    pub(crate) status: Option<u64>,
    /// The API's name for it.
    pub(crate) kind: Option<Text>,
}

/// What a tool gave.
#[derive(Clone, Debug)]
pub(crate) struct ToolResult {
    /// The result.
    pub(crate) block: Block,
    /// The same as data.
    pub(crate) data: Option<Json>,
    /// The record of the call.
    pub(crate) call: Option<Uuid>,
    /// Who allowed it: `{"decision":"accept","source":"config",…}`.
    pub(crate) decision: Option<Json>,
    /// Why it was denied, such as `user-rejected`.
    pub(crate) denial_kind: Option<Text>,
}

/// A compaction.
#[derive(Clone, Debug)]
pub(crate) struct Compacted {
    /// What the model is told instead of what was said.
    pub(crate) summary: Text,
    /// `trigger`, `preTokens`, what stays, …
    pub(crate) metadata: Json,
}
