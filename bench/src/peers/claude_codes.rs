//! Owns the row of `claude-codes`. Of its two public ways to a `ClaudeOutput` this
//! is the faster, `Protocol::deserialize`; the other, `parse_json`, copies the
//! tree once more for its error message.

use crate::decoder::{Decoder, Outcome, Recoded, Role, read_if, recode_if, utf8};
use crate::items::Sink;
use crate::tree;
use bytes::Bytes;
use claude_codes::Protocol;
use claude_codes::io::{
    AssistantMessage, ClaudeOutput, ContentBlock, ControlRequestPayload, ControlResponsePayload,
    ResultMessage, ToolResultContent, UserMessage,
};

pub struct ClaudeCodes;

impl Decoder for ClaudeCodes {
    const NAME: &'static str = "claude-codes";
    const ROLE: Role = Role::Peer;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        read_if(Protocol::deserialize(utf8(line)), |output| {
            read_output(&output, sink);
        })
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(Protocol::deserialize::<ClaudeOutput>(utf8(line)))
    }
}

pub fn read_output<S: Sink>(output: &ClaudeOutput, sink: &mut S) {
    match output {
        ClaudeOutput::System(line) => tree::read_line(&line.data, sink),
        ClaudeOutput::User(line) => read_user(line, sink),
        ClaudeOutput::Assistant(line) => read_assistant(line, sink),
        ClaudeOutput::Result(line) => read_result(line, sink),
        ClaudeOutput::StreamEvent(line) => {
            sink.id(&line.session_id);
            sink.id(&line.uuid);
            sink.maybe_id(line.parent_tool_use_id.as_deref());
            sink.maybe_id(line.api_message_id.as_deref());
            tree::read_event(&line.event, sink);
        }
        ClaudeOutput::ControlRequest(line) => {
            sink.id(&line.request_id);
            match &line.request {
                ControlRequestPayload::CanUseTool(request) => {
                    sink.maybe_id(request.tool_use_id.as_deref());
                    sink.tool(&request.tool_name);
                    tree::read_leaves(&request.input, sink);
                }
                ControlRequestPayload::HookCallback(request) => {
                    sink.maybe_id(request.tool_use_id.as_deref());
                }
                _ => {}
            }
        }
        ClaudeOutput::ControlResponse(line) => match &line.response {
            ControlResponsePayload::Success { request_id, .. }
            | ControlResponsePayload::Error { request_id, .. } => sink.id(request_id),
        },
        ClaudeOutput::ControlCancelRequest(line) => {
            sink.id(&line.request_id);
            sink.maybe_id(line.session_id.as_deref());
        }
        ClaudeOutput::CommandLifecycle(line) => {
            sink.id(&line.session_id);
            sink.id(&line.uuid);
        }
        ClaudeOutput::ConversationReset(line) => {
            sink.id(&line.session_id);
            sink.id(&line.uuid);
        }
        // Kinds that no recorded line has.
        _ => {}
    }
}

fn read_user<S: Sink>(line: &UserMessage, sink: &mut S) {
    if let Some(session) = &line.session_id {
        sink.id(session.as_hyphenated().encode_lower(&mut [0; 36]));
    }
    sink.maybe_id(line.uuid.as_deref());
    sink.maybe_id(line.parent_tool_use_id.as_deref());
    read_blocks(&line.message.content, sink);
}

fn read_assistant<S: Sink>(line: &AssistantMessage, sink: &mut S) {
    sink.id(&line.session_id);
    sink.maybe_id(line.uuid.as_deref());
    sink.maybe_id(line.parent_tool_use_id.as_deref());
    sink.maybe_id(line.request_id.as_deref());
    sink.id(&line.message.id);
    if let Some(usage) = &line.message.usage {
        sink.tokens(usage.input_tokens.into());
        sink.tokens(usage.output_tokens.into());
        sink.tokens(usage.cache_creation_input_tokens.into());
        sink.tokens(usage.cache_read_input_tokens.into());
    }
    read_blocks(&line.message.content, sink);
}

fn read_result<S: Sink>(line: &ResultMessage, sink: &mut S) {
    sink.id(&line.session_id);
    sink.maybe_id(line.uuid.as_deref());
    if let Some(text) = &line.result {
        sink.text(text);
    }
    if let Some(usage) = &line.usage {
        sink.tokens(usage.input_tokens.into());
        sink.tokens(usage.output_tokens.into());
        sink.tokens(usage.cache_creation_input_tokens.into());
        sink.tokens(usage.cache_read_input_tokens.into());
    }
}

fn read_blocks<S: Sink>(blocks: &[ContentBlock], sink: &mut S) {
    for block in blocks {
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
                    Some(ToolResultContent::Structured(blocks)) => {
                        for block in blocks {
                            tree::read_result_block(block, sink);
                        }
                    }
                    None => {}
                }
            }
            _ => {}
        }
    }
}
