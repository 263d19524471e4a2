//! `/ws/session`: the protocol of document 003 (`session.create`, `callback.request`, …), one session a connection.
//!
//! [`dialect::session`](towline_protocol::dialect::session) translates the lines; here they go to the desk and come from
//! a viewer. The session stays in the bridge when the connection is gone. What the bridge decides for itself cannot be
//! said in `initialize`: it says so in an `error` line and goes on.

mod asked;
mod wanted;

use std::{collections::HashSet, sync::Arc};

use axum::{
    Extension,
    extract::{Query, WebSocketUpgrade},
    http::HeaderMap,
    response::Response,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::{JoinError, JoinSet};
use towline_protocol::{
    Block, ControlResponse, PermissionMode, RequestId, SessionId, Text, ToAgent, ToHost,
    ToolResultBlock, User, Wire,
    dialect::{
        pocket::BridgeId,
        session::{self as dialect, ErrorCode, Opening},
    },
};

use crate::{
    Begun, Beyond, Content, Denial, Frame, Input, NoteCode, Shown, Viewer, Wish,
    access::Who,
    hub::{From, Item, Scope, Setup},
};

use super::{
    Site,
    socket::{self, Farewell, Gone, Heard, Socket},
};

/// What stands behind the `?`: how the session begins.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Address {
    /// Where it works; in the first of the folders that may be used, if not said.
    cwd: Option<String>,
    model: Option<String>,
    permission_mode: Option<String>,
    /// The agent's session to go on with.
    resume: Option<String>,
    /// Which agent.
    agent: Option<String>,
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
        let talk = Talk::open(on, who, socket, &address).await;
        // Whoever is gone needs nothing more.
        talk.run().await.ok();
    })
}

/// One host.
struct Talk {
    site: Arc<Site>,
    who: Who,
    socket: Socket,
    viewer: Viewer,
    dialect: dialect::Session,
    wish: Wish,
    session: Option<BridgeId>,
    initialize: Initializing,
    /// The questions that the host has to answer.
    asked: HashSet<String>,
    /// The inputs that it sent itself.
    own: HashSet<u64>,
    told: u64,
    /// Whether it names its inputs, and so wants to know what becomes of them.
    names_inputs: bool,
    slow: JoinSet<ControlResponse>,
}

/// Whether the host waits for the answer to its `initialize`, while the agent is being started.
#[derive(Clone, Debug, Default, PartialEq)]
enum Initializing {
    #[default]
    No,
    /// Under this id, if it has one.
    Waits(Option<RequestId>),
}

enum Next {
    Heard(Heard),
    Shown(Option<Shown>),
    Done(Result<ControlResponse, JoinError>),
}

impl Talk {
    async fn open(site: Arc<Site>, who: Who, socket: Socket, address: &Address) -> Self {
        let first = site.desk.projects().roots().folders().first();
        let first = first.map(|folder| folder.to_string_lossy().into_owned());
        let directory = address.cwd.clone().or(first).unwrap_or_default();
        let resumed = address.resume.as_deref().map(SessionId::from);
        // The protocol tells the id before the agent would.
        let chosen = match &resumed {
            Some(_) => None,
            None => Some(SessionId::from(uuid::Uuid::new_v4().to_string().as_str())),
        };
        let opening = Opening {
            session_id: resumed.clone().or_else(|| chosen.clone()),
            cwd: Some(directory.as_str().into()),
            resumes: resumed.is_some(),
        };
        let mode = address.permission_mode.as_deref();
        let wish = Wish {
            agent: address.agent.clone(),
            setup: Setup {
                directory,
                model: address.model.clone(),
                permission_mode: mode.map(PermissionMode::from),
                from: resumed.map_or(From::Nothing, |id| From::Session {
                    id,
                    fork: false,
                    at: None,
                }),
                session_id: chosen,
                ..Setup::default()
            },
        };
        let viewer = site.desk.bridge().watch(Scope::Attached, OUTBOX).await;
        Self {
            site,
            who,
            socket,
            viewer,
            dialect: dialect::Session::opened(opening),
            wish,
            session: None,
            initialize: Initializing::No,
            asked: HashSet::new(),
            own: HashSet::new(),
            told: 0,
            names_inputs: false,
            slow: JoinSet::new(),
        }
    }

