//! `/ws`: the protocol of document 004 §8, as the ccpocket app speaks it today. One task a connection.
//!
//! It translates: wishes go to the [`Desk`](crate::Desk), what is shown comes from a [`Viewer`]. A connection sees every
//! session; `?session=ID`, an addition of ours, limits it to one. Two more things differ from the app's own bridge:
//! a wrong token is refused with 401 and never gets this far, and an input whose `baseSeq` is older than what others
//! have said is taken all the same: it has its place in the one order that everybody sees.

mod answers;
mod begin;
mod frames;
mod history;
mod inputs;
mod lists;
mod requests;
mod stream;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Extension,
    extract::{Query, WebSocketUpgrade},
    http::HeaderMap,
    response::Response,
};
use serde::Deserialize;
use tokio::{
    task::{JoinError, JoinSet},
    time::sleep_until,
};
use towline_protocol::{
    ToHost, Wire,
    dialect::pocket::{
        BridgeId, ErrorCode, HistoryRange, Problem, SnapshotReason, StatusChange, ToClient,
        ToServer,
    },
};

use crate::{
    Content, Denial, Desk, Frame, Kind, Shown, Viewer,
    access::{RootError, Who},
    hub::{Item, Refusal, Scope},
};

use super::{
    Site,
    socket::{self, Farewell, Gone, Heard, Socket},
};
use frames::{Teller, problem};
use stream::Streams;

/// What stands behind the `?`.
#[derive(Debug, Deserialize)]
pub(super) struct Address {
    session: Option<BridgeId>,
}

/// Takes over a connection.
pub(super) async fn serve(
    Extension(site): Extension<Arc<Site>>,
    Extension(who): Extension<Who>,
    Query(address): Query<Address>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let on = Arc::clone(&site);
    socket::upgrade(&site, upgrade, &headers, move |socket| async move {
        let connection = Connection::open(on, who, socket, address.session).await;
        // Whoever is gone needs nothing more.
        connection.run().await.ok();
    })
}

/// One app.
struct Connection {
    site: Arc<Site>,
    who: Who,
    socket: Socket,
    viewer: Viewer,
    /// The only session that it is shown.
    only: Option<BridgeId>,
    teller: Teller,
    streams: Streams,
    /// The inputs that it sent itself and need not be told of.
    own: HashSet<(BridgeId, u64)>,
    /// The last frame that it was told, by session.
    told: HashMap<BridgeId, u64>,
    /// What takes longer: the answers come when they come.
    slow: JoinSet<Vec<ToClient>>,
    list: ListTimer,
}

/// When the list of sessions is to be sent again: not with every change.
#[derive(Debug)]
struct ListTimer {
    sent_at: Instant,
    is_due: bool,
}

/// What happens next.
enum Next {
    Heard(Heard),
    Shown(Option<Shown>),
    Done(Result<Vec<ToClient>, JoinError>),
    ListDue,
}

impl Connection {
    async fn open(site: Arc<Site>, who: Who, socket: Socket, only: Option<BridgeId>) -> Self {
        let scope = match only {
            Some(_) => Scope::Attached,
            None => Scope::Everything,
        };
        let viewer = site.desk.bridge().watch(scope, OUTBOX).await;
        Self {
            site,
            who,
            socket,
            viewer,
            only,
            teller: Teller::default(),
            streams: Streams::default(),
            own: HashSet::new(),
            told: HashMap::new(),
            slow: JoinSet::new(),
            list: ListTimer {
                sent_at: Instant::now(),
                is_due: false,
            },
        }
    }

