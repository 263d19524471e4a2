//! Calls against the scripted API: what is asked, what comes out, and every way in which it can fail.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use towline_protocol::{Json, StreamEvent, Wire as _};
use towline_testkit::script_api::{Act, Cut, End, Pieces, Place, Reply, Script, ScriptApi};

use super::*;
use crate::{
    config::{Credential, ModelOptions, Provider, ProxyOptions},
    model::Model,
};

fn options(base_url: String) -> ApiOptions {
    ApiOptions {
        base_url,
        credential: Some(Credential::Key("made-up".to_owned())),
        proxy: ProxyOptions::default(),
        max_retries: 2,
        timeout: Duration::from_secs(60),
        headers: vec![("x-extra".to_owned(), "1".to_owned())],
    }
}

fn request() -> Request {
    Request {
        model: "claude-opus-5-5".to_owned(),
        messages: vec![Json::new(r#"{"role":"user","content":"hello"}"#).unwrap()],
        max_tokens: 1_000,
        effort: Some("low".to_owned()),
        session_id: "s1".to_owned(),
        ..Request::default()
    }
}

/// Without waiting between the tries.
fn at_once(options: ApiOptions, fallback: Option<&str>) -> Model {
    let mut api = Api::new(options, fallback.map(str::to_owned));
    api.base_delay = Duration::ZERO;
    Model::Api(Box::new(api))
}

/// One event in a few words. Deltas are shown by what they bring.
fn shown(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Retry(retry) => format!(
            "retry {}/{} {:?} {}",
            retry.attempt, retry.max_retries, retry.error.status, retry.error.name
        ),
        ModelEvent::Fallback { from, to } => format!("{from} to {to}"),
        ModelEvent::Whole => "whole".to_owned(),
        ModelEvent::Stream { event } => {
            let json: serde_json::Value = event.to_json().parse().unwrap();
            match &**event {
                StreamEvent::BlockDelta(_) => {
                    let delta = &json["delta"];
                    let text = ["text", "thinking", "partial_json", "signature"];
                    let text = text.iter().find_map(|field| delta[field].as_str());
                    format!("+{}", text.unwrap_or("?"))
                }
                StreamEvent::MessageDelta(_) => format!("stop {}", json["delta"]["stop_reason"]),
                _ => json["type"].as_str().unwrap_or("?").to_owned(),
            }
        }
        ModelEvent::Answering { .. } => "answering".to_owned(),
        ModelEvent::Done { request_id } => {
            format!("done{}", if request_id.is_some() { " with id" } else { "" })
        }
        ModelEvent::Failed(error) => {
            format!(
                "failed {:?} {}: {}",
                error.status, error.name, error.message
            )
        }
    }
}

async fn events_of(model: &Model, request: Request) -> Vec<String> {
    let (sender, mut receiver) = mpsc::channel(4);
    let read = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(shown(&event));
        }
        events.retain(|event| event != "ping" && event != "answering");
        events
    };
    let ((), events) = tokio::join!(model.call(request, sender), read);
    events
}

/// Plays a script, and gives the events and how many requests it took.
async fn play(replies: impl IntoIterator<Item = Reply>) -> (Vec<String>, ScriptApi) {
    let api = ScriptApi::start(Script::new(replies).without_side_rules())
        .await
        .unwrap();
    let events = events_of(&at_once(options(api.url()), None), request()).await;
    (events, api)
}

const STREAMED: [&str; 7] = [
    "message_start",
    "content_block_start",
    "+fine",
    "content_block_stop",
    "stop \"end_turn\"",
    "message_stop",
    "done with id",
];

fn after(first: &[&str]) -> Vec<String> {
    first
        .iter()
        .chain(&STREAMED)
        .map(|&text| text.to_owned())
        .collect()
}

