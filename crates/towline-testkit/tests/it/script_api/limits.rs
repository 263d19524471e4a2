//! Bounds: what a client may send, how long it may take, and how many there may be.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use towline_testkit::script_api::{Options, Reply, Script, ScriptApi};

use crate::client::{self, Ending, message, prompt, read, whole};

async fn start(options: Options) -> ScriptApi {
    let script = Script::default().default_reply(Reply::text("x"));
    ScriptApi::start_with(script, options).await.unwrap()
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let api = start(Options {
        body_limit: 1_000,
        ..Options::default()
    })
    .await;
    let mut request = whole(&"x".repeat(2_000));
    let answer = message(api.address(), &request).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["error"]["type"], "request_too_large");
    assert_eq!(
        answer.json()["error"]["message"],
        "the request body is larger than 1000 bytes"
    );
    request["messages"][0]["content"] = "x".into();
    assert_eq!(message(api.address(), &request).await.status, 200);
}

#[tokio::test]
async fn a_large_body_within_the_bound_is_answered() {
    let api = start(Options::default()).await;
    let answer = message(api.address(), &whole(&"x".repeat(20 << 20))).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_client_that_never_ends_its_head_is_closed() {
    let api = start(Options {
        header_time: Duration::from_millis(50),
        ..Options::default()
    })
    .await;
    let mut stream = TcpStream::connect(api.address()).await.unwrap();
    stream
        .write_all(b"POST /v1/messages HTTP/1.1\r\nhost: ")
        .await
        .unwrap();
    assert_ne!(read(&mut stream).await.ending, Ending::Whole);
}

#[tokio::test]
async fn a_client_that_never_ends_its_body_is_told_so() {
    let api = start(Options {
        body_time: Duration::from_millis(50),
        ..Options::default()
    })
    .await;
    let request =
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 9\r\n\r\n{";
    let answer = client::raw(api.address(), request).await;
    assert_eq!(answer.status, 408);
    assert_eq!(
        answer.json()["error"]["message"],
        "the request body did not come in time"
    );
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let api = start(Options::default()).await;
    assert_eq!(
        client::raw(api.address(), b"hello\r\n\r\n").await.status,
        400
    );
    assert_eq!(prompt(api.address(), "x").await.status, 200);
}

#[tokio::test]
async fn many_clients_are_answered_at_once_also_more_than_there_are_places() {
    let api = start(Options {
        most_connections: 8,
        ..Options::default()
    })
    .await;
    let address = api.address();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..200 {
        clients.spawn(async move { prompt(address, "x").await.text() });
    }
    let answers = clients.join_all().await;
    assert_eq!(answers, vec!["x"; 200]);
    assert_eq!(api.requests().len(), 200);
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let api = start(Options::default()).await;
    let body = whole("x").to_string();
    let request = |connection: &str| {
        let length = body.len();
        format!(
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: {connection}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let mut stream = TcpStream::connect(api.address()).await.unwrap();
    let requests = [
        request("keep-alive"),
        request("keep-alive"),
        request("close"),
    ]
    .concat();
    stream.write_all(requests.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    assert_eq!(api.requests().len(), 3);
}