    async fn run(mut self) -> Result<(), Gone> {
        self.send_list().await?;
        let projects = lists::projects(&self.site.desk).await;
        self.send(&projects).await?;
        if let Some(only) = self.only.clone() {
            let session = self.desk().describe(&only).await;
            match session {
                Ok(session) => self.viewer.attach(&only, session.record.last_seq).await,
                Err(denial) => self.send(&denied(&denial, Some(&only))).await?,
            }
        }
        loop {
            match self.next().await {
                Next::Heard(Heard::Text(text)) => self.heard(text).await?,
                Next::Heard(Heard::Unheard(why)) => {
                    let error = ToClient::error(ErrorCode::InvalidMessage, why);
                    self.send(&error).await?;
                }
                Next::Heard(Heard::Gone) => return Ok(()),
                Next::Shown(Some(shown)) => self.shown(shown).await?,
                Next::Shown(None) => {
                    let words = "too slow; connect again and ask for what was missed";
                    self.socket.close(Farewell::TryAgain, words).await;
                    return Ok(());
                }
                Next::Done(Ok(messages)) => self.send_all(&messages).await?,
                Next::Done(Err(error)) => {
                    let words = format!("a request could not be finished: {error}");
                    self.send(&problem(words)).await?;
                }
                Next::ListDue => self.send_list().await?,
            }
        }
    }

    async fn next(&mut self) -> Next {
        let Self {
            socket,
            viewer,
            slow,
            list,
            ..
        } = self;
        tokio::select! {
            heard = socket.hear() => Next::Heard(heard),
            shown = viewer.next() => Next::Shown(shown),
            Some(done) = slow.join_next() => Next::Done(done),
            () = sleep_until((list.sent_at + BETWEEN_LISTS).into()), if list.is_due => Next::ListDue,
        }
    }

    fn desk(&self) -> &Desk {
        &self.site.desk
    }

    async fn send(&mut self, message: &ToClient) -> Result<(), Gone> {
        self.socket.say(message.to_json().as_str()).await
    }

    async fn send_all(&mut self, messages: &[ToClient]) -> Result<(), Gone> {
        for message in messages {
            self.send(message).await?;
        }
        Ok(())
    }

    async fn send_list(&mut self) -> Result<(), Gone> {
        self.list = ListTimer {
            sent_at: Instant::now(),
            is_due: false,
        };
        let list = lists::sessions(self.desk(), self.only.as_ref()).await;
        self.send(&list).await
    }

    /// Answers a wish that was not granted.
    async fn refuse(&mut self, denial: &Denial, session: Option<&BridgeId>) -> Result<(), Gone> {
        let error = denied(denial, session);
        self.send(&error).await
    }

    async fn heard(&mut self, text: String) -> Result<(), Gone> {
        let message = match ToServer::from_json(text) {
            Ok(message) => message,
            Err(error) => return self.send(&ToClient::invalid(&error)).await,
        };
        match message {
            ToServer::Start(start) => self.start(*start).await,
            ToServer::ResumeSession(resume) => self.resume(*resume).await,
            ToServer::Fork(fork) => self.fork(fork).await,
            ToServer::Input(input) => self.input(*input).await,
            ToServer::Approve(approve) => self.approve(approve).await,
            ToServer::ApproveAlways(approve) => self.approve_always(approve).await,
            ToServer::Reject(reject) => self.reject(reject).await,
            ToServer::Answer(answer) => self.answer(answer).await,
            ToServer::ListSessions(_) => self.send_list().await,
            ToServer::StopSession(session) => {
                let stopped = self.desk().stop(&self.who, &session.session_id).await;
                match stopped {
                    Ok(()) => self.send_list().await,
                    Err(denial) => self.refuse(&denial, Some(&session.session_id)).await,
                }
            }
            ToServer::GetHistory(session) => self.history(&session.session_id).await,
            ToServer::GetHistoryDelta(delta) => {
                self.history_since(&delta.session_id, delta.since_seq).await
            }
            // What the app can do beyond that is never sent.
            ToServer::ClientCapabilities(_) => Ok(()),
            other => self.look_into(other).await,
        }
    }

    /// Does what takes longer beside everything else.
    async fn look_into(&mut self, message: ToServer) -> Result<(), Gone> {
        if self.slow.len() >= MOST_SLOW {
            let words = "too many requests at once: wait for an answer first";
            return self.send(&problem(words)).await;
        }
        let (site, who) = (Arc::clone(&self.site), self.who.clone());
        self.slow
            .spawn(async move { requests::answer(&site.desk, &who, message).await });
        Ok(())
    }

