//! The server itself: takes connections, as far as there is [`Room`], gives a slow one no time, and encrypts if it is to.

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};
use tower::ServiceExt as _;

use super::room::{Place, Room, Visitor};

/// A server that has not begun yet.
pub struct Server {
    listener: TcpListener,
    router: Router,
    connections: usize,
    tls: Option<Tls>,
}

/// How to encrypt.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// With the certificates and the key of these files.
    ///
    /// # Errors
    /// When they cannot be read, or do not belong together.
    pub fn from_files(certificates: &Path, key: &Path) -> Result<Self, String> {
        let problem =
            |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| problem(certificates, &error))?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| problem(key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(chain, secret)
            })
            .map_err(|error| problem(certificates, &error))?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

impl Server {
    /// A server for what comes in at a listener, with so many connections at once that have shown a token.
    pub fn new(
        listener: TcpListener,
        router: Router,
        connections: usize,
        tls: Option<Tls>,
    ) -> Self {
        Self {
            listener,
            router,
            connections,
            tls,
        }
    }

    /// Serves for ever. Connections end with it.
    pub async fn run(self) {
        let room = Room::new(self.connections);
        let mut connections = tokio::task::JoinSet::new();
        loop {
            // Connections that have ended give back their room by themselves; this forgets about them.
            while connections.try_join_next().is_some() {}
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Too many open files, for one: others have to end first.
                    tracing::warn!(%error, "a connection cannot be taken");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(place) = room.enter() else {
                turn_away(&stream);
                continue;
            };
            let (router, tls) = (self.router.clone(), self.tls.clone());
            connections.spawn(async move {
                let caller = Caller {
                    address,
                    visitor: place.visitor().clone(),
                };
                let ended = tokio::select! {
                    ended = connection(stream, caller, router, tls) => ended,
                    why = has_to_go(&place) => Err(why.to_owned()),
                };
                if let Err(error) = ended {
                    tracing::debug!(%address, error, "a connection has failed");
                }
            });
        }
    }
}

/// Whose connection it is.
struct Caller {
    address: SocketAddr,
    visitor: Visitor,
}

async fn connection(
    stream: TcpStream,
    caller: Caller,
    router: Router,
    tls: Option<Tls>,
) -> Result<(), String> {
    // What is small and urgent must not wait for more.
    stream.set_nodelay(true).ok();
    match tls {
        None => talk(stream, caller, router).await,
        Some(Tls(acceptor)) => {
            let accepted = tokio::time::timeout(HEADERS, acceptor.accept(stream)).await;
            let stream = accepted
                .map_err(|_| "no TLS handshake in time")?
                .map_err(|error| error.to_string())?;
            talk(stream, caller, router).await
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    caller: Caller,
    router: Router,
) -> Result<(), String> {
    let service = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(caller.address));
        request.extensions_mut().insert(caller.visitor.clone());
        request
    });
    let talking = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    talking.await.map_err(|error| error.to_string())
}

/// Ends when a stranger has to go, and says why.
async fn has_to_go(place: &Place) -> &'static str {
    let too_long = async {
        tokio::time::sleep(STRANGER).await;
        if place.visitor().is_known() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = place.is_needed() => "somebody else needs the place, and no token was shown",
        () = too_long => "no token was shown in time",
    }
}

/// Says that there is no room, in as few words as there are.
fn turn_away(stream: &TcpStream) {
    const WORDS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let written: io::Result<usize> = stream.try_write(WORDS);
    // Whoever is not there any more needs no answer.
    drop(written);
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tls")
    }
}

/// How long the head of a request may take, and a handshake.
const HEADERS: Duration = Duration::from_secs(10);
/// How long a connection may be there on which nobody has shown a token, whatever it does: places are few.
const STRANGER: Duration = Duration::from_secs(60);
/// How large the head of a request may be.
const HEADER_BYTES: usize = 64 << 10;
/// How long to wait when no connection can be taken.
const PAUSE: Duration = Duration::from_millis(100);
