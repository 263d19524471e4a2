//! A running server, as a test holds it.

use std::{
    fmt, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{net::TcpListener, task::JoinHandle};

use super::{Kind, Recorded, Reply, Script, server::serve, shared::Shared};

/// A scripted Messages API. It stops, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct ScriptApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// Where a server listens and what it keeps.
#[derive(Clone)]
pub struct Options {
    /// The address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Answers `/_script` also under names that are not an address.
    pub allow_remote: bool,
    /// How many requests the record keeps.
    pub keep_requests: usize,
    /// How many bytes of them it keeps.
    pub keep_bytes: usize,
    /// How large the body of a request may be.
    pub body_limit: usize,
    /// How long a client may take for the head of a request.
    pub header_time: Duration,
    /// How long a client may take for its body.
    pub body_time: Duration,
    /// How many connections are served at the same time.
    pub most_connections: usize,
    /// Is called with each request that ended, from the task that served it.
    pub on_end: Option<OnEnd>,
}

/// What to do with a request that ended.
pub type OnEnd = Arc<dyn Fn(&Recorded) + Send + Sync>;

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            allow_remote: false,
            keep_requests: 1_000,
            keep_bytes: 64 << 20,
            body_limit: 64 << 20,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            most_connections: 1_024,
            on_end: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// What a test waited for did not come.
#[derive(Debug, thiserror::Error)]
#[error("{what} did not come within {} s; {seen}", TIME.as_secs())]
pub struct TimedOut {
    what: String,
    seen: String,
}

impl ScriptApi {
    /// Starts a server on a free port of the loopback address.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, Options::default()).await
    }

    /// Starts a server with these options.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn start_with(script: Script, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script, options));
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            server,
        })
    }

    /// Where it listens, as `ANTHROPIC_BASE_URL` wants it.
    #[must_use]
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            // It listens everywhere; on this machine it is found here.
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{address}")
    }

    /// The address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests of the conversation so far: calls of the model that are no side requests.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        let mut all = self.record();
        all.retain(|entry| entry.kind == Kind::Message);
        all
    }

    /// All requests so far, of every kind.
    #[must_use]
    pub fn record(&self) -> Vec<Recorded> {
        self.shared.state().record.after(0).cloned().collect()
    }

    /// Why requests so far were refused, as the API would; none of them got a reply of the script. It has those whose
    /// requests the record has dropped, too.
    #[must_use]
    pub fn refusals(&self) -> Vec<String> {
        self.shared.state().record.refusals()
    }

    /// Waits until so many requests of the conversation have come in, and gives them.
    ///
    /// # Errors
    /// When they do not come within a minute.
    pub async fn wait_for_requests(&self, count: usize) -> Result<Vec<Recorded>, TimedOut> {
        let come = self.shared.wait_for(|state| {
            let entries = state.record.after(0);
            let messages = entries.filter(|entry| entry.kind == Kind::Message);
            (messages.count() >= count).then_some(())
        });
        self.in_time(&format!("{count} requests"), come).await?;
        Ok(self.requests())
    }

    /// Waits until the request with this number has ended, and gives it.
    ///
    /// # Errors
    /// When it does not end within a minute.
    pub async fn wait_for_end(&self, index: u64) -> Result<Recorded, TimedOut> {
        let ended = self.shared.wait_for(|state| {
            let mut entries = state.record.after(0);
            let entry = entries.find(|entry| entry.index == index)?;
            entry.end.is_some().then(|| entry.clone())
        });
        self.in_time(&format!("the end of request {index}"), ended)
            .await
    }

    /// Waits until a reply is held at this gate.
    ///
    /// # Errors
    /// When none comes there within a minute.
    pub async fn wait_until_held(&self, gate: &str) -> Result<(), TimedOut> {
        let held = self.shared.gates.held(gate);
        self.in_time(&format!("a reply at the gate `{gate}`"), held)
            .await
    }

    /// Releases a gate, for good.
    pub fn release(&self, gate: &str) {
        self.shared.gates.release(gate);
    }

    /// Adds a reply behind those that are there. More than ten thousand are not kept.
    pub fn push(&self, reply: Reply) {
        self.shared.add(vec![reply]).ok();
    }

    /// Starts anew: the script unused, the record empty, the gates closed; who is held is cut.
    pub fn reset(&self) {
        self.shared.reset();
    }

    /// Stops, and waits until all connections are closed.
    pub async fn stop(mut self) {
        self.server.abort();
        // It was aborted, which is what this says.
        (&mut self.server).await.ok();
    }

    async fn in_time<T>(&self, what: &str, wanted: impl Future<Output = T>) -> Result<T, TimedOut> {
        tokio::time::timeout(TIME, wanted)
            .await
            .map_err(|_| TimedOut {
                what: what.to_owned(),
                seen: format!("the server says {}", self.shared.describe()),
            })
    }
}

impl Drop for ScriptApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Longer than a loaded machine takes for anything that comes at all.
const TIME: Duration = Duration::from_secs(60);
