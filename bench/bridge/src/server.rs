//! The servers that are measured: how one is started, spoken to and ended. What their events mean is `said`'s.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{Result, http::Address};

/// The programs that a run needs.
#[derive(Clone, Debug)]
pub struct Programs {
    pub towline: PathBuf,
    pub peer: PathBuf,
    pub agent: PathBuf,
}

/// Whose server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Peer,
    Ours,
    /// The least that there can be: see `relay`.
    Bare,
}

/// A server that runs in a folder of its own. It is killed if it is dropped, its agents die with it.
#[derive(Debug)]
pub struct Server {
    pub kind: Kind,
    pub process: u32,
    address: Address,
    child: Child,
    room: TempDir,
}

/// A session whose agent waits for a prompt.
#[derive(Clone, Debug)]
pub struct Session {
    /// What the server calls it.
    name: String,
    /// What the agent calls it, where the prompt has to say so.
    agents_name: String,
}

impl Kind {
    pub const BOTH: [Self; 2] = [Self::Peer, Self::Ours];
    pub const ALL: [Self; 3] = [Self::Peer, Self::Ours, Self::Bare];

    pub fn name(self) -> &'static str {
        match self {
            Self::Peer => "sandbox-agent",
            Self::Ours => "towline",
            Self::Bare => "a bare relay",
        }
    }
}

impl Server {
    /// Starts one and waits until it answers.
    pub async fn start(kind: Kind, programs: &Programs) -> Result<Self> {
        let room = TempDir::new()?;
        // The moment between this and the server's own listening is the only one in which somebody could take it.
        let socket = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let mut command = match kind {
            Kind::Ours => ours(programs, room.path(), socket)?,
            Kind::Peer => peer(programs, room.path(), socket)?,
            Kind::Bare => bare(programs, socket)?,
        };
        let child = command
            .env_clear()
            .env("HOME", room.path())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(room.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(room.path().join("stderr"))?)
            .kill_on_drop(true)
            .spawn()?;
        let server = Self {
            kind,
            process: child.id().ok_or("it has ended at once")?,
            address: Address {
                socket,
                token: (kind == Kind::Ours).then(|| TOKEN.to_owned()),
            },
            child,
            room,
        };
        server.wait_until_up().await?;
        Ok(server)
    }

