//! [`Outline`]: as much of a block as decides where the API takes it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
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

/// A call as it stands in a request: under this id, with an object as its input.
pub(super) fn call(block: Json, id: &str, sent_id: &str) -> Json {
    #[derive(Deserialize)]
    struct Call {
        input: Option<Json>,
    }
    let input = block.parse::<Call>().ok().and_then(|call| call.input);
    if input.is_some_and(|input| input.is_object()) {
        return with_id(block, "id", id, sent_id);
    }
    changed(block, &[("id", sent_id.into()), ("input", json!({}))])
}

/// A result as it stands in a request: that of the call with this id.
pub(super) fn result(block: Json, id: &str, sent_id: &str) -> Json {
    with_id(block, "tool_use_id", id, sent_id)
}

/// The block without marks for the prompt cache, its own and those of blocks inside of it. The input of a call stays.
pub(super) fn unmarked(block: Json) -> Json {
    if !block.as_str().contains("cache_control") {
        return block;
    }
    let mut value: Value = serde_json::from_str(block.as_str()).unwrap_or_default();
    unmark(&mut value);
    Json::new(value.to_string()).unwrap_or(block)
}

fn unmark(value: &mut Value) {
    match value {
        Value::Array(blocks) => blocks.iter_mut().for_each(unmark),
        Value::Object(fields) => {
            fields.remove("cache_control");
            let inside = ["content", "source"];
            let inside = fields
                .iter_mut()
                .filter(|(name, _)| inside.contains(&name.as_str()));
            inside.for_each(|(_, value)| unmark(value));
        }
        _ => {}
    }
}

fn with_id(block: Json, name: &str, id: &str, sent_id: &str) -> Json {
    if id == sent_id {
        return block;
    }
    changed(block, &[(name, sent_id.into())])
}

fn changed(block: Json, fields: &[(&str, Value)]) -> Json {
    let mut value: Value = serde_json::from_str(block.as_str()).unwrap_or_default();
    for (name, field) in fields {
        value[*name] = field.clone();
    }
    Json::new(value.to_string()).unwrap_or(block)
}
