//! [`AgentCommand`]: which agent to start, and how.

mod flags;
mod program;
mod version;

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncWrite};
use towline_protocol::{
    CallbackId, Extra, HookEvent, HookMatcher, HookMatchers, Json, LineDecoder, Map, Nullable,
    Number, SessionId, Text, Wire as _,
    control::request::{Initialize, McpServerConfig},
};

use towline_store::Home;

use crate::{
    answer::TurnAnswer,
    control::DEFAULT_TIMEOUT,
    driver::Limits,
    error::Error,
    mcp::Starter,
    process::Process,
    prompt::Prompt,
    session::{Parts, Session},
    transport::Transport,
};

pub use flags::{Effort, SettingSource, Thinking};
pub use semver::{Version, VersionReq};

/// An agent to be started: the program, its flags, and what this side of the conversation offers.
///
/// ```
/// use towline_host::{AgentCommand, PermissionMode};
///
/// let command = AgentCommand::new("/usr/local/bin/claude")
///     .current_dir("/tmp")
///     .model("sonnet")
///     .permission_mode(&PermissionMode::AcceptEdits)
///     .max_turns(20)
///     .partial_messages();
/// let arguments = command.arguments()?;
/// assert!(arguments.windows(2).any(|pair| pair == ["--model", "sonnet"]));
/// # Ok::<(), towline_host::Error>(())
/// ```
#[derive(Clone)]
pub struct AgentCommand {
    program: OsString,
    /// What comes before the flags: the package for `npx`, say.
    leading: Vec<OsString>,
    directory: Option<PathBuf>,
    opened: Option<Arc<OwnedFd>>,
    inherits: bool,
    environment: Vec<(OsString, Option<OsString>)>,
    flags: Vec<Flag>,
    trailing: Vec<OsString>,
    servers: Vec<Starter>,
    remote_servers: Map<McpServerConfig>,
    initialize: Initialize,
    introduces: bool,
    questions: bool,
    wanted: Option<VersionReq>,
    limits: Limits,
    timeout: Option<Duration>,
}

/// One flag of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flag {
    name: &'static str,
    value: Option<OsString>,
}

