//! An agent that a test drives line by line, against a scripted API and in a room of its own. Whatever does not come in
//! time is a failure that shows what came instead.

use std::{
    collections::VecDeque,
    io,
    ops::Deref,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};
use towline_testkit::{
    real_cli::{RealCli, is_slow_wanted},
    script_api::{Script, ScriptApi},
};

/// Longer than a loaded machine takes for anything that comes at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How many of the last lines are told.
const MOST_HEARD: usize = 30;

/// A room with towline in it.
pub(crate) fn towline_room() -> RealCli {
    RealCli::of(PathBuf::from(env!("CARGO_BIN_EXE_towline"))).unwrap()
}

/// Rooms in which the same must hold: towline's and, in slow runs, the real CLI's.
pub(crate) fn rooms(test: &str) -> Vec<RealCli> {
    let mut rooms = vec![towline_room()];
    if is_slow_wanted(&format!("{test}, with the real CLI")) {
        rooms.push(RealCli::find().unwrap());
    }
    rooms
}

/// Runs a test that waits, on a thread of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// A scripted API. A request that it refuses is a failure of the test.
pub(crate) async fn api(script: Script) -> Api {
    Api(ScriptApi::start(script).await.unwrap())
}

/// See [`api`].
#[derive(Debug)]
pub(crate) struct Api(ScriptApi);

impl Deref for Api {
    type Target = ScriptApi;

    fn deref(&self) -> &ScriptApi {
        &self.0
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let none: [String; 0] = [];
            assert_eq!(self.0.refusals(), none, "requests that the API refuses");
        }
    }
}

/// A prompt as a line.
pub(crate) fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// A running agent.
pub(crate) struct Driven {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    errors: JoinHandle<String>,
    /// What was heard last, shortened: told when something else was waited for.
    heard: VecDeque<String>,
}

/// How an agent ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl Driven {
    /// Starts the agent of a room with more arguments.
    pub(crate) fn start(room: &RealCli, url: &str, arguments: &[&str]) -> Self {
        Self::start_with(room, url, arguments, |_| {})
    }

    /// The same, with a change to the command.
    pub(crate) fn start_with(
        room: &RealCli,
        url: &str,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = Command::from(room.stream_command(url));
        command.args(arguments).stdin(Stdio::piped());
        change(&mut command);
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let errors = tokio::spawn(async move {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).await.ok();
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            stdin: child.stdin.take(),
            lines: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
            errors,
            heard: VecDeque::new(),
        }
    }

    /// Writes a line.
    pub(crate) async fn say(&mut self, line: &Value) {
        self.write(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).await?;
        stdin.flush().await
    }

    /// Says no more.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// The next line; nothing at the end.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        Some(self.measured_line().await?.0)
    }

    /// The next line with its length; nothing at the end.
    pub(crate) async fn measured_line(&mut self) -> Option<(Value, usize)> {
        let next = timeout(PATIENCE, self.lines.next_line()).await;
        let Ok(next) = next else {
            panic!("nothing came after\n{}", self.heard());
        };
        let line = next.unwrap()?;
        self.heard.push_back(line.chars().take(300).collect());
        if self.heard.len() > MOST_HEARD {
            self.heard.pop_front();
        }
        let value = serde_json::from_str(&line);
        let value = value.unwrap_or_else(|error| panic!("{error}: {line}"));
        Some((value, line.len()))
    }

    /// Reads until a line is as wanted, and gives it.
    pub(crate) async fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.line().await {
                Some(line) if wanted(&line) => return line,
                Some(_) => {}
                None => panic!("it ended after\n{}", self.heard()),
            }
        }
    }

    /// Reads until a line of that type.
    pub(crate) async fn hear_kind(&mut self, kind: &str) -> Value {
        self.hear(|line| line["type"] == kind).await
    }

    /// Says something, and gives the result of the turn.
    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        self.say(&prompt(text)).await;
        self.hear_kind("result").await
    }

    fn heard(&mut self) -> String {
        self.heard.make_contiguous().join("\n")
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.id().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Kills it, and gives what was still heard: all whole lines.
    pub(crate) async fn kill(mut self) -> Vec<Value> {
        self.signal(Signal::KILL);
        let mut lines = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            // The last one may be torn.
            lines.extend(serde_json::from_str::<Value>(&line));
        }
        self.child.wait().await.unwrap();
        lines
    }

    /// Waits for its end.
    pub(crate) async fn end(mut self) -> Ended {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        let status = timeout(PATIENCE, self.child.wait()).await;
        let status = status.expect("it closed its output and did not end");
        Ended {
            code: status.unwrap().code(),
            lines,
            stderr: self.errors.await.unwrap(),
        }
    }

    /// Closes its input, and waits for its end.
    pub(crate) async fn close_and_end(mut self) -> Ended {
        self.close();
        self.end().await
    }
}

/// A number of `/proc/PROCESS/status`, such as `VmHWM`, in bytes.
pub(crate) fn memory(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let digits = line
        .unwrap()
        .trim_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse::<u64>().unwrap() << 10
}

/// All that was said to the model and by it, in order: `user: …`, `assistant: …`, `call NAME`, `result of NAME`, `thought …`.
///
/// Fails on messages that the API would refuse: a call without its result in the very next message, or a result without
/// a call.
pub(crate) fn said(request: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let mut calls: Vec<(String, String)> = Vec::new();
    let messages = request["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "user", "{messages:#?}");
    for message in messages {
        let role = message["role"].as_str().unwrap();
        // The real CLI tells of the surroundings so.
        if role == "system" {
            continue;
        }
        let open = std::mem::take(&mut calls);
        let mut results = 0;
        for block in blocks(&message["content"]) {
            match block["type"].as_str().unwrap() {
                "text" => said.push(format!("{role}: {}", block["text"].as_str().unwrap())),
                "thinking" => said.push(format!("thought {}", block["thinking"].as_str().unwrap())),
                "tool_use" => {
                    assert_eq!(role, "assistant");
                    assert!(block["input"].is_object(), "{block}");
                    let word = |name: &str| block[name].as_str().unwrap().to_owned();
                    said.push(format!("call {}", word("name")));
                    calls.push((word("id"), word("name")));
                }
                "tool_result" => {
                    assert_eq!(role, "user");
                    let id = block["tool_use_id"].as_str().unwrap();
                    let call = open.iter().find(|(call, _)| call == id);
                    let (_, name) =
                        call.unwrap_or_else(|| panic!("{id} was not called: {messages:#?}"));
                    said.push(format!("result of {name}"));
                    results += 1;
                }
                other => said.push(other.to_owned()),
            }
        }
        assert_eq!(results, open.len(), "calls without results: {messages:#?}");
    }
    assert!(calls.is_empty(), "{messages:#?}");
    said
}

/// The blocks of a message's content, whose short form is a string.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        other => panic!("{other} is no content"),
    }
}

/// The processes whose environment has these words in it.
pub(crate) fn marked(mark: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap();
    let environments = processes.filter_map(|entry| Some(entry.ok()?.path().join("environ")));
    let marked = environments.filter(|path| {
        let environment = std::fs::read(path).unwrap_or_default();
        memchr::memmem::find(&environment, mark.as_bytes()).is_some()
    });
    marked.collect()
}

/// The processes that were started with this argument.
pub(crate) fn running(argument: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap();
    let started = processes.filter_map(|entry| Some(entry.ok()?.path().join("cmdline")));
    let started = started.filter(|path| {
        let line = std::fs::read(path).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|one| one == argument.as_bytes())
    });
    started.collect()
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
