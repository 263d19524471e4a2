//! What an agent is started with. Whoever starts it has read the command line, the environment and the clock; here it is
//! all values.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use serde_json::Value;
use towline_permission::{Destination, Startup};
use towline_store::{Home, SessionKey};

use crate::{AgentDefinition, AnswerForm};

/// The version of the protocol's original that the agent claims to be: clients look for one that they know.
pub const SPEAKS_AS: &str = "2.1.325";

/// Everything that an agent is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The project: where the session works. Absolute, and a directory.
    pub cwd: PathBuf,
    /// Where the person's files are, for `~` in paths and rules.
    pub user_home: PathBuf,
    /// The configuration folder: settings, memory, transcripts.
    pub home: Home,
    /// Where the organisation's settings are.
    pub managed: PathBuf,
    /// A folder for what need not last: the output of commands in the background.
    pub temporary: PathBuf,
    /// The environment that commands get.
    pub environment: BTreeMap<OsString, OsString>,
    /// How commands are run.
    pub shell: Shell,
    /// How web pages are fetched.
    pub web: Web,
    /// How the agent was started, for the transcript, such as `sdk-cli` or `sdk-py`.
    pub entrypoint: String,
    /// Who answers.
    pub provider: Provider,
    /// The model and how it works.
    pub model: ModelOptions,
    /// What the model is told before anything else.
    pub prompt: PromptOptions,
    /// When to stop.
    pub limits: Limits,
    /// The tools that are offered.
    pub tools: Tools,
    /// Servers whose tools are offered too.
    pub mcp: McpOptions,
    /// Files that are to be there before anything else.
    pub files: FilesToFetch,
    /// The agents that a call can be given to, and the one that this is.
    pub agents: AgentOptions,
    /// The settings files that count, the weakest first: hooks and all else that is not about permissions.
    pub settings: Vec<SettingsText>,
    /// Rules, mode and settings files.
    pub permissions: Startup,
    /// Notices for the host: parts of the project's files that do not count because the project is not trusted.
    pub kept_out: Vec<String>,
    /// Who is asked about a call that nothing allows or forbids.
    pub questions: Questions,
    /// Which conversation it is.
    pub session: SessionOptions,
    /// What is written.
    pub output: OutputOptions,
}

/// Who answers.
#[derive(Clone, Debug)]
pub enum Provider {
    /// The Messages API.
    Api(ApiOptions),
    /// The responder that needs no account, and says so.
    Offline,
}

/// How the Messages API is reached.
#[derive(Clone, Debug)]
pub struct ApiOptions {
    /// Where it is, such as `https://api.anthropic.com`.
    pub base_url: String,
    /// What proves who pays; nothing if there is no key, which is told when the model is first called.
    pub credential: Option<Credential>,
    /// The proxy for `http` and `https`, as the environment names them.
    pub proxy: ProxyOptions,
    /// How often a call is tried again.
    pub max_retries: u64,
    /// How long a call may take without a word from the API.
    pub timeout: Duration,
    /// Headers to add to each request.
    pub headers: Vec<(String, String)>,
}

/// What proves who pays.
#[derive(Clone)]
pub enum Credential {
    /// `ANTHROPIC_API_KEY`, sent as `x-api-key`.
    Key(String),
    /// `ANTHROPIC_AUTH_TOKEN`, sent as `authorization: Bearer`.
    Token(String),
}

/// The proxies to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// `HTTP_PROXY`.
    pub http: Option<String>,
    /// `HTTPS_PROXY`.
    pub https: Option<String>,
    /// `NO_PROXY`.
    pub none: Option<String>,
}

/// The model and how it works.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// `--model`: an alias such as `opus`, or a full name.
    pub name: Option<String>,
    /// The model where neither that nor the agent that the session is names one (`ANTHROPIC_MODEL`, the settings).
    pub usual: Option<String>,
    /// `--fallback-model`.
    pub fallback: Option<String>,
    /// `--thinking`.
    pub thinking: Option<ThinkingOption>,
    /// `--max-thinking-tokens`.
    pub max_thinking_tokens: Option<u64>,
    /// `--thinking-display`: what is shown of its thoughts; nothing for what is usual.
    pub thinking_display: Option<String>,
    /// `--effort`.
    pub effort: Option<String>,
    /// `--betas`.
    pub betas: Vec<String>,
    /// `CLAUDE_CODE_MAX_OUTPUT_TOKENS`.
    pub max_output_tokens: Option<u64>,
}

/// `--thinking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingOption {
    /// As much as the model wants.
    Adaptive,
    /// On.
    Enabled,
    /// Off.
    Disabled,
}

/// What the model is told before anything else.
#[derive(Clone, Debug, Default)]
pub struct PromptOptions {
    /// `--system-prompt`, instead of our own.
    pub replace: Option<String>,
    /// `--append-system-prompt`, after it.
    pub append: Option<String>,
    /// Whether memory files are read: those of the user, of the project, local ones.
    pub memory: bool,
    /// Which of them.
    pub memory_sources: MemorySources,
    /// Whether a person said that the project's may import files from outside of it.
    pub outside_imports: bool,
    /// Whether commands and skills are left out (`--disable-slash-commands`).
    pub no_commands: bool,
}

/// Which memory files are read, as `--setting-sources` says; those of the organisation always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySources {
    /// The user's, for all projects.
    pub user: bool,
    /// The project's.
    pub project: bool,
    /// The user's, for this project.
    pub local: bool,
}

