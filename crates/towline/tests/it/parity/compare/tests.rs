//! What counts as the same, and what does not.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{super::recording::Line, compare};

const HOST: &str = "00000000-0000-4000-8000-000000000001";
const ONE: &str = "9633f4ed-b211-472f-a04a-b43b68042092";
const OTHER: &str = "530f9fb1-d6bc-4d6e-8329-e4237f4d0229";

/// The kinds and paths of what differs.
fn check(first: &[Value], second: &[Value]) -> Vec<String> {
    let lines = |values: &[Value]| -> Vec<Line> { values.iter().cloned().map(Line::of).collect() };
    let ids = HashSet::from([HOST.to_owned()]);
    let found = compare(&lines(first), &lines(second), &ids);
    let found = found.into_iter();
    found
        .map(|difference| format!("{} {}", difference.kind, difference.path))
        .collect()
}

fn status(fields: &Value) -> Value {
    let mut line = json!({"type": "system", "subtype": "status", "status": null});
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

#[test]
fn a_value_counts_unless_it_is_new_in_every_run() {
    for (first, second, path) in [
        (json!({"uuid": ONE}), json!({"uuid": OTHER}), ""),
        (json!({"uuid": ONE}), json!({"uuid": "no uuid"}), "$.uuid"),
        (json!({"uuid": HOST}), json!({"uuid": OTHER}), "$.uuid"),
        (json!({"uuid": HOST}), json!({"uuid": HOST}), ""),
        (json!({"duration_ms": 1}), json!({"duration_ms": 2}), ""),
        (
            json!({"duration_ms": 1}),
            json!({"duration_ms": null}),
            "$.duration_ms",
        ),
        (
            json!({"num_turns": 1}),
            json!({"num_turns": 2}),
            "$.num_turns",
        ),
        (
            json!({"x": "2026-11-16T00:01:31.858Z"}),
            json!({"x": "2027-01-01T00:00:00Z"}),
            "",
        ),
        (
            json!({"x": "2026-11-16T00:01:31.858Z"}),
            json!({"x": "soon"}),
            "$.x",
        ),
        (json!({"x": "long te…"}), json!({"x": "long text"}), ""),
        (json!({"x": "long te…"}), json!({"x": "other text"}), "$.x"),
        (
            json!({"description": "so"}),
            json!({"description": "or so"}),
            "",
        ),
        (
            json!({"description": "so"}),
            json!({"description": 5}),
            "$.description",
        ),
        (json!({"tools": ["a"]}), json!({"tools": ["b", "c"]}), ""),
        (json!({"tools": ["a"]}), json!({"tools": [1]}), "$.tools[]"),
        (
            json!({"list": ["a"]}),
            json!({"list": ["a", "c"]}),
            "$.list[]",
        ),
        (
            json!({"list": [{"a": 1}]}),
            json!({"list": [{}]}),
            "$.list[].a",
        ),
        (json!({"a": 1}), json!({}), "$.a"),
        (json!({}), json!({"a": 1}), "$.a"),
    ] {
        check_fields(&first, &second, path);
    }
}

#[test]
fn ids_of_cells_and_what_fills_the_context_are_new_in_every_run() {
    for (first, second, path) in [
        (
            json!({"cell_id": "70bfe2f4"}),
            json!({"cell_id": "eb924cff"}),
            "",
        ),
        (
            json!({"updated_file": r#"{"id": "70bfe2f4"}"#}),
            json!({"updated_file": r#"{"id": "eb924cff"}"#}),
            "",
        ),
        (
            json!({"updated_file": r#"{"id": "70bfe2f4"}"#}),
            json!({"updated_file": r#"{"no": "eb924cff"}"#}),
            "$.updated_file",
        ),
        (
            json!({"context_usage": {"total_tokens": 1}}),
            json!({"context_usage": {"total_tokens": 2}}),
            "",
        ),
        (
            json!({"context_usage": {"total_tokens": 1}}),
            json!({"context_usage": {}}),
            "$.context_usage.total_tokens",
        ),
    ] {
        check_fields(&first, &second, path);
    }
}

/// Two lines with these fields differ in that path, or not at all.
fn check_fields(first: &Value, second: &Value, path: &str) {
    let expected: Vec<String> = match path {
        "" => Vec::new(),
        path => vec![format!("system/status {path}")],
    };
    let found = check(&[status(first)], &[status(second)]);
    assert_eq!(found, expected, "{first} {second}");
}

#[test]
fn lines_must_come_in_the_same_order() {
    let [one, other] =
        ["init", "status"].map(|subtype| json!({"type": "system", "subtype": subtype}));
    let alive = json!({"type": "keep_alive"});
    let (one, other) = (&one, &other);
    for (first, second, expected) in [
        (vec![one, other], vec![one, other], vec![]),
        (vec![one, other], vec![one], vec!["system/status -"]),
        (vec![one], vec![other, one], vec!["system/status +"]),
        (
            vec![one, other],
            vec![other, one],
            vec!["system/init -", "system/init +"],
        ),
        (
            vec![one],
            vec![&alive],
            vec!["system/init -", "keep_alive +"],
        ),
    ] {
        let [first, second] =
            [first, second].map(|lines| lines.into_iter().cloned().collect::<Vec<_>>());
        let mut found = check(&first, &second);
        // A line that is no valid message of its kind has that kind all the same here.
        found.retain(|difference| !difference.ends_with("$"));
        assert_eq!(found, expected, "{first:?} {second:?}");
    }
}

#[test]
fn what_is_worked_out_beside_the_turn_may_come_at_any_time() {
    let answer = |response: &Value| {
        let response = json!({"subtype": "success", "request_id": "g1", "response": response});
        json!({"type": "control_response", "response": response})
    };
    let context = answer(&json!({"categories": []}));
    let other = answer(&json!({"still_queued": []}));
    let turn = status(&json!({}));
    let (context, other, turn) = (&context, &other, &turn);
    for (first, second, is_same) in [
        ([turn, context], [context, turn], true),
        ([turn, other], [other, turn], false),
    ] {
        let [first, second] = [first, second].map(|lines| lines.map(Clone::clone));
        assert_eq!(check(&first, &second).is_empty(), is_same, "{first:?}");
    }
}

#[test]
fn the_result_of_a_tool_counts_where_it_is_no_wording() {
    let call = |name: &str| {
        json!({
            "type": "assistant", "session_id": ONE, "uuid": ONE, "parent_tool_use_id": null,
            "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
                "content": [{"type": "tool_use", "id": "t", "name": name, "input": {}}],
                "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}},
        })
    };
    let result = |text: &str, is_error: bool| {
        json!({
            "type": "user", "session_id": ONE, "uuid": ONE, "parent_tool_use_id": null,
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error},
            ]},
        })
    };
    for (tool, is_error, expected) in [
        ("Bash", false, vec!["user $.message.content[].content"]),
        ("Bash", true, vec![]),
        ("Write", false, vec![]),
    ] {
        let first = [call(tool), result("one", is_error)];
        let second = [call(tool), result("other", is_error)];
        assert_eq!(check(&first, &second), expected, "{tool} {is_error}");
    }
}
