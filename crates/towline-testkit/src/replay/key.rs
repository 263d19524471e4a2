//! [`Key`]: what a line is known by when the recorded line is looked for that it belongs to.

use towline_protocol::{ControlLine, RequestId, Text, ToAgent, ToHost, ToolUseId, Wire};

use super::trace::Side;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    /// To the question of that id.
    Answer(Option<RequestId>),
    /// Of the question of that id.
    Cancel(RequestId),
    /// Its kind.
    Question(String),
    /// Its kind, and the call whose subagent says it.
    Other(String, Option<ToolUseId>),
    KeepAlive,
    /// Not a line of the protocol.
    Unreadable,
}

impl Key {
    pub(super) fn read(side: Side, line: &Text) -> Self {
        let line = line.clone();
        match side {
            Side::Host => ToAgent::from_json(line).map_or(Self::Unreadable, Self::of_host),
            Side::Agent => ToHost::from_json(line).map_or(Self::Unreadable, Self::of_agent),
        }
    }

    fn of_host(line: ToAgent) -> Self {
        let kind = line.full_kind();
        match ControlLine::try_from(line) {
            Ok(control) => Self::of_control(kind, control),
            Err(ToAgent::KeepAlive(_)) => Self::KeepAlive,
            Err(_) => Self::Other(kind, None),
        }
    }

    fn of_agent(line: ToHost) -> Self {
        let kind = line.full_kind();
        match ControlLine::try_from(line) {
            Ok(control) => Self::of_control(kind, control),
            Err(ToHost::KeepAlive(_)) => Self::KeepAlive,
            Err(other) => Self::Other(kind, other.parent_tool_use_id().cloned()),
        }
    }

    fn of_control(kind: String, line: ControlLine) -> Self {
        match line {
            ControlLine::Request(_) => Self::Question(kind),
            ControlLine::Response(answer) => Self::Answer(answer.request_id().cloned()),
            ControlLine::Cancel(cancel) => Self::Cancel(cancel.request_id),
        }
    }
}
