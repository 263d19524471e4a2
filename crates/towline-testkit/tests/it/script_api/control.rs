//! `/_script`: the server as a test in another language uses it.

use serde_json::json;
use towline_testkit::script_api::{Options, Reply, Script, ScriptApi};

use super::{serve, start};
use crate::client::{get, post, prompt, raw};

#[tokio::test]
async fn requests_can_be_read_from_a_number_on() {
    let (_api, address) = start("[default]\ntext = 'x'").await;
    for words in ["a", "b", "c"] {
        prompt(address, words).await;
    }
    for (query, expected) in [
        ("", &[1, 2, 3][..]),
        ("?after=0", &[1, 2, 3]),
        ("?after=2", &[3]),
        ("?after=3", &[]),
        ("?after=2&wait=5", &[3]),
    ] {
        let list = get(address, &format!("/_script/requests{query}"))
            .await
            .json();
        let list = list.as_array().unwrap();
        let indices: Vec<_> = list
            .iter()
            .map(|entry| entry["index"].as_u64().unwrap())
            .collect();
        assert_eq!(indices, expected, "{query}");
    }
}

#[tokio::test]
async fn a_long_poll_ends_with_the_next_request_or_with_nothing() {
    let (_api, address) = start("[default]\ntext = 'x'").await;
    let (polled, _) = tokio::join!(get(address, "/_script/requests?after=0&wait=60"), async {
        prompt(address, "a").await
    });
    assert_eq!(polled.json()[0]["body"]["messages"][0]["content"], "a");
    assert_eq!(
        get(address, "/_script/requests?after=9&wait=1").await.body,
        "[]"
    );
}

#[tokio::test]
async fn replies_can_be_added_one_or_many() {
    let (api, address) = start("").await;
    let added = post(address, "/_script/replies", r#"{"text":"one"}"#).await;
    assert_eq!(added.body, r#"{"added":1}"#);
    let list = json!([
        {"tool": "Bash", "input": {"z": null, "a": 1}, "name": "call"},
        {"content": ["three"], "times": 2},
    ]);
    post(address, "/_script/replies", &list.to_string()).await;
    api.push(Reply::text("four"));
    assert_eq!(prompt(address, "x").await.text(), "one");
    assert_eq!(prompt(address, "x").await.events().len(), 8);
    for expected in ["three", "three", "four"] {
        assert_eq!(prompt(address, "x").await.text(), expected);
    }
    let state = get(address, "/_script/state").await.json();
    assert_eq!(
        state["replies"],
        json!([
            {"name": "reply 1", "used": 1, "times": 1},
            {"name": "call", "used": 1, "times": 1},
            {"name": "reply 3", "used": 2, "times": 2},
            {"name": "reply 4", "used": 1, "times": 1},
        ])
    );
    assert_eq!(
        (&state["requests"], &state["dropped"]),
        (&json!(5), &json!(0))
    );
}

#[tokio::test]
async fn a_reset_forgets_what_was_added_and_what_was_asked() {
    let (api, address) = start("[[reply]]\ntext = 'one'").await;
    api.push(Reply::text("two"));
    prompt(address, "x").await;
    api.reset();
    assert_eq!(prompt(address, "x").await.text(), "one");
    assert_eq!(prompt(address, "x").await.status, 400);
    let indices: Vec<_> = api.record().iter().map(|entry| entry.index).collect();
    assert_eq!(indices, [1, 2]);
}

#[tokio::test]
async fn wrong_requests_say_what_is_wrong() {
    let (_api, address) = start("").await;
    for (method, path, body, status, expected) in [
        (
            "POST",
            "replies",
            "{",
            400,
            "not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "POST",
            "replies",
            r#"{"text":1}"#,
            400,
            "reply 1: `text` must be a string, is the number 1",
        ),
        (
            "POST",
            "replies",
            r#"[{"text":"a"},{"txet":"b"}]"#,
            400,
            "reply 2: unknown key `txet`, did you mean `text`?",
        ),
        (
            "POST",
            "replies",
            r#"{"text":"a","text":"b"}"#,
            400,
            "not JSON: `text` is there twice at line 1 column 23",
        ),
        (
            "GET",
            "requests?after=x",
            "",
            400,
            "`after` must be a whole number, is `x`",
        ),
        (
            "GET",
            "requests?last=1",
            "",
            400,
            "unknown parameter `last`, known are `after` and `wait`",
        ),
        (
            "GET",
            "nothing",
            "",
            404,
            "known are GET /_script/requests, POST /_script/replies, POST /_script/release/NAME, GET /_script/state \
             and POST /_script/reset",
        ),
    ] {
        let path = format!("/_script/{path}");
        let answer = crate::client::request(address, method, &path, body.as_bytes()).await;
        assert_eq!(answer.status, status, "{path} {body}");
        assert_eq!(answer.json()["error"]["message"], expected, "{path} {body}");
    }
}

#[tokio::test]
async fn a_page_that_reaches_the_port_under_a_name_of_its_own_reads_nothing() {
    let ask = |host: &str| {
        format!("GET /_script/state HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
    };
    let (_api, address) = start("").await;
    for (host, status) in [
        ("127.0.0.1:80", 200),
        ("localhost:80", 200),
        ("[::1]:80", 200),
        ("127.0.0.1", 200),
        ("evil.example:80", 403),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
    ] {
        assert_eq!(
            raw(address, ask(host).as_bytes()).await.status,
            status,
            "{host}"
        );
    }
    let options = Options {
        allow_remote: true,
        ..Options::default()
    };
    let api = ScriptApi::start_with(Script::default(), options)
        .await
        .unwrap();
    assert_eq!(
        raw(api.address(), ask("api.example").as_bytes())
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn what_is_asked_of_the_script_is_not_recorded() {
    let (api, address) = serve(Script::default()).await;
    get(address, "/_script/state").await;
    assert_eq!(api.record().len(), 0);
}
