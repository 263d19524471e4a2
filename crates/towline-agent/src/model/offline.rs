//! The offline responder: answers without an account, and says so. It really uses the tools, so that a person and a test see
//! every flow from end to end.
//!
//! It has no memory: what it does next follows from the conversation alone. [`script`] reads the prompt, [`conversation`]
//! finds it and what has been done about it, [`reply`] puts an answer together, and this file streams it.

mod conversation;
mod reply;
mod script;
#[cfg(test)]
mod tests;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use towline_protocol::{StreamEvent, Wire};

use super::{ApiError, ModelEvent, Request};
use conversation::Conversation;
use reply::{Part, Reply};

/// The responder.
#[derive(Debug)]
pub(crate) struct Offline {
    /// The pause between two pieces, so that a stream can be seen as one.
    pace: Duration,
    /// How often it was called: two calls with the same words still get ids of their own.
    calls: AtomicU64,
}

impl Default for Offline {
    fn default() -> Self {
        Self::with_pace(PACE)
    }
}

impl Offline {
    pub(crate) fn with_pace(pace: Duration) -> Self {
        Self {
            pace,
            calls: AtomicU64::new(0),
        }
    }

    pub(crate) async fn call(&self, request: &Request, events: &Sender<ModelEvent>) {
        for (index, event) in self.events(request).into_iter().enumerate() {
            if index > 0 && !self.pace.is_zero() && event["type"] == "content_block_delta" {
                tokio::time::sleep(self.pace).await;
            }
            let event = match StreamEvent::from_json(event.to_string()) {
                Ok(event) => ModelEvent::Stream {
                    event: Box::new(event),
                },
                Err(error) => {
                    let what = format!("the offline responder wrote nonsense: {error}");
                    events
                        .send(ModelEvent::Failed(ApiError::unreadable(&what)))
                        .await
                        .ok();
                    return;
                }
            };
            if events.send(event).await.is_err() {
                return;
            }
        }
        events
            .send(ModelEvent::Done { request_id: None })
            .await
            .ok();
    }

    /// The answer as the events of a stream.
    fn events(&self, request: &Request) -> Vec<Value> {
        let conversation = Conversation::read(&request.messages);
        let reply = Reply::to(&conversation, &request.tools);
        let ids = self.ids(request);
        let read = tokens(
            [&request.system, &request.messages, &request.tools]
                .into_iter()
                .flatten()
                .map(|piece| piece.as_str().len())
                .sum(),
        );
        let mut events = vec![json!({"type": "message_start", "message": {
            "id": format!("msg_{ids}"),
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage(read, 1),
        }})];
        let mut written = 0;
        for (index, part) in reply.parts.iter().enumerate() {
            written += part.len();
            events.extend(block(index, part, &format!("toolu_{ids}")));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": reply.stop_reason(), "stop_sequence": null},
            "usage": usage(read, tokens(written)),
        }));
        events.push(json!({"type": "message_stop"}));
        events
    }

    /// What makes the ids of one answer: the same for the same session from its start, and never twice in it.
    fn ids(&self, request: &Request) -> String {
        let mut hasher = DefaultHasher::new();
        request.session_id.hash(&mut hasher);
        self.calls.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
        for message in &request.messages {
            message.as_str().hash(&mut hasher);
        }
        format!("offline{:016x}", hasher.finish())
    }
}

/// The events of one block.
fn block(index: usize, part: &Part, call_id: &str) -> Vec<Value> {
    let (empty, deltas): (_, Vec<Value>) = match part {
        Part::Text(text) => (
            json!({"type": "text", "text": ""}),
            pieces(text)
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
        ),
        Part::Thinking(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            pieces(text)
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
                .chain([json!({"type": "signature_delta", "signature": SIGNATURE})])
                .collect(),
        ),
        Part::Call { tool, input } => (
            json!({"type": "tool_use", "id": call_id, "name": tool, "input": {}}),
            pieces(&input.to_string())
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect(),
        ),
    };
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": empty})];
    for delta in deltas {
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

/// The text in pieces of about a few words, none of which cuts a character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(PIECE)
            .map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn usage(read: u64, written: u64) -> Value {
    json!({
        "input_tokens": read,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": written,
        "service_tier": "standard",
    })
}

/// About four bytes are a token.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX).max(1)
}

const PACE: Duration = Duration::from_millis(4);

/// Characters of a piece.
const PIECE: usize = 24;

/// A signature proves that thoughts are a model's own. These are not.
const SIGNATURE: &str = "offline";
