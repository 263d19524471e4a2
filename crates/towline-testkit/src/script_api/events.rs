//! The message of a reply as the events of a stream, framed as the API frames them.

use bytes::Bytes;

use super::{
    Json, Pieces,
    message::{Body, Context, block_body, whole},
    node::{Node, Value},
    reply::{Block, Message},
};

/// One event, ready to be sent.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) bytes: Bytes,
    pub(super) is_delta: bool,
    /// The block that begins with it; behind the last block, the end of the message counts as one more.
    pub(super) begins_block: Option<usize>,
}

/// An event in its frame.
pub(super) fn frame(name: &str, body: &Json) -> Bytes {
    format!("event: {name}\ndata: {}\n\n", body.as_str()).into()
}

/// All events of a message, from `message_start` to `message_stop`.
pub(super) fn message_events(
    message: &Message,
    pieces: Pieces,
    context: &Context<'_>,
) -> Vec<Event> {
    let end = whole(message, context);
    let mut writer = Writer::default();
    writer.start(message, context);
    if message.blocks.is_empty() {
        writer.ping();
    }
    for (index, block) in message.blocks.iter().enumerate() {
        writer.begin(index, opening(block, index, context));
        // The API sends its first ping here.
        if index == 0 {
            writer.ping();
        }
        for delta in deltas(block, pieces) {
            writer.delta(index, &delta);
        }
        writer.stop(index);
    }
    writer.end(message.blocks.len(), &end);
    writer.events
}

#[derive(Default)]
struct Writer {
    events: Vec<Event>,
}

impl Writer {
    /// An event with these fields behind its type.
    fn push<const N: usize>(
        &mut self,
        name: &'static str,
        fields: [(&'static str, Json); N],
    ) -> &mut Event {
        let mut entries = vec![("type", name.into())];
        entries.extend(fields);
        self.events.push_mut(Event {
            bytes: frame(name, &Json::object(entries)),
            is_delta: false,
            begins_block: None,
        })
    }

    fn start(&mut self, message: &Message, context: &Context<'_>) {
        let mut empty = whole(message, context);
        empty.content = Vec::new();
        empty.stop_reason = None;
        empty.stop_sequence = None;
        // At the start the API has counted one token of the reply.
        empty.usage.output_tokens = 1;
        self.push("message_start", [("message", Json::of(&empty))]);
    }

    fn ping(&mut self) {
        self.push("ping", []);
    }

    fn begin(&mut self, index: usize, block: Json) {
        self.push(
            "content_block_start",
            [("index", index.into()), ("content_block", block)],
        )
        .begins_block = Some(index);
    }

    fn delta(&mut self, index: usize, (kind, key, text): &Delta) {
        let delta = Json::object([("type", (*kind).into()), (key, text.as_str().into())]);
        self.push(
            "content_block_delta",
            [("index", index.into()), ("delta", delta)],
        )
        .is_delta = true;
    }

    fn stop(&mut self, index: usize) {
        self.push("content_block_stop", [("index", index.into())]);
    }

    fn end(&mut self, index: usize, end: &Body) {
        let delta = Json::object([
            ("stop_reason", end.stop_reason.as_deref().into()),
            ("stop_sequence", end.stop_sequence.as_deref().into()),
        ]);
        let usage = Json::of(&end.usage.counts());
        self.push("message_delta", [("delta", delta), ("usage", usage)])
            .begins_block = Some(index);
        self.push("message_stop", []);
    }
}

/// A block as it stands in `content_block_start`: what comes in deltas is still empty.
fn opening(block: &Block, index: usize, context: &Context<'_>) -> Json {
    let empty = match block {
        Block::Text(_) => Block::Text(String::new()),
        Block::Thinking { .. } => Block::Thinking {
            text: String::new(),
            signature: String::new(),
        },
        Block::Tool { id, name, .. } => Block::Tool {
            id: id.clone(),
            name: name.clone(),
            input: Json::object([]),
        },
        Block::Raw(json) => Block::Raw(match streamed_input(json) {
            Some((opening, _)) => opening,
            None => json.clone(),
        }),
        Block::RedactedThinking(_) => block.clone(),
    };
    block_body(&empty, index, context)
}

/// The type of a delta, the key of its text, and the text.
type Delta = (&'static str, &'static str, String);

fn deltas(block: &Block, pieces: Pieces) -> Vec<Delta> {
    match block {
        Block::Text(text) => {
            let texts = cut(text, pieces, Grain::Words).into_iter();
            texts.map(|text| ("text_delta", "text", text)).collect()
        }
        Block::Thinking { text, signature } => {
            let texts = cut(text, pieces, Grain::Words).into_iter();
            texts
                .map(|text| ("thinking_delta", "thinking", text))
                .chain([("signature_delta", "signature", signature.clone())])
                .collect()
        }
        Block::Tool { input, .. } => input_deltas(input, pieces),
        Block::Raw(json) => streamed_input(json)
            .map(|(_, input)| input_deltas(&input, pieces))
            .unwrap_or_default(),
        Block::RedactedThinking(_) => Vec::new(),
    }
}

/// The input in pieces. The API begins with an empty one.
fn input_deltas(input: &Json, pieces: Pieces) -> Vec<Delta> {
    let texts = cut(input.as_str(), pieces, Grain::Characters(16));
    let texts = [String::new()].into_iter().chain(texts);
    texts
        .map(|text| ("input_json_delta", "partial_json", text))
        .collect()
}

/// A call that the API carries out itself comes in deltas like any other; other raw blocks come whole.
///
/// Gives the block with an empty input, and the input.
fn streamed_input(block: &Json) -> Option<(Json, Json)> {
    let mut node = Node::from_json(block.as_str().as_bytes()).ok()?;
    let Value::Table(entries) = &mut node.value else {
        return None;
    };
    let is_call = entries.iter().any(|(key, node)| {
        key == "type" && matches!(&node.value, Value::Text(kind) if CALLS.contains(&kind.as_str()))
    });
    let input = entries.iter_mut().find(|(key, _)| key == "input");
    let (_, input) = input.filter(|_| is_call)?;
    let written = Json::of(input);
    input.value = Value::Table(Vec::new());
    Some((Json::of(&node), written))
}

/// What `Pieces::Words` means for a text.
#[derive(Clone, Copy)]
enum Grain {
    Words,
    Characters(usize),
}

fn cut(text: &str, pieces: Pieces, grain: Grain) -> Vec<String> {
    let parts: Vec<&str> = match (pieces, grain) {
        (Pieces::Whole, _) if text.is_empty() => Vec::new(),
        (Pieces::Whole, _) => vec![text],
        (Pieces::Words, Grain::Words) => words(text),
        (Pieces::Words, Grain::Characters(size)) | (Pieces::Characters(size), _) => {
            by_characters(text, size.max(1))
        }
    };
    // A long text comes in larger pieces, so that its events do not outgrow it by far.
    let together = parts.len().div_ceil(MOST_DELTAS).max(1);
    parts.chunks(together).map(<[&str]>::concat).collect()
}

/// Words with the space behind them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut after_space = false;
    for (at, character) in text.char_indices() {
        if after_space && !character.is_whitespace() {
            words.push(&text[start..at]);
            start = at;
        }
        after_space = character.is_whitespace();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

fn by_characters(text: &str, size: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(size)
            .map_or(rest.len(), |(at, _)| at);
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    parts
}

/// Blocks whose input comes in deltas.
const CALLS: &[&str] = &["tool_use", "server_tool_use", "mcp_tool_use"];

const MOST_DELTAS: usize = 4096;
