//! A message that came in one piece, taken apart into the events of a stream (pure).

use serde_json::{Map, Value, json};

/// The events that would have led to this message. Nothing if it is no message.
///
/// `message_start` names the reason to stop already, which a real stream never does: so it can be told apart, as the
/// real CLI does (trace `control-09p3_sse_empty`).
pub(super) fn events(message: &Value) -> Option<Vec<Value>> {
    let fields = message.as_object()?;
    if fields.get("type").is_some_and(|kind| kind != "message") {
        return None;
    }
    let blocks = fields.get("content")?.as_array()?;
    let mut start = fields.clone();
    start.insert("content".to_owned(), json!([]));
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = taken_apart(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let mut delta = json!({
        "type": "message_delta",
        "delta": {"stop_reason": field("stop_reason"), "stop_sequence": field("stop_sequence")},
    });
    if let Some(usage) = fields.get("usage") {
        delta["usage"] = usage.clone();
    }
    events.push(delta);
    events.push(json!({"type": "message_stop"}));
    Some(events)
}

/// A block as it begins, and what it grows by. Blocks that do not grow come whole.
fn taken_apart(block: &Value) -> (Value, Vec<Value>) {
    let Some(fields) = block.as_object() else {
        return (block.clone(), Vec::new());
    };
    let parts: &[Part] = match block["type"].as_str() {
        Some("text") => &[TEXT],
        Some("thinking") => &[THINKING, SIGNATURE],
        Some("tool_use" | "server_tool_use") => {
            let input = &block["input"];
            let mut empty = fields.clone();
            empty.insert("input".to_owned(), Value::Object(Map::new()));
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            let deltas = if input.is_object() {
                vec![delta]
            } else {
                Vec::new()
            };
            return (empty.into(), deltas);
        }
        _ => &[],
    };
    let mut empty = fields.clone();
    let mut deltas = Vec::new();
    for (field, kind) in parts {
        if let Some(Value::String(text)) = empty.get_mut(*field)
            && !text.is_empty()
        {
            let text = std::mem::take(text);
            deltas.push(json!({"type": kind, *field: text}));
        }
    }
    (empty.into(), deltas)
}

/// A field of a block, and the delta that it grows by.
type Part = (&'static str, &'static str);

const TEXT: Part = ("text", "text_delta");
const THINKING: Part = ("thinking", "thinking_delta");
const SIGNATURE: Part = ("signature", "signature_delta");
