//! [`Message`]: a line of the protocol in whichever direction it went.

use towline_protocol::{DecodeError, Json, Text, ToAgent, ToHost, Wire};

/// A line that could be read.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    ToHost(ToHost),
    ToAgent(ToAgent),
}

impl Message {
    pub(crate) fn to_host(line: &Text) -> Result<Self, DecodeError> {
        ToHost::from_json(line.clone()).map(Self::ToHost)
    }

    pub(crate) fn to_agent(line: &Text) -> Result<Self, DecodeError> {
        ToAgent::from_json(line.clone()).map(Self::ToAgent)
    }

    /// Reads a line whose direction nobody recorded. Most traces of that kind are what an agent printed.
    pub(crate) fn either(line: &Text) -> Result<Self, DecodeError> {
        let to_host = Self::to_host(line);
        if let Ok(message) = &to_host
            && !message.is_unknown()
        {
            return to_host;
        }
        match Self::to_agent(line) {
            // A type that neither knows, or only the host's side knows.
            Ok(message) if message.is_unknown() => to_host,
            Ok(message) => Ok(message),
            // A type that only the agent's side knows is malformed, not unknown.
            Err(error) => Err(to_host.err().unwrap_or(error)),
        }
    }

    /// What the line is, with its subtype.
    pub(crate) fn full_kind(&self) -> String {
        match self {
            Self::ToHost(message) => message.full_kind(),
            Self::ToAgent(message) => message.full_kind(),
        }
    }

    /// The line, written again from what was read.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::ToHost(message) => message.to_json(),
            Self::ToAgent(message) => message.to_json(),
        }
    }

    /// Whether another line reads as the same message.
    pub(crate) fn reads_from(&self, line: &Text) -> bool {
        match self {
            Self::ToHost(_) => Self::to_host(line),
            Self::ToAgent(_) => Self::to_agent(line),
        }
        .is_ok_and(|message| message == *self)
    }

    /// The paths of all that no named field holds.
    pub(crate) fn unnamed_paths(&self) -> Vec<String> {
        match self {
            Self::ToHost(message) => message.unnamed_paths(),
            Self::ToAgent(message) => message.unnamed_paths(),
        }
    }

    fn is_unknown(&self) -> bool {
        matches!(
            self,
            Self::ToHost(ToHost::Unknown(_)) | Self::ToAgent(ToAgent::Unknown(_))
        )
    }
}

/// Whether an unnamed path tells of an unknown kind: of a message, block, delta, event or request. The others are
/// fields without a name, and values of a named field that is no tag.
pub(crate) fn is_unknown_kind(path: &str) -> bool {
    path.split_once('=').is_some_and(|(place, _)| {
        let field = place.rsplit('.').next().unwrap_or(place);
        matches!(field, "type" | "subtype")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let read = match Message::either(&line.into()) {
            Ok(Message::ToHost(message)) => format!("to host: {}", message.full_kind()),
            Ok(Message::ToAgent(message)) => format!("to agent: {}", message.full_kind()),
            Err(error) => error.to_string(),
        };
        assert_eq!(read, expected, "{line}");
    }

    #[test]
    fn a_bare_line_is_read_by_the_side_that_knows_it() {
        check(r#"{"type":"keep_alive"}"#, "to host: keep_alive");
        check(
            r#"{"type":"session.send","message":{"content":"hi"}}"#,
            "to agent: session.send",
        );
        check(
            r#"{"type":"session.send"}"#,
            "missing field `message` at byte 0",
        );
        check(
            r#"{"type":"session.created"}"#,
            "missing field `session_id` at byte 0",
        );
        check(r#"{"type":"no_such"}"#, "to host: no_such");
        check("no", "expected an object at byte 0");
    }

    #[test]
    fn only_tags_without_a_name_are_unknown_kinds() {
        assert!(is_unknown_kind("type=x"));
        assert!(is_unknown_kind("message.content[].type=a.b=c"));
        assert!(is_unknown_kind("request.subtype=?"));
        assert!(!is_unknown_kind("type"));
        assert!(!is_unknown_kind("permissionMode=type"));
        assert!(!is_unknown_kind("message.stop_reason=x.type"));
    }
}
