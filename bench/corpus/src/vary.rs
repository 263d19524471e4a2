//! Owns how a recorded line becomes a new one: fresh ids, numbers and texts in
//! the same keys and the same order.

use crate::random::Random;
use crate::templates::Class;
use crate::text;
use serde_json::Value;

/// Sizes of tool results run up to here; twice this, escaped, is the longest
/// line of the corpus (about 350 KB).
const LARGEST_RESULT: usize = 153_000;

/// Makes a new line of `class`/`kind` out of a recorded one.
pub fn vary(random: &mut Random, class: Class, kind: &str, line: &mut Value, session: &str) {
    walk(random, "", line, session);
    match class {
        Class::Delta => delta(random, kind, line),
        Class::User => user(random, kind, line),
        Class::Control => control(random, kind, line),
        Class::Assistant => assistant(random, kind, line),
        Class::Rest if kind == "result" => {
            let length = random.size(40, 900);
            replace(line, "/result", || text::prose(random, length));
        }
        Class::Rest => {}
    }
}

/// Overwrites the string at `pointer`, if there is one.
fn replace(line: &mut Value, pointer: &str, text: impl FnOnce() -> String) {
    if let Some(value @ Value::String(_)) = line.pointer_mut(pointer) {
        *value = Value::String(text());
    }
}

/// Ids and numbers everywhere, and the texts whose key tells what they are.
fn walk(random: &mut Random, key: &str, value: &mut Value, session: &str) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                walk(random, key, value, session);
            }
        }
        Value::Array(list) => {
            for value in list {
                walk(random, key, value, session);
            }
        }
        Value::String(old) => {
            if let Some(new) = fresh(random, key, old, session) {
                *old = new;
            }
        }
        Value::Number(number) if number.is_u64() => {
            let lower = key.to_ascii_lowercase();
            let counted = ["tokens", "_ms", "durationms"];
            if counted.iter().any(|end| lower.ends_with(end)) {
                *value = Value::from(random.size(1, 200_000) as u64);
            }
        }
        _ => {}
    }
}

fn fresh(random: &mut Random, key: &str, old: &str, session: &str) -> Option<String> {
    let is_uuid = old.len() == 36 && old.as_bytes()[8] == b'-' && old.as_bytes()[13] == b'-';
    Some(match key {
        "session_id" => session.to_string(),
        _ if is_uuid => text::uuid(random),
        _ if old.starts_with("toolu_") => text::api_id(random, "toolu_"),
        _ if old.starts_with("msg_") => text::api_id(random, "msg_"),
        "request_id" if old.starts_with("req_") => text::api_id(random, "req_"),
        "timestamp" => format!(
            "2026-11-16T{:02}:{:02}:{:02}.{:03}Z",
            random.between(0, 24),
            random.between(0, 60),
            random.between(0, 60),
            random.between(0, 1000)
        ),
        "command" => text::command(random),
        "file_path" | "blocked_path" => text::path(random),
        // The recordings hold "…" where a long description was cut.
        _ if old == "…" => {
            let length = random.between(40, 200);
            text::prose(random, length).replace('\n', " ")
        }
        _ => return None,
    })
}

fn delta(random: &mut Random, kind: &str, line: &mut Value) {
    let length = random.size(4, 165);
    line["event"]["index"] = Value::from(random.between(0, 7) as u64);
    // A share of the deltas comes from subagents.
    if random.percent(12) {
        line["parent_tool_use_id"] = Value::from(text::api_id(random, "toolu_"));
    }
    let delta = &mut line["event"]["delta"];
    match kind {
        "text" => delta["text"] = text::prose(random, length).into(),
        "thinking" => delta["thinking"] = text::prose(random, length).into(),
        "input_json" => delta["partial_json"] = text::partial_json(random, length).into(),
        _ => delta["signature"] = text::signature(random, 4 * length).into(),
    }
}

fn result_size(random: &mut Random) -> usize {
    match random.between(0, 1000) {
        0..4 => LARGEST_RESULT,
        4..30 => random.size(16_000, 60_000),
        30..300 => random.size(2_500, 16_000),
        _ => random.size(60, 2_500),
    }
}

fn user(random: &mut Random, kind: &str, line: &mut Value) {
    let size = match kind {
        "prompt" | "small" => random.size(20, 400),
        _ => result_size(random),
    };
    let body = text::code(random, size);
    let shown = if kind == "file" {
        text::numbered(&body)
    } else {
        body.clone()
    };
    for place in ["/message/content", "/message/content/0/text"] {
        replace(line, place, || shown.clone());
    }
    for place in [
        "/message/content/0/content",
        "/message/content/0/content/0/text",
    ] {
        replace(line, place, || shown.clone());
    }
    let again = match kind {
        "error" => {
            replace(line, "/tool_use_result", || format!("Error: {body}"));
            return;
        }
        "stdout" => "/tool_use_result/stdout",
        "file" => "/tool_use_result/file/content",
        "content" => "/tool_use_result/content",
        "blocks" => "/tool_use_result/0/text",
        _ => return,
    };
    replace(line, again, || body);
}

fn control(random: &mut Random, kind: &str, line: &mut Value) {
    let length = random.size(200, 9_000);
    let body = text::code(random, length);
    match kind {
        "can_use_tool" => {
            fill_input(random, &mut line["request"]["input"], &body);
        }
        "hook_callback" => {
            for place in ["tool_input", "tool_response"] {
                if let Some(input) = line.pointer_mut(&format!("/request/input/{place}")) {
                    fill_input(random, input, &body);
                }
            }
            replace(line, "/request/input/prompt", || body);
        }
        _ => {}
    }
}

fn assistant(random: &mut Random, kind: &str, line: &mut Value) {
    let length = random.size(30, 1_800);
    match kind {
        "text" => replace(line, "/message/content/0/text", || {
            text::prose(random, length)
        }),
        "thinking" => replace(line, "/message/content/0/thinking", || {
            text::prose(random, length)
        }),
        _ => {
            let body = text::code(random, length);
            fill_input(random, &mut line["message"]["content"][0]["input"], &body);
        }
    }
}

/// Puts text into the keys of a tool input (or response) that hold the bulk.
fn fill_input(random: &mut Random, input: &mut Value, body: &str) {
    for key in ["content", "new_string", "stdout", "prompt"] {
        replace(input, &format!("/{key}"), || body.to_string());
    }
    replace(input, "/old_string", || text::code(random, body.len() / 3));
    replace(input, "/description", || text::prose(random, 40));
}