#[tokio::test]
async fn a_stream_comes_out_as_it_came_and_the_request_says_who_asks() {
    let (events, api) = play([Reply::text("fine")]).await;
    assert_eq!(events, after(&[]));
    let seen = &api.requests()[0];
    assert_eq!(
        (&*seen.method, &*seen.path),
        ("POST", "/v1/messages?beta=true")
    );
    for (name, value) in [
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "effort-2025-11-24"),
        ("content-type", "application/json"),
        ("x-extra", "1"),
    ] {
        assert_eq!(seen.headers.get(name).map(String::as_str), Some(value));
    }
    assert!(seen.headers["user-agent"].starts_with("towline/"));
    assert!(seen.headers.contains_key("x-api-key"));
    assert!(!seen.headers.contains_key("authorization"));
    let body = seen.body();
    assert_eq!(body["stream"], true);
    assert_eq!(
        body["messages"][0]["content"][0]["cache_control"],
        json!({"type": "ephemeral"})
    );
}

#[tokio::test]
async fn a_token_is_sent_as_a_bearer() {
    let api = ScriptApi::start(Script::new([Reply::text("fine")]))
        .await
        .unwrap();
    let options = ApiOptions {
        credential: Some(Credential::Token("made-up".to_owned())),
        base_url: format!("{}/", api.url()),
        ..options(String::new())
    };
    events_of(&at_once(options, None), request()).await;
    let headers = &api.requests()[0].headers;
    assert!(headers.contains_key("authorization"));
    assert!(!headers.contains_key("x-api-key"));
}

