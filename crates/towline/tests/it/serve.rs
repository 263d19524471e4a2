//! A bridge of its own for a test, and clients that speak to it over WebSockets with a library that is not ours.

mod answers;
mod continued;
mod faults;
pub(crate) mod http;
mod links;
mod programs;
mod ready;
mod roots;
mod security;
mod tls;
mod trust;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tungstenite::{
    ClientRequestBuilder, Error, Message, WebSocket, error::Error as SocketError,
    handshake::HandshakeError, protocol::CloseFrame,
};

/// A bridge that ends with its owner.
pub(crate) struct Served {
    child: Child,
    folder: TempDir,
    address: String,
    /// What it printed to be opened.
    link: String,
    pub(crate) token: String,
}

impl Served {
    /// With towline's own agent, which needs no account.
    pub(crate) fn start() -> Self {
        Self::with(tempfile::tempdir().unwrap(), |command| {
            command.args(["--agent", "offline"]);
        })
    }

    /// In a folder of its own, or one that an earlier bridge has left.
    pub(crate) fn with(folder: TempDir, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
        for name in ["home", "project"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder.path().join("home"));
        let child = serve(&mut command, folder.path(), change);
        Self::of(child, folder)
    }

    /// What has been started already, and says where it listens.
    pub(crate) fn of(mut child: Child, folder: TempDir) -> Self {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut find = |start: &str| {
            let found = lines.find_map(|line| line.unwrap().strip_prefix(start).map(str::to_owned));
            found.unwrap_or_else(|| panic!("nothing begins with {start:?}"))
        };
        let address = find("listening on ");
        let link = find("open ");
        let (_, token) = link.split_once("#token=").unwrap();
        Self {
            child,
            folder,
            address,
            token: token.to_owned(),
            link,
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// What it has complained of.
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }

    /// A client at `/ws`.
    pub(crate) fn client(&self) -> Client {
        self.connect("/ws").unwrap()
    }

    pub(crate) fn connect(&self, path: &str) -> Result<Client, SocketError> {
        self.connect_with(path, Some(&self.token))
    }

    pub(crate) fn connect_with(
        &self,
        path: &str,
        token: Option<&str>,
    ) -> Result<Client, SocketError> {
        let uri = format!("ws://{}{path}", self.address).parse().unwrap();
        let mut request = ClientRequestBuilder::new(uri);
        if let Some(token) = token {
            request = request.with_header("Authorization", format!("Bearer {token}"));
        }
        Client::over(self.stream(), request)
    }

    /// How much memory it has, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    /// The root of its file system, which may be one of its own.
    pub(crate) fn root_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.child.id()))
    }

    /// Kills it, and keeps its folder.
    pub(crate) fn kill(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    /// Ends it as a person would, and keeps its folder.
    pub(crate) fn end(mut self) -> TempDir {
        self.stop();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    fn stop(&mut self) {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::TERM).ok();
        let deadline = Instant::now() + Duration::from_secs(15);
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if Instant::now() > deadline {
                self.child.kill().ok();
            }
            std::thread::yield_now();
        }
    }
}

