//! Where a scenario is played, by whom, and what is written down.

use std::{
    env, fs,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Instant,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::JoinHandle,
};
use towline_host::{
    AgentCommand, Block, Content, Event, Json, Session, Text, ToHost, Wire as _,
    process::Process,
    protocol::{
        Line, LineDecoder,
        trace::{Direction, TraceRow},
    },
};
use towline_testkit::{
    real_cli::{self, RealCli},
    replay::{Replay, Report, Trace},
    script_api::{Reply, Script, ScriptApi},
};

/// A script of replies.
pub(crate) fn script(replies: impl IntoIterator<Item = Reply>) -> Script {
    Script::new(replies)
}

/// One performance of a scenario.
pub(crate) struct Stage {
    name: &'static str,
    players: Players,
    /// What happened, one line each.
    log: Vec<String>,
    /// How many agents have been started.
    started: usize,
}

enum Players {
    /// The lines that were recorded.
    Recorded { replays: Vec<JoinHandle<Report>> },
    /// The real CLI.
    Real {
        cli: RealCli,
        api: ScriptApi,
        tapes: Option<Vec<Tape>>,
    },
}

impl Stage {
    /// Plays a scenario with all players there are, and compares what happened with what is written down.
    pub(crate) async fn play(
        name: &'static str,
        script: Script,
        scenario: impl AsyncFn(&mut Self),
    ) {
        let recording = env::var_os("TOWLINE_RECORD").is_some_and(|value| value == "1");
        if recording || real_cli::is_slow_wanted(name) {
            let mut stage = Self::real(name, script, recording).await;
            scenario(&mut stage).await;
            stage.end(recording).await;
        }
        let mut stage = Self::recorded(name);
        scenario(&mut stage).await;
        stage.end(false).await;
    }

    async fn real(name: &'static str, script: Script, recording: bool) -> Self {
        let cli = RealCli::find().unwrap();
        fs::write(cli.project().join("notes.txt"), "one\ntwo\n").unwrap();
        fs::write(cli.home().join("outside.txt"), "outside\n").unwrap();
        let api = ScriptApi::start(script).await.unwrap();
        Self {
            name,
            players: Players::Real {
                cli,
                api,
                tapes: recording.then(Vec::new),
            },
            log: Vec::new(),
            started: 0,
        }
    }

    fn recorded(name: &'static str) -> Self {
        Self {
            name,
            players: Players::Recorded {
                replays: Vec::new(),
            },
            log: Vec::new(),
            started: 0,
        }
    }

    /// Starts an agent with these options.
    pub(crate) async fn start(
        &mut self,
        options: impl FnOnce(AgentCommand) -> AgentCommand,
    ) -> Session {
        self.try_start(options).await.unwrap()
    }

    pub(crate) async fn try_start(
        &mut self,
        options: impl FnOnce(AgentCommand) -> AgentCommand,
    ) -> Result<Session, towline_host::Error> {
        self.started += 1;
        match &mut self.players {
            Players::Recorded { replays } => {
                let file = data(&format!("{}-{}.jsonl", self.name, self.started));
                let bytes =
                    fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                let (host, agent) = tokio::io::duplex(64 << 10);
                let replay = Replay::agent(Trace::read(&bytes).unwrap()).ending();
                replays.push(tokio::spawn(replay.run(agent)));
                let (reader, writer) = tokio::io::split(host);
                options(AgentCommand::new("recorded"))
                    .attach(reader, writer)
                    .await
            }
            Players::Real { cli, api, tapes } => {
                let clean = cli.command(&api.url());
                let mut command = AgentCommand::new(clean.get_program())
                    .env_clear()
                    .current_dir(cli.project());
                for (name, value) in clean.get_envs() {
                    command = command.env(name, value.unwrap_or_default());
                }
                let command = options(command);
                match tapes {
                    None => command.spawn().await,
                    Some(tapes) => {
                        let tape = Tape::default();
                        tapes.push(tape.clone());
                        let mut clean = cli.command(&api.url());
                        clean.args(command.arguments().unwrap());
                        clean.envs(command.environment());
                        let mut process = Process::spawn(clean).unwrap();
                        let reader =
                            Tap::new(process.stdout.take().unwrap(), Direction::Out, &tape);
                        let writer = Tap::new(process.stdin.take().unwrap(), Direction::In, &tape);
                        tape.keep(process);
                        command.attach(reader, writer).await
                    }
                }
            }
        }
    }

    /// Sends a prompt and goes on to the result of its turn; `answer` deals with questions.
    pub(crate) async fn turn(
        &mut self,
        session: &mut Session,
        prompt: &str,
        mut answer: impl FnMut(Event),
    ) {
        session.send(prompt).await.unwrap();
        self.until_result(session, &mut answer).await;
    }

