//! Scripts and the exact bytes that they become.

use serde_json::json;
use towline_testkit::script_api::{Pieces, Reply, Script, Usage};

use super::{serve, start};
use crate::client::{self, Ending, message, streamed, whole};

/// The body that a script's only reply becomes in a stream.
async fn stream(script: &str) -> String {
    let (_api, address) = start(script).await;
    let answer = message(address, &streamed("hello")).await;
    assert_eq!((answer.status, answer.ending), (200, Ending::Whole));
    let kind = answer.header("content-type");
    assert_eq!(kind, Some("text/event-stream; charset=utf-8"));
    answer.body
}

/// The body that it becomes for a request that does not stream.
async fn body(script: &str) -> String {
    let (_api, address) = start(script).await;
    let answer = message(address, &whole("hello")).await;
    assert_eq!((answer.status, answer.ending), (200, Ending::Whole));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.body
}

#[tokio::test]
async fn a_text_is_streamed_word_by_word() {
    insta::assert_snapshot!(stream("[[reply]]\ntext = 'Hello, world.'").await, @r#"
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

    event: ping
    data: {"type":"ping"}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, "}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"world."}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[tokio::test]
async fn a_tool_call_is_streamed_in_pieces_of_json_in_the_order_of_the_script() {
    let script = r#"
        [[reply]]
        tool = "Edit"
        input = { new = "b", file_path = "/a", old = ["x", 1, 2.5, true] }
    "#;
    insta::assert_snapshot!(stream(script).await, @r#"
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_script_000001_0","name":"Edit","input":{}}}

    event: ping
    data: {"type":"ping"}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"new\":\"b\",\"file"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"_path\":\"/a\",\"old"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\":[\"x\",1,2.5,tru"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"e]}"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":14}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[tokio::test]
async fn thinking_carries_its_signature_and_redacted_thinking_comes_whole() {
    let script = r#"
        [[reply]]
        pieces = "whole"
        content = [
          { thinking = "two words", signature = "sig" },
          { redacted_thinking = "b64" },
          "A text.",
        ]
    "#;
    insta::assert_snapshot!(stream(script).await, @r#"
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

    event: ping
    data: {"type":"ping"}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"two words"}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: content_block_start
    data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b64"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":1}

    event: content_block_start
    data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"A text."}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":2}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[tokio::test]
async fn raw_blocks_go_out_as_they_are_and_calls_among_them_in_deltas() {
    let script = r#"
        [[reply]]
        pieces = "whole"
        content = [
          { raw = { type = "server_tool_use", id = "srv_1", name = "web_search", input = { query = "a" } } },
          { raw = '{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"page_age":null}]}' },
        ]
    "#;
    insta::assert_snapshot!(stream(script).await, @r#"
    event: message_start
    data: {"type":"message_start","message":{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}

    event: content_block_start
    data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}}

    event: ping
    data: {"type":"ping"}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}

    event: content_block_delta
    data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"a\"}"}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":0}

    event: content_block_start
    data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"page_age":null}]}}

    event: content_block_stop
    data: {"type":"content_block_stop","index":1}

    event: message_delta
    data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":42}}

    event: message_stop
    data: {"type":"message_stop"}
    "#);
}