    async fn wait_until_up(&self) -> Result<()> {
        let path = match self.kind {
            Kind::Ours => "/healthz",
            Kind::Peer => "/v1/health",
            Kind::Bare => "/",
        };
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Ok(answer) = self.address.ask("GET", path, None).await
                && answer.status == 200
            {
                return Ok(());
            }
            sleep(Duration::from_millis(20)).await;
        }
        let complaint = fs::read_to_string(self.room.path().join("stderr")).unwrap_or_default();
        Err(format!("{} does not answer: {complaint}", self.kind.name()).into())
    }

    /// A place for files.
    pub fn room(&self) -> &Path {
        self.room.path()
    }

    /// Begins a session, and waits for its agent. Its number must be new to the server.
    pub async fn begin(&self, number: usize) -> Result<Session> {
        match self.kind {
            Kind::Ours => self.begin_ours().await,
            Kind::Peer => self.begin_peers(number).await,
            Kind::Bare => self.begin_bare().await,
        }
    }

    async fn begin_ours(&self) -> Result<Session> {
        let body = json!({"agent": "bench"});
        let begun = self.address.ask("POST", "/api/sessions", Some(&body));
        let id = begun.await?.json()?["record"]["id"].clone();
        let id = id.as_str().ok_or("a session without an id")?.to_owned();
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let path = format!("/api/sessions/{id}");
            let found = self.address.ask("GET", &path, None).await?.json()?;
            if found["record"]["status"] == "idle" && found.get("about").is_some() {
                return Ok(Session {
                    name: id,
                    agents_name: String::new(),
                });
            }
            sleep(Duration::from_millis(20)).await;
        }
        Err(format!("the agent of {id} does not start").into())
    }

    async fn begin_peers(&self, number: usize) -> Result<Session> {
        let path = format!("/v1/acp/bench-{number}");
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": 1, "clientCapabilities": {}}});
        let first = format!("{path}?agent=mock");
        let initialized = self.address.ask("POST", &first, Some(&initialize));
        initialized.await?.json()?;
        let new = json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}});
        let begun = self.address.ask("POST", &path, Some(&new)).await?.json()?;
        let agents_name = begun["result"]["sessionId"].as_str();
        Ok(Session {
            name: path,
            agents_name: agents_name.ok_or("a session without an id")?.to_owned(),
        })
    }

    async fn begin_bare(&self) -> Result<Session> {
        let begun = self.address.ask("POST", "/", Some(&json!({}))).await?;
        Ok(Session {
            name: format!("/{}", begun.json()?["id"]),
            agents_name: String::new(),
        })
    }

    /// Opens the event stream of a session; what has come of it is given too.
    pub async fn open(&self, session: &Session) -> Result<(TcpStream, Vec<u8>)> {
        let path = match self.kind {
            Kind::Ours => format!("/api/sessions/{}/events?after=0", session.name),
            Kind::Peer | Kind::Bare => session.name.clone(),
        };
        self.address.open(&path).await
    }

    /// Has an agent do something. The peer answers when it is done, ours when it is accepted.
    pub async fn say(&self, session: &Session, words: &str) -> Result<()> {
        let (path, body) = match self.kind {
            Kind::Ours => {
                let path = format!("/api/sessions/{}/messages", session.name);
                (path, json!({"content": words}))
            }
            Kind::Peer => {
                let prompt = json!([{"type": "text", "text": words}]);
                let params = json!({"sessionId": session.agents_name, "prompt": prompt});
                let body = json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params});
                (session.name.clone(), body)
            }
            Kind::Bare => (session.name.clone(), json!({"content": words})),
        };
        let said: Value = self.address.ask("POST", &path, Some(&body)).await?.json()?;
        match said.get("error") {
            Some(error) => Err(error.to_string().into()),
            None => Ok(()),
        }
    }

    /// Ends a session and its agent, if that can be had: the peer's 0.4.2 does not come back from it. Its agents have
    /// nothing to do then, and end with it.
    pub async fn stop(&self, session: &Session) -> Result<()> {
        if self.kind == Kind::Ours {
            let path = format!("/api/sessions/{}", session.name);
            self.address.ask("DELETE", &path, None).await?.json()?;
        }
        Ok(())
    }

    /// Lets it end.
    pub async fn end(mut self) -> Result<()> {
        if let Some(process) = i32::try_from(self.process).ok().and_then(Pid::from_raw) {
            kill_process(process, Signal::TERM)?;
        }
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

fn ours(programs: &Programs, room: &Path, socket: SocketAddr) -> Result<Command> {
    let config = room.join("serve.toml");
    let agent = serde_json::to_string(&programs.agent)?;
    fs::write(
        &config,
        format!(
            "listen = \"{socket}\"\ntoken = \"{TOKEN}\"\n[[agents]]\nname = \"bench\"\ncommand = {agent}\n\
             [limits]\nsessions = 10000\nviewers = 20000\nrate_burst = 1000000\nrate_per_second = 1000000\n"
        ),
    )?;
    let mut command = Command::new(&programs.towline);
    command.arg("serve").arg("--config").arg(config);
    Ok(command)
}

/// The peer starts agents that it knows; of those, `mock` is whatever lies in this place.
fn peer(programs: &Programs, room: &Path, socket: SocketAddr) -> Result<Command> {
    let folder = room.join(".local/share/sandbox-agent/bin/agent_processes");
    fs::create_dir_all(&folder)?;
    fs::copy(&programs.agent, folder.join("mock-acp"))?;
    let mut command = Command::new(&programs.peer);
    command.args(["server", "--no-token", "--no-telemetry", "--port"]);
    command.arg(socket.port().to_string());
    Ok(command)
}

fn bare(programs: &Programs, socket: SocketAddr) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("relay").arg(socket.to_string());
    command.arg(&programs.agent);
    Ok(command)
}

/// Made up.
const TOKEN: &str = "bench-bench-bench-bench";
/// Longer than a start takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
