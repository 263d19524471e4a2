//! Each way to fail that a script knows, as a client sees it and as the record calls it.

use std::time::Duration;

use serde_json::{Value, json};
use towline_testkit::script_api::{Act, Cut, End, Place, Reply, Script};

use super::{serve, start};
use crate::client::{Answer, Ending, message, prompt, streamed, whole};

/// Asks once, and gives what came together with how the record says it ended.
async fn ask(script: &str, request: &Value) -> (Answer, End) {
    let (api, address) = start(script).await;
    let answer = message(address, request).await;
    let end = api.wait_for_end(1).await.unwrap().end.unwrap();
    (answer, end)
}

#[tokio::test]
async fn a_stream_is_cut_where_and_how_the_script_says() {
    const HEAD: &[&str] = &["message_start", "content_block_start", "ping"];
    for (act, events, ending, end) in [
        (
            "at = [{ after_events = 3, cut = 'reset' }]",
            HEAD,
            Ending::Reset,
            End::Cut,
        ),
        (
            "at = [{ after_events = 3, cut = 'close' }]",
            HEAD,
            Ending::Closed,
            End::Cut,
        ),
        (
            "at = [{ after_events = 3, cut = 'end' }]",
            HEAD,
            Ending::Whole,
            End::Cut,
        ),
        (
            "at = [{ after_events = 0, cut = 'reset' }]",
            &[],
            Ending::Reset,
            End::Cut,
        ),
        (
            "at = [{ after_events = 0, cut = 'end' }]",
            &[],
            Ending::Whole,
            End::Cut,
        ),
        // Behind the last event everything was said.
        (
            "at = [{ after_events = 8, cut = 'close' }]",
            &[
                "message_start",
                "content_block_start",
                "ping",
                "content_block_delta",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ],
            Ending::Closed,
            End::Cut,
        ),
    ] {
        let script = format!("[[reply]]\ntext = 'one two'\n{act}");
        let (answer, ended) = ask(&script, &streamed("x")).await;
        assert_eq!(answer.status, 200, "{act}");
        assert_eq!(answer.events(), events, "{act}");
        assert_eq!((answer.ending, ended), (ending, end), "{act}");
    }
}

