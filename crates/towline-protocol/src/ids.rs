//! The ids of the wire, each a type of its own.

use crate::{
    json::{Number, Reader, Text, Writer},
    wire::{Parts, Result, wire_ids},
};

wire_ids! {
    /// A session, as in `session_id`. A UUID wherever the CLI made it; any string elsewhere.
    SessionId;
    /// A tool call, as in `tool_use_id` and the `id` of a `tool_use` block.
    ToolUseId;
    /// A message of the model, as in `message.id`.
    MessageId;
    /// A line or transcript record, as in `uuid`.
    Uuid;
    /// A background task or subagent run, as in `task_id`.
    TaskId;
    /// A subagent, as in `agent_id`.
    AgentId;
    /// A hook function of the host, as in `callback_id`.
    CallbackId;
}

impl ToolUseId {
    /// The id under which a nested call is shown: its parent's id, a colon, its own (document 001 §6.3).
    ///
    /// ```
    /// use towline_protocol::ToolUseId;
    ///
    /// let read = ToolUseId::from("toolu_01READ456");
    /// assert_eq!(read.composite(Some(&"toolu_01TASK123".into())), "toolu_01TASK123:toolu_01READ456");
    /// assert_eq!(read.composite(None), "toolu_01READ456");
    /// ```
    #[must_use]
    pub fn composite(&self, parent: Option<&Self>) -> Self {
        match parent {
            Some(parent) => format!("{parent}:{self}").into(),
            None => self.clone(),
        }
    }
}

/// A control request, as in `request_id`. Usually a string; a number is echoed as a number (trace
/// `control-06b_bad_control_requests_5`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// `"req_1"`
    Text(Text),
    /// `7`
    Number(Number),
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::Text(id.into())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::Text(id.into())
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(id) => f.pad(id),
            Self::Number(id) => f.pad(&id.to_string()),
        }
    }
}

impl Parts for RequestId {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        match reader.peek() {
            b'"' => reader.text().map(Self::Text),
            b'-' | b'0'..=b'9' => reader.number().map(Self::Number),
            _ => Err(reader.expected("a string or a number")),
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Text(id) => id.write(writer),
            Self::Number(id) => id.write(writer),
        }
    }
}