    /// Goes on to the next result.
    pub(crate) async fn until_result(
        &mut self,
        session: &mut Session,
        mut answer: impl FnMut(Event),
    ) {
        loop {
            let event = session.next().await.expect("a result before the end");
            self.see(&event);
            let is_last = event.result().is_some();
            assert!(!matches!(event, Event::Ended(_)), "{event:?}");
            answer(event);
            if is_last {
                return;
            }
        }
    }

    /// Goes on to the first event of which the log line begins so.
    pub(crate) async fn until_event(&mut self, session: &mut Session, beginning: &str) -> Event {
        loop {
            let event = session.next().await.expect("an event before the end");
            self.see(&event);
            if self
                .shown(&event)
                .is_some_and(|line| line.starts_with(beginning))
            {
                return event;
            }
            assert!(
                !matches!(event, Event::Ended(_)),
                "{event:?} instead of {beginning}"
            );
        }
    }

    /// Closes a session and writes down that it ended.
    pub(crate) async fn close(&mut self, session: Session) {
        let ending = session.close().await;
        assert!(ending.closed);
        self.log.push("closed".to_owned());
    }

    /// Writes down what happened.
    pub(crate) fn see(&mut self, event: &Event) {
        if let Some(line) = self.shown(event) {
            self.log.push(line);
        }
    }

    /// Writes down something that is no event.
    pub(crate) fn note(&mut self, line: impl Into<String>) {
        self.log.push(line.into());
    }

    /// Does something that only the real players can: looking at files and requests.
    pub(crate) fn if_real(&self, check: impl FnOnce(&RealCli, &ScriptApi)) {
        if let Players::Real { cli, api, .. } = &self.players {
            check(cli, api);
        }
    }

    /// The scripted API, where there is one.
    pub(crate) fn api(&self) -> Option<&ScriptApi> {
        match &self.players {
            Players::Real { api, .. } => Some(api),
            Players::Recorded { .. } => None,
        }
    }

    async fn end(mut self, recording: bool) {
        let file = data(&format!("{}.txt", self.name));
        let happened = self.log.join("\n") + "\n";
        match &mut self.players {
            Players::Real { cli, api, tapes } => {
                let unanswered: Vec<_> = api
                    .requests()
                    .into_iter()
                    .filter(|request| request.reply.is_none())
                    .collect();
                assert!(
                    unanswered.is_empty(),
                    "{}: the script has no reply for {unanswered:?}",
                    self.name
                );
                for (index, tape) in tapes.take().unwrap_or_default().into_iter().enumerate() {
                    let trace = data(&format!("{}-{}.jsonl", self.name, index + 1));
                    fs::write(trace, tape.rows(cli)).unwrap();
                }
                if recording {
                    fs::write(&file, &happened).unwrap();
                }
            }
            Players::Recorded { replays } => {
                for replay in replays.drain(..) {
                    let report = replay.await.unwrap();
                    assert!(report.is_same(), "{}: {report}", self.name);
                }
            }
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            happened == expected,
            "{}: expected\n{expected}\nand saw\n{happened}",
            self.name
        );
    }

    /// An event as it is written down; nothing for what comes at any time.
    fn shown(&self, event: &Event) -> Option<String> {
        match (event, &self.players) {
            (Event::Message(frame), Players::Real { cli, .. }) => {
                message(&ToHost::from_json(neutral(frame.line(), cli)).unwrap())
            }
            (Event::Message(frame), Players::Recorded { .. }) => message(&frame.message),
            (Event::Stderr(_), _) => None,
            (other, _) => Some(if matches!(other, Event::Ended(_)) {
                "ended".to_owned()
            } else {
                crate::agents::in_short(other)
            }),
        }
    }
}

