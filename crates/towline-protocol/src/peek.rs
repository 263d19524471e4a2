//! [`peek`]: where a line belongs, found by a scan instead of a parse. For relays, which pass on bytes.

use std::borrow::Cow;

use crate::json::{quoted_end, value_end};

/// What a relay needs to know of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peek<'a> {
    /// Its `type`.
    pub kind: Option<Cow<'a, str>>,
    /// Its `session_id`.
    pub session_id: Option<Cow<'a, str>>,
    /// Its `parent_tool_use_id`; nothing if absent or `null`.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
}

/// Looks for the kind, session and parent of a line. Reads the top level only, and stops as soon as it has all three.
///
/// It trusts the line to be JSON. Nothing if it is no object or ends too early; [`Frame::decode`](crate::Frame::decode)
/// then says what is wrong.
///
/// ```
/// let peek = towline_protocol::peek(
///     r#"{"event":{"type":"message_stop"},"session_id":"s1","parent_tool_use_id":null,"type":"stream_event"}"#,
/// ).unwrap();
/// assert_eq!(peek.kind.as_deref(), Some("stream_event"));
/// assert_eq!(peek.session_id.as_deref(), Some("s1"));
/// assert_eq!(peek.parent_tool_use_id, None);
/// ```
pub fn peek(line: &str) -> Option<Peek<'_>> {
    look_for(line, KIND | SESSION | PARENT)
}

/// Looks for the kind of a line alone, and stops as soon as it has it.
///
/// ```
/// let line = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#;
/// assert_eq!(towline_protocol::peek_kind(line).as_deref(), Some("control_request"));
/// ```
pub fn peek_kind(line: &str) -> Option<Cow<'_, str>> {
    look_for(line, KIND)?.kind
}

/// Whether a line for a host belongs to the control conversation.
///
/// ```
/// assert!(towline_protocol::is_control(r#"{"request_id":"r1","type":"control_cancel_request"}"#));
/// assert!(!towline_protocol::is_control(r#"{"type":"result","result":"control_request"}"#));
/// ```
pub fn is_control(line: &str) -> bool {
    if let Some(kind) = line.strip_prefix(r#"{"type":""#)
        && !kind.starts_with(['c', '\\'])
    {
        // Nearly every line: its kind stands first, and its first letter says enough.
        return false;
    }
    matches!(
        peek_kind(line).as_deref(),
        Some(
            "control_request" | "control_response" | "control_cancel_request" | "callback.request"
        )
    )
}

fn look_for(line: &str, mut missing: u8) -> Option<Peek<'_>> {
    let bytes = line.as_bytes();
    let mut peek = Peek::default();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = skip_space(bytes, at + 1);
    while bytes.get(at) != Some(&b'}') {
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key_end = quoted_end(bytes, at + 1)?;
        let key = &bytes[at + 1..key_end - 1];
        at = skip_space(bytes, key_end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        at = skip_space(bytes, at + 1);
        let end = value_end(bytes, at)?;
        let (found, slot) = match key {
            b"type" => (KIND, &mut peek.kind),
            b"session_id" => (SESSION, &mut peek.session_id),
            b"parent_tool_use_id" => (PARENT, &mut peek.parent_tool_use_id),
            _ => (0, &mut None),
        };
        if found != 0 && missing & found != 0 {
            *slot = string(line, at, end);
            missing &= !found;
            if missing == 0 {
                return Some(peek);
            }
        }
        at = skip_space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(bytes, at + 1);
        }
    }
    Some(peek)
}

#[inline]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The string that is the value from `start` to `end`; nothing for another kind of value.
fn string(line: &str, start: usize, end: usize) -> Option<Cow<'_, str>> {
    let inside = line[start..end].strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_some() {
        return serde_json::from_str(&line[start..end]).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

const KIND: u8 = 1;
const SESSION: u8 = 2;
const PARENT: u8 = 4;
