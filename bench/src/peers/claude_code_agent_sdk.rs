//! Owns the row of `claude-code-agent-sdk`. Its parser is private and does what
//! is done here over the public `Message`: the line to a tree, the tree to the
//! message. Control lines are not part of `Message`.

use crate::decoder::{Decoder, Outcome, Recoded, Role, read_if, recode_if, utf8};
use crate::items::Sink;
use crate::tree;
use bytes::Bytes;
use claude_code_agent_sdk::types::messages::{ContentBlock, Message, ToolResultContent};
use serde_json::Value;

fn decode(line: &[u8]) -> serde_json::Result<Message> {
    serde_json::from_value(serde_json::from_str::<Value>(utf8(line))?)
}

pub struct ClaudeCodeAgentSdk;

impl Decoder for ClaudeCodeAgentSdk {
    const NAME: &'static str = "claude-code-agent-sdk";
    const ROLE: Role = Role::Peer;
    const COMPLETE: bool = false;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        read_if(decode(line), |message| read_message(&message, sink))
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(decode(line))
    }
}

pub fn read_message<S: Sink>(message: &Message, sink: &mut S) {
    match message {
        Message::Assistant(line) => {
            sink.maybe_id(line.session_id.as_deref());
            sink.maybe_id(line.uuid.as_deref());
            sink.maybe_id(line.parent_tool_use_id.as_deref());
            sink.maybe_id(line.message.id.as_deref());
            if let Some(usage) = &line.message.usage {
                tree::read_usage(usage, sink);
            }
            for block in &line.message.content {
                read_block(block, sink);
            }
        }
        Message::System(line) => {
            sink.maybe_id(line.session_id.as_deref());
            sink.maybe_id(line.uuid.as_deref());
            // The rest of the line, where task events keep their tool's id.
            tree::read_line(&line.data, sink);
        }
        Message::Result(line) => {
            sink.id(&line.session_id);
            if let Some(text) = &line.result {
                sink.text(text);
            }
            if let Some(usage) = &line.usage {
                tree::read_usage(usage, sink);
            }
        }
        Message::StreamEvent(line) => {
            sink.id(&line.session_id);
            sink.id(&line.uuid);
            sink.maybe_id(line.parent_tool_use_id.as_deref());
            tree::read_event(&line.event, sink);
        }
        Message::User(line) => {
            sink.maybe_id(line.uuid.as_deref());
            sink.maybe_id(line.parent_tool_use_id.as_deref());
            for block in line.content.iter().flatten() {
                read_block(block, sink);
            }
            // The CLI nests the message, this type expects it flat: what it
            // says is in the untyped rest.
            tree::read_line(&line.extra, sink);
            if let Some(message) = line.extra.get("message") {
                tree::read_message(message, sink);
            }
        }
        Message::ControlCancelRequest(line) => tree::read_line(line, sink),
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
                Some(ToolResultContent::Text(text)) => sink.text(text),
                Some(ToolResultContent::Blocks(blocks)) => {
                    for block in blocks {
                        tree::read_result_block(block, sink);
                    }
                }
                None => {}
            }
        }
        ContentBlock::Image(_) => {}
    }
}