impl AgentCommand {
    /// An agent by the path of its program, or by a name to be found on the `PATH`.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("/opt/agents/claude");
    /// assert_eq!(command.program(), "/opt/agents/claude");
    /// ```
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            leading: Vec::new(),
            directory: None,
            opened: None,
            inherits: true,
            environment: Vec::new(),
            flags: Vec::new(),
            trailing: Vec::new(),
            servers: Vec::new(),
            remote_servers: Map::default(),
            initialize: Initialize::default(),
            introduces: true,
            questions: true,
            wanted: None,
            limits: Limits {
                line: LineDecoder::DEFAULT_LIMIT,
                queue: 64 << 10,
                question_timeout: Some(Duration::from_secs(60 * 60)),
                mcp_timeout: Some(Duration::from_secs(24 * 60 * 60)),
                close_grace: Duration::from_secs(5),
            },
            timeout: Some(DEFAULT_TIMEOUT),
        }
    }

    /// Says where the agent works; else it works where this program does.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let command = AgentCommand::new(program).current_dir("/tmp");
    /// # command.spawn().await?.close().await;
    /// # Ok(())
    /// # });
    /// ```
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Has the agent start in a folder that is open: the one of this handle, whatever its path leads to by then.
    ///
    /// The path, which [`current_dir`](Self::current_dir) says, is its `PWD`. On a system without `/proc/self/fd` the
    /// path alone counts.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let folder = std::fs::File::open("/tmp")?;
    /// let command = AgentCommand::new(program).current_dir("/tmp").opened_dir(folder);
    /// # command.spawn().await?.close().await;
    /// # Ok(())
    /// # });
    /// ```
    #[must_use]
    pub fn opened_dir(mut self, folder: impl Into<OwnedFd>) -> Self {
        self.opened = Some(Arc::new(folder.into()));
        self
    }

    /// Sets an environment variable.
    ///
    /// The others are inherited, but for `CLAUDECODE`, which would have an agent believe that it runs inside another one.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080");
    /// assert_eq!(command.environment().count(), 1);
    /// ```
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Takes an environment variable away.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").env_remove("ANTHROPIC_API_KEY");
    /// ```
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// The variables that were set here.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").env("CI", "true");
    /// assert!(command.environment().any(|(name, value)| name == "CI" && value == "true"));
    /// ```
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.environment
            .iter()
            .filter_map(|(name, value)| Some((name.as_os_str(), value.as_deref()?)))
    }

    /// Where this agent keeps its settings and transcripts: its `CLAUDE_CONFIG_DIR`, else `.claude` in its `HOME`.
    ///
    /// ```
    /// use towline_host::AgentCommand;
    ///
    /// let command = AgentCommand::new("claude").env("HOME", "/home/ann");
    /// # let command = command.env("CLAUDE_CONFIG_DIR", "");
    /// let home = command.home()?;
    /// assert_eq!(home.projects_folder(), std::path::Path::new("/home/ann/.claude/projects"));
    /// # Ok::<(), towline_host::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is neither.
    pub fn home(&self) -> Result<Home, towline_store::Error> {
        Home::from_variables(|name| self.variable(name))
    }

    /// What a variable will be for the agent.
    fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.environment.iter().rev().find(|(set, _)| set == name);
        match set {
            Some((_, value)) => value.clone(),
            None if self.inherits => std::env::var_os(name),
            None => None,
        }
    }

    /// Begins with an empty environment instead of an inherited one; variables set before are forgotten.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").env_clear().env("HOME", "/tmp/home");
    /// assert_eq!(command.environment().count(), 1);
    /// ```
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inherits = false;
        self.environment.clear();
        self
    }

    /// Adds an argument behind all others, as it is: for flags that have no method here.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").arg("--a-new-flag");
    /// assert!(command.to_string().contains("--a-new-flag"));
    /// ```
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.trailing.push(argument.into());
        self
    }

    /// Adds arguments behind all others, as they are.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").args(["--a-new-flag", "value"]);
    /// assert!(command.to_string().contains("--a-new-flag value"));
    /// ```
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.trailing.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Offers the tools of an MCP server in this program; see [`ToolServer`](crate::ToolServer).
    ///
    /// ```
    /// # use towline_host::{AgentCommand, ToolServer};
    /// # let server = ToolServer::new("1.0.0");
    /// let command = AgentCommand::new("claude").mcp_server("calculator", server);
    /// assert!(command.to_string().contains("--mcp-config"));
    /// ```
    #[must_use]
    pub fn mcp_server(
        mut self,
        name: impl Into<Text>,
        server: impl rmcp::ServerHandler + Clone,
    ) -> Self {
        let server = Starter::new(name.into(), server);
        (self.remote_servers).insert(server.name.clone(), server.config());
        (self.servers).retain(|starter| starter.name != server.name);
        self.servers.push(server);
        self
    }

    /// Has the agent use an MCP server outside this program.
    ///
    /// ```
    /// use towline_host::{AgentCommand, protocol::control::request::McpServerConfig};
    ///
    /// let files = McpServerConfig { command: Some("mcp-files".into()), ..McpServerConfig::default() };
    /// let command = AgentCommand::new("claude").remote_mcp_server("files", files);
    /// let flag = r#"{"mcpServers":{"files":{"command":"mcp-files"}}}"#;
    /// assert!(command.arguments()?.contains(&flag.into()));
    /// # Ok::<(), towline_host::Error>(())
    /// ```
    #[must_use]
    pub fn remote_mcp_server(mut self, name: impl Into<Text>, config: McpServerConfig) -> Self {
        self.remote_servers.insert(name, config);
        self
    }

    /// Wants to hear of an event: it comes as [`Event::Hook`](crate::Event::Hook).
    ///
    /// ```
    /// use towline_host::{AgentCommand, Event, HookEvent, HookOn};
    ///
    /// let command = AgentCommand::new("claude")
    ///     .hook(HookOn::new(HookEvent::PreToolUse, "guard").matching("Bash|Write"))
    ///     .hook(HookOn::new(HookEvent::Stop, "done"));
    /// # towline_testkit::in_session!(command, |session, "hook guard" => Event::Hook(hook)| {
    /// # assert_eq!(hook.event(), Some(&HookEvent::PreToolUse));
    /// # });
    /// ```
    #[must_use]
    pub fn hook(self, hook: HookOn) -> Self {
        self.with_initialize(|initialize| {
            let mut hooks = match std::mem::take(&mut initialize.hooks) {
                Nullable::Value(hooks) => hooks,
                _ => HookMatchers::default(),
            };
            let event = hook.event.as_str();
            let mut matchers = hooks.get(event).cloned().unwrap_or_default();
            matchers.push(hook.matcher);
            hooks.insert(event, matchers);
            initialize.hooks = Nullable::Value(hooks);
        })
    }

    /// Defines agents that the model can start, by name.
    ///
    /// ```
    /// # use towline_host::{AgentCommand, Json};
    /// let agents = Json::new(r#"{"tester":{"description":"Runs tests","prompt":"Run the tests and report."}}"#)?;
    /// let command = AgentCommand::new("claude").agents(agents);
    /// # towline_testkit::in_session!(command, |session| {});
    /// # Ok::<(), towline_host::DecodeError>(())
    /// ```
    #[must_use]
    pub fn agents(self, definitions: Json) -> Self {
        self.with_initialize(|initialize| initialize.agents = Some(definitions))
    }

    /// Changes how the host introduces itself: for what has no method of its own.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").with_initialize(|initialize| initialize.prompt_suggestions = Some(true));
    /// # towline_testkit::in_session!(command, |session| {});
    /// ```
    #[must_use]
    pub fn with_initialize(mut self, change: impl FnOnce(&mut Initialize)) -> Self {
        change(&mut self.initialize);
        self.introduces = true;
        self
    }

    /// Does not introduce the host: for agents that do not know `initialize`.
    ///
    /// [`Session::agent`] needs it. So do hooks, [`AgentCommand::agents`] and very long system prompts: with one of those
    /// before this it is an error to start, and one of those after this has the host introduced again.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("an-old-agent").without_initialize();
    /// # towline_testkit::in_session!(command, |session| {
    /// # assert!(session.agent().is_none());
    /// # });
    /// ```
    #[must_use]
    pub fn without_initialize(mut self) -> Self {
        self.introduces = false;
        self
    }

    /// Does not introduce the host, and leaves out whatever would be said there.
    pub(crate) fn silent(mut self) -> Self {
        self.initialize = Initialize::default();
        self.without_initialize()
    }

    /// Has the agent decide by itself what it would ask: it denies.
    ///
    /// For programs that nobody watches.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").without_questions();
    /// assert!(!command.to_string().contains("--permission-prompt-tool"));
    /// ```
    #[must_use]
    pub fn without_questions(mut self) -> Self {
        self.questions = false;
        self
    }

    /// Refuses an agent of another version.
    ///
    /// The agent says its version when the host introduces itself.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let command = AgentCommand::new(program).require_version(">=2.1".parse::<VersionReq>()?);
    /// # command.spawn().await?;
    /// let command = AgentCommand::new(program).require_version(">=3".parse::<VersionReq>()?);
    /// assert!(matches!(command.spawn().await, Err(Error::Version(_))));
    /// # Ok(())
    /// # });
    /// ```
    #[must_use]
    pub fn require_version(mut self, wanted: VersionReq) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// Sets how long a request to the agent may take: a minute, unless set; for ever if nothing is given.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use {std::time::Duration, towline_host::{AgentCommand, Error}};
    /// # let (reader, writer) = tokio::io::duplex(1024); // nobody is there
    /// let command = AgentCommand::new("claude").request_timeout(Some(Duration::from_millis(50)));
    /// # let command = command.close_grace(Duration::ZERO);
    /// # assert!(matches!(command.attach(reader, writer).await, Err(Error::Silent { .. })));
    /// # Ok(())
    /// # });
    /// ```
    #[must_use]
    pub fn request_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a question of the agent may stay open before it is denied: an hour, unless set; for ever if nothing is
    /// given.
    ///
    /// ```
    /// # use {std::time::Duration, towline_host::{AgentCommand, Event, Withdrawal}};
    /// let command = AgentCommand::new("claude").question_timeout(Some(Duration::from_millis(50)));
    /// # towline_testkit::in_session!(command, |session, "run ls" => Event::Permission(mut permission)| {
    /// # assert_eq!(permission.withdrawn().await, Withdrawal::TimedOut);
    /// # });
    /// ```
    #[must_use]
    pub fn question_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.limits.question_timeout = timeout;
        self
    }

    /// Sets how long an MCP server of this program may take for an answer before the agent is told that there is none: a
    /// day, unless set; for ever if nothing is given. A tool may take longer than a person.
    ///
    /// ```
    /// # use {std::time::Duration, towline_host::AgentCommand};
    /// let command = AgentCommand::new("claude").mcp_timeout(Some(Duration::from_secs(600)));
    /// # towline_testkit::in_session!(command, |session| {});
    /// ```
    #[must_use]
    pub fn mcp_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.limits.mcp_timeout = timeout;
        self
    }

    /// Sets how long the agent may take to end, first by itself and then after `SIGTERM`: five seconds each, unless set.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// use std::time::Duration;
    ///
    /// let command = AgentCommand::new(program).close_grace(Duration::from_secs(1));
    /// # assert!(command.spawn().await?.close().await.exit.is_some());
    /// # Ok(())
    /// # });
    /// ```
    #[must_use]
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.limits.close_grace = grace;
        self
    }

    /// Sets how long a line of the agent may be: 64 MiB, unless set.
    ///
    /// A longer one is an [`Event::Malformed`](crate::Event::Malformed).
    ///
    /// ```
    /// # use towline_host::{AgentCommand, Event, Problem};
    /// let command = AgentCommand::new("claude").line_limit(4096);
    /// # towline_testkit::in_session!(command, |session| {
    /// # session.send("say ".to_owned() + &"very ".repeat(1000)).await?;
    /// # session.next().await;
    /// # let Some(Event::Malformed(malformed)) = session.next().await else { panic!() };
    /// # assert_eq!(malformed.problem, Problem::TooLong(4096));
    /// # });
    /// ```
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.limits.line = bytes;
        self
    }

    /// Sets how much may wait for whoever looks at the events before the agent is slowed down: 64 KiB, unless set.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").queue_limit(1 << 20);
    /// # towline_testkit::in_session!(command, |session| { session.ask("say hello").await?; });
    /// ```
    #[must_use]
    pub fn queue_limit(mut self, bytes: usize) -> Self {
        self.limits.queue = bytes;
        self
    }

    /// Starts the agent and introduces the host.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let session = AgentCommand::new(program).model("sonnet").spawn().await?;
    /// println!("{:?}", session.agent().and_then(|agent| agent.claude_code_version.clone()));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the program cannot be started, an option cannot be passed on, or the agent ends or stays silent instead of
    /// answering.
    pub async fn spawn(self) -> Result<Session, Error> {
        let arguments = self.arguments()?;
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.leading).args(&arguments);
        self.surroundings(&mut command)?;
        let description = self.describe(&arguments);
        let cannot_start = |problem| Error::Start {
            command: description.clone(),
            problem,
        };
        let process = Process::spawn(command).map_err(cannot_start)?;
        let transport = Transport::process(process).map_err(cannot_start)?;
        // In a box: what it takes to get there is large, and not needed any more once the session runs.
        Box::pin(self.start(transport, description)).await
    }

    /// Talks to an agent that is already there, over any two streams.
    ///
    /// The program and its flags do not matter then.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// use towline_host::AgentCommand;
    /// use towline_testkit::fake_agent::FakeAgent;
    ///
    /// let (reader, writer) = FakeAgent::start(); // a socket would do as well
    /// let mut session = AgentCommand::new("fake").attach(reader, writer).await?;
    /// assert_eq!(session.ask("say hello").await?.text, "hello");
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent ends or stays silent instead of answering.
    pub async fn attach(
        self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Session, Error> {
        let description = self.program.to_string_lossy().into_owned();
        self.start(Transport::streams(reader, writer), description)
            .await
    }

    /// Asks one thing and waits for the answer: for scripts.
    ///
    /// Questions of the agent are denied.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let answer = AgentCommand::new(program).max_turns(3).ask("What is two and two?").await?;
    /// println!("{}", answer.text);
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent cannot be started, ends before it has answered, or the turn fails.
    pub async fn ask(self, prompt: impl Into<Prompt>) -> Result<TurnAnswer, Error> {
        let mut session = self.without_questions().spawn().await?;
        let answer = session.ask(prompt).await;
        session.close().await;
        answer
    }

    /// How long a request may take.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The command line, for a person.
    pub(crate) fn describe(&self, arguments: &[OsString]) -> String {
        let words = std::iter::once(&self.program)
            .chain(&self.leading)
            .chain(arguments);
        words
            .map(|word| program::shown(word))
            .collect::<Vec<_>>()
            .join(" ")
    }

    async fn start(self, transport: Transport, description: String) -> Result<Session, Error> {
        let mut initialize = self.introduces.then(|| self.initialize.clone());
        if initialize.is_none() && self.initialize != Initialize::default() {
            return Err(Error::Option {
                option: "without_initialize".to_owned(),
                problem: "hooks, agents, long system prompts and what else is set of the introduction need it; leave them \
                          out, or introduce the host"
                    .to_owned(),
            });
        }
        if let Some(initialize) = &mut initialize
            && !self.servers.is_empty()
        {
            // Besides the flag, which an agent that is already there was not given.
            let names = self.servers.iter().map(|server| server.name.clone());
            (initialize.sdk_mcp_servers.get_or_insert_default()).extend(names);
        }
        let parts = Parts {
            command: description,
            limits: self.limits.clone(),
            timeout: self.timeout,
            session_id: given_session(&self.flags),
            servers: self.servers.clone(),
            initialize,
        };
        let session = Session::start(transport, parts).await?;
        if let Some(wanted) = &self.wanted {
            self.check_version(&session, wanted).await?;
        }
        Ok(session)
    }

    /// Directory and environment.
    fn surroundings(&self, command: &mut std::process::Command) -> Result<(), Error> {
        if !self.inherits {
            command.env_clear();
        }
        command.env_remove("CLAUDECODE");
        if let Some(directory) = &self.directory {
            if !directory.is_dir() {
                return Err(Error::Option {
                    option: "working directory".to_owned(),
                    problem: format!("{} is no directory", directory.display()),
                });
            }
            command.current_dir(directory).env("PWD", directory);
        }
        if let Some(folder) = &self.opened {
            // The child has the handle until its program begins, and so finds the folder by this path.
            let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
            if Path::new(&path).is_dir() {
                command.current_dir(path);
            }
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // The program is looked for in what its own `PATH` says, and so is what starts it, such as `node`.
        if let Some(search) = self.search().and_then(|search| program::outside(&search)) {
            command.env("PATH", search);
        }
        Ok(())
    }

    /// The `PATH` of the agent.
    fn search(&self) -> Option<OsString> {
        let mut given = self.environment.iter().rev();
        match given.find(|(name, _)| name == "PATH") {
            Some((_, search)) => search.clone(),
            None => std::env::var_os("PATH").filter(|_| self.inherits),
        }
    }
}

impl fmt::Display for AgentCommand {
    /// The command line, with long words cut short: for people and logs, not for a shell.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = self.arguments().unwrap_or_default();
        formatter.write_str(&self.describe(&arguments))
    }
}