#[tokio::test]
async fn thinking_and_tool_calls_come_through() {
    let reply = Reply::message()
        .thinking("hm")
        .tool("Bash", json!({"command": "ls"}));
    let (events, _) = play([reply]).await;
    assert!(events.contains(&"+hm".to_owned()), "{events:?}");
    assert!(
        events.contains(&"stop \"tool_use\"".to_owned()),
        "{events:?}"
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_told() {
    for (reply, told) in [
        (
            Reply::error(401),
            "retry 1/2 Some(401) authentication_failed",
        ),
        (Reply::error(429), "retry 1/2 Some(429) rate_limit"),
        (Reply::error(500), "retry 1/2 Some(500) server_error"),
        (Reply::error(529), "retry 1/2 Some(529) overloaded"),
        (Reply::text("x").cut(), "retry 1/2 None unknown"),
    ] {
        let (events, api) = play([reply, Reply::text("fine")]).await;
        assert_eq!(events, after(&[told]));
        assert_eq!(api.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_begun_again() {
    for cut in [Cut::Reset, Cut::Close, Cut::End] {
        let torn = Reply::text("half of it").at(Place::Events(4), Act::Cut(cut));
        let (events, _) = play([torn, Reply::text("fine")]).await;
        let place = events
            .iter()
            .position(|event| event == "retry 1/2 None unknown")
            .unwrap_or_else(|| panic!("{cut:?}: {events:?}"));
        assert_eq!(events[place + 1..], after(&[]), "{cut:?}");
    }
}

#[tokio::test]
async fn the_last_failure_is_the_answer() {
    let (events, api) = play([Reply::error(500).error_message("boom").times(3)]).await;
    assert_eq!(events.len(), 3);
    assert!(
        events[2].starts_with("failed Some(500) server_error: API Error: 500 boom."),
        "{events:?}"
    );
    assert_eq!(api.requests().len(), 3);
}

#[tokio::test]
async fn what_cannot_pass_fails_in_silence() {
    for (reply, failed, requests) in [
        (
            Reply::error(400).error_message("bad thing"),
            "failed Some(400) unknown: API Error: 400 bad thing",
            2,
        ),
        (
            Reply::error(400).error_message("Your credit balance is too low"),
            "failed Some(400) billing_error: Credit balance is too low",
            1,
        ),
        (
            Reply::error(400).error_message("prompt is too long: 2 > 1"),
            "failed Some(400) invalid_request: Prompt is too long",
            1,
        ),
        (
            Reply::error(403),
            "failed Some(403) authentication_failed: Failed to authenticate. API Error: 403",
            1,
        ),
        (
            Reply::error(404),
            "failed Some(404) model_not_found: There's an issue with the selected model (claude-opus-5-5)",
            2,
        ),
        (
            Reply::error(413),
            "failed Some(413) invalid_request: Request too large",
            1,
        ),
        (
            Reply::http(302, "text/plain", "").header("location", "/elsewhere"),
            "failed Some(302) unknown",
            1,
        ),
        (
            Reply::http(200, "text/html", "<html>"),
            "failed None unknown: API Error: 127.0.0.1:",
            1,
        ),
        (
            Reply::http(200, "application/json", "<html>"),
            "failed None unknown: API Error: the answer is no JSON",
            1,
        ),
        (
            Reply::http(200, "application/json", "{}"),
            "failed None unknown: API Error: the answer is no message",
            1,
        ),
    ] {
        let (events, api) = play([reply.forever()]).await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].starts_with(failed), "{events:?}");
        assert_eq!(api.requests().len(), requests, "{failed}");
    }
}

#[tokio::test]
async fn a_plainer_request_may_help() {
    let (events, api) = play([Reply::error(400), Reply::text("fine")]).await;
    assert_eq!(events, after(&[]));
    let requests = api.requests();
    assert_eq!(requests[0].body()["output_config"]["effort"], "low");
    assert_eq!(requests[1].body()["output_config"], json!(null));
    assert!(!requests[1].headers.contains_key("anthropic-beta"));
}

#[tokio::test]
async fn a_useless_stream_is_asked_for_in_one_piece() {
    let stream = |text: &str| Reply::http(200, "text/event-stream", text);
    for useless in [
        stream(""),
        stream(": nothing\n\n"),
        stream("data: {not json\n\n"),
        stream("data: [1]\n\n"),
        stream("data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"),
        stream("data: {\"type\":\"message_start\"}\n\n"),
        stream("garbage that is no event\n\n"),
    ] {
        let (events, api) = play([useless, Reply::text("fine")]).await;
        assert_eq!(events, after(&["whole"]));
        let requests = api.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[1].body()["stream"], false);
    }
}

#[tokio::test]
async fn an_error_in_the_stream_leads_to_an_answer_in_one_piece() {
    let torn = Reply::text("half of it").error_after_events(4, "overloaded_error", "Overloaded");
    let (events, _) = play([torn, Reply::text("fine")]).await;
    let place = events.iter().position(|event| event == "whole").unwrap();
    assert_eq!(events[place..], after(&["whole"]));
}

#[tokio::test]
async fn a_whole_message_is_taken_apart_into_events() {
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use",
    "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 2}, "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
        {"type": "redacted_thinking", "data": "d"},
    ]});
    let (events, _) = play([Reply::http(200, "application/json", message.to_string())]).await;
    assert_eq!(
        events,
        [
            "whole",
            "message_start",
            "content_block_start",
            "+hm",
            "+s",
            "content_block_stop",
            "content_block_start",
            "content_block_stop",
            "content_block_start",
            "+{\"command\":\"ls\"}",
            "content_block_stop",
            "content_block_start",
            "content_block_stop",
            "stop \"tool_use\"",
            "message_stop",
            "done with id",
        ]
    );
}

#[tokio::test]
async fn an_overloaded_model_is_replaced() {
    let api = ScriptApi::start(Script::new([
        Reply::error(529).times(3),
        Reply::text("fine"),
    ]))
    .await
    .unwrap();
    let model = at_once(options(api.url()), Some("claude-sonnet-4-5"));
    let events = events_of(&model, request()).await;
    assert_eq!(
        events,
        after(&[
            "retry 1/2 Some(529) overloaded",
            "retry 2/2 Some(529) overloaded",
            "claude-opus-5-5 to claude-sonnet-4-5",
        ])
    );
    let last = api.requests().pop().unwrap().body();
    assert_eq!(last["model"], "claude-sonnet-4-5");
    assert_eq!(last["thinking"], json!(null));
    assert_eq!(last["output_config"], json!(null));
}

