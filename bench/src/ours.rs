//! Owns how `towline-protocol` is measured: a line to a typed message that keeps
//! its bytes, and the peek of a relay.

use bytes::Bytes;
use towline_protocol::{
    Assistant, Block, Content, Delta, Frame, Json, Leaf, ModelMessage, Nullable, Reply, Request,
    StreamEvent, System, Text, ToAgent, ToHost, Usage, User, Wire,
};

use crate::decoder::{Decoder, Outcome, Recoded, Role};
use crate::items::Sink;

pub struct Towline;

impl Decoder for Towline {
    const NAME: &'static str = "towline-protocol";
    const ROLE: Role = Role::Ours;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        let Some(text) = Text::from_utf8(line.clone()).ok() else {
            return Outcome::Failed;
        };
        match Frame::<ToHost>::decode(text) {
            Ok(frame) => {
                read_line(&frame.message, sink);
                Outcome::Read
            }
            Err(_) => Outcome::Failed,
        }
    }

    fn recode(line: &Bytes) -> Recoded {
        // The corpus mixes both directions; a line of the host is encoded as one.
        let Some(text) = Text::from_utf8(line.clone()).ok() else {
            return Recoded::Nothing;
        };
        let json = match ToHost::from_json(text.clone()) {
            Ok(ToHost::Unknown(_)) => ToAgent::from_json(text).map(|message| message.to_json()),
            Ok(message) => Ok(message.to_json()),
            Err(error) => Err(error),
        };
        json.ok()
            .and_then(|json| json.parse().ok())
            .map_or(Recoded::Nothing, Recoded::Value)
    }
}

pub fn read_line(message: &ToHost, sink: &mut impl Sink) {
    match message {
        ToHost::StreamEvent(line) => {
            sink.maybe_id(line.session_id.as_ref().map(|id| id.as_str()));
            sink.maybe_id(line.uuid.as_ref().map(|id| id.as_str()));
            sink.maybe_id(line.api_message_id.as_ref().map(|id| id.as_str()));
            sink.maybe_id(line.parent_tool_use_id.as_option().map(|id| id.as_str()));
            read_event(&line.event, sink);
        }
        ToHost::Assistant(line) => read_assistant(line, sink),
        ToHost::User(line) => read_user(line, sink),
        ToHost::Result(line) => {
            sink.maybe_id(line.session_id.as_ref().map(|id| id.as_str()));
            sink.maybe_id(line.uuid.as_ref().map(|id| id.as_str()));
            if let Some(text) = line.text() {
                sink.text(text);
            }
            read_usage(&line.usage, sink);
        }
        ToHost::ControlRequest(line) => {
            sink.maybe_id(line.request_id.as_ref().and_then(request_id));
            match &line.request {
                Request::CanUseTool(ask) => {
                    sink.tool(ask.tool_name.as_str());
                    sink.maybe_id(ask.tool_use_id.as_ref().map(|id| id.as_str()));
                    read_leaves(&ask.input, sink);
                }
                Request::HookCallback(hook) => {
                    sink.maybe_id(hook.tool_use_id.as_ref().map(|id| id.as_str()));
                }
                _ => {}
            }
        }
        ToHost::ControlResponse(line) => match &line.reply {
            Reply::Success(reply) => sink.maybe_id(reply.request_id.as_ref().and_then(request_id)),
            Reply::Error(reply) => sink.maybe_id(reply.request_id.as_ref().and_then(request_id)),
            Reply::Flat { request_id: id, .. } => sink.maybe_id(id.as_ref().and_then(request_id)),
            Reply::Unknown(_) => {}
        },
        other => read_ids(other, sink),
    }
}

fn request_id(id: &towline_protocol::RequestId) -> Option<&str> {
    match id {
        towline_protocol::RequestId::Text(id) => Some(id),
        towline_protocol::RequestId::Number(_) => None,
    }
}

fn read_assistant(line: &Assistant, sink: &mut impl Sink) {
    sink.maybe_id(line.session_id.as_ref().map(|id| id.as_str()));
    sink.maybe_id(line.uuid.as_ref().map(|id| id.as_str()));
    sink.maybe_id(line.parent_tool_use_id.as_option().map(|id| id.as_str()));
    sink.maybe_id(line.request_id.as_deref());
    if let Some(message) = &line.message {
        read_message(message, sink);
    }
}

fn read_user(line: &User, sink: &mut impl Sink) {
    sink.maybe_id(line.session_id.as_ref().map(|id| id.as_str()));
    sink.maybe_id(line.uuid.as_ref().map(|id| id.as_str()));
    sink.maybe_id(line.parent_tool_use_id.as_option().map(|id| id.as_str()));
    read_content(line.message.content.as_option(), sink);
}

fn read_message(message: &ModelMessage, sink: &mut impl Sink) {
    sink.maybe_id(message.id.as_ref().map(|id| id.as_str()));
    read_usage(&message.usage, sink);
    read_content(message.content.as_option(), sink);
}