/// Starts `towline serve` with a command that has its environment.
pub(crate) fn serve(
    command: &mut Command,
    folder: &Path,
    change: impl FnOnce(&mut Command),
) -> Child {
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.join("data"))
        .arg("--root")
        .arg(folder.join("project"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(folder.join("stderr")).unwrap());
    change(command);
    command.spawn().unwrap()
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

/// A client, with names for what it learns.
pub(crate) struct Client<S = TcpStream> {
    pub(crate) socket: WebSocket<S>,
    names: BTreeMap<String, Value>,
}

impl<S: Read + Write> Client<S> {
    /// Asks for a WebSocket over a stream, encrypted or not.
    fn over(stream: S, request: ClientRequestBuilder) -> Result<Self, SocketError> {
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Self {
                socket,
                names: BTreeMap::new(),
            }),
            Err(HandshakeError::Failure(error)) => Err(error),
            Err(HandshakeError::Interrupted(_)) => panic!("no answer in time"),
        }
    }

    /// Says something; `$NAME` stands for what was heard under that name.
    pub(crate) fn say(&mut self, message: &Value) {
        let message = self.filled(message);
        self.socket
            .send(Message::text(message.to_string()))
            .unwrap();
    }

    pub(crate) fn say_text(&mut self, text: &str) -> Result<(), SocketError> {
        self.socket.send(Message::text(text))
    }

    /// The next message.
    pub(crate) fn hear(&mut self) -> Value {
        self.try_hear()
            .unwrap_or_else(|ended| panic!("the connection ended: {ended:?}"))
    }

    /// The next message, or how the connection ended.
    pub(crate) fn try_hear(&mut self) -> Result<Value, Option<CloseFrame>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // A ping is no message.
            assert!(Instant::now() < deadline, "nothing was heard in time");
            match self.socket.read() {
                Ok(Message::Text(text)) => return Ok(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(frame)) => return Err(frame),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("nothing was heard in time");
                }
                Err(_) => return Err(None),
            }
        }
    }

    /// Listens until each of these was heard, in any order; gives everything that was. A pattern has some fields of a
    /// message: `"$NAME"` is any value, the same each time; `"*"` any value; `"~WORDS"` a text with these words.
    pub(crate) fn expect(&mut self, patterns: &[Value]) -> Vec<Value> {
        let mut heard = Vec::new();
        let mut open: Vec<&Value> = patterns.iter().collect();
        let deadline = Instant::now() + PATIENCE;
        while !open.is_empty() {
            let message = match self.hear_until(deadline) {
                Ok(message) => message,
                Err(why) => panic!("{why}\nwaited for {open:#?}\nheard {heard:#?}"),
            };
            let place = open
                .iter()
                .position(|pattern| matches(pattern, &message, &mut self.names));
            if let Some(place) = place {
                open.remove(place);
            }
            heard.push(message);
        }
        heard
    }

    /// What was heard under a name.
    pub(crate) fn name(&self, name: &str) -> String {
        self.names[name].as_str().unwrap().to_owned()
    }

    pub(crate) fn set_name(&mut self, name: &str, value: impl Into<Value>) {
        self.names.insert(name.to_owned(), value.into());
    }

    fn hear_until(&mut self, deadline: Instant) -> Result<Value, String> {
        while Instant::now() < deadline {
            return match self.socket.read() {
                Ok(Message::Text(text)) => Ok(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(frame)) => Err(format!("closed: {frame:?}")),
                Ok(_) => continue,
                Err(error) => Err(format!("nothing more was heard: {error}")),
            };
        }
        Err("it was not heard in time".to_owned())
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => self
                    .names
                    .get(name)
                    .cloned()
                    .unwrap_or_else(|| value.clone()),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                let filled = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), self.filled(value)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }
}

fn matches(pattern: &Value, value: &Value, names: &mut BTreeMap<String, Value>) -> bool {
    let mut learned = names.clone();
    let fits = fits(pattern, value, &mut learned);
    if fits {
        *names = learned;
    }
    fits
}

fn fits(pattern: &Value, value: &Value, names: &mut BTreeMap<String, Value>) -> bool {
    match (pattern, value) {
        (Value::String(text), value) if text == "*" => !value.is_null(),
        (Value::String(text), value) if text.starts_with('$') => {
            if value.is_null() {
                return false;
            }
            let known = names
                .entry(text[1..].to_owned())
                .or_insert_with(|| value.clone());
            known == value
        }
        (Value::String(text), Value::String(value)) if text.starts_with('~') => {
            value.contains(&text[1..])
        }
        (Value::Object(fields), Value::Object(there)) => fields.iter().all(|(name, pattern)| {
            let value = there.get(name).unwrap_or(&Value::Null);
            fits(pattern, value, names)
        }),
        (Value::Array(patterns), Value::Array(values)) => {
            let mut values = values.iter();
            patterns
                .iter()
                .all(|pattern| values.any(|value| fits(pattern, value, names)))
        }
        (pattern, value) => pattern == value,
    }
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in time: {what}");
        std::thread::yield_now();
    }
}

/// How long a client waits for a message.
const PATIENCE: Duration = Duration::from_secs(30);
