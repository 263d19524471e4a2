//! The bridge on the web: one server for the page, the HTTP API and the WebSocket protocols.
//!
//! Every request passes `guard` first, upgrades included: its host and origin, then its token. What the surfaces do
//! is theirs; they know the [`Desk`] and nothing of each other.

mod api;
mod guard;
mod health;
mod page;
mod pocket;
mod room;
mod server;
mod session_dialect;
mod socket;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Extension, Router, extract::DefaultBodyLimit, middleware, routing::get};
use tokio::sync::Semaphore;

use crate::{
    Desk,
    access::{AllowedHosts, LoginThrottle, Rate, Reach, Token},
    settings::ServeConfig,
};

pub use server::{Server, Tls};

/// What the surfaces need besides the desk.
#[derive(Debug)]
pub struct Site {
    /// Where wishes arrive.
    pub desk: Desk,
    /// What lets a client in.
    pub token: Token,
    /// Under which names it is reached.
    pub hosts: AllowedHosts,
    /// How it is reached.
    pub reach: Reach,
    /// The largest message of a client, in bytes.
    pub frame_bytes: usize,
    /// How fast a client may send messages.
    pub rate: Rate,
    throttle: Mutex<LoginThrottle>,
    /// Room for WebSockets.
    sockets: Arc<Semaphore>,
}

impl Site {
    /// A site in front of a desk.
    pub fn new(desk: Desk, token: Token, hosts: AllowedHosts, config: &ServeConfig) -> Self {
        Self {
            desk,
            token,
            hosts,
            reach: config.reach(),
            frame_bytes: config.limits.frame_bytes,
            rate: config.limits.rate,
            throttle: Mutex::default(),
            sockets: Arc::new(Semaphore::new(config.limits.viewers)),
        }
    }
}

/// How large the body of a request may be, and how long it may take.
#[derive(Clone, Copy, Debug)]
struct BodyBounds {
    bytes: usize,
    time: Duration,
}

/// Everything that can be asked of a site.
pub fn router(site: Arc<Site>) -> Router {
    let own = BodyBounds {
        bytes: site.frame_bytes,
        time: BODY_TIME,
    };
    let open = api::open_routes()
        .layer(middleware::from_fn_with_state(LOGIN, guard::take_body))
        .merge(page::routes())
        .route("/healthz", get(health::healthz));
    let closed = api::routes()
        .route("/metrics", get(health::metrics))
        .route("/ws", get(pocket::serve))
        .route("/ws/events", get(api::events::over_socket))
        .route("/ws/session", get(session_dialect::serve));
    closed
        .layer(middleware::from_fn_with_state(own, guard::take_body))
        .layer(middleware::from_fn(guard::let_in))
        .merge(open)
        .layer(middleware::from_fn(guard::check_host))
        .layer(DefaultBodyLimit::max(site.frame_bytes))
        .layer(middleware::map_response(guard::protect))
        .layer(Extension(site))
}

/// A token fits in, and nobody needs longer to send one.
const LOGIN: BodyBounds = BodyBounds {
    bytes: 4 << 10,
    time: Duration::from_secs(10),
};
/// How long a body may take from who is let in: a picture over a slow line.
const BODY_TIME: Duration = Duration::from_secs(60);