#[tokio::test]
async fn a_body_is_cut_at_the_byte_whether_it_streams_or_not() {
    for request in [streamed("x"), whole("x")] {
        let (uncut, _) = ask("[[reply]]\ntext = 'one two'", &request).await;
        for bytes in [0, 1, 7, 100, uncut.body.len() - 1] {
            for (how, ending) in [
                ("reset", Ending::Reset),
                ("close", Ending::Closed),
                ("end", Ending::Whole),
            ] {
                let script = format!(
                    "[[reply]]\ntext = 'one two'\nat = [{{ after_bytes = {bytes}, cut = '{how}' }}]"
                );
                let (answer, end) = ask(&script, &request).await;
                assert_eq!(answer.body, uncut.body[..bytes], "{how} after {bytes}");
                assert_eq!(
                    (answer.ending, end),
                    (ending, End::Cut),
                    "{how} after {bytes}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_connection_is_cut_before_anything_was_said() {
    for (how, ending) in [("reset", Ending::Reset), ("close", Ending::Closed)] {
        let (answer, end) = ask(&format!("[[reply]]\ncut = '{how}'"), &streamed("x")).await;
        assert_eq!(
            (answer.status, answer.ending, end),
            (0, ending, End::Cut),
            "{how}"
        );
    }
}

#[tokio::test]
async fn an_error_event_ends_the_stream_and_is_a_response_where_nothing_streams() {
    let script = r#"
        [[reply]]
        text = "one two"
        at = [{ after_events = 4, error = { type = "overloaded_error", message = "busy" } }]
    "#;
    let (answer, end) = ask(script, &streamed("x")).await;
    assert_eq!((answer.ending, end), (Ending::Whole, End::Cut));
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    assert!(
        answer
            .body
            .ends_with(&format!("\n\nevent: error\ndata: {error}\n\n"))
    );
    assert_eq!(answer.events().len(), 5);

    let (answer, end) = ask(script, &whole("x")).await;
    assert_eq!(
        (answer.status, answer.ending, end),
        (529, Ending::Whole, End::Complete)
    );
    assert_eq!(
        answer.json()["error"],
        json!({"type": "overloaded_error", "message": "busy"})
    );
}

#[tokio::test]
async fn an_error_event_can_stand_between_blocks() {
    let script = "[[reply]]\ncontent = ['one', { error = 500 }, 'two']";
    let (answer, _) = ask(script, &streamed("x")).await;
    assert_eq!(answer.text(), "one");
    assert_eq!(answer.events().last(), Some(&"error"));
}

#[tokio::test]
async fn garbage_goes_out_as_it_is() {
    let script = r#"
        [[reply]]
        content = ["one", { send = "data: {\"type\":\"content_bl" }, { cut = "end" }]
    "#;
    let (answer, _) = ask(script, &streamed("x")).await;
    assert_eq!(answer.ending, Ending::Whole);
    assert!(
        answer
            .body
            .ends_with("\"index\":0}\n\ndata: {\"type\":\"content_bl")
    );

    let (answer, _) = ask(script, &whole("x")).await;
    assert_eq!(answer.body, "data: {\"type\":\"content_bl");
}

#[tokio::test]
async fn any_response_can_be_given() {
    for (http, status, kind, body) in [
        (
            "http = { body = '<html>busy</html>' }\nheaders = { content-type = 'text/html' }",
            200,
            Some("text/html"),
            "<html>busy</html>",
        ),
        ("http = {}", 200, None, ""),
        ("http = { status = 502, body = '{' }", 502, None, "{"),
        (
            "events = []",
            200,
            Some("text/event-stream; charset=utf-8"),
            "",
        ),
        (
            "events = [{ type = 'ping' }, \"data: not json\\n\\n\", { a = 1 }]",
            200,
            Some("text/event-stream; charset=utf-8"),
            "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: not json\n\nevent: message\ndata: {\"a\":1}\n\n",
        ),
    ] {
        let (answer, end) = ask(&format!("[[reply]]\n{http}"), &streamed("x")).await;
        assert_eq!(
            (answer.status, answer.ending, end),
            (status, Ending::Whole, End::Complete)
        );
        assert_eq!(
            (answer.header("content-type"), &*answer.body),
            (kind, body),
            "{http}"
        );
    }
}

#[tokio::test]
async fn events_of_the_script_can_be_cut_like_any_other() {
    let events = [json!({"type": "ping"}), json!({"type": "ping"})];
    let (_api, address) = serve(Script::new([Reply::events(events).cut_after_events(1)])).await;
    let answer = prompt(address, "x").await;
    assert_eq!(
        (answer.events(), answer.ending),
        (vec!["ping"], Ending::Reset)
    );
}

#[tokio::test]
async fn replies_built_in_rust_fail_alike() {
    for (reply, status, events, ending) in [
        (Reply::text("one").cut(), 0, 0, Ending::Reset),
        (
            Reply::text("one").cut_after_events(2),
            200,
            2,
            Ending::Reset,
        ),
        (
            Reply::text("one").cut_after_bytes(10),
            200,
            0,
            Ending::Reset,
        ),
        (
            Reply::text("one").error_after_events(2, "api_error", "no"),
            200,
            3,
            Ending::Whole,
        ),
        (
            Reply::text("one").at(Place::Events(1), Act::Cut(Cut::Close)),
            200,
            1,
            Ending::Closed,
        ),
        (
            Reply::error(529)
                .error_type("x")
                .error_message("y")
                .header("a", "b"),
            529,
            0,
            Ending::Whole,
        ),
        (
            Reply::http(200, "text/html", "<html>"),
            200,
            0,
            Ending::Whole,
        ),
    ] {
        let what = format!("{reply:?}");
        let (_api, address) = serve(Script::new([reply])).await;
        let answer = prompt(address, "x").await;
        assert_eq!((answer.status, answer.ending), (status, ending), "{what}");
        let seen = answer.body.matches("\n\n").count();
        assert_eq!(seen, events, "{what}");
    }
}

#[tokio::test]
async fn delays_are_kept() {
    let delay = Duration::from_millis(30);
    for (reply, least) in [
        (Reply::text("a").delay(delay), delay),
        (Reply::text("a b c").piece_delay(delay), delay * 3),
        (
            Reply::text("a").at(Place::Events(2), Act::Delay(delay)),
            delay,
        ),
        (
            Reply::text("a").then(Act::Delay(delay)).and_text("b"),
            delay,
        ),
    ] {
        let (_api, address) = serve(Script::new([reply])).await;
        let before = std::time::Instant::now();
        assert_eq!(prompt(address, "x").await.status, 200);
        assert!(before.elapsed() >= least, "{:?}", before.elapsed());
    }
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_no_panic() {
    let (_api, address) = serve(Script::new([Reply::text("a").header("a b", "c\n")])).await;
    let answer = prompt(address, "x").await;
    assert_eq!(answer.status, 500);
    assert_eq!(
        answer.json()["error"]["message"],
        "script: the header `a b` of reply 1 cannot be sent"
    );
}
