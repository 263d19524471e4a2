//! Puts a bridge together from its configuration: log, hub, agents, access, web. [`Running`] is one that listens.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;
use tokio::net::TcpListener;

use crate::{
    Allowances, Bridge, Desk, Library, Parts,
    access::{AllowedHosts, Audit, HostError, Kept, RootError, Roots, Token, TokenError},
    agents::{Agents, Found, NoSuchAgent},
    hub::Limits,
    launch,
    library::restored,
    log::{Indexer, LogError, Progress, SqliteLog},
    past::Past,
    project::Projects,
    settings::{Encryption, ServeConfig},
    unanswered,
    web::{Server, Site, Tls, router},
};

/// What the bridge finds where it runs.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The agents of the machine.
    pub found: Found,
    /// Where agents keep their sessions.
    pub past: Past,
}

/// A bridge that listens.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// The link that lets a person in. It is as good as the token.
    pub link: String,
    /// Where the token is kept; nothing if it was given.
    pub token_file: Option<PathBuf>,
    /// What had to be put right.
    pub warnings: Vec<String>,
    /// The agents that can be chosen.
    pub agents: Arc<Agents>,
    bridge: Bridge,
    server: Server,
}

/// Why a bridge cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// A root cannot be used.
    #[error("a root cannot be used; name a folder that is there with --root")]
    Root(#[from] RootError),
    /// The data folder cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A name cannot be a host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// There is no agent of that name.
    #[error(transparent)]
    Agent(#[from] NoSuchAgent),
    /// It cannot encrypt.
    #[error("TLS: {0}")]
    Tls(String),
    /// It cannot listen there.
    #[error("cannot listen on {address}: {problem}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why, and what to do.
        problem: String,
    },
}

impl Running {
    /// Starts a bridge; it takes connections once [`Running::run`] is called.
    ///
    /// # Errors
    /// When something that it needs is not there; see [`StartError`].
    pub async fn start(config: &ServeConfig, around: Surroundings) -> Result<Self, StartError> {
        let roots = Roots::new(&config.roots)?;
        let agents = Arc::new(agents(config, &around)?);
        let tls = tls(config)?;
        // First the port: another bridge that runs already is told by that, and not by its log.
        let (listener, address) = listen(config.listen).await?;
        let log = SqliteLog::open(&config.data)?;
        let mut warnings = Vec::new();
        let (token, token_file) = token(config, &mut warnings)?;
        index(log.indexer()?);
        let library = Library::new(&log, around.past);
        let sessions = library.restore()?;
        let audit = Audit::new(config.data.join("audit.jsonl"), AUDIT_BYTES);
        let audit = Arc::new(Mutex::new(audit));
        let bridge = Bridge::start(Parts {
            log,
            library,
            sessions,
            launch: launch(
                Arc::clone(&agents),
                roots.clone(),
                config.bypass_permissions,
                config.limits.question_timeout,
            ),
            limits: Limits {
                agents: config.limits.sessions,
                idle: config.limits.idle_stop.map_or(u64::MAX, |idle| {
                    u64::try_from(idle.as_millis()).unwrap_or(u64::MAX)
                }),
            },
            unanswered: unanswered(Arc::clone(&audit)),
        });
        let desk = Desk::new(
            bridge.clone(),
            Arc::clone(&agents),
            Projects::new(roots),
            Allowances {
                bypass: config.bypass_permissions,
                any_rule: config.any_rule,
            },
            audit,
        );
        let hosts = AllowedHosts::new(address, config.reach(), &config.public)?;
        let link = token.link(&base(config, address));
        let site = Site::new(desk, token, hosts, config);
        let server = Server::new(listener, router(Arc::new(site)), config.limits.viewers, tls);
        Ok(Self {
            address,
            link,
            token_file,
            warnings,
            agents,
            bridge,
            server,
        })
    }

    /// Serves until `end`, then ends all agents and writes what is to be written.
    pub async fn run(self, end: impl Future<Output = ()>) {
        tokio::select! {
            () = self.server.run() => {}
            () = end => {}
        }
        self.bridge.close().await;
    }
}

