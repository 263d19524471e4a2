//! Bodies, as the API would read them.

use serde_json::{Value, json};

use super::*;

fn request() -> Request {
    Request {
        model: "claude-opus-5-5".to_owned(),
        system: pieces(&[
            r#"{"type":"text","text":"a"}"#,
            r#"{"type":"text","text":"b"}"#,
        ]),
        messages: pieces(&[r#"{"role":"user","content":"hello"}"#]),
        tools: pieces(&[
            r#"{"name":"A","input_schema":{}}"#,
            r#"{"name":"B","input_schema":{}}"#,
        ]),
        max_tokens: 1_000,
        thinking: Thinking::Adaptive,
        thinking_display: None,
        effort: Some("medium".to_owned()),
        betas: Vec::new(),
        session_id: "s1".to_owned(),
    }
}

fn pieces(texts: &[&str]) -> Vec<Json> {
    texts.iter().map(|text| Json::new(*text).unwrap()).collect()
}

fn written(request: &Request, form: Form) -> Value {
    serde_json::from_slice(&write(request, form)).unwrap()
}

/// The messages as they go out.
fn messages(texts: &[&str]) -> Value {
    let request = Request {
        messages: pieces(texts),
        ..request()
    };
    written(&request, Form::default())["messages"].clone()
}

fn mark() -> Value {
    json!({"type": "ephemeral"})
}

#[test]
fn the_body_has_all_that_was_asked_for_and_four_marks() {
    assert_eq!(
        written(&request(), Form::default()),
        json!({
            "model": "claude-opus-5-5",
            "max_tokens": 1000,
            "system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": mark()}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": mark()}]}],
            "tools": [{"name": "A", "input_schema": {}}, {"name": "B", "input_schema": {}, "cache_control": mark()}],
            "thinking": {"type": "adaptive", "display": "updates"},
            "output_config": {"effort": "medium"},
            "metadata": {"user_id": "{\"session_id\":\"s1\"}"},
            "stream": true,
        })
    );
}

#[test]
fn a_plain_request_leaves_out_what_an_api_may_not_know() {
    let form = Form {
        plain: true,
        whole: true,
    };
    let body = written(&request(), form);
    assert_eq!(body["output_config"], Value::Null);
    assert_eq!(body["stream"], false);
    assert_eq!(betas(&request(), form), "");
    assert!(!can_be_plainer(&request(), form));
    assert!(can_be_plainer(&request(), Form::default()));
}

#[test]
fn betas_are_those_of_the_features_and_those_asked_for() {
    let asked = |betas: &[&str]| Request {
        betas: betas.iter().map(|name| (*name).to_owned()).collect(),
        thinking: Thinking::Budget(2_000),
        ..request()
    };
    let ours = "effort-2025-11-24,interleaved-thinking-2025-05-14";
    for (betas_asked, expected) in [
        (&[][..], ours.to_owned()),
        (
            &["context-1m-2025-08-07"],
            format!("{ours},context-1m-2025-08-07"),
        ),
        (
            &["effort-2025-11-24", "", "a b", "x\ny", " z "],
            format!("{ours},z"),
        ),
    ] {
        assert_eq!(betas(&asked(betas_asked), Form::default()), expected);
    }
}

#[test]
fn what_is_shown_of_thoughts_is_asked_for() {
    let plain = Form {
        plain: true,
        ..Form::default()
    };
    let adaptive = |display: Option<&str>| match display {
        Some(display) => json!({"type": "adaptive", "display": display}),
        None => json!({"type": "adaptive"}),
    };
    let budget = json!({"type": "enabled", "budget_tokens": 2000});
    let shown = json!({"type": "enabled", "budget_tokens": 2000, "display": "omitted"});
    for (thinking, asked, form, expected) in [
        (
            Thinking::Adaptive,
            None,
            Form::default(),
            adaptive(Some("updates")),
        ),
        (
            Thinking::Adaptive,
            Some("summarized"),
            Form::default(),
            adaptive(Some("summarized")),
        ),
        (
            Thinking::Adaptive,
            Some("summarized"),
            plain,
            adaptive(None),
        ),
        (Thinking::Budget(2_000), None, Form::default(), budget),
        (
            Thinking::Budget(2_000),
            Some("omitted"),
            Form::default(),
            shown,
        ),
        (
            Thinking::Disabled,
            Some("omitted"),
            Form::default(),
            json!({"type": "disabled"}),
        ),
    ] {
        let request = Request {
            thinking,
            thinking_display: asked.map(ToOwned::to_owned),
            max_tokens: 9_000,
            ..request()
        };
        assert_eq!(written(&request, form)["thinking"], expected, "{asked:?}");
    }
}

#[test]
fn thinking_fits_into_the_answer_or_is_left_out() {
    for (thinking, max_tokens, expected) in [
        (Thinking::Disabled, 9_000, json!({"type": "disabled"})),
        (
            Thinking::Budget(5_000),
            9_000,
            json!({"type": "enabled", "budget_tokens": 5000}),
        ),
        (
            Thinking::Budget(5_000),
            3_000,
            json!({"type": "enabled", "budget_tokens": 2999}),
        ),
        (Thinking::Budget(5_000), 500, Value::Null),
        (Thinking::Budget(0), 0, Value::Null),
    ] {
        let request = Request {
            thinking,
            max_tokens,
            ..request()
        };
        assert_eq!(written(&request, Form::default())["thinking"], expected);
    }
}

#[test]
fn the_last_block_of_the_last_two_messages_that_are_not_the_model_s_is_marked() {
    let sent = messages(&[
        r#"{"role":"user","content":"first"}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
        r#"{"content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t","content":"b"} ],"role":"user"}"#,
        r#"{"role":"assistant","content":"y"}"#,
        r#"{"role":"user","content":[{"type":"image","source":{}}]}"#,
    ]);
    assert_eq!(
        sent,
        json!([
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
            {"role": "user", "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_result", "tool_use_id": "t", "content": "b", "cache_control": mark()},
            ]},
            {"role": "assistant", "content": "y"},
            {"role": "user", "content": [{"type": "image", "source": {}, "cache_control": mark()}]},
        ])
    );
}

