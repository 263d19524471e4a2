//! Gists of what is said: messages, blocks, calls, results and stream events.

use std::fmt::{self, Write};

use towline_protocol::{
    Assistant, Block, Content, Delta, Json, MediaBlock, StopReason, StreamEvent, User,
};

use super::fields;
use crate::terminal::Clip;

pub(super) fn assistant(line: &Assistant, out: &mut Clip) -> fmt::Result {
    if let Some(error) = &line.error {
        write!(out, "{error}: ")?;
    }
    if let Some(delta) = &line.delta {
        event(delta, out)?;
    }
    let message = line.message.as_ref();
    match message.and_then(|message| message.content.as_option()) {
        Some(said) => content(said, out),
        None => Ok(()),
    }
}

pub(super) fn user(line: &User, out: &mut Clip) -> fmt::Result {
    if line.is_replay == Some(true) {
        out.write_str("replay: ")?;
    }
    if line.is_synthetic == Some(true) {
        out.write_str("synthetic: ")?;
    }
    match line.message.content.as_option() {
        Some(said) => content(said, out),
        None => Ok(()),
    }
}

/// Writes what is said, called or given.
///
/// # Errors
/// When the clip is full.
pub(crate) fn content(content: &Content, out: &mut Clip) -> fmt::Result {
    match content {
        Content::Text(text) => out.write_str(text),
        Content::Object(json) => fields::fields(json.text(), out),
        Content::Blocks(blocks) => {
            for (index, part) in blocks.iter().enumerate() {
                if index > 0 {
                    out.write_str(" | ")?;
                }
                block(part, out)?;
            }
            Ok(())
        }
    }
}

pub(super) fn event(event: &StreamEvent, out: &mut Clip) -> fmt::Result {
    match event {
        StreamEvent::MessageStart(start) => {
            out.write_str(start.message.model.as_deref().unwrap_or_default())
        }
        StreamEvent::BlockStart(start) => {
            write!(out, "[{}] {} ", start.index, start.content_block.kind())?;
            match &start.content_block {
                Block::ToolUse(call) | Block::ServerToolUse(call) => {
                    out.write_str(call.name.as_str())
                }
                _ => Ok(()),
            }
        }
        StreamEvent::BlockDelta(grown) => {
            write!(out, "[{}] ", grown.index)?;
            delta(&grown.delta, out)
        }
        StreamEvent::BlockStop(stop) => write!(out, "[{}]", stop.index),
        StreamEvent::MessageDelta(line) => {
            let change = line.delta.as_ref();
            let reason = change.and_then(|change| change.stop_reason.as_option());
            out.write_str(reason.map_or("", StopReason::as_str))?;
            let usage = line.usage.as_option();
            if let Some(tokens) = usage.and_then(|usage| usage.output_tokens) {
                out.gap()?;
                write!(out, "({tokens} tokens written)")?;
            }
            Ok(())
        }
        StreamEvent::MessageStop(_) | StreamEvent::Ping(_) => Ok(()),
        StreamEvent::Error(failure) => out.write_str(failure.error.as_str()),
        StreamEvent::Unknown(unknown) => fields::fields(unknown.json.text(), out),
    }
}

/// Writes a tool call.
pub(super) fn call(name: &str, input: Option<&Json>, out: &mut Clip) -> fmt::Result {
    out.write_str(name)?;
    match input {
        Some(input) => {
            out.gap()?;
            fields::tool_input(input, out)
        }
        None => Ok(()),
    }
}

/// Writes whether a tool call went well; most results do not say that they did.
pub(super) fn outcome(is_error: Option<&bool>, out: &mut Clip) -> fmt::Result {
    out.write_str(match is_error {
        Some(true) => "error: ",
        Some(false) | None => "ok: ",
    })
}

fn block(block: &Block, out: &mut Clip) -> fmt::Result {
    match block {
        Block::Text(text) => out.write_str(&text.text),
        Block::Thinking(thinking) => write!(out, "thinking: {}", thinking.thinking),
        Block::RedactedThinking(_) => out.write_str("redacted thinking"),
        Block::ToolUse(used) | Block::ServerToolUse(used) => {
            call(used.name.as_str(), used.input.as_ref(), out)
        }
        Block::ToolResult(result)
        | Block::WebSearchToolResult(result)
        | Block::WebFetchToolResult(result) => {
            outcome(result.is_error.as_option(), out)?;
            match result.content.as_option() {
                Some(given) => content(given, out),
                None => Ok(()),
            }
        }
        Block::Image(media) | Block::Document(media) => describe_media(block.kind(), media, out),
        Block::ToolReference(reference) => write!(out, "tool {}", reference.tool_name),
        Block::Unknown(unknown) => {
            write!(out, "{} ", unknown.kind())?;
            fields::fields(unknown.json.text(), out)
        }
    }
}

fn delta(delta: &Delta, out: &mut Clip) -> fmt::Result {
    match delta {
        Delta::Text(grown) => out.write_str(&grown.text),
        Delta::Thinking(grown) => write!(out, "thinking: {}", grown.thinking),
        Delta::InputJson(grown) => out.write_str(&grown.partial_json),
        Delta::Signature(_) => out.write_str("signature"),
        Delta::Citations(grown) => out.write_str(grown.citation.as_str()),
        Delta::Unknown(unknown) => fields::fields(unknown.json.text(), out),
    }
}

fn describe_media(kind: &str, media: &MediaBlock, out: &mut Clip) -> fmt::Result {
    let source = &media.source;
    let title = media.title.as_option();
    let names = [title, source.media_type.as_ref(), source.url.as_ref()];
    write!(out, "{kind} ")?;
    fields::joined(names.into_iter().flatten(), " ", out)?;
    match &source.data {
        Some(data) => write!(out, " ({} characters)", data.len()),
        None => Ok(()),
    }
}