impl fmt::Debug for AgentCommand {
    /// As for people: the environment may hold keys.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("AgentCommand")
            .field("command", &self.to_string())
            .field("directory", &self.directory)
            .field("environment", &names)
            .finish_non_exhaustive()
    }
}

/// The id a session will have, where that is known before it begins.
fn given_session(flags: &[Flag]) -> Option<SessionId> {
    let flag = flags.iter().find(|flag| flag.name == "--session-id")?;
    let id = flag.value.as_deref().and_then(OsStr::to_str)?;
    Some(id.into())
}

/// An event to hear of; see [`AgentCommand::hook`].
///
/// ```
/// use std::time::Duration;
/// use towline_host::{AgentCommand, HookEvent, HookOn};
///
/// let guard = HookOn::new(HookEvent::PreToolUse, "guard")
///     .matching("Bash")
///     .timeout(Duration::from_secs(5))
///     .block_on_failure();
/// let command = AgentCommand::new("claude").hook(guard);
/// # towline_testkit::in_session!(command, |session| {});
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HookOn {
    event: HookEvent,
    matcher: HookMatcher,
}

impl HookOn {
    /// An event, and the name under which it comes.
    ///
    /// ```
    /// # use towline_host::{HookEvent, HookOn};
    /// let hook = HookOn::new(HookEvent::PreToolUse, "guard"); // `Hook::callback_id` will be `guard`
    /// ```
    pub fn new(event: HookEvent, callback: impl Into<CallbackId>) -> Self {
        let matcher = HookMatcher {
            matcher: Nullable::Absent,
            callback_ids: vec![callback.into()],
            timeout: None,
            on_failure: None,
            extra: Extra::default(),
        };
        Self { event, matcher }
    }