#[test]
fn what_cannot_be_marked_stays_as_it_is() {
    for message in [
        r#"{"role":"user","content":""}"#,
        r#"{"role":"user","content":[]}"#,
        r#"{"role":"user","content":null}"#,
        r#"{"role":"user","content":7}"#,
        r#"{"role":"user","content":[{}]}"#,
        r#"{"role":"user","content":["x"]}"#,
        r#"{"role":"user","content":[{"type":"text","text":""}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#,
        r#"{"role":"user"}"#,
        r#"{"type":"other"}"#,
        "null",
    ] {
        let as_is: Value = serde_json::from_str(message).unwrap();
        assert_eq!(messages(&[message]), json!([as_is]), "{message}");
    }
}

#[test]
fn another_model_gets_a_request_that_it_can_take() {
    let request = Request {
        messages: pieces(&[
            r#"{"role":"user","content":"system"}"#,
            r#"{"role":"system","content":"a note"}"#,
        ]),
        max_tokens: 128_000,
        ..request()
    };
    let old = request.for_model("claude-sonnet-4-5");
    assert_eq!(old.model, "claude-sonnet-4-5");
    assert_eq!(
        (old.max_tokens, old.thinking, old.effort.as_deref()),
        (32_000, Thinking::Budget(31_999), None)
    );
    assert_eq!(
        old.messages,
        pieces(&[
            r#"{"role":"user","content":"system"}"#,
            r#"{"role":"user","content":"a note"}"#
        ])
    );
    let new = old.for_model("claude-opus-5-5");
    assert_eq!(
        (new.thinking, new.effort.as_deref()),
        (Thinking::Adaptive, Some("medium"))
    );
    assert_eq!(
        request.for_model("claude-sonnet-5-5").messages,
        request.messages
    );
}
