//! Owns the row of `claudecode`. Its reader decodes each line with
//! `serde_json::from_str` to `Event`, whose last variant stands for every kind it
//! does not know and keeps nothing of the line.

use crate::decoder::{Decoder, Outcome, Recoded, Role, recode_if, utf8};
use crate::items::Sink;
use crate::tree;
use bytes::Bytes;
use claudecode::{Content, Event, Usage};

pub struct Claudecode;

impl Decoder for Claudecode {
    const NAME: &'static str = "claudecode";
    const ROLE: Role = Role::Peer;
    const COMPLETE: bool = false;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        match serde_json::from_str(utf8(line)) {
            Ok(Event::Unknown) => Outcome::Skipped,
            Ok(event) => {
                read_event(&event, sink);
                Outcome::Read
            }
            Err(_) => Outcome::Failed,
        }
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(serde_json::from_str::<Event>(utf8(line)))
    }
}

pub fn read_event<S: Sink>(event: &Event, sink: &mut S) {
    match event {
        Event::System(event) => sink.id(&event.session_id),
        Event::Error(event) => sink.id(&event.session_id),
        Event::Assistant(event) => {
            sink.id(&event.session_id);
            sink.maybe_id(event.message.id.as_deref());
            read_usage(event.message.usage.as_ref(), sink);
            for block in &event.message.content {
                read_block(block, sink);
            }
        }
        Event::Result(event) => {
            sink.id(&event.session_id);
            if let Some(text) = &event.result {
                sink.text(text);
            }
            read_usage(event.usage.as_ref(), sink);
        }
        Event::Unknown => {}
    }
}

fn read_block<S: Sink>(block: &Content, sink: &mut S) {
    match block {
        Content::Text { text } => sink.text(text),
        Content::ToolUse { id, name, input } => {
            sink.id(id);
            sink.tool(name);
            for (key, value) in input {
                sink.key(key);
                tree::read_leaves(value, sink);
            }
        }
        Content::ToolResult {
            tool_use_id,
            content,
        } => {
            sink.id(tool_use_id);
            sink.text(content);
        }
    }
}

fn read_usage<S: Sink>(usage: Option<&Usage>, sink: &mut S) {
    let Some(usage) = usage else { return };
    let counts = [
        Some(usage.input_tokens),
        Some(usage.output_tokens),
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ];
    for count in counts.into_iter().flatten() {
        sink.tokens(count as u64);
    }
}