/// What a bridge would find if it were started, without starting one.
#[derive(Debug)]
pub struct Checkup {
    /// Where it would listen.
    pub listen: Result<SocketAddr, StartError>,
    /// The names under which it would be reached.
    pub hosts: Result<(), StartError>,
    /// Whether it would encrypt.
    pub tls: Result<Option<()>, StartError>,
    /// The folders whose projects may be used.
    pub roots: Result<Roots, StartError>,
    /// How many sessions its log has; nothing if there is none yet.
    pub data: Result<Option<usize>, StartError>,
    /// The token in its file; nothing if there is no file yet, or if it was given otherwise.
    pub token: Result<Option<Kept>, StartError>,
    /// The agents that can be chosen.
    pub agents: Result<Agents, StartError>,
}

impl Checkup {
    /// Looks at everything that [`Running::start`] needs, and leaves nothing behind.
    pub async fn of(config: &ServeConfig, around: &Surroundings) -> Self {
        let listen = listen(config.listen).await.map(|(_, address)| address);
        let address = *listen.as_ref().unwrap_or(&config.listen);
        let hosts = AllowedHosts::new(address, config.reach(), &config.public);
        Self {
            listen,
            hosts: hosts.map(drop).map_err(StartError::from),
            tls: tls(config).map(|tls| tls.map(drop)),
            roots: Roots::new(&config.roots).map_err(StartError::from),
            data: sessions(&config.data).map_err(StartError::from),
            token: match config.token {
                Some(_) => Ok(None),
                None => Token::look(&config.data).map_err(StartError::from),
            },
            agents: agents(config, around).map_err(StartError::from),
        }
    }
}

fn agents(config: &ServeConfig, around: &Surroundings) -> Result<Agents, NoSuchAgent> {
    Agents::new(&around.found, &config.agents, config.agent.as_deref())
}

fn tls(config: &ServeConfig) -> Result<Option<Tls>, StartError> {
    match &config.encryption {
        Encryption::Tls { cert, key } => {
            let tls = Tls::from_files(cert, key).map_err(StartError::Tls)?;
            Ok(Some(tls))
        }
        Encryption::None | Encryption::BehindProxy => Ok(None),
    }
}

fn sessions(data: &Path) -> Result<Option<usize>, LogError> {
    let log = SqliteLog::look(data)?;
    log.map(|log| Ok(restored(&log)?.len())).transpose()
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |error: io::Error| StartError::Listen {
        address,
        problem: match error.kind() {
            io::ErrorKind::AddrInUse => {
                "something listens there already; stop it, or choose another port with --listen \
                 (port 0 takes a free one)"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "that is not allowed; choose a port above 1023 with --listen".to_owned()
            }
            _ => error.to_string(),
        },
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

fn token(
    config: &ServeConfig,
    warnings: &mut Vec<String>,
) -> Result<(Token, Option<PathBuf>), StartError> {
    if let Some(token) = &config.token {
        return Ok((token.clone(), None));
    }
    let kept = Token::load_or_create(&config.data)?;
    warnings.extend(kept.warning);
    Ok((kept.token, Some(kept.file)))
}

/// The address that a person types.
fn base(config: &ServeConfig, address: SocketAddr) -> String {
    let scheme = match config.encryption {
        Encryption::None => "http",
        Encryption::Tls { .. } | Encryption::BehindProxy => "https",
    };
    match (config.public.first(), &config.encryption) {
        (Some(name), Encryption::BehindProxy) => format!("{scheme}://{name}/"),
        (Some(name), _) if name.contains(':') => format!("{scheme}://{name}/"),
        (Some(name), _) => format!("{scheme}://{name}:{}/", address.port()),
        (None, _) => format!("{scheme}://{address}/"),
    }
}

/// Fills the search index, a little at a time, for as long as the program runs.
fn index(mut indexer: Indexer) {
    thread::spawn(move || {
        loop {
            let began = Instant::now();
            match indexer.step() {
                Ok(Progress::More) => thread::sleep(began.elapsed() * REST),
                Ok(Progress::Done) => thread::sleep(NOTHING_TO_INDEX),
                Err(error) => {
                    tracing::warn!(%error, "the search index cannot be filled");
                    thread::sleep(NOTHING_TO_INDEX);
                }
            }
        }
    });
}

/// When the audit begins a new file.
const AUDIT_BYTES: u64 = 10 << 20;
/// How many times as long as it worked the indexer rests: sessions go first.
const REST: u32 = 9;
/// How long to wait for something to index.
const NOTHING_TO_INDEX: Duration = Duration::from_secs(2);
