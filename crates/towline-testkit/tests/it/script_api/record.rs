//! The record: what it says, what it leaves out, and where it ends.

use std::sync::{Arc, Mutex};

use serde_json::json;
use towline_testkit::script_api::{End, Options, Recorded, Reply, Script, ScriptApi};

use super::start;
use crate::client::{get, message, post, prompt, raw, streamed};

#[tokio::test]
async fn a_request_is_recorded_whole_but_for_its_secrets() {
    let (_api, address) = start("[[reply]]\nname = 'hello'\ntext = 'x'").await;
    let body =
        r#"{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
    let head = format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nHost: h\r\nX-Api-Key: sk-secret\r\nAuthorization: Bearer secret\r\n\
         Cookie: secret\r\nX-Two: a\r\nX-Two: b\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    raw(address, head.as_bytes()).await;
    let record = get(address, "/_script/requests").await;
    assert!(!record.body.contains("secret"), "{}", record.body);
    // The body is the very text that came.
    assert!(record.body.contains(body), "{}", record.body);
    let mut entry = record.json()[0].clone();
    assert!(entry["at_ms"].is_u64());
    entry["at_ms"] = json!(0);
    assert_eq!(
        entry,
        json!({
            "index": 1, "at_ms": 0, "kind": "message", "method": "POST", "path": "/v1/messages?beta=true",
            "headers": {
                "authorization": "(redacted)", "connection": "close", "content-length": body.len().to_string(),
                "cookie": "(redacted)", "host": "h", "x-api-key": "(redacted)", "x-two": "a, b",
            },
            "body": serde_json::from_str::<serde_json::Value>(body).unwrap(),
            "reply": "hello", "status": 200, "end": "complete",
        })
    );
}

#[tokio::test]
async fn every_kind_of_request_is_recorded() {
    let (api, address) = start("").await;
    get(address, "/").await;
    get(address, "/v1/models").await;
    post(address, "/v1/messages/count_tokens", "{}").await;
    post(address, "/elsewhere", "no JSON").await;
    post(address, "/v1/messages", "{\n\"a\":\n1}").await;
    let entries = get(address, "/_script/requests").await.json();
    let entries = entries.as_array().unwrap();
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| json!([entry["kind"], entry["status"], entry["end"], entry["body"]]))
        .collect();
    assert_eq!(
        seen,
        [
            json!(["probe", 200, "complete", null]),
            json!(["models", 200, "complete", null]),
            json!(["count_tokens", 400, "complete", {}]),
            json!(["unknown", 404, "complete", "no JSON"]),
            json!(["message", 400, "complete", {"a": 1}]),
        ]
    );
    let bodies: Vec<_> = api.record().iter().map(Recorded::body).collect();
    assert_eq!(
        bodies,
        [
            json!(null),
            json!(null),
            json!({}),
            json!("no JSON"),
            json!({"a": 1})
        ]
    );
}

#[tokio::test]
async fn the_oldest_requests_give_way_by_number() {
    let options = Options {
        keep_requests: 2,
        ..Options::default()
    };
    check_dropped(options, &["x"; 5], &[4, 5]).await;
}

#[tokio::test]
async fn the_oldest_requests_give_way_by_size() {
    let options = Options {
        keep_bytes: 10_000,
        ..Options::default()
    };
    let long = "x".repeat(6_000);
    check_dropped(options.clone(), &["a", &long, "b", &long], &[3, 4]).await;
    // One that is larger than all that is kept is not kept.
    check_dropped(options, &["a", &"x".repeat(20_000)], &[]).await;
}

async fn check_dropped(options: Options, prompts: &[&str], left: &[u64]) {
    let script = Script::default().default_reply(Reply::text("x"));
    let api = ScriptApi::start_with(script, options).await.unwrap();
    for words in prompts {
        assert_eq!(prompt(api.address(), words).await.status, 200);
    }
    let indices: Vec<_> = api.record().iter().map(|entry| entry.index).collect();
    assert_eq!(indices, left);
    let state = get(api.address(), "/_script/state").await.json();
    assert_eq!(state["dropped"], prompts.len() - left.len());
    assert_eq!(state["requests"], prompts.len());
}

#[tokio::test]
async fn who_wants_to_know_is_told_of_each_end() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&ends);
    let options = Options {
        on_end: Some(Arc::new(move |entry| {
            told.lock().unwrap().push((entry.index, entry.end.unwrap()));
        })),
        ..Options::default()
    };
    let script = Script::new([Reply::text("x"), Reply::text("x").cut_after_events(1)]);
    let api = ScriptApi::start_with(script, options).await.unwrap();
    for _ in 0..3 {
        message(api.address(), &streamed("x")).await;
    }
    assert_eq!(
        *ends.lock().unwrap(),
        [(1, End::Complete), (2, End::Cut), (3, End::Complete)]
    );
}