    async fn shown(&mut self, shown: Shown) -> Result<(), Gone> {
        match shown {
            Shown::Item(item) => self.item(item).await,
            Shown::Gap { session, after } => {
                let gap = ToClient::HistorySnapshot(HistoryRange {
                    session_id: Some(session),
                    from_seq: after + 1,
                    to_seq: after,
                    reason: Some(SnapshotReason::Gap),
                    ..HistoryRange::default()
                });
                self.send(&gap).await
            }
            Shown::Failed(error) => self.send(&problem(error.to_string())).await,
        }
    }

    async fn item(&mut self, item: Item) -> Result<(), Gone> {
        match item {
            Item::Frame { session, frame } => self.frame(&session, &frame).await,
            Item::Delta { session, delta } => match self.streams.delta(&session, &delta) {
                Some(piece) => self.send(&piece).await,
                None => Ok(()),
            },
            Item::Live {
                session,
                status,
                drafts,
                ..
            } => {
                let pieces = self.streams.drafts(&session, &drafts);
                self.send(&status_of(session, status)).await?;
                self.send_all(&pieces).await
            }
            Item::Status { session, status } => {
                self.list.is_due = true;
                self.send(&status_of(session, status)).await
            }
            Item::Session(_) => {
                self.list.is_due = true;
                Ok(())
            }
            Item::Trouble(Some(why)) => {
                let words = format!("the log cannot be written, nothing new is taken in: {why}");
                self.send(&problem(words)).await
            }
            Item::Trouble(None) => {
                let words = "the log can be written again";
                self.send(&problem(words)).await
            }
            // The app has no word for how far a tool is; the viewer itself deals with who is behind.
            Item::Passing { .. } | Item::Behind { .. } => Ok(()),
        }
    }

    async fn frame(&mut self, session: &BridgeId, frame: &Frame) -> Result<(), Gone> {
        let told = self.told.entry(session.clone()).or_default();
        if frame.seq <= *told {
            return Ok(());
        }
        *told = frame.seq;
        if matches!(frame.kind, Kind::Question | Kind::Answer) {
            self.list.is_due = true;
        }
        if ends_a_message(frame) {
            self.streams.settle(session);
        }
        let is_own = frame.kind == Kind::Input && self.own.remove(&(session.clone(), frame.seq));
        if is_own {
            return Ok(());
        }
        let messages = self.teller.tell(session, frame);
        self.send_all(&messages).await
    }
}

/// Whether what is streamed from now on begins anew.
fn ends_a_message(frame: &Frame) -> bool {
    match frame.kind {
        Kind::Note => true,
        Kind::Line => match frame.content() {
            Content::Line(line) => match &line.message {
                ToHost::Assistant(line) => line.parent_tool_use_id.as_option().is_none(),
                message => matches!(message, ToHost::Result(_)),
            },
            _ => false,
        },
        Kind::Input | Kind::Question | Kind::Answer => false,
    }
}

fn status_of(session: BridgeId, status: towline_protocol::dialect::pocket::Status) -> ToClient {
    ToClient::Status(StatusChange {
        status,
        session_id: Some(session),
        ..StatusChange::default()
    })
}

/// Why a wish is not granted.
fn denied(denial: &Denial, session: Option<&BridgeId>) -> ToClient {
    let error_code = match denial {
        Denial::Path(RootError::Outside { .. }) => Some(ErrorCode::PathNotAllowed),
        Denial::Refused(Refusal::NoSession(_)) => Some(ErrorCode::SessionNotFound),
        _ => None,
    };
    ToClient::Error(Box::new(Problem {
        message: denial.to_string().into(),
        error_code,
        session_id: session.cloned(),
        ..Problem::default()
    }))
}

/// How much may wait for a client.
const OUTBOX: usize = 4 << 20;
/// How often the list of sessions is sent at most.
const BETWEEN_LISTS: Duration = Duration::from_millis(200);
/// How many requests of a client are looked into at once.
const MOST_SLOW: usize = 32;