    /// Wants to hear only of tools whose name matches a regular expression.
    ///
    /// ```
    /// # use towline_host::{HookEvent, HookOn};
    /// let hook = HookOn::new(HookEvent::PreToolUse, "guard").matching("Bash|Write");
    /// ```
    #[must_use]
    pub fn matching(mut self, pattern: impl Into<Text>) -> Self {
        self.matcher.matcher = Nullable::Value(pattern.into());
        self
    }

    /// Sets how long the agent waits for an answer.
    ///
    /// A tool whose hook is late does not run.
    ///
    /// ```
    /// # use towline_host::{HookEvent, HookOn};
    /// # use std::time::Duration;
    /// let hook = HookOn::new(HookEvent::PreToolUse, "guard").timeout(Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.matcher.timeout = Some(seconds(timeout));
        self
    }

    /// Does not let a tool run when the hook fails; else it runs as if there were none.
    ///
    /// ```
    /// # use towline_host::{HookEvent, HookOn};
    /// let hook = HookOn::new(HookEvent::PreToolUse, "guard").block_on_failure();
    /// ```
    #[must_use]
    pub fn block_on_failure(mut self) -> Self {
        self.matcher.on_failure = Some("block".into());
        self
    }
}

/// Whole seconds as a whole number: the official SDKs write them so.
fn seconds(time: Duration) -> Number {
    if time.subsec_nanos() == 0 {
        Number::from(time.as_secs())
    } else {
        Number::from(time.as_secs_f64())
    }
}

/// A path as an argument.
fn path(path: &Path) -> OsString {
    path.as_os_str().to_owned()
}

/// JSON as an argument.
fn json(json: &Json) -> OsString {
    json.as_str().into()
}

impl AgentCommand {
    /// The MCP servers that were given one by one, as the flag takes them.
    fn given_mcp_config(&self) -> Option<OsString> {
        if self.remote_servers.is_empty() {
            return None;
        }
        let servers = self.remote_servers.to_standard_json();
        Some(format!(r#"{{"mcpServers":{servers}}}"#).into())
    }
}
