//! A client that sees what really comes over the wire: it hides neither chunks that are missing nor resets.

use std::{io, net::SocketAddr};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    /// 0 if nothing came.
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) ending: Ending,
}

/// How the response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As it promised.
    Whole,
    /// Too early, but in order.
    Closed,
    Reset,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The names of the events.
    pub(crate) fn events(&self) -> Vec<&str> {
        let lines = self.body.lines();
        lines
            .filter_map(|line| line.strip_prefix("event: "))
            .collect()
    }

    /// The words of all text deltas together.
    pub(crate) fn text(&self) -> String {
        let lines = self.body.lines();
        let events = lines.filter_map(|line| line.strip_prefix("data: "));
        let events = events.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        let texts = events.filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned));
        texts.collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, b"").await
}

pub(crate) async fn post(address: SocketAddr, path: &str, body: &str) -> Answer {
    request(address, "POST", path, body.as_bytes()).await
}

/// Asks the model in a stream.
pub(crate) async fn prompt(address: SocketAddr, words: &str) -> Answer {
    message(address, &streamed(words)).await
}

pub(crate) async fn message(address: SocketAddr, body: &Value) -> Answer {
    post(address, "/v1/messages?beta=true", &body.to_string()).await
}

/// The smallest request that streams.
pub(crate) fn streamed(words: &str) -> Value {
    let mut body = whole(words);
    body["stream"] = json!(true);
    body
}

/// The smallest request.
pub(crate) fn whole(words: &str) -> Value {
    json!({"model": "claude-test", "max_tokens": 100, "messages": [{"role": "user", "content": words}]})
}

pub(crate) async fn request(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Answer {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: secret\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    raw(address, &[head.as_bytes(), body].concat()).await
}

/// Sends these bytes and reads to the end.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    read(&mut stream).await
}

pub(crate) async fn read(stream: &mut TcpStream) -> Answer {
    let mut received = Vec::new();
    let was_reset = match stream.read_to_end(&mut received).await {
        Ok(_) => false,
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => true,
        Err(error) => panic!("{error}"),
    };
    let received = String::from_utf8(received).unwrap();
    let Some((head, body)) = received.split_once("\r\n\r\n") else {
        assert_eq!(received, "");
        return Answer {
            status: 0,
            head: String::new(),
            body: String::new(),
            ending: if was_reset {
                Ending::Reset
            } else {
                Ending::Closed
            },
        };
    };
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let head = head.to_ascii_lowercase();
    let (body, is_whole) = if head.contains("transfer-encoding: chunked") {
        dechunked(body)
    } else {
        let length = head.split("content-length: ").nth(1).unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        (body.to_owned(), body.len() == length)
    };
    Answer {
        status,
        head,
        body,
        ending: match (was_reset, is_whole) {
            (true, _) => Ending::Reset,
            (false, true) => Ending::Whole,
            (false, false) => Ending::Closed,
        },
    }
}

/// The body, and whether its last chunk came.
fn dechunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, behind)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&behind[..size]);
        rest = &behind[size + 2..];
    }
    (body, false)
}
