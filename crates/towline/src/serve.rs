//! `towline serve`: the bridge and its page. What it does is `towline_bridge`'s; here are its flags and what it says.

use std::{
    env, fs,
    io::{self, IsTerminal as _, Write},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use anyhow::Context;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use towline_bridge::{
    Running, Surroundings,
    agents::{Agents, ApiKey, Found},
    past::Past,
    qr,
    settings::{Flags, Problems, Secret, ServeConfig, Sources},
};
use towline_host::{AgentCommand, store::Home};

use crate::terminal::LogWriter;

/// Carry sessions to browsers, phones and other programs.
///
/// Starts agents, keeps their sessions, and lets any number of clients start, watch, approve, answer, interrupt and
/// resume. Opens to this machine alone, and to whoever has the link that it prints.
///
/// Everything can also be said in a file (`--config`, or `towline/serve.toml` in the configuration folder) and in the
/// environment (`TOWLINE_LISTEN`, `TOWLINE_ROOTS`, `TOWLINE_DATA`, `TOWLINE_TOKEN`, `TOWLINE_AGENT`); a flag goes over
/// the environment, and that over the file. Agents and limits stand there too. `docs/serve.md` has all of it.
/// `TOWLINE_LOG=debug` (or `trace`) writes more to the standard error.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    options: ServeOptions,
}

