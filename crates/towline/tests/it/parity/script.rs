//! From the lines of an agent back to what the API must have said (pure).
//!
//! Lines of one message are one reply. Its events are those that were recorded, or are made from the blocks. Every reply
//! waits at a gate of its own until what was recorded before it has happened, so that nothing depends on who is faster.

use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use super::recording::{Line, Recording, Row};

/// A reply, and where its lines stand in the recording.
#[derive(Debug)]
pub(crate) struct Told {
    /// The gate where it waits: before it begins, or for ever where it was broken off.
    pub(crate) gate: String,
    /// The row of the first thing that it brings.
    pub(crate) first: usize,
    /// The row of its last line.
    pub(crate) last: usize,
    /// The host broke it off.
    pub(crate) is_aborted: bool,
    id: String,
    events: Vec<Value>,
    request_id: Option<String>,
}

/// What the API said, in order.
pub(crate) fn replies(recording: &Recording) -> Vec<Told> {
    let mut replies: Vec<Told> = Vec::new();
    for (index, row) in recording.rows.iter().enumerate() {
        let Row::Agent(line) = row else { continue };
        let Some(id) = message_id(line) else { continue };
        let position = replies.iter().position(|told| told.id == id);
        let position = position.unwrap_or_else(|| {
            replies.push(Told {
                gate: format!("reply-{}", replies.len()),
                first: first_sign(recording, index),
                last: index,
                is_aborted: false,
                id: id.to_owned(),
                events: Vec::new(),
                request_id: None,
            });
            replies.len() - 1
        });
        let told = &mut replies[position];
        told.last = index;
        told.is_aborted |= line.value["aborted"] == true;
        if let Some(request_id) = line.text("/request_id") {
            told.request_id = Some(request_id.to_owned());
        }
    }
    let output_tokens = output_tokens(recording, &replies);
    for told in &mut replies {
        let recorded = recorded_events(recording, told);
        told.events = if recorded.is_empty() {
            made_events(recording, told, output_tokens)
        } else {
            recorded
        };
    }
    replies
}

/// The replies as a script; `live` puts the names of real places into them.
pub(crate) fn script(replies: &[Told], live: impl Fn(&str) -> String) -> Script {
    Script::new(replies.iter().map(|told| {
        let events = told.events.iter();
        let events = events.map(|event| serde_json::from_str(&live(&event.to_string())).unwrap());
        // Where the recording knows no id of the request, the API gave none.
        let request_id = told.request_id.as_deref().unwrap_or_default();
        let reply = Reply::events(events).header("request-id", request_id);
        if told.is_aborted {
            reply.hold_after_events(told.events.len(), &told.gate)
        } else {
            reply.hold(&told.gate)
        }
    }))
}

/// The message that a line is part of.
fn message_id(line: &Line) -> Option<&str> {
    if line.is_from_the_model() {
        return line.text("/message/id");
    }
    let is_event =
        line.kind.starts_with("stream_event") && line.value["parent_tool_use_id"].is_null();
    is_event.then(|| line.text("/api_message_id")).flatten()
}

/// A prompt is said back when the reply to it begins: that is the first sign of the reply.
fn first_sign(recording: &Recording, mut index: usize) -> usize {
    while let Some(Row::Agent(line)) = index.checked_sub(1).map(|before| &recording.rows[before])
        && line.is_said_back()
    {
        index -= 1;
    }
    index
}

/// The tokens of one reply: those of all results, evenly.
fn output_tokens(recording: &Recording, replies: &[Told]) -> u64 {
    let lines = recording.lines();
    let results = lines.iter().filter(|line| line.kind.starts_with("result"));
    let all: u64 = results
        .filter_map(|line| line.value["usage"]["output_tokens"].as_u64())
        .sum();
    let whole = replies.iter().filter(|told| !told.is_aborted).count() as u64;
    all.checked_div(whole).unwrap_or(1)
}

fn lines_of<'a>(recording: &'a Recording, told: &'a Told) -> impl Iterator<Item = &'a Line> {
    recording.rows[told.first..=told.last]
        .iter()
        .filter_map(move |row| match row {
            Row::Agent(line) if message_id(line) == Some(&told.id) => Some(line),
            _ => None,
        })
}

/// The events of a reply, where the CLI was asked to show them. Those behind a broken-off message it made up itself.
fn recorded_events(recording: &Recording, told: &Told) -> Vec<Value> {
    lines_of(recording, told)
        .take_while(|line| line.value["aborted"] != true)
        .filter(|line| line.kind.starts_with("stream_event"))
        .map(|line| line.value["event"].clone())
        .collect()
}

fn made_events(recording: &Recording, told: &Told, output_tokens: u64) -> Vec<Value> {
    let blocks: Vec<&Value> = lines_of(recording, told)
        .filter_map(|line| line.value.pointer("/message/content/0"))
        .collect();
    let message = lines_of(recording, told)
        .next()
        .map(|line| &line.value["message"]);
    let mut message = message.cloned().unwrap_or_default();
    message["content"] = json!([]);
    if let Some(fields) = message.as_object_mut() {
        // The CLI adds this one.
        fields.remove("context_management");
    }
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let count = blocks.len();
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = block_events(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        if !(told.is_aborted && index + 1 == count) {
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
    }
    if !told.is_aborted {
        let calls = blocks.iter().any(|block| block["type"] == "tool_use");
        let reason = if calls { "tool_use" } else { "end_turn" };
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": output_tokens},
        }));
        events.push(json!({"type": "message_stop"}));
    }
    events
}

/// A block as it begins, and what is added to it.
fn block_events(block: &Value) -> (Value, Vec<Value>) {
    match block["type"].as_str() {
        Some("text") => (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": block["text"]})],
        ),
        Some("thinking") => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ],
        ),
        Some("tool_use") => (
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})],
        ),
        _ => (block.clone(), Vec::new()),
    }
}

#[test]
fn a_reply_that_was_broken_off_has_no_end() {
    let replies = replies(&Recording::read("control-05a_interrupt_streaming"));
    let [broken, whole] = &replies[..] else {
        panic!("{replies:?}");
    };
    let kinds = |told: &Told| -> Vec<String> {
        let kinds = told
            .events
            .iter()
            .map(|event| event["type"].as_str().unwrap());
        kinds.map(str::to_owned).collect()
    };
    assert!(broken.is_aborted && !whole.is_aborted);
    assert_eq!(
        kinds(broken),
        [
            "message_start",
            "content_block_start",
            "content_block_delta"
        ]
    );
    assert_eq!(
        kinds(whole)[3..],
        ["content_block_stop", "message_delta", "message_stop"]
    );
    assert_eq!(whole.events[4]["usage"]["output_tokens"], 20);
}

#[test]
fn recorded_events_are_taken_as_they_are() {
    let recording = Recording::read("control-13_partial_tool_thinking");
    let recorded = recording.lines();
    let recorded = recorded
        .iter()
        .filter(|line| line.kind.starts_with("stream_event"));
    let recorded: Vec<Value> = recorded.map(|line| line.value["event"].clone()).collect();
    let replies = replies(&recording);
    let told: Vec<Value> = replies.into_iter().flat_map(|told| told.events).collect();
    assert_eq!(told, recorded);
}
