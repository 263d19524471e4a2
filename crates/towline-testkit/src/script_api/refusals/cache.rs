//! Cache marks: at most four, those that live longer first, and none on thinking.

use serde_json::Value;

use super::{ApiError, refuse};

pub(super) fn check(body: &Value) -> Result<(), ApiError> {
    let marks = marks(body);
    if marks.len() > MOST {
        return refuse(format!(
            "A maximum of {MOST} blocks with cache_control may be provided. Found {}.",
            marks.len()
        ));
    }
    let mut is_short = false;
    for mark in marks {
        if mark.is_on_thinking {
            return refuse(format!("{}: Extra inputs are not permitted", mark.place));
        }
        let lives_long = mark.value["ttl"] == "1h";
        if lives_long && is_short {
            return refuse(format!(
                "{}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note \
                 that blocks are processed in the following order: `tools`, `system`, `messages`.",
                mark.place
            ));
        }
        is_short |= !lives_long;
    }
    Ok(())
}

struct Mark<'a> {
    place: String,
    value: &'a Value,
    is_on_thinking: bool,
}

/// All marks, in the order in which the API reads a request.
fn marks(body: &Value) -> Vec<Mark<'_>> {
    let mut marks = Vec::new();
    collect(&body["tools"], "tools", &mut marks);
    collect(&body["system"], "system", &mut marks);
    let messages = body["messages"].as_array().into_iter().flatten();
    for (index, message) in messages.enumerate() {
        let place = format!("messages.{index}.content");
        collect(&message["content"], &place, &mut marks);
    }
    add(body, "", &mut marks);
    marks
}

fn collect<'a>(list: &'a Value, place: &str, marks: &mut Vec<Mark<'a>>) {
    let elements = list.as_array().into_iter().flatten();
    for (index, element) in elements.enumerate() {
        // What a tool gave back has blocks of its own.
        if element["type"] == "tool_result" {
            collect(
                &element["content"],
                &format!("{place}.{index}.tool_result.content"),
                marks,
            );
        }
        add(element, &format!("{place}.{index}."), marks);
    }
}

fn add<'a>(element: &'a Value, place: &str, marks: &mut Vec<Mark<'a>>) {
    let value = &element["cache_control"];
    if value.is_object() {
        let kind = element["type"].as_str().unwrap_or_default();
        marks.push(Mark {
            place: format!("{place}cache_control"),
            value,
            is_on_thinking: matches!(kind, "thinking" | "redacted_thinking"),
        });
    }
}

/// As the API's documentation has it.
const MOST: usize = 4;