/// What `towline serve` and `towline doctor` can be told.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,

    /// A folder whose projects may be used; the current one if none is named.
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,

    /// Where to keep the log and the token.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The token that lets clients in; else one is made and kept. Others can see it in the list of processes: better
    /// set TOWLINE_TOKEN.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,

    /// The agent for who does not choose.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// A name under which other machines reach it. Needs --tls-cert and --tls-key, or --behind-proxy.
    #[arg(long, value_name = "HOST")]
    public: Vec<String>,

    /// The certificates to encrypt with.
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// The key to encrypt with.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,

    /// A proxy in front of it encrypts, and says so in each request: X-Forwarded-Proto: https. It has to pass on
    /// WebSockets, which the page uses.
    #[arg(long)]
    behind_proxy: bool,

    /// Let sessions run in the mode bypassPermissions.
    #[arg(long)]
    allow_bypass_permissions: bool,

    /// Let an answer to a question save any rule, also one that was not suggested with it.
    #[arg(long)]
    allow_any_rule: bool,

    /// The configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.options.config()?;
        tracing_subscriber::fmt()
            .with_writer(|| LogWriter(io::stderr()))
            .with_max_level(log_level())
            .init();
        // Two threads carry a thousand sessions; half of a larger machine is for the agents.
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads((processors / 2).max(2))
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        runtime.block_on(async {
            let mut ends = [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ];
            let running = Running::start(&config, surroundings()?).await?;
            // Whoever started it may not want to read where it listens; it serves all the same.
            announce(&running, &config).ok();
            let [interrupted, terminated, hung_up] = &mut ends;
            running
                .run(async {
                    tokio::select! {
                        _ = interrupted.recv() => {}
                        _ = terminated.recv() => {}
                        _ = hung_up.recv() => {}
                    }
                })
                .await;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// What is told of an error, a line each. Of a configuration everything is told that is wrong with it.
pub(crate) fn messages(error: &anyhow::Error) -> Vec<String> {
    match error.downcast_ref::<Problems>() {
        Some(Problems { problems }) => problems.clone(),
        None => vec![format!("{error:#}")],
    }
}

/// How much is written down: warnings, or what `TOWLINE_LOG` says.
fn log_level() -> tracing::Level {
    let wanted = env::var("TOWLINE_LOG").ok();
    wanted
        .and_then(|word| word.parse().ok())
        .unwrap_or(tracing::Level::WARN)
}

impl ServeOptions {
    /// The configuration that these flags, the environment and the file lead to.
    pub(crate) fn config(self) -> anyhow::Result<ServeConfig> {
        let directory = env::current_dir().context("cannot tell the current directory")?;
        let file = self.file()?;
        let file = file
            .as_ref()
            .map(|(name, text)| (name.as_str(), text.as_str()));
        let config = ServeConfig::read(&Sources {
            file,
            environment: &|name| env::var_os(name),
            flags: Flags {
                listen: self.listen,
                public: self.public,
                roots: self.root.iter().map(|root| directory.join(root)).collect(),
                data: self.data.map(|data| directory.join(data)),
                token: self.token.map(Secret),
                agent: self.agent,
                tls_cert: self.tls_cert,
                tls_key: self.tls_key,
                behind_proxy: self.behind_proxy.then_some(true),
                allow_bypass_permissions: self.allow_bypass_permissions.then_some(true),
                allow_any_rule: self.allow_any_rule.then_some(true),
            },
            directory: directory.clone(),
        })?;
        if let Some((name, _)) = file.filter(|_| config.has_token_in_file) {
            warn_of_readers(name);
        }
        Ok(config)
    }

    /// The configuration file that was named.
    pub(crate) fn named_file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The configuration file with its name: the one that was named, or the usual one if it is there.
    fn file(&self) -> anyhow::Result<Option<(String, String)>> {
        let read = |path: &PathBuf| {
            fs::read_to_string(path).map(|text| (path.display().to_string(), text))
        };
        if let Some(path) = &self.config {
            let read = read(path).with_context(|| format!("cannot read {}", path.display()))?;
            return Ok(Some(read));
        }
        let Some(path) = usual_file() else {
            return Ok(None);
        };
        match read(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
}

/// Says that a file with a token is not for its owner alone.
fn warn_of_readers(name: &str) {
    let mode = fs::metadata(name).map(|metadata| metadata.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        let words = "holds the token, and others can read it";
        // Whoever cannot be warned is not kept from starting.
        writeln!(
            io::stderr().lock(),
            "towline: {name} {words}: run `chmod 600 {name}`, and set a new token if somebody may have"
        )
        .ok();
    }
}

/// Where the configuration file is if nobody says otherwise.
pub(crate) fn usual_file() -> Option<PathBuf> {
    let folder = env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| env::home_dir().map(|home| home.join(".config")))?;
    Some(folder.join("towline/serve.toml"))
}

/// What there is on this machine.
pub(crate) fn surroundings() -> anyhow::Result<Surroundings> {
    let has = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_key = has("ANTHROPIC_API_KEY") || has("ANTHROPIC_AUTH_TOKEN");
    Ok(Surroundings {
        found: Found {
            towline: env::current_exe().context("cannot tell where this program is")?,
            claude: AgentCommand::claude()
                .ok()
                .map(|claude| claude.program().into()),
            api_key: if has_key {
                ApiKey::Present
            } else {
                ApiKey::Absent
            },
        },
        past: Past::new(Home::from_env()?),
    })
}

fn announce(running: &Running, config: &ServeConfig) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for warning in &running.warnings {
        writeln!(io::stderr().lock(), "towline: {warning}")?;
    }
    writeln!(out, "listening on {}", running.address)?;
    writeln!(out, "open {}", running.link)?;
    if let Some(file) = &running.token_file {
        writeln!(out, "the token is in {}", file.display())?;
    }
    writeln!(out, "agents: {}", agents(&running.agents))?;
    let is_reachable = !running.address.ip().is_loopback() || !config.public.is_empty();
    if is_reachable
        && out.is_terminal()
        && let Ok(code) = qr::code(&running.link)
    {
        writeln!(out, "{code}")?;
    }
    out.flush()
}

/// The agents by name, the default one marked.
pub(crate) fn agents(agents: &Agents) -> String {
    let default = &agents.default_choice().name;
    let names = agents.choices().iter().map(|choice| {
        if choice.name == *default {
            format!("{} (default)", choice.name)
        } else {
            choice.name.clone()
        }
    });
    names.collect::<Vec<_>>().join(", ")
}