#[tokio::test]
async fn a_whole_message_has_all_that_the_stream_has() {
    let script = r#"
        [[reply]]
        content = [
          { thinking = "hm", signature = "sig" },
          "Reading.",
          { tool = "Read", input = '{"limit":null,"file_path":"/a"}', tool_id = "toolu_mine" },
          { tool = "Read", input = { file_path = "/b" } },
        ]
    "#;
    insta::assert_snapshot!(body(script).await, @r#"{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Reading."},{"type":"tool_use","id":"toolu_mine","name":"Read","input":{"limit":null,"file_path":"/a"}},{"type":"tool_use","id":"toolu_script_000001_3","name":"Read","input":{"file_path":"/b"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":17,"service_tier":"standard"}}"#);
}

#[tokio::test]
async fn what_a_reply_says_of_itself_wins_over_the_defaults() {
    let script = r#"
        [[reply]]
        text = "x"
        id = "msg_mine"
        model = "claude-other"
        stop_sequence = "STOP"
        usage = { input_tokens = 1, output_tokens = 2, cache_creation_input_tokens = 3, cache_read_input_tokens = 4 }
    "#;
    insta::assert_snapshot!(body(script).await, @r#"{"id":"msg_mine","type":"message","role":"assistant","model":"claude-other","content":[{"type":"text","text":"x"}],"stop_reason":"stop_sequence","stop_sequence":"STOP","usage":{"input_tokens":1,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":0},"output_tokens":2,"service_tier":"standard"}}"#);
    insta::assert_snapshot!(body("[[reply]]\nstop_reason = 'refusal'").await, @r#"{"id":"msg_script_000001","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":"refusal","stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}"#);
}

#[tokio::test]
async fn an_error_has_the_type_that_goes_with_its_status_unless_it_says_otherwise() {
    for (error, status, expected) in [
        ("400", 400, "invalid_request_error"),
        ("401", 401, "authentication_error"),
        ("402", 402, "billing_error"),
        ("403", 403, "permission_error"),
        ("404", 404, "not_found_error"),
        ("413", 413, "request_too_large"),
        ("429", 429, "rate_limit_error"),
        ("500", 500, "api_error"),
        ("503", 503, "api_error"),
        ("504", 504, "timeout_error"),
        ("529", 529, "overloaded_error"),
        ("{ type = 'rate_limit_error' }", 429, "rate_limit_error"),
        (
            "{ status = 418, type = 'teapot_error' }",
            418,
            "teapot_error",
        ),
    ] {
        let (_api, address) = start(&format!("[[reply]]\nerror = {error}")).await;
        let answer = message(address, &streamed("hello")).await;
        assert_eq!(answer.status, status, "{error}");
        assert_eq!(answer.json()["error"]["type"], expected, "{error}");
    }
}

#[tokio::test]
async fn an_error_brings_its_message_and_its_headers() {
    let script = r#"
        [[reply]]
        error = { status = 429, message = "slow down" }
        headers = { retry-after = 7, x-should-retry = "true" }
    "#;
    let (_api, address) = start(script).await;
    let answer = message(address, &streamed("hello")).await;
    assert_eq!(
        answer.json(),
        json!({
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "slow down"},
            "request_id": "req_script_000001",
        })
    );
    assert_eq!(answer.header("retry-after"), Some("7"));
    assert_eq!(answer.header("x-should-retry"), Some("true"));
    assert_eq!(answer.header("request-id"), Some("req_script_000001"));
}

#[tokio::test]
async fn an_empty_header_takes_the_one_of_the_api_away() {
    let script = "[[reply]]\ntext = 'Hello.'\nheaders = { Request-Id = '' }";
    let (_api, address) = start(script).await;
    let answer = message(address, &streamed("hello")).await;
    assert_eq!((answer.status, answer.header("request-id")), (200, None));
}

#[tokio::test]
async fn texts_are_cut_as_the_reply_says_and_never_inside_a_character() {
    for (text, pieces, expected) in [
        (
            "one  two\nthree ",
            Pieces::Words,
            &["one  ", "two\n", "three "][..],
        ),
        (" one", Pieces::Words, &[" ", "one"]),
        ("", Pieces::Words, &[]),
        ("größer", Pieces::Characters(3), &["grö", "ßer"]),
        (
            "größer",
            Pieces::Characters(0),
            &["g", "r", "ö", "ß", "e", "r"],
        ),
        ("größer", Pieces::Characters(100), &["größer"]),
        ("one two", Pieces::Whole, &["one two"]),
        ("", Pieces::Whole, &[]),
    ] {
        let (_api, address) = serve(Script::new([Reply::text(text).pieces(pieces)])).await;
        let answer = message(address, &streamed("hello")).await;
        let events = answer
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let events = events.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let texts: Vec<_> = events
            .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(texts, expected, "{text:?} {pieces:?}");
    }
}

#[tokio::test]
async fn a_long_text_comes_whole_in_a_bounded_number_of_events() {
    let long = "word ".repeat(50_000);
    let (_api, address) = serve(Script::new([Reply::text(long.as_str())])).await;
    let answer = message(address, &streamed("hello")).await;
    assert_eq!(answer.text(), long);
    assert!(answer.events().len() < 5_000, "{}", answer.events().len());
}

#[tokio::test]
async fn replies_built_in_rust_are_those_of_the_file() {
    let built = Script::new([Reply::message()
        .signed_thinking("hm", "sig")
        .and_text("Reading.")
        .tool("Read", json!({"file_path": "/a"}))
        .tool_with_id("toolu_mine", "Read", json!({}))
        .block(json!({"type": "other"}))
        .redacted_thinking("b64")
        .usage(Usage {
            output_tokens: Some(9),
            ..Usage::default()
        })
        .model("claude-other")
        .stop_reason("pause_turn")]);
    let written = r#"
        [[reply]]
        model = "claude-other"
        stop_reason = "pause_turn"
        usage = { output_tokens = 9 }
        content = [
          { thinking = "hm", signature = "sig" },
          "Reading.",
          { tool = "Read", input = { file_path = "/a" } },
          { tool = "Read", tool_id = "toolu_mine" },
          { raw = { type = "other" } },
          { redacted_thinking = "b64" },
        ]
    "#;
    let (_api, address) = serve(built).await;
    let from_rust = message(address, &streamed("hello")).await.body;
    assert_eq!(from_rust, stream(written).await);
}

#[tokio::test]
async fn the_echo_says_what_was_asked_and_says_it_again() {
    let script = "[default]\necho = true";
    let body = json!({
        "model": "claude-test", "max_tokens": 100, "stream": true,
        "tools": [{"name": "Read"}],
        "messages": [
            {"role": "user", "content": "look \"here\""},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
        ],
    });
    let (_api, address) = start(script).await;
    let expected = "This is the scripted API. Request: model claude-test, 3 messages, 1 tools, \
                    results of [\"Read\"], prompt \"look \\\"here\\\"\"";
    for _ in 0..2 {
        assert_eq!(message(address, &body).await.text(), expected);
    }
}

#[tokio::test]
async fn the_other_paths_of_the_api_answer_without_a_script() {
    let (_api, address) = start("").await;
    let countable = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    let counted = client::post(address, "/v1/messages/count_tokens?beta=true", countable).await;
    assert_eq!(counted.body, r#"{"input_tokens":15}"#);
    let models = client::get(address, "/v1/models").await.json();
    assert_eq!(models["data"][0]["id"], "claude-scripted");
    assert_eq!(models["has_more"], false);
    let model = client::get(address, "/v1/models/claude-any").await.json();
    assert_eq!(
        (&model["type"], &model["id"]),
        (&json!("model"), &json!("claude-any"))
    );
    for (method, path) in [("GET", "/"), ("HEAD", "/"), ("HEAD", "/api/hello")] {
        let answer = client::request(address, method, path, b"").await;
        assert_eq!(answer.status, 200, "{method} {path}");
    }
    for (method, path) in [("GET", "/v1/messages"), ("POST", "/"), ("DELETE", "/v1/x")] {
        let answer = client::request(address, method, path, b"").await;
        assert_eq!(answer.status, 404, "{method} {path}");
        let expected = format!("{method} {path} is not part of the scripted API");
        assert_eq!(answer.json()["error"]["message"], expected);
        assert_eq!(answer.json()["error"]["type"], "not_found_error");
    }
}

#[tokio::test]
async fn requests_that_the_api_would_refuse_are_refused_and_use_up_nothing() {
    let (api, address) = start("[[reply]]\ntext = 'still there'").await;
    for (body, expected) in [
        (
            "{",
            "the request body is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "",
            "the request body is not valid JSON: EOF while parsing a value at line 1 column 0",
        ),
        ("[]", "the request body must be a JSON object"),
        ("{}", "model: Field required"),
        (r#"{"model":"m"}"#, "max_tokens: Field required"),
        (
            r#"{"model":"m","max_tokens":9}"#,
            "messages: Field required",
        ),
        (
            r#"{"model":"m","max_tokens":9,"messages":[]}"#,
            "messages: at least one message is required",
        ),
        (
            r#"{"model":"m","max_tokens":9,"messages":[7]}"#,
            "messages.0.role: Field required",
        ),
        (
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user"}]}"#,
            "messages.0.content: Field required",
        ),
    ] {
        let answer = client::post(address, "/v1/messages", body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        assert_eq!(answer.json()["error"]["message"], expected, "{body}");
    }
    assert_eq!(client::prompt(address, "hello").await.text(), "still there");
    let replies: Vec<_> = api
        .requests()
        .into_iter()
        .filter_map(|entry| entry.reply)
        .collect();
    assert_eq!(replies, ["reply 1"]);
}