#[tokio::test]
async fn the_api_s_wish_is_granted() {
    let api = ScriptApi::start(Script::new([
        Reply::error(429).header("retry-after", "0"),
        Reply::text("fine"),
    ]))
    .await
    .unwrap();
    let (sender, mut receiver) = mpsc::channel(64);
    let model = Model::new(&Provider::Api(options(api.url())), &ModelOptions::default());
    model.call(request(), sender).await;
    let Some(ModelEvent::Retry(retry)) = receiver.recv().await else {
        panic!("no retry");
    };
    assert_eq!(retry.delay_ms, 0);
}

#[tokio::test]
async fn an_api_that_says_so_is_not_asked_again() {
    let api = ScriptApi::start(Script::new([
        Reply::error(401).header("x-should-retry", "false"),
        Reply::text("never"),
    ]))
    .await
    .unwrap();
    let model = Model::new(&Provider::Api(options(api.url())), &ModelOptions::default());
    let events = events_of(&model, request()).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].starts_with("failed Some(401)"), "{events:?}");
    assert_eq!(api.requests().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_told_with_where_and_why() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = at_once(options(format!("http://{address}")), None);
    let events = events_of(&model, request()).await;
    assert_eq!(
        events[..2],
        ["retry 1/2 None unknown", "retry 2/2 None unknown"]
    );
    assert!(
        events[2].starts_with("failed None server_error: API Error: Connection refused"),
        "{events:?}"
    );
    assert!(events[2].contains(&address.to_string()));
}

#[tokio::test]
async fn without_a_key_nothing_is_asked() {
    let api = ScriptApi::start(Script::new([])).await.unwrap();
    let options = ApiOptions {
        credential: None,
        ..options(api.url())
    };
    let events = events_of(&at_once(options, None), request()).await;
    assert_eq!(events.len(), 1);
    assert!(events[0].starts_with("failed None authentication_failed: Not logged in"));
    assert!(api.record().is_empty());
}

#[tokio::test]
async fn a_configuration_that_cannot_work_is_told() {
    let base = || options("http://127.0.0.1:9".to_owned());
    let with_proxy = |address: &str| ApiOptions {
        proxy: ProxyOptions {
            http: Some(address.to_owned()),
            ..ProxyOptions::default()
        },
        ..base()
    };
    let with_header = |name: &str, value: &str| ApiOptions {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..base()
    };
    for (options, words) in [
        (options("nonsense".to_owned()), "ANTHROPIC_BASE_URL"),
        (options("ftp://host".to_owned()), "ANTHROPIC_BASE_URL"),
        (options(String::new()), "ANTHROPIC_BASE_URL"),
        (with_proxy("http://[bad"), "HTTP_PROXY"),
        (with_header("a b", "x"), "`a b` is no name of a header"),
        (with_header("a", "x\ny"), "the header `a`"),
        (
            ApiOptions {
                credential: Some(Credential::Key("a\nb".to_owned())),
                ..base()
            },
            "the API key",
        ),
    ] {
        let events = events_of(&at_once(options, None), request()).await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].contains(words), "{events:?}");
    }
}

#[tokio::test]
async fn a_proxy_is_used_but_not_for_those_it_is_not_for() {
    let proxy = ScriptApi::start(Script::new([Reply::text("fine").forever()]))
        .await
        .unwrap();
    let through = |none: Option<&str>| ApiOptions {
        proxy: ProxyOptions {
            http: Some(proxy.url()),
            none: none.map(str::to_owned),
            ..ProxyOptions::default()
        },
        max_retries: 0,
        ..options("http://api.invalid".to_owned())
    };
    events_of(&at_once(through(None), None), request()).await;
    assert_eq!(proxy.record().len(), 1);
    events_of(&at_once(through(Some("api.invalid")), None), request()).await;
    assert_eq!(proxy.record().len(), 1);
}

