//! [`Frame`]: a line and what it says. The bytes are the truth, the message is a view of them.

use bytes::Bytes;

use crate::{
    json::{DecodeError, Text},
    to_agent::ToAgent,
    to_host::ToHost,
    wire::Wire,
};

/// A decoded line that keeps its bytes, so that a relay can pass on exactly what it got.
///
/// ```
/// use towline_protocol::{Frame, ToHost};
///
/// let line = r#"{ "type" : "keep_alive" , "since" : 1e0 }"#;
/// let frame = Frame::<ToHost>::decode(line)?;
/// assert!(matches!(frame.message, ToHost::KeepAlive(_)));
/// assert_eq!(frame.bytes(), line);
/// # Ok::<(), towline_protocol::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<M> {
    line: Text,
    /// What the line says.
    pub message: M,
}

/// A line for a host.
pub type HostFrame = Frame<ToHost>;
/// A line for an agent.
pub type AgentFrame = Frame<ToAgent>;

impl<M: Wire> Frame<M> {
    /// Reads a line; it must be without its newline.
    ///
    /// # Errors
    /// When the line is not JSON, or is not the message it says it is: which field, at which byte.
    pub fn decode(line: impl Into<Text>) -> Result<Self, DecodeError> {
        Self::decode_or_give_back(line.into()).map_err(|(_, error)| error)
    }

    /// Reads a line; one that cannot be read comes back.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_or_give_back(line: Text) -> Result<Self, (Text, DecodeError)> {
        match M::read_whole(&line) {
            Ok(message) => Ok(Self { line, message }),
            Err(error) => Err((line, error)),
        }
    }

    /// Writes a message as the real CLI would and keeps the line.
    pub fn encode(message: M) -> Self {
        Self {
            line: message.to_standard_json().text().clone(),
            message,
        }
    }
}

impl<M> Frame<M> {
    /// The line as it came, without its newline.
    pub fn line(&self) -> &Text {
        &self.line
    }

    /// The bytes of the line as they came, without the newline.
    pub fn bytes(&self) -> &Bytes {
        self.line.bytes()
    }
}
