//! Owns the row of `cc-sdk`. Its parser is private, and `Message`'s public
//! `Deserialize` is not what its client uses: it demands a `data` key in system
//! lines, which the CLI never sends, and would make the crate look worse than it
//! is. So this follows the steps of the private parser over the public types: the
//! line to a tree, then a message built by kind from copies of the tree's parts.
//! Like the parser it drops user lines whose content is an array.

use crate::decoder::{Decoder, Outcome, Recoded, Role, recode_if, utf8};
use crate::items::Sink;
use crate::tree;
use bytes::Bytes;
use cc_sdk::{
    AssistantMessage, ContentBlock, ContentValue, Message, TextContent, ThinkingContent,
    ToolResultContent, ToolUseContent, UserMessage,
};
use serde_json::Value;

pub struct CcSdk;

impl Decoder for CcSdk {
    const NAME: &'static str = "cc-sdk";
    const ROLE: Role = Role::Peer;
    const COMPLETE: bool = false;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        match decode(line) {
            Some(Some(message)) => {
                read_message(&message, sink);
                Outcome::Read
            }
            Some(None) => Outcome::Skipped,
            None => Outcome::Failed,
        }
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(decode(line).flatten().ok_or(()))
    }
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(String::from)
}

fn copy(value: &Value, key: &str) -> Value {
    value
        .get(key)
        .cloned()
        .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Outer `None`: an error. Inner `None`: a line the client drops.
fn decode(line: &[u8]) -> Option<Option<Message>> {
    let json: Value = serde_json::from_str(utf8(line)).ok()?;
    let kind = json.get("type")?.as_str()?;
    Some(Some(match kind {
        "user" => match json.get("message")?.get("content")? {
            Value::String(text) => Message::User {
                message: UserMessage {
                    content: text.clone(),
                },
            },
            Value::Array(_) => return Some(None),
            _ => return None,
        },
        "assistant" => assistant(&json)?,
        "system" => Message::System {
            subtype: string(&json, "subtype").unwrap_or_default(),
            data: copy(&json, "data"),
        },
        // The parser's fallback for a result that does not fit is left out: all
        // recorded ones fit.
        "result" => serde_json::from_value(json.clone()).ok()?,
        "stream_event" => Message::StreamEvent {
            uuid: string(&json, "uuid").unwrap_or_default(),
            session_id: string(&json, "session_id").unwrap_or_default(),
            event: copy(&json, "event"),
            parent_tool_use_id: string(&json, "parent_tool_use_id"),
        },
        _ => Message::Unknown {
            msg_type: kind.to_string(),
            raw: json,
        },
    }))
}

fn assistant(json: &Value) -> Option<Message> {
    let message = json.get("message")?;
    let mut content = Vec::new();
    for block in message.get("content")?.as_array()? {
        content.extend(content_block(block)?);
    }
    Some(Message::Assistant {
        message: AssistantMessage {
            content,
            model: string(message, "model"),
            usage: message.get("usage").cloned(),
            error: None,
            parent_tool_use_id: string(json, "parent_tool_use_id"),
        },
    })
}

/// Outer `None`: an error. Inner `None`: a kind of block the parser drops.
fn content_block(block: &Value) -> Option<Option<ContentBlock>> {
    Some(Some(match block.get("type")?.as_str()? {
        "text" => ContentBlock::Text(TextContent {
            text: string(block, "text")?,
        }),
        "thinking" => ContentBlock::Thinking(ThinkingContent {
            thinking: string(block, "thinking")?,
            signature: string(block, "signature")?,
        }),
        "tool_use" => ContentBlock::ToolUse(ToolUseContent {
            id: string(block, "id")?,
            name: string(block, "name")?,
            input: copy(block, "input"),
        }),
        "tool_result" => ContentBlock::ToolResult(ToolResultContent {
            tool_use_id: string(block, "tool_use_id")?,
            content: match block.get("content") {
                Some(Value::String(text)) => Some(ContentValue::Text(text.clone())),
                Some(Value::Array(blocks)) => Some(ContentValue::Structured(blocks.clone())),
                _ => None,
            },
            is_error: block.get("is_error").and_then(Value::as_bool),
        }),
        _ => return Some(None),
    }))
}

pub fn read_message<S: Sink>(message: &Message, sink: &mut S) {
    match message {
        Message::User { message } => sink.text(&message.content),
        Message::Assistant { message } => {
            sink.maybe_id(message.parent_tool_use_id.as_deref());
            if let Some(usage) = &message.usage {
                tree::read_usage(usage, sink);
            }
            for block in &message.content {
                read_block(block, sink);
            }
        }
        Message::Result {
            session_id,
            usage,
            result,
            ..
        } => {
            sink.id(session_id);
            if let Some(text) = result {
                sink.text(text);
            }
            if let Some(usage) = usage {
                tree::read_usage(usage, sink);
            }
        }
        Message::StreamEvent {
            uuid,
            session_id,
            event,
            parent_tool_use_id,
        } => {
            sink.id(uuid);
            sink.id(session_id);
            sink.maybe_id(parent_tool_use_id.as_deref());
            tree::read_event(event, sink);
        }
        Message::Unknown { raw, .. } => tree::read_line(raw, sink),
        // A system line's `data` is always empty: the CLI has no such key.
        _ => {}
    }
}

fn read_block<S: Sink>(block: &ContentBlock, sink: &mut S) {
    match block {
        ContentBlock::Text(block) => sink.text(&block.text),
        ContentBlock::Thinking(block) => sink.text(&block.thinking),
        ContentBlock::ToolUse(block) => {
            sink.id(&block.id);
            sink.tool(&block.name);
            tree::read_leaves(&block.input, sink);
        }
        ContentBlock::ToolResult(block) => {
            sink.id(&block.tool_use_id);
            match &block.content {
                Some(ContentValue::Text(text)) => sink.text(text),
                Some(ContentValue::Structured(blocks)) => {
                    for block in blocks {
                        tree::read_result_block(block, sink);
                    }
                }
                None => {}
            }
        }
    }
}