impl Default for MemorySources {
    /// All of them.
    fn default() -> Self {
        Self {
            user: true,
            project: true,
            local: true,
        }
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// `--max-turns`: model calls in one turn; nothing for no limit.
    pub max_turns: Option<u64>,
    /// `--max-budget-usd`.
    pub max_budget_usd: Option<f64>,
}

/// The tools that are offered.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// `--tools`: these alone; nothing for the default ones.
    pub only: Option<Vec<String>>,
    /// `--json-schema`: what the answer must look like.
    pub answer: Option<AnswerForm>,
}

/// Servers whose tools are offered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpOptions {
    /// `--mcp-config`: each server's configuration by its name.
    pub servers: BTreeMap<String, Value>,
    /// `--strict-mcp-config`: these alone, whatever files say.
    pub strict: bool,
}

/// Files of the API that are fetched before the session begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesToFetch {
    /// `--file`.
    pub specs: Vec<FileSpec>,
    /// What they are fetched with, if not with what proves who pays (`CLAUDE_CODE_SESSION_ACCESS_TOKEN`).
    pub token: Option<Secret>,
}

/// One of them: the API's id of a file and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The agents that a call can be given to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentOptions {
    /// `--agents`.
    pub defined: Vec<AgentDefinition>,
    /// `--agent`: the one that the session itself is.
    pub main: Option<String>,
    /// Whether a session that is to be an agent that nobody knows does not begin. Else the host may still define it.
    pub must_exist: bool,
}

/// A settings file, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsText {
    /// Whose settings they are.
    pub source: Destination,
    /// Where the file is; nothing for JSON on the command line.
    pub path: Option<PathBuf>,
    /// What is in it. It is a JSON object.
    pub text: String,
}

/// Who is asked about a call that nothing allows or forbids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Questions {
    /// Nobody: it is denied.
    #[default]
    Nobody,
    /// The host, by `can_use_tool`.
    Host,
    /// A tool of an MCP server.
    Tool(String),
}

/// Which conversation it is.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// How it begins.
    pub start: SessionStart,
    /// `--session-id`: the id of a new session or of a fork.
    pub id: Option<SessionKey>,
    /// `--name`.
    pub title: Option<String>,
    /// Whether it is not to be kept (`--no-session-persistence`).
    pub forget: bool,
    /// Whether files are kept as they were before each edit (`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`).
    pub checkpoints: bool,
}

/// How a conversation begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionStart {
    /// From nothing.
    #[default]
    New,
    /// `--continue`: from the newest of the project, else from nothing.
    Continue {
        /// Under a new id.
        fork: bool,
    },
    /// `--resume`: from an earlier one.
    Resume {
        /// Its id, its title, or the path of its transcript.
        which: String,
        /// Under a new id.
        fork: bool,
        /// `--resume-session-at`: only up to this record.
        at: Option<String>,
        /// `--resume-drops-turn`: the user's message whose turn is left out.
        drops_turn: Option<String>,
    },
}

/// What is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputOptions {
    /// `--include-partial-messages`.
    pub partial_messages: bool,
    /// `--replay-user-messages`.
    pub replay_user_messages: bool,
    /// Whether the host wants to know when the session is idle (`CLAUDE_CODE_SDK_READS_SESSION_STATE`).
    pub session_state: bool,
    /// What is written besides.
    pub more: MoreOutput,
}

/// What is written only where it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoreOutput {
    /// `--include-hook-events`.
    pub hook_events: bool,
    /// `--forward-subagent-text`.
    pub subagent_text: bool,
    /// `--session-mirror`: the records of the transcript.
    pub transcript: bool,
}

/// How commands are run.
///
/// ```
/// use std::time::Duration;
/// use towline_agent::Shell;
///
/// assert_eq!(Shell::default().default_timeout, Duration::from_secs(120));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shell {
    /// Where the model does not say (`BASH_DEFAULT_TIMEOUT_MS`).
    pub default_timeout: Duration,
    /// Whatever the model says (`BASH_MAX_TIMEOUT_MS`).
    pub max_timeout: Duration,
    /// How many characters of the output the model gets to see (`BASH_MAX_OUTPUT_LENGTH`).
    pub max_output: usize,
    /// How long a session that has nothing else to do, and that nobody can say more to, waits for commands in the
    /// background (`CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS`); nothing for no limit.
    pub last_wait: Option<Duration>,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            max_output: 30_000,
            // Hosts give an agent five seconds after the end of its input; within these it ends by itself.
            last_wait: Some(Duration::from_secs(4)),
        }
    }
}

/// How web pages are fetched.
///
/// ```
/// use towline_agent::Web;
///
/// assert!(Web::default().private_hosts.is_empty());
/// assert!(Web::default().upgrade);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// The hosts that may be fetched from though they are not on the public internet, but this machine, on the local
    /// network, or the cloud's metadata. A rule `WebFetch(domain:HOST)` that allows one adds it.
    pub private_hosts: Vec<String>,
    /// Whether `http` becomes `https`, but for this machine.
    pub upgrade: bool,
    /// How long a page may take in all.
    pub timeout: Duration,
    /// Where pages are fetched through. What a name means is then for the proxy to find out, and who may be reached for
    /// it to decide.
    pub proxy: ProxyOptions,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            private_hosts: Vec::new(),
            upgrade: true,
            timeout: Duration::from_secs(60),
            proxy: ProxyOptions::default(),
        }
    }
}

/// A signal that the process got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `SIGINT`: the turn ends, the session goes on.
    Interrupt,
    /// `SIGTERM`: it is over.
    Terminate,
    /// `SIGHUP`: it is over.
    Hangup,
}

impl Signal {
    /// The exit code of a program that it ended, as a shell says it.
    ///
    /// ```
    /// assert_eq!(towline_agent::Signal::Terminate.exit_code(), 143);
    /// ```
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

impl std::fmt::Debug for Credential {
    /// Never shows the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key(…)",
            Self::Token(_) => "Token(…)",
        })
    }
}
