//! [`FakeAgent`]: an agent in memory that does what its prompt says, for documentation and tests.
//!
//! It speaks the protocol for real, with [`Peer`] for the control conversation, but has no model: the first word of a
//! prompt says what happens. It is deterministic. What the words do is in `turn` and `tools`, what it answers in `answers`.
//!
//! | prompt | what happens |
//! |---|---|
//! | `say WORDS` | the model says WORDS |
//! | `stream WORDS` | the same, a word at a time |
//! | `run COMMAND` | a `Bash` call, which needs permission; nothing is run |
//! | `ask QUESTION` | an `AskUserQuestion` call, with the choices `yes` and `no` |
//! | `plan WORDS` | an `ExitPlanMode` call, with WORDS for a plan |
//! | `hook NAME` | the hook that was registered under NAME is due |
//! | `form WORDS` | an MCP server asks the person |
//! | `call SERVER TOOL JSON` | a tool of an MCP server in the host is called |
//! | `subagent WORDS` | a subagent runs a command and says WORDS |
//! | `background WORDS` | the same, after the end of the turn |
//! | `wait` | nothing, until an interrupt |
//! | `garble` | a line that is no JSON, and then an answer |
//! | `fail WORDS` | the turn fails, because of WORDS |
//! | `crash` | the agent is gone |
//! | anything else | the model says it back |

mod answers;
mod example;
mod tools;
mod turn;

use std::{collections::VecDeque, io};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream, Lines,
};
use towline_protocol::{
    Content, ControlLine, Event, Frame, HookMatchers, Outcome, Output, Peer, Request, RequestId,
    ToAgent, ToHost, User, Wire as _,
};

pub use example::run_example;

/// A program that is started like any agent, for examples that start one. It knows less than [`FakeAgent`]: it answers
/// `initialize` and says back what it is told.
///
/// ```
/// let output = std::process::Command::new(towline_testkit::fake_agent::PROGRAM).arg("--version").output()?;
/// assert_eq!(output.stdout, b"2.1.325 (fake)\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fake_agent/program.sh");

/// An agent in memory; see the [module](self) for what it does.
///
/// ```
/// use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
/// use towline_testkit::fake_agent::FakeAgent;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (reader, mut writer) = FakeAgent::start();
/// writer.write_all(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"say hello\"}}\n").await?;
/// let mut lines = BufReader::new(reader).lines();
/// assert!(lines.next_line().await?.unwrap().contains("init"));
/// assert!(lines.next_line().await?.unwrap().contains("hello"));
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FakeAgent<R = DuplexStream, W = DuplexStream> {
    input: Lines<BufReader<R>>,
    output: W,
    peer: Peer,
    /// How the question that was asked last ended, once it has.
    settled: Option<(RequestId, Outcome)>,
    /// Prompts that have not had their turn.
    queued: VecDeque<User>,
    hooks: HookMatchers,
    /// MCP servers that the host has told us of; nothing for a program, which is told by a flag that it does not read.
    announced: Option<Vec<String>>,
    /// MCP servers of the host that know us.
    greeted: Vec<String>,
    interrupted: bool,
    /// Whether the host wants no more of us.
    dismissed: bool,
    calls: u64,
    turns: u64,
    /// What it calls the session.
    session: String,
}

impl FakeAgent {
    /// Starts an agent: what it writes is to be read from the first, what it reads is to be written to the second.
    ///
    /// It ends when its input does. Needs a tokio runtime.
    #[must_use]
    pub fn start() -> (DuplexStream, DuplexStream) {
        let (output, reader) = tokio::io::duplex(BUFFER);
        let (writer, input) = tokio::io::duplex(BUFFER);
        tokio::spawn(async move {
            // A host that reads no more is the end, not a failure.
            let mut agent = Self::new(input, output);
            agent.announced = Some(Vec::new());
            agent.serve().await.ok();
        });
        (reader, writer)
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> FakeAgent<R, W> {
    /// An agent on other streams, such as the standard ones of a program.
    pub fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input).lines(),
            output,
            peer: Peer::new("agent_"),
            settled: None,
            queued: VecDeque::new(),
            hooks: HookMatchers::default(),
            announced: None,
            greeted: Vec::new(),
            interrupted: false,
            dismissed: false,
            calls: 0,
            turns: 0,
            session: "fake-session".to_owned(),
        }
    }

    /// Goes on with a session, or with a copy of it, as the words of its command line say.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = String>) -> Self {
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--resume" => self.session = arguments.next().unwrap_or_default(),
                "--fork-session" => self.session += "-copy",
                _ => {}
            }
        }
        self
    }

    /// Serves the host to its end.
    ///
    /// # Errors
    /// When the host cannot be read from or written to.
    pub async fn serve(mut self) -> io::Result<()> {
        loop {
            while let Some(user) = self.queued.pop_front() {
                let content = user.message.content.as_option().map(Content::text);
                if self.turn(&content.unwrap_or_default()).await?.is_break() {
                    return Ok(());
                }
            }
            if self.dismissed || !self.listen().await? {
                return self.output.shutdown().await;
            }
        }
    }

    /// Takes in one line of the host; `false` at the end of the input.
    async fn listen(&mut self) -> io::Result<bool> {
        let Some(line) = self.input.next_line().await? else {
            return Ok(false);
        };
        match ToAgent::from_json(line) {
            Ok(ToAgent::User(user)) => self.queued.push_back(*user),
            Ok(other) => {
                // What is neither said nor asked changes nothing here.
                if let Ok(line) = ControlLine::try_from(other) {
                    self.peer.handle(line);
                    self.carry_out().await?;
                }
            }
            Err(error) => {
                let error = json!({"type": "invalid_request", "message": error.to_string()});
                self.write(json!({"type": "error", "error": error})).await?;
            }
        }
        Ok(true)
    }

    /// Does what the control conversation wants done.
    async fn carry_out(&mut self) -> io::Result<()> {
        while let Some(output) = self.peer.poll_output() {
            match output {
                Output::Send(line) => {
                    let line = Frame::encode(ToHost::from(line));
                    self.write_line(line.line()).await?;
                }
                Output::Event(Event::Asked {
                    ticket, request, ..
                }) => {
                    let answer = self.answer(&request);
                    self.peer.answer(ticket, answer);
                }
                Output::Event(Event::Settled {
                    request_id,
                    outcome,
                }) => {
                    self.settled = Some((request_id, outcome));
                }
                Output::Event(Event::Withdrawn { .. } | Event::Stray(_)) => {}
            }
        }
        Ok(())
    }

    /// Asks the host and waits for the answer, while everything else the host says is taken in.
    async fn ask(&mut self, question: &Value) -> io::Result<Outcome> {
        let request = Request::from_json(question.to_string()).map_err(io::Error::other)?;
        let asked = self.peer.ask(request, None);
        loop {
            self.carry_out().await?;
            if let Some((_, outcome)) = self.settled.take_if(|(id, _)| *id == asked) {
                return Ok(outcome);
            }
            if self.interrupted {
                self.peer.cancel(&asked);
            } else if !self.listen().await? {
                self.peer.handle_close();
            }
        }
    }

    async fn write(&mut self, line: Value) -> io::Result<()> {
        self.write_line(&line.to_string()).await
    }

    async fn write_line(&mut self, line: &str) -> io::Result<()> {
        self.output
            .write_all(format!("{line}\n").as_bytes())
            .await?;
        self.output.flush().await
    }
}

/// More than any line of these conversations, so that nobody waits for anybody.
const BUFFER: usize = 64 << 10;
