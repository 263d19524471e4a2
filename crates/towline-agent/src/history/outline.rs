//! [`Outline`]: as much of a block as decides where the API takes it.

use std::borrow::Cow;

use serde::Deserialize;
use towline_protocol::Json;

/// A block by its place in a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outline {
    /// Words.
    Text,
    /// A text without words.
    Blank,
    /// Thinking, readable or not.
    Thought,
    /// A call of a tool, by its id.
    Call(String),
    /// The result of the call with this id.
    Result(String),
    /// A call of a tool of the API's own, or its result.
    AssistantOnly,
    /// Anything else, such as a picture.
    Other,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
}

impl Outline {
    pub(super) fn of(block: &Json) -> Self {
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(block.as_str()) else {
            return Self::Other;
        };
        match &*fields.kind {
            "text" if fields.text.unwrap_or_default().trim().is_empty() => Self::Blank,
            "text" => Self::Text,
            "thinking" | "redacted_thinking" => Self::Thought,
            "tool_use" => Self::Call(fields.id.unwrap_or_default().into_owned()),
            "tool_result" => Self::Result(fields.tool_use_id.unwrap_or_default().into_owned()),
            kind if kind.ends_with("_tool_use") || kind.ends_with("_tool_result") => {
                Self::AssistantOnly
            }
            _ => Self::Other,
        }
    }
}

/// Whether a prompt may hold this block.
pub(super) fn can_be_said(block: &Json) -> bool {
    matches!(Outline::of(block), Outline::Text | Outline::Other)
}

/// The block with another value of a field, which it has at present.
pub(super) fn with_field(block: Json, name: &str, old: &str, new: &str) -> Json {
    if old == new {
        return block;
    }
    let mut value: serde_json::Value = serde_json::from_str(block.as_str()).unwrap_or_default();
    value[name] = new.into();
    Json::new(value.to_string()).unwrap_or(block)
}
