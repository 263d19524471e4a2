//! A client for the HTTP API that sends exactly what a test says, headers and all.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::Served;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// What is answered to a request that asks for the connection to be closed after it.
    pub(crate) fn to(mut stream: impl Read + Write, request: &str) -> Self {
        // A server that does not want the body may close before it has it.
        stream.write_all(request.as_bytes()).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("{answer:?}"));
        Self {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Served {
    /// Sends a request with the token.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let token = format!("Authorization: Bearer {}", self.token);
        self.raw_request(method, path, &[&token], body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, Some(body))
    }

    /// Sends a request with these headers; `Host` is ours if they have none.
    pub(crate) fn raw_request(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: Option<&Value>,
    ) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str("Content-Type: application/json\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        Answer::to(self.stream(), &(head + &body))
    }

    pub(crate) fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Starts a session with an agent, and gives its id.
    pub(crate) fn session(&self, agent: &str) -> String {
        let answer = self.post("/api/sessions", &json!({"agent": agent}));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["record"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn tell(&self, session: &str, words: &str) -> Answer {
        let path = format!("/api/sessions/{session}/messages");
        self.post(&path, &json!({"content": words}))
    }

    pub(crate) fn describe(&self, session: &str) -> Value {
        self.get(&format!("/api/sessions/{session}")).json()
    }

    /// Waits until a session does this.
    pub(crate) fn wait_for_status(&self, session: &str, status: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let description = self.describe(session);
            if description["record"]["status"] == status {
                return;
            }
            assert!(Instant::now() < deadline, "not {status}: {description}");
            std::thread::yield_now();
        }
    }

    /// Waits for a question, and gives its name.
    pub(crate) fn wait_for_question(&self, session: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let description = self.describe(session);
            if let Some(id) = description["questions"][0]["id"].as_str() {
                return id.to_owned();
            }
            assert!(Instant::now() < deadline, "nothing is asked: {description}");
            std::thread::yield_now();
        }
    }

    /// Everything that happened in a session, page by page until there is no more: what a session is said to do may not
    /// be in the log yet.
    pub(crate) fn frames(&self, session: &str) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        let mut frames: Vec<Value> = Vec::new();
        loop {
            let after = frames
                .last()
                .map_or(0, |frame| frame["seq"].as_u64().unwrap());
            let path = format!("/api/sessions/{session}/messages?limit=1000&after={after}");
            let page = self.get(&path).json();
            frames.extend(page["frames"].as_array().unwrap().iter().cloned());
            if page["more"] == false {
                return frames;
            }
            assert!(Instant::now() < deadline, "there is always more: {page}");
        }
    }

    /// Follows a session from after a frame on.
    pub(crate) fn follow(&self, session: &str, after: u64) -> Events {
        self.follow_with(&format!("{session}/events?after={after}"), "")
    }

    /// Follows a session, with one more header.
    pub(crate) fn follow_with(&self, path: &str, header: &str) -> Events {
        let mut stream = self.stream();
        let request = format!(
            "GET /api/sessions/{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{header}\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Events {
            reader,
            chunk: Vec::new(),
            place: 0,
        }
    }
}

/// An event stream that is being read.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    chunk: Vec<u8>,
    place: usize,
}

impl Events {
    /// The next event: its name and its data.
    pub(crate) fn next(&mut self) -> (String, Value) {
        let (mut name, mut data) = (String::new(), None);
        loop {
            let line = self.line();
            if let Some(value) = line.strip_prefix("event: ") {
                name = value.to_owned();
            } else if let Some(value) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(value).unwrap());
            } else if line.is_empty()
                && let Some(data) = data.take()
            {
                return (name, data);
            }
        }
    }

    /// Takes out events until one is what is waited for.
    pub(crate) fn until(&mut self, is_it: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
        let mut seen = Vec::new();
        loop {
            let (name, data) = self.next();
            let found = is_it(&name, &data);
            seen.push((name, data));
            if found {
                return seen;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        loop {
            if self.place == self.chunk.len() {
                self.read_chunk();
            }
            let byte = self.chunk[self.place];
            self.place += 1;
            if byte == b'\n' {
                return String::from_utf8(line).unwrap();
            }
            line.push(byte);
        }
    }

    /// HTTP/1.1 sends a stream in chunks, each behind its length.
    fn read_chunk(&mut self) {
        let mut length = String::new();
        self.reader.read_line(&mut length).unwrap();
        let length = usize::from_str_radix(length.trim(), 16)
            .unwrap_or_else(|error| panic!("{error}: {length:?}"));
        assert_ne!(length, 0, "the stream has ended");
        self.chunk.resize(length + 2, 0);
        self.reader.read_exact(&mut self.chunk).unwrap();
        self.chunk.truncate(length);
        self.place = 0;
    }
}

/// How long a client waits.
const PATIENCE: Duration = Duration::from_secs(60);