/// A line of the agent, in short: its kind and what matters of it.
fn message(message: &ToHost) -> Option<String> {
    let kind = message.full_kind();
    let thread = match message.parent_tool_use_id() {
        Some(_) => "  subagent ",
        None => "",
    };
    let detail = match message {
        ToHost::Assistant(line) => {
            let content = line.message.as_ref();
            let content = content.and_then(|message| message.content.as_option());
            blocks(content.map(Content::blocks).unwrap_or_default())
        }
        ToHost::User(line) => match line.message.content.as_option() {
            Some(content) if content.blocks().is_empty() => cut(&content.text()),
            content => blocks(content.map(Content::blocks).unwrap_or_default()),
        },
        ToHost::Result(result) => {
            let failed = if result.failed() { " failed" } else { "" };
            format!("{:?}{failed}", result.text().map(|text| cut(text)))
        }
        // They come when they come.
        ToHost::System(system)
            if matches!(
                system.kind(),
                "thinking_tokens" | "task_progress" | "notification" | "api_retry"
            ) =>
        {
            return None;
        }
        ToHost::ToolProgress(_) | ToHost::RateLimit(_) | ToHost::KeepAlive(_) => return None,
        _ => String::new(),
    };
    Some(format!("{thread}{kind} {detail}").trim_end().to_owned())
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect::<Vec<_>>().join(", ")
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("{:?}", cut(&text.text)),
        Block::ToolUse(call) => format!(
            "{} {}",
            call.name,
            cut(&call.input.as_ref().map_or_else(String::new, sorted))
        ),
        Block::ToolResult(result) => {
            let failed = match result.is_error.as_option() {
                Some(true) => "failed ",
                _ => "",
            };
            let content = result.content.as_option().map(Content::text);
            format!("{failed}result {:?}", cut(&content.unwrap_or_default()))
        }
        other => other.kind().to_owned(),
    }
}

/// An input with its fields in the order of their names: which one a model writes first is of no account.
fn sorted(input: &Json) -> String {
    let mut value: serde_json::Value = input.parse().unwrap();
    value.sort_all_objects();
    value.to_string()
}

/// The beginning of a text: enough to know it by.
fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// What one agent and its host said, in order.
#[derive(Clone, Default)]
struct Tape {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    begun: Option<Instant>,
    rows: Vec<(u128, Direction, Text)>,
    process: Option<Process>,
}

impl Tape {
    fn keep(&self, process: Process) {
        self.inner.lock().unwrap().process = Some(process);
    }

    fn add(&self, direction: &Direction, line: Text) {
        let mut inner = self.inner.lock().unwrap();
        let time = inner
            .begun
            .get_or_insert_with(Instant::now)
            .elapsed()
            .as_millis();
        inner.rows.push((time, direction.clone(), line));
    }

    /// The rows of a trace file, without what belongs to this machine and without long texts of others.
    fn rows(&self, cli: &RealCli) -> String {
        let inner = self.inner.lock().unwrap();
        let rows = inner.rows.iter().map(|(time, direction, line)| {
            let line = neutral(line, cli);
            let line = match direction {
                Direction::Out => shortened(&line),
                _ => line,
            };
            let time = u64::try_from(*time).unwrap();
            let row = TraceRow::of_line(time, direction.clone(), &line.into());
            format!("{}\n", row.to_json())
        });
        rows.collect()
    }
}

/// Text without the paths of this machine.
fn neutral(text: &str, cli: &RealCli) -> String {
    let encoded = |path: &Path| {
        path.display()
            .to_string()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    };
    text.replace(&cli.project().display().to_string(), PROJECT)
        .replace(&cli.home().display().to_string(), HOME)
        .replace(&encoded(&cli.project()), &encoded(Path::new(PROJECT)))
}

/// A line of the agent with long strings cut, and all else as it stands.
fn shortened(line: &str) -> String {
    let mut short = String::with_capacity(line.len());
    let mut characters = line.chars();
    // How much of a string has come; nothing outside of one.
    let mut inside = None;
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next()).flatten();
        inside = match (inside, character) {
            (None, '"') => Some(0),
            (None, _) => None,
            (Some(_), '"') => None,
            (Some(length), _) => Some(length + 1),
        };
        match inside {
            Some(length) if length == LONGEST + 1 => short.push('…'),
            Some(length) if length > LONGEST => {}
            _ => short.extend([character].into_iter().chain(escaped)),
        }
    }
    short
}

/// One direction, with a tape beside it.
struct Tap<S> {
    stream: S,
    direction: Direction,
    decoder: LineDecoder,
    tape: Tape,
}

impl<S> Tap<S> {
    fn new(stream: S, direction: Direction, tape: &Tape) -> Self {
        Self {
            stream,
            direction,
            decoder: LineDecoder::default(),
            tape: tape.clone(),
        }
    }

    fn record(&mut self, mut bytes: &[u8]) {
        while let Some(line) = self.decoder.next_line(&mut bytes) {
            if let Line::Text(text) = line {
                self.tape.add(&self.direction, text);
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = buffer.filled()[before..].to_vec();
        self.record(&new);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = written {
            self.record(&bytes[..length]);
        }
        written
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn data(file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenarios");
    fs::create_dir_all(&folder).unwrap();
    folder.join(file)
}

const PROJECT: &str = "/home/user/project";
const HOME: &str = "/home/user";
/// Longer strings are mostly texts of the CLI's own.
const LONGEST: usize = 100;