fn read_content(content: Option<&Content>, sink: &mut impl Sink) {
    match content {
        Some(Content::Text(text)) => sink.text(text),
        Some(Content::Blocks(blocks)) => blocks.iter().for_each(|block| read_block(block, sink)),
        Some(Content::Object(_)) | None => {}
    }
}

fn read_event(event: &StreamEvent, sink: &mut impl Sink) {
    match event {
        StreamEvent::BlockDelta(event) => match &event.delta {
            Delta::Text(delta) => sink.text(&delta.text),
            Delta::Thinking(delta) => sink.text(&delta.thinking),
            Delta::InputJson(delta) => sink.text(&delta.partial_json),
            Delta::Signature(_) | Delta::Citations(_) | Delta::Unknown(_) => {}
        },
        StreamEvent::BlockStart(event) => read_block(&event.content_block, sink),
        StreamEvent::MessageStart(event) => read_message(&event.message, sink),
        StreamEvent::MessageDelta(event) => read_usage(&event.usage, sink),
        _ => {}
    }
}

fn read_block(block: &Block, sink: &mut impl Sink) {
    match block {
        Block::Text(block) => sink.text(&block.text),
        Block::Thinking(block) => sink.text(&block.thinking),
        Block::ToolUse(block) => {
            sink.id(block.id.as_str());
            sink.tool(block.name.as_str());
            if let Some(input) = &block.input {
                read_leaves(input, sink);
            }
        }
        Block::ToolResult(block) => {
            sink.id(block.tool_use_id.as_str());
            match block.content.as_option() {
                Some(Content::Text(text)) => sink.text(text),
                Some(Content::Blocks(blocks)) => {
                    for block in blocks {
                        if let Block::Text(block) = block {
                            sink.text(&block.text);
                        }
                    }
                }
                Some(Content::Object(_)) | None => {}
            }
        }
        _ => {}
    }
}

/// Inputs stay raw in the message; reading one means walking over it.
fn read_leaves(input: &Json, sink: &mut impl Sink) {
    for leaf in input.leaves() {
        match leaf {
            Leaf::Key(key) => sink.key(&key),
            Leaf::Text(text) => sink.leaf_text(&text),
            Leaf::Number(number) => sink.leaf_number(number.as_f64()),
            Leaf::Bool(boolean) => sink.leaf_bool(boolean),
            Leaf::Null => {}
        }
    }
}

fn read_usage(usage: &Nullable<Usage>, sink: &mut impl Sink) {
    if let Nullable::Value(usage) = usage {
        let counts = [
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens.as_option().copied(),
            usage.cache_creation_input_tokens.as_option().copied(),
        ];
        counts
            .into_iter()
            .flatten()
            .for_each(|count| sink.tokens(count));
    }
}

/// The lines that carry nothing but ids.
fn read_ids(message: &ToHost, sink: &mut impl Sink) {
    sink.maybe_id(message.session_id().map(|id| id.as_str()));
    sink.maybe_id(message.uuid().map(|id| id.as_str()));
    sink.maybe_id(message.parent_tool_use_id().map(|id| id.as_str()));
    let tool_use_id = match message {
        ToHost::System(System::TaskStarted(line)) => line.tool_use_id.as_ref(),
        ToHost::System(System::TaskProgress(line)) => line.tool_use_id.as_ref(),
        ToHost::System(System::TaskNotification(line)) => line.tool_use_id.as_ref(),
        ToHost::System(System::PermissionDenied(line)) => line.tool_use_id.as_ref(),
        ToHost::System(System::Informational(line)) => line.tool_use_id.as_ref(),
        ToHost::ToolProgress(line) => line.tool_use_id.as_ref(),
        _ => None,
    };
    sink.maybe_id(tool_use_id.map(|id| id.as_str()));
    match message {
        ToHost::ControlCancelRequest(line) => sink.maybe_id(request_id(&line.request_id)),
        ToHost::System(System::ControlRequestProgress(line)) => {
            sink.maybe_id(line.request_id.as_ref().and_then(request_id));
        }
        ToHost::System(
            System::ModelRefusalFallback(line) | System::ModelRefusalNoFallback(line),
        ) => sink.maybe_id(line.request_id.as_option().map(|id| &**id)),
        _ => {}
    }
}

pub struct TowlinePeek;

impl Decoder for TowlinePeek {
    const NAME: &'static str = "towline-protocol peek";
    const ROLE: Role = Role::Peek;
    const COMPLETE: bool = false;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        match std::str::from_utf8(line)
            .ok()
            .and_then(towline_protocol::peek)
        {
            Some(peek) => {
                sink.tool(peek.kind.as_deref().unwrap_or(""));
                sink.maybe_id(peek.session_id.as_deref());
                sink.maybe_id(peek.parent_tool_use_id.as_deref());
                Outcome::Read
            }
            None => Outcome::Failed,
        }
    }
}
