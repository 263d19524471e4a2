//! The message of a reply in one piece: its JSON, its ids, its token counts, and the echo.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Agent, Json,
    reply::{Block, Message},
    seen::Seen,
};

/// What a reply depends on besides itself.
pub(super) struct Context<'a> {
    /// The number of the request, from 1: ids are made from it.
    pub(super) index: u64,
    pub(super) seen: &'a Seen,
}

impl Context<'_> {
    pub(super) fn request_id(&self) -> String {
        request_id(self.index)
    }
}

pub(super) fn request_id(index: u64) -> String {
    format!("req_script_{index:06}")
}

/// A message as the API writes it; in a stream it starts empty.
#[derive(Debug, Serialize)]
pub(super) struct Body {
    id: String,
    r#type: &'static str,
    role: &'static str,
    model: String,
    pub(super) content: Vec<Json>,
    pub(super) stop_reason: Option<String>,
    pub(super) stop_sequence: Option<String>,
    pub(super) usage: Tokens,
}

/// The token counts as they stand in a message.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tokens {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation: Option<CacheCreation>,
    pub(super) output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

impl Tokens {
    /// As they stand in `message_delta`: the counts alone.
    pub(super) fn counts(&self) -> Self {
        Self {
            cache_creation: None,
            service_tier: None,
            ..self.clone()
        }
    }
}

/// The whole message as JSON.
pub(super) fn body(message: &Message, context: &Context<'_>) -> Json {
    Json::of(&whole(message, context))
}

pub(super) fn whole(message: &Message, context: &Context<'_>) -> Body {
    let blocks = message.blocks.iter().enumerate();
    let content = blocks.map(|(index, block)| block_body(block, index, context));
    let calls = message
        .blocks
        .iter()
        .any(|block| matches!(block, Block::Tool { .. }));
    let reason = if calls { "tool_use" } else { "end_turn" };
    let derived = || match message.stop_sequence {
        Some(_) => "stop_sequence".to_owned(),
        None => reason.to_owned(),
    };
    let id = message.id.clone();
    Body {
        id: id.unwrap_or_else(|| format!("msg_script_{:06}", context.index)),
        r#type: "message",
        role: "assistant",
        model: message
            .model
            .clone()
            .unwrap_or_else(|| context.seen.model.clone()),
        content: content.collect(),
        stop_reason: Some(message.stop_reason.clone().unwrap_or_else(derived)),
        stop_sequence: message.stop_sequence.clone(),
        usage: tokens(message),
    }
}

fn tokens(message: &Message) -> Tokens {
    let usage = message.usage;
    let written = usage.cache_creation_input_tokens.unwrap_or(0);
    Tokens {
        input_tokens: usage.input_tokens.unwrap_or(100),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: usage.cache_read_input_tokens.unwrap_or(0),
        cache_creation: Some(CacheCreation {
            ephemeral_5m_input_tokens: written,
            ephemeral_1h_input_tokens: 0,
        }),
        output_tokens: usage.output_tokens.unwrap_or_else(|| {
            let characters: usize = message.blocks.iter().map(size).sum();
            // Four characters a token, as the rule of thumb has it.
            (characters as u64).div_ceil(4).max(1)
        }),
        service_tier: Some("standard"),
    }
}

fn size(block: &Block) -> usize {
    match block {
        Block::Text(text) | Block::Thinking { text, .. } => text.chars().count(),
        Block::RedactedThinking(data) => data.len(),
        Block::Tool { name, input, .. } => name.len() + input.as_str().len(),
        Block::Raw(json) => json.as_str().len(),
    }
}

/// A block as it stands in a whole message.
pub(super) fn block_body(block: &Block, index: usize, context: &Context<'_>) -> Json {
    match block {
        Block::Text(text) => {
            Json::object([("type", "text".into()), ("text", text.as_str().into())])
        }
        Block::Thinking { text, signature } => Json::object([
            ("type", "thinking".into()),
            ("thinking", text.as_str().into()),
            ("signature", signature.as_str().into()),
        ]),
        Block::RedactedThinking(data) => Json::object([
            ("type", "redacted_thinking".into()),
            ("data", data.as_str().into()),
        ]),
        Block::Tool { id, name, input } => Json::object([
            ("type", "tool_use".into()),
            ("id", call_id(id.as_deref(), index, context).as_str().into()),
            ("name", name.as_str().into()),
            ("input", input.clone()),
        ]),
        Block::Raw(json) => json.clone(),
    }
}

pub(super) fn call_id(id: Option<&str>, index: usize, context: &Context<'_>) -> String {
    id.map_or_else(
        || format!("toolu_script_{:06}_{index}", context.index),
        str::to_owned,
    )
}

/// Says what came in.
pub(super) fn echo(context: &Context<'_>) -> Message {
    let seen = context.seen;
    let who = match seen.agent {
        Agent::Main => "",
        Agent::Subagent => " of a subagent",
    };
    let tool_results: Vec<Value> = seen
        .tool_results
        .iter()
        .map(|result| json!(result.name.as_ref().unwrap_or(&result.id)))
        .collect();
    let results = if tool_results.is_empty() {
        String::new()
    } else {
        format!(", results of {}", Value::from(tool_results))
    };
    let prompt = json!(seen.prompt.as_deref().unwrap_or_default());
    let text = format!(
        "This is the scripted API. Request{who}: model {}, {} messages, {} tools{results}, prompt {prompt}",
        seen.model,
        seen.messages,
        seen.tools.len(),
    );
    Message {
        blocks: vec![Block::Text(text)],
        ..Message::default()
    }
}
