//! Which reply a request gets: conditions, the queue, the default, and what happens to side requests.

use serde_json::{Value, json};
use towline_testkit::script_api::{Agent, Kind, Reply, Script, ScriptApi, Side, When};

use super::{serve, start};
use crate::client::{self, message, prompt, streamed};

#[tokio::test]
async fn replies_without_a_condition_come_in_order_and_as_often_as_they_say() {
    let script = r#"
        [[reply]]
        text = "one"
        [[reply]]
        text = "two"
        times = 2
        [[reply]]
        text = "three"
        times = "forever"
        [[reply]]
        text = "never"
    "#;
    let (_api, address) = start(script).await;
    for expected in ["one", "two", "two", "three", "three", "three"] {
        assert_eq!(prompt(address, "x").await.text(), expected);
    }
}

#[tokio::test]
async fn conditions_go_first_then_the_queue_then_the_default() {
    let script = r#"
        [[reply]]
        text = "queue"
        [[reply]]
        when = { prompt_contains = "rain" }
        text = "rain 1"
        [[reply]]
        when = { prompt_contains = "rain" }
        text = "rain 2"
        [default]
        text = "default"
    "#;
    let (api, address) = start(script).await;
    for (words, expected) in [
        ("rain?", "rain 1"),
        ("sun?", "queue"),
        ("will it rain", "rain 2"),
        ("rain again", "default"),
        ("sun again", "default"),
    ] {
        assert_eq!(prompt(address, words).await.text(), expected, "{words}");
    }
    let names: Vec<_> = api
        .requests()
        .into_iter()
        .map(|entry| entry.reply.unwrap())
        .collect();
    assert_eq!(
        names,
        ["reply 2", "reply 1", "reply 3", "default", "default"]
    );
}

#[tokio::test]
async fn a_request_that_finds_nothing_gets_an_error_that_nobody_retries() {
    for (script, words, why) in [
        ("", "hi", "the script has no reply"),
        (
            "[[reply]]\ntimes = 0\ntext = 'x'",
            "hi",
            "all 1 replies of the script are used up",
        ),
        (
            "[[reply]]\ntext = 'x'\nwhen = { prompt_contains = 'rain' }",
            "hi \"you\"",
            "none of the 1 replies that are left answers it",
        ),
    ] {
        let (api, address) = start(script).await;
        let answer = prompt(address, words).await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        let message = format!(
            "script: request 1 found no reply (model claude-test, prompt {}): {why}; add a reply, `times` or a [default]",
            json!(words)
        );
        assert_eq!(answer.json()["error"]["message"], message);
        let entry = &api.requests()[0];
        assert_eq!((entry.reply.as_deref(), entry.status), (None, Some(400)));
    }
}

/// A conversation in which a tool was called, as the CLI sends it: reminders around what the person said, and a
/// `system` message behind it.
fn conversation() -> Value {
    json!({
        "model": "claude-opus-test", "max_tokens": 100, "stream": true,
        "system": [{"type": "text", "text": "You are a tester"}],
        "tools": [{"name": "Bash"}, {"name": "Read"}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nreminded\n</system-reminder>"},
                {"type": "text", "text": "what the person said"},
            ]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_7", "name": "Bash", "input": {"command": "deep words"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_7", "content": "out"}]},
            {"role": "system", "content": "an aside"},
        ],
    })
}