    async fn run(mut self) -> Result<(), Gone> {
        loop {
            match self.next().await {
                Next::Heard(Heard::Text(text)) => self.heard(text).await?,
                Next::Heard(Heard::Unheard(why)) => {
                    self.complain(&ErrorCode::InvalidMessage, why).await?;
                }
                Next::Heard(Heard::Gone) => return Ok(()),
                Next::Shown(Some(shown)) => self.shown(shown).await?,
                Next::Shown(None) => {
                    let words = "too slow; connect again and resume";
                    self.socket.close(Farewell::TryAgain, words).await;
                    return Ok(());
                }
                Next::Done(Ok(response)) => self.respond(response).await?,
                Next::Done(Err(error)) => {
                    self.complain(&ErrorCode::RequestFailed, error.to_string())
                        .await?;
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        let Self {
            socket,
            viewer,
            slow,
            ..
        } = self;
        tokio::select! {
            heard = socket.hear() => Next::Heard(heard),
            shown = viewer.next() => Next::Shown(shown),
            Some(done) = slow.join_next() => Next::Done(done),
        }
    }

    /// Tells the host what the agent says, in the host's words.
    async fn tell(&mut self, line: ToHost, raw: Option<&Text>) -> Result<(), Gone> {
        let said = self.dialect.to_host(line.clone());
        for said in said {
            match raw {
                // What has no other form goes on byte by byte.
                Some(raw) if said == line => self.socket.say(raw).await?,
                _ => self.socket.say(said.to_json().as_str()).await?,
            }
        }
        Ok(())
    }

    async fn complain(&mut self, code: &ErrorCode, words: impl Into<Text>) -> Result<(), Gone> {
        let error = dialect::error(code, words);
        self.socket.say(error.to_json().as_str()).await
    }

    async fn respond(&mut self, response: ControlResponse) -> Result<(), Gone> {
        let line = ToHost::ControlResponse(Box::new(response));
        self.tell(line, None).await
    }

    async fn heard(&mut self, text: String) -> Result<(), Gone> {
        let mut line = match ToAgent::from_json(text) {
            Ok(line) => line,
            Err(error) => {
                let words = error.to_string();
                return self.complain(&ErrorCode::InvalidMessage, words).await;
            }
        };
        if !self.site.desk.allows_bypass() && wanted::leaves_out_servers(&mut line) {
            let words = format!("left out of this session: {}", Beyond::Servers);
            self.complain(&ErrorCode::RequestFailed, words).await?;
        }
        match self.dialect.from_host(line) {
            Ok(lines) => {
                for line in lines {
                    self.obey(line).await?;
                }
                Ok(())
            }
            Err(refusal) => self.socket.say(refusal.to_json().as_str()).await,
        }
    }

    async fn obey(&mut self, line: ToAgent) -> Result<(), Gone> {
        match line {
            ToAgent::User(user) => self.input(&user).await,
            ToAgent::ControlRequest(request) => self.requested(*request).await,
            ToAgent::ControlResponse(response) => self.answered(&response).await,
            ToAgent::KeepAlive(_) => Ok(()),
            other => {
                let words = format!("`{}` is not offered over the bridge", other.kind());
                self.complain(&ErrorCode::RequestFailed, words).await
            }
        }
    }

    async fn input(&mut self, user: &User) -> Result<(), Gone> {
        let content = user.message.content.as_option().map(Wire::to_json);
        let content = content.and_then(|json| RawValue::from_string(json.as_str().into()).ok());
        let Some(content) = content else {
            let words = "a message without content";
            return self.complain(&ErrorCode::InvalidMessage, words).await;
        };
        self.names_inputs |= user.uuid.is_some();
        let input = Input {
            content,
            client_message_id: None,
            uuid: user.uuid.clone(),
            by: self.who.client.clone(),
        };
        let said = match (self.begun().await, answer_in(user)) {
            (Ok(session), Some(result)) => self.resulted(&session, result).await,
            (Ok(session), None) => self.say(&session, input).await,
            (Err(denial), _) => Err(denial),
        };
        match said {
            Ok(()) => Ok(()),
            Err(denial) => {
                let words = denial.to_string();
                self.complain(&ErrorCode::RequestFailed, words).await
            }
        }
    }

    async fn say(&mut self, session: &BridgeId, input: Input) -> Result<(), Denial> {
        let (seq, ..) = self.site.desk.input(session, input).await?;
        if seq > self.told {
            self.own.insert(seq);
        }
        Ok(())
    }

    /// The session, which begins with what is first said about it.
    async fn begun(&mut self) -> Result<BridgeId, Denial> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let desk = &self.site.desk;
        let session = match desk.start(&self.who, self.wish.clone()).await? {
            Begun::Held(held) => {
                self.told = held.record.last_seq;
                held
            }
            Begun::New(session) => session,
        };
        let id = session.record.id;
        self.session = Some(id.clone());
        self.viewer.attach(&id, self.told).await;
        // Who comes later is asked all the same.
        for question in session.questions {
            self.ask(&question).await.ok();
        }
        Ok(id)
    }

    async fn shown(&mut self, shown: Shown) -> Result<(), Gone> {
        match shown {
            Shown::Item(Item::Frame { frame, .. }) => self.frame(&frame).await,
            Shown::Item(Item::Passing { line, .. }) => match ToHost::from_json(line.clone()) {
                // Else the names are the bridge's own.
                Ok(ToHost::CommandLifecycle(_)) if !self.names_inputs => Ok(()),
                Ok(said) => self.tell(said, Some(&line)).await,
                Err(_) => Ok(()),
            },
            Shown::Item(Item::Live { .. } | Item::Status { .. }) => self.introduce().await,
            Shown::Item(Item::Trouble(Some(why))) => {
                let words = format!("the log cannot be written, nothing new is taken in: {why}");
                self.complain(&ErrorCode::RequestFailed, words).await
            }
            Shown::Failed(error) => {
                let words = error.to_string();
                self.complain(&ErrorCode::RequestFailed, words).await
            }
            // The protocol has no deltas, and a gap is filled by the frames that follow it.
            Shown::Item(_) | Shown::Gap { .. } => Ok(()),
        }
    }

    async fn frame(&mut self, frame: &Frame) -> Result<(), Gone> {
        if frame.seq <= self.told {
            return Ok(());
        }
        self.told = frame.seq;
        match frame.content() {
            Content::Line(line) => self.tell(line.message, Some(&frame.body)).await,
            Content::Input(_) if self.own.remove(&frame.seq) => Ok(()),
            Content::Input(input) => self.said_by_others(&input).await,
            Content::Question(question) => self.ask(&question).await,
            Content::Answer(answered) => self.withdraw(&answered.id).await,
            Content::Note(note) => match note.code {
                NoteCode::StartFailed if self.initialize != Initializing::No => Ok(()),
                NoteCode::StartFailed
                | NoteCode::AgentDied
                | NoteCode::CutOff
                | NoteCode::Stopped
                | NoteCode::Dropped
                | NoteCode::Unheard => self.complain(&ErrorCode::AgentExited, note.text).await,
                NoteCode::Malformed => self.complain(&ErrorCode::AgentLine, note.text).await,
                NoteCode::Stderr
                | NoteCode::ModeChanged
                | NoteCode::ModelChanged
                | NoteCode::TakenIn
                | NoteCode::Forgotten
                | NoteCode::Rewound => Ok(()),
            },
            Content::Unreadable => {
                let words = "something happened that this version cannot show";
                self.complain(&ErrorCode::AgentLine, words).await
            }
        }
    }

    async fn said_by_others(&mut self, input: &Input) -> Result<(), Gone> {
        let content = towline_protocol::Content::from_json(input.content.get().to_owned());
        let Ok(content) = content else {
            return Ok(());
        };
        let mut user = User::say("");
        user.message.content = Some(content).into();
        user.uuid.clone_from(&input.uuid);
        self.tell(ToHost::User(Box::new(user)), None).await
    }
}

/// The result of a call, if that is all that is said.
fn answer_in(user: &User) -> Option<&ToolResultBlock> {
    match user.message.content.as_option()?.blocks() {
        [Block::ToolResult(result)] => Some(result),
        _ => None,
    }
}

/// How much may wait for a host.
const OUTBOX: usize = 4 << 20;
