//! Gates: replies that wait until somebody lets them go.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use towline_testkit::script_api::{End, Reply, Script, ScriptApi};

use super::{serve, start};
use crate::client::{Ending, get, post, prompt, read, streamed};

/// A connection on which the request was sent and the answer not yet read.
async fn ask(api: &ScriptApi) -> TcpStream {
    let body = streamed("x").to_string();
    let mut stream = TcpStream::connect(api.address()).await.unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads until these words came, and gives all until then.
async fn read_until(stream: &mut TcpStream, words: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(words) {
        let mut buffer = [0; 1024];
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "{seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    seen
}

#[tokio::test]
async fn a_reply_waits_before_its_head() {
    let (api, _) = serve(Script::new([Reply::text("late").hold("gate")])).await;
    let mut stream = ask(&api).await;
    api.wait_until_held("gate").await.unwrap();
    let entry = &api.wait_for_requests(1).await.unwrap()[0];
    assert_eq!((entry.status, entry.end), (None, None));
    api.release("gate");
    assert_eq!(read(&mut stream).await.text(), "late");
}

#[tokio::test]
async fn a_reply_waits_between_blocks_with_all_before_it_sent() {
    let reply = Reply::text("first").then_hold("gate").and_text("second");
    let (api, _) = serve(Script::new([reply])).await;
    let mut stream = ask(&api).await;
    let seen = read_until(&mut stream, "content_block_stop\",\"index\":0}\n\n").await;
    assert!(!seen.contains("second"));
    api.wait_until_held("gate").await.unwrap();
    let entry = &api.requests()[0];
    assert_eq!((entry.status, entry.end), (Some(200), None));
    api.release("gate");
    let seen = read_until(&mut stream, "message_stop\"}\n\n").await;
    assert!(seen.contains("second"));
    assert_eq!(api.wait_for_end(1).await.unwrap().end, Some(End::Complete));
}

#[tokio::test]
async fn a_reply_waits_in_the_middle_of_a_text() {
    let reply = Reply::text("one two").hold_after_events(4, "gate");
    let (api, _) = serve(Script::new([reply])).await;
    let mut stream = ask(&api).await;
    let seen = read_until(&mut stream, "\"one \"}}\n\n").await;
    assert!(!seen.contains("two"));
    api.wait_until_held("gate").await.unwrap();
    api.release("gate");
    read_until(&mut stream, "two").await;
}

#[tokio::test]
async fn a_gate_that_was_released_before_holds_nobody() {
    let (api, address) = serve(Script::new([Reply::text("x").hold("gate").times(2)])).await;
    api.release("gate");
    assert_eq!(prompt(address, "x").await.text(), "x");
    assert_eq!(prompt(address, "x").await.text(), "x");
}

#[tokio::test]
async fn one_gate_lets_all_go_and_another_stays_shut() {
    let script = Script::new([
        Reply::text("a").hold("one"),
        Reply::text("a").hold("one"),
        Reply::text("b").hold("two"),
    ]);
    let (api, address) = serve(script).await;
    let (mut first, mut second) = (ask(&api).await, ask(&api).await);
    api.wait_for_requests(2).await.unwrap();
    let mut third = ask(&api).await;
    api.wait_until_held("two").await.unwrap();
    let state = get(address, "/_script/state").await.json();
    assert_eq!(state["held"]["two"], 1);
    api.release("one");
    assert_eq!(read(&mut first).await.text(), "a");
    assert_eq!(read(&mut second).await.text(), "a");
    assert_eq!(api.requests()[2].end, None);
    let released = post(address, "/_script/release/two", "").await;
    assert_eq!(released.body, r#"{"held":true}"#);
    assert_eq!(read(&mut third).await.text(), "b");
    let again = post(address, "/_script/release/two", "").await;
    assert_eq!(again.body, r#"{"held":false}"#);
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_held_is_noticed() {
    for reply in [
        Reply::text("x").hold("gate"),
        Reply::text("x").then_hold("gate").and_text("y"),
    ] {
        let (api, address) = serve(Script::new([reply])).await;
        let stream = ask(&api).await;
        api.wait_until_held("gate").await.unwrap();
        drop(stream);
        assert_eq!(
            api.wait_for_end(1).await.unwrap().end,
            Some(End::ClientLeft)
        );
        let state = get(address, "/_script/state").await.json();
        assert_eq!(state["held"], serde_json::json!({}));
    }
}

#[tokio::test]
async fn a_reset_cuts_those_who_are_held_and_shuts_the_gates() {
    let (api, address) = start("[[reply]]\nhold = 'gate'\ntext = 'x'").await;
    let mut stream = ask(&api).await;
    api.wait_until_held("gate").await.unwrap();
    api.release("other");
    assert_eq!(post(address, "/_script/reset", "").await.status, 200);
    assert_eq!(read(&mut stream).await.ending, Ending::Closed);
    assert_eq!(api.record().len(), 0);
    let state = get(address, "/_script/state").await.json();
    assert_eq!(state["released"], serde_json::json!([]));

    // The script begins anew, the gate included.
    let mut stream = ask(&api).await;
    api.wait_until_held("gate").await.unwrap();
    api.release("gate");
    assert_eq!(read(&mut stream).await.text(), "x");
}

#[tokio::test]
async fn a_server_that_is_dropped_closes_its_connections() {
    let (api, address) = serve(Script::new([Reply::text("x").hold("gate")])).await;
    let mut stream = ask(&api).await;
    api.wait_until_held("gate").await.unwrap();
    drop(api);
    assert_eq!(read(&mut stream).await.ending, Ending::Closed);
    assert!(TcpStream::connect(address).await.is_err());
}