#[tokio::test]
async fn a_silent_api_is_given_up() {
    for reply in [
        Reply::text("x").hold("never"),
        Reply::text("x").hold_after_events(2, "never"),
    ] {
        let api = ScriptApi::start(Script::new([reply])).await.unwrap();
        let options = ApiOptions {
            timeout: Duration::from_millis(100),
            max_retries: 0,
            ..options(api.url())
        };
        let events = events_of(&at_once(options, None), request()).await;
        let last = events.last().unwrap();
        assert!(
            last.starts_with("failed None server_error: API Error: No answer within"),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_request() {
    let api = ScriptApi::start(Script::new([Reply::text("x").hold_after_events(2, "gate")]))
        .await
        .unwrap();
    let model = at_once(options(api.url()), None);
    let (sender, _receiver) = mpsc::channel(64);
    let call = model.call(request(), sender);
    tokio::select! {
        () = call => panic!("it ended"),
        held = api.wait_until_held("gate") => held.unwrap(),
    }
    let ended = api.wait_for_end(1).await.unwrap();
    assert_eq!(ended.end, Some(End::ClientLeft));
}

#[tokio::test]
async fn a_receiver_that_is_gone_ends_the_call() {
    let api = ScriptApi::start(Script::new([Reply::text("x").hold("gate")]))
        .await
        .unwrap();
    let model = at_once(options(api.url()), None);
    let (sender, receiver) = mpsc::channel(1);
    let leave = async {
        api.wait_until_held("gate").await.unwrap();
        drop(receiver);
    };
    tokio::join!(model.call(request(), sender), leave);
    assert_eq!(
        api.wait_for_end(1).await.unwrap().end,
        Some(End::ClientLeft)
    );
}

#[tokio::test]
async fn a_large_event_comes_through_in_time() {
    let text = "x".repeat(8 << 20);
    let reply = Reply::text(text.as_str()).pieces(Pieces::Whole);
    let (events, _) = play([reply]).await;
    assert_eq!(events[2].len(), text.len() + 1);
    assert_eq!(events.last().map(String::as_str), Some("done with id"));
}

#[tokio::test]
async fn lines_may_end_in_both_ways_and_be_cut_anywhere() {
    let stream = |end: &str| {
        let message = json!({"type": "message_start", "message": {"id": "m", "content": []}});
        let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
        let stop = json!({"type": "message_stop"});
        format!(
            ": hello{end}{end}data: {message}{end}{end}event: x{end}data:{delta}{end}{end}data: {stop}{end}{end}"
        )
    };
    for end in ["\n", "\r\n"] {
        let text = stream(end);
        for cut in [1, text.len() / 2, text.len() - 3] {
            let reply = Reply::http(200, "text/event-stream", text.clone())
                .at(Place::Bytes(cut), Act::Delay(Duration::from_millis(1)));
            let (events, _) = play([reply]).await;
            let expected = [
                "message_start",
                "stop \"end_turn\"",
                "message_stop",
                "done with id",
            ];
            assert_eq!(events, expected, "{end:?} {cut}");
        }
    }
}

#[tokio::test]
async fn an_event_without_end_is_not_kept() {
    let endless = "data: ".to_owned() + &"x".repeat(65 << 20);
    let (events, _) = play([Reply::http(200, "text/event-stream", endless)]).await;
    assert_eq!(events.len(), 1);
    assert!(events[0].contains("longer than 64 MiB"), "{events:?}");
}

/// Reads one request, whatever it is.
async fn read_request(connection: &mut TcpStream) {
    let mut seen = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&seen).to_lowercase();
        let length = text
            .split_once("content-length: ")
            .and_then(|(_, rest)| rest.split_once("\r\n")?.0.parse::<usize>().ok());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
        if body.is_some() && body >= length {
            return;
        }
        assert!(connection.read_buf(&mut seen).await.unwrap() > 0, "it left");
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n"
    );
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    // It takes one connection: a second one would never be answered.
    let serve = async {
        let (mut connection, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            read_request(&mut connection).await;
            connection.write_all(answer.as_bytes()).await.unwrap();
        }
    };
    let model = at_once(options(format!("http://{address}")), None);
    let ask = async {
        for _ in 0..2 {
            let events = events_of(&model, request()).await;
            assert_eq!(events, ["message_start", "message_stop", "done"]);
        }
    };
    let both = async { tokio::join!(serve, ask) };
    tokio::time::timeout(Duration::from_secs(30), both)
        .await
        .expect("the second call found the first one's connection");
}