#[tokio::test]
async fn each_condition_holds_for_what_it_names_and_for_nothing_else() {
    for (condition, holds) in [
        ("prompt_contains = 'the person said'", true),
        ("prompt_contains = 'reminded'", false),
        ("prompt_contains = 'an aside'", false),
        ("contains = 'reminded'", true),
        ("contains = 'deep words'", true),
        ("contains = 'You are a tester'", true),
        ("contains = 'max_tokens'", false),
        ("tool_result_for = 'Bash'", true),
        ("tool_result_for = 'toolu_7'", true),
        ("tool_result_for = 'Read'", false),
        ("has_tool_result = true", true),
        ("has_tool_result = false", false),
        ("model_contains = 'opus'", true),
        ("model_contains = 'haiku'", false),
        ("tool_offered = 'Read'", true),
        ("tool_offered = 'Write'", false),
        ("agent = 'main'", true),
        ("agent = 'subagent'", false),
        ("side = 'title'", false),
        ("agent = 'main', model_contains = 'opus'", true),
        ("agent = 'main', model_contains = 'haiku'", false),
    ] {
        let script = format!("[[reply]]\nwhen = {{ {condition} }}\ntext = 'held'");
        let (_api, address) = start(&script).await;
        let answer = message(address, &conversation()).await;
        assert_eq!(answer.status == 200, holds, "{condition}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_prompt_without_a_tool_result_has_none() {
    let (_api, address) = start("[[reply]]\nwhen = { has_tool_result = false }\ntext = 'x'").await;
    assert_eq!(prompt(address, "x").await.status, 200);
}

#[tokio::test]
async fn a_subagent_is_known_by_its_header_or_by_its_system_text() {
    let (_api, address) = serve(
        Script::new([Reply::text("sub").when_subagent().forever()])
            .default_reply(Reply::text("main")),
    )
    .await;
    assert_eq!(prompt(address, "x").await.text(), "main");

    let mut marked = streamed("x");
    marked["system"] = json!([{"type": "text", "text": "cc_version=1; cc_is_subagent=true;"}]);
    assert_eq!(message(address, &marked).await.text(), "sub");

    let body = streamed("x").to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\nX-Claude-Code-Agent-Id: a1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(client::raw(address, head.as_bytes()).await.text(), "sub");
}

#[tokio::test]
async fn the_functions_in_rust_make_the_same_conditions() {
    let (_api, address) = serve(Script::new([
        Reply::text("bash").when_tool_result_for("Bash"),
        Reply::text("said").when_prompt_contains("the person said"),
        Reply::text("main").when(When {
            agent: Some(Agent::Main),
            ..When::default()
        }),
    ]))
    .await;
    for expected in ["bash", "said", "main"] {
        assert_eq!(message(address, &conversation()).await.text(), expected);
    }
}

/// The side requests that are known, as the CLI sends them but for its words.
fn side_requests() -> [(Side, Value); 3] {
    let mut title = streamed("<session>\nhello\n</session>");
    title["tools"] = json!([]);
    title["output_config"] = json!({"effort": "medium", "format": {"type": "json_schema", "schema": {
        "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"],
    }}});
    let mut quota = streamed("hello");
    quota["max_tokens"] = json!(1);
    [
        (Side::Title, title),
        (Side::Suggestion, streamed("[SUGGESTION MODE: hello]")),
        (Side::Quota, quota),
    ]
}

#[tokio::test]
async fn side_requests_use_up_no_reply_and_are_recorded_as_such() {
    let script = Script::new([
        Reply::text("marked").when_prompt_contains("hello"),
        Reply::text("queued"),
    ]);
    let (api, address) = serve(script).await;
    for (_, request) in side_requests() {
        assert_eq!(message(address, &request).await.status, 200);
    }
    let answered = message(address, &side_requests()[0].1).await.text();
    assert_eq!(answered, r#"{"title":"Scripted session"}"#);
    assert_eq!(prompt(address, "hello").await.text(), "marked");
    assert_eq!(prompt(address, "hello").await.text(), "queued");

    let record = seen(&api);
    let side = |side, reply: &str| (Kind::Side, Some(side), reply.to_owned());
    let own = |reply: &str| (Kind::Message, None, reply.to_owned());
    assert_eq!(
        record,
        [
            side(Side::Title, "side title"),
            side(Side::Suggestion, "side suggestion"),
            side(Side::Quota, "side quota"),
            side(Side::Title, "side title"),
            own("reply 1"),
            own("reply 2"),
        ]
    );
    assert_eq!(api.requests().len(), 2);
}

fn seen(api: &ScriptApi) -> Vec<(Kind, Option<Side>, String)> {
    let record = api.record().into_iter();
    record
        .map(|entry| (entry.kind, entry.side, entry.reply.unwrap()))
        .collect()
}

#[tokio::test]
async fn a_reply_that_asks_for_side_requests_gets_them() {
    let script = r#"
        [[reply]]
        when = { side = "title" }
        text = '{"title":"Mine"}'
        [[reply]]
        when = { prompt_contains = "classify" }
        side = true
        text = "safe"
    "#;
    let (api, address) = start(script).await;
    let [(_, title), ..] = side_requests();
    assert_eq!(message(address, &title).await.text(), r#"{"title":"Mine"}"#);
    assert_eq!(prompt(address, "classify this").await.text(), "safe");
    assert_eq!(
        seen(&api),
        [
            (Kind::Side, Some(Side::Title), "reply 1".to_owned()),
            (Kind::Side, None, "reply 2".to_owned()),
        ]
    );
}

#[tokio::test]
async fn without_side_rules_every_request_is_part_of_the_conversation() {
    let script = "side_rules = false\n[default]\ntext = 'plain'";
    let (api, address) = start(script).await;
    for (_, request) in side_requests() {
        assert_eq!(message(address, &request).await.text(), "plain");
    }
    assert_eq!(api.requests().len(), 3);
    let (_api, address) = serve(Script::new([Reply::text("plain")]).without_side_rules()).await;
    assert_eq!(
        message(address, &side_requests()[2].1).await.text(),
        "plain"
    );
}

#[tokio::test]
async fn scripts_go_one_behind_the_other_and_the_last_default_wins() {
    let one = Script::new([Reply::text("one")]).default_reply(Reply::text("first default"));
    let two = Script::new([Reply::text("two")]).default_reply(Reply::text("last default"));
    let (_api, address) = serve(one.followed_by(two).followed_by(Script::default())).await;
    for expected in ["one", "two", "last default", "last default"] {
        assert_eq!(prompt(address, "x").await.text(), expected);
    }
}
