//! [`Socket`]: one WebSocket, whatever is spoken over it. It bounds what comes (size, rate, silence) and what goes out
//! (a peer that takes no bytes is let go), and tells the difference between a slow peer and a dead one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use tokio::time::{Interval, MissedTickBehavior, interval_at, timeout};

use crate::access::{Bucket, Rate, answered_subprotocol};

use super::Site;

/// One WebSocket.
pub(super) struct Socket {
    stream: WebSocket,
    bucket: Bucket,
    /// How many messages in a row came too fast.
    strikes: u32,
    heard_at: Instant,
    ping: Interval,
}

/// What a client did.
#[derive(Debug)]
pub(super) enum Heard {
    /// It said something.
    Text(String),
    /// It said something that cannot be read, or too fast to be listened to; and why, for the client.
    Unheard(String),
    /// It is gone, or was sent away.
    Gone,
}

/// The client is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone;

/// Why a client is sent away, in the numbers of the WebSocket protocol.
#[derive(Clone, Copy, Debug)]
pub(super) enum Farewell {
    /// The bridge is ending, or the client was silent for too long.
    GoingAway = 1001,
    /// It talks too fast.
    Policy = 1008,
    /// A message was too large.
    TooLarge = 1009,
    /// It cannot keep up; it may come again.
    TryAgain = 1013,
}

/// Takes over a connection, unless there are too many.
pub(super) fn upgrade<F>(
    site: &Arc<Site>,
    upgrade: WebSocketUpgrade,
    headers: &HeaderMap,
    serve: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send,
{
    // The server's own count ends where a connection becomes a WebSocket.
    let Ok(room) = Arc::clone(&site.sockets).try_acquire_owned() else {
        let words = "there are as many connections as there may be: try again later\n";
        let again = [(header::RETRY_AFTER, "5")];
        return (StatusCode::SERVICE_UNAVAILABLE, again, words).into_response();
    };
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL);
    let offered = offered.and_then(|offered| offered.to_str().ok());
    let answered = offered.and_then(answered_subprotocol).map(str::to_owned);
    let rate = site.rate;
    upgrade
        .max_message_size(site.frame_bytes)
        .max_frame_size(site.frame_bytes)
        .protocols(answered)
        .on_upgrade(move |stream| async move {
            serve(Socket::new(stream, rate)).await;
            drop(room);
        })
}

impl Socket {
    fn new(stream: WebSocket, rate: Rate) -> Self {
        let now = Instant::now();
        let mut ping = interval_at((now + PING).into(), PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stream,
            bucket: Bucket::new(rate, now),
            strikes: 0,
            heard_at: now,
            ping,
        }
    }

    /// What the client does next. Can be dropped and called again without losing anything.
    pub(super) async fn hear(&mut self) -> Heard {
        loop {
            tokio::select! {
                message = self.stream.recv() => {
                    self.heard_at = Instant::now();
                    match message {
                        Some(Ok(Message::Text(text))) => return self.count(Ok(text.to_string())).await,
                        Some(Ok(Message::Binary(bytes))) => {
                            let text = String::from_utf8(bytes.into());
                            let problem = "a binary message that is no UTF-8";
                            return self.count(text.map_err(|_| problem)).await;
                        }
                        // Pings are answered below.
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        Some(Ok(Message::Close(_))) | None => return Heard::Gone,
                        Some(Err(error)) => {
                            if error.to_string().contains("too long") {
                                self.close(Farewell::TooLarge, "a message is too large").await;
                            }
                            return Heard::Gone;
                        }
                    }
                }
                _ = self.ping.tick() => {
                    if self.heard_at.elapsed() >= SILENCE {
                        self.close(Farewell::GoingAway, "nothing was heard for too long").await;
                        return Heard::Gone;
                    }
                    if self.write(Message::Ping(Vec::new().into())).await.is_err() {
                        return Heard::Gone;
                    }
                }
            }
        }
    }

    /// Says something.
    ///
    /// # Errors
    /// When the client is gone, or takes nothing.
    pub(super) async fn say(&mut self, text: &str) -> Result<(), Gone> {
        self.write(Message::Text(text.into())).await
    }

    /// Sends the client away.
    pub(super) async fn close(&mut self, why: Farewell, words: &'static str) {
        let frame = CloseFrame {
            code: why as u16,
            reason: words.into(),
        };
        // Who is gone already needs no farewell.
        self.write(Message::Close(Some(frame))).await.ok();
    }

    async fn count(&mut self, text: Result<String, &'static str>) -> Heard {
        match self.bucket.take(Instant::now()) {
            Ok(()) => {
                self.strikes = 0;
                text.map_or_else(|why| Heard::Unheard(why.to_owned()), Heard::Text)
            }
            Err(wait) => {
                self.strikes += 1;
                if self.strikes > MOST_STRIKES {
                    self.close(Farewell::Policy, "too many messages").await;
                    return Heard::Gone;
                }
                let seconds = wait.as_secs_f32();
                Heard::Unheard(format!(
                    "too many messages: this one is left out; wait {seconds:.1} s"
                ))
            }
        }
    }

    async fn write(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(STUCK, self.stream.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// How often a client is asked whether it is there.
const PING: Duration = Duration::from_secs(30);
/// After how long a silent client is gone.
const SILENCE: Duration = Duration::from_secs(90);
/// How long a client may take for one message.
const STUCK: Duration = Duration::from_secs(60);
/// How many messages in a row may come too fast.
const MOST_STRIKES: u32 = 50;
