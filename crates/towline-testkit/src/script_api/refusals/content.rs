//! Roles, blocks that the API knows, texts that hold something, each on the right side, tools with usable names.

use std::collections::HashSet;

use serde_json::Value;

use super::{ApiError, Message, refuse};

pub(super) fn check_roles(messages: &[Message<'_>]) -> Result<(), ApiError> {
    for message in messages {
        if !["user", "assistant", "system"].contains(&message.role) {
            return refuse(format!(
                "messages.{}.role: Input should be 'user' or 'assistant'",
                message.index
            ));
        }
        for block in message.blocks() {
            let side = match block.kind() {
                "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" => "assistant",
                "tool_result" => "user",
                _ => continue,
            };
            if message.role != side {
                return refuse(format!(
                    "messages.{}: `{}` blocks can only be in `{side}` messages",
                    message.index,
                    block.kind()
                ));
            }
        }
    }
    if messages.first().is_some_and(|first| first.role != "user") {
        return refuse("messages: first message must use the \"user\" role");
    }
    Ok(())
}

/// Each block is one that the API knows, with the fields that it cannot be without.
pub(super) fn check_blocks(messages: &[Message<'_>]) -> Result<(), ApiError> {
    for block in messages.iter().flat_map(Message::blocks) {
        let place = block.place();
        if !block.value.is_object() {
            return refuse(format!(
                "{place}: Input should be a valid dictionary or object to extract fields from"
            ));
        }
        let kind = block.kind();
        if kind.is_empty() {
            return refuse(format!("{place}.type: Field required"));
        }
        let is_of_a_tool = kind.ends_with("_tool_use") || kind.ends_with("_tool_result");
        if !KINDS.contains(&kind) && !is_of_a_tool {
            return refuse(format!(
                "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            ));
        }
        let needed = NEEDED.iter().filter(|(needs, _)| *needs == kind);
        for (_, field) in needed {
            let problem = match &block.value[field] {
                Value::String(_) => continue,
                Value::Null if block.value.get(field).is_none() => "Field required",
                _ => "Input should be a valid string",
            };
            return refuse(format!("{place}.{kind}.{field}: {problem}"));
        }
    }
    Ok(())
}

pub(super) fn check_texts(body: &Value, messages: &[Message<'_>]) -> Result<(), ApiError> {
    check_filled("system", &body["system"], Blank::Refused)?;
    for message in messages {
        let is_empty = message.content == "" || message.blocks.is_some_and(<[Value]>::is_empty);
        if is_empty && message.role == "user" {
            return refuse(format!(
                "messages.{}: user messages must have non-empty content",
                message.index
            ));
        }
        check_filled("messages", message.content, Blank::Refused)?;
        for block in message
            .blocks()
            .filter(|block| block.kind() == "tool_result")
        {
            check_filled("messages", &block.value["content"], Blank::Allowed)?;
        }
    }
    Ok(())
}

/// A request ends with the user's side, but for an answer that was paused in the API's own tools (`pause_turn`), and for the
/// models of before, which go on from any beginning.
pub(super) fn check_end(body: &Value, messages: &[Message<'_>]) -> Result<(), ApiError> {
    let Some(last) = messages.last().filter(|last| last.role == "assistant") else {
        return Ok(());
    };
    if last.blocks().any(|block| block.kind() == "server_tool_use") {
        return Ok(());
    }
    let model = body["model"].as_str().unwrap_or_default();
    if !MODELS_THAT_GO_ON.iter().any(|part| model.contains(part)) {
        return refuse(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        );
    }
    if ends_blank(last.content) {
        return refuse("messages: final assistant content cannot end with trailing whitespace");
    }
    Ok(())
}

/// Whether a text of nothing but white space is refused like an empty one; what a tool printed may be blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blank {
    Refused,
    Allowed,
}

fn check_filled(place: &str, content: &Value, blank: Blank) -> Result<(), ApiError> {
    let blocks = content.as_array().into_iter().flatten();
    let blocks = blocks.filter(|block| block["type"] == "text");
    let texts = blocks.filter_map(|block| block["text"].as_str());
    if texts.clone().any(str::is_empty) {
        return refuse(format!("{place}: text content blocks must be non-empty"));
    }
    // One text in the place of blocks: an empty one is an empty content.
    let alone = content.as_str().filter(|text| !text.is_empty());
    let is_blank = |text: &str| text.trim().is_empty();
    if blank == Blank::Refused && texts.chain(alone).any(is_blank) {
        return refuse(format!(
            "{place}: text content blocks must contain non-whitespace text"
        ));
    }
    Ok(())
}

fn ends_blank(content: &Value) -> bool {
    let last = content.as_array().and_then(|blocks| blocks.last());
    let last = last.and_then(|block| block["text"].as_str());
    let text = content.as_str().or(last).unwrap_or_default();
    text.ends_with(char::is_whitespace)
}

pub(super) fn check_tools(body: &Value) -> Result<(), ApiError> {
    let mut names = HashSet::new();
    let tools = body["tools"].as_array().into_iter().flatten();
    for (index, tool) in tools.enumerate() {
        let Some(name) = tool["name"].as_str() else {
            continue;
        };
        let is_sound =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if name.is_empty() || name.len() > 128 || !name.chars().all(is_sound) {
            return refuse(format!(
                "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if !names.insert(name) {
            return refuse("tools: Tool names must be unique.");
        }
    }
    Ok(())
}

/// The kinds of blocks, but for those of the API's own tools.
const KINDS: &[&str] = &[
    "text",
    "image",
    "document",
    "search_result",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "container_upload",
];
/// Fields that hold a text, by the kind of block that needs them.
const NEEDED: &[(&str, &str)] = &[
    ("text", "text"),
    ("tool_use", "id"),
    ("tool_use", "name"),
    ("tool_result", "tool_use_id"),
    ("thinking", "thinking"),
];
/// Parts of their names.
const MODELS_THAT_GO_ON: &[&str] = &["claude-3", "-4-0", "-4-1", "-4-5", "-4-2025"];
