//! What happens, as it happens: as an event stream (`text/event-stream`), or the same over a WebSocket, `/ws/events`.
//!
//! A browser has six connections to one bridge over HTTP/1.1, for all tabs together, and an event stream takes one for as
//! long as it lasts. WebSockets do not count, so the page uses one. There each event is a line, `{"event":…,"data":…}`, and
//! a message is one line or several.
//!
//! | event | data |
//! |---|---|
//! | `frame` | something that lasts, as in `/messages`, and its `session`; its number is the event's id |
//! | `live` | everything up to `after` was given; the status, and the messages in progress |
//! | `delta` | a piece of a message in progress: `session`, `block`, `part`, `offset`, `text`, `tool_name` for a tool call, `parent` for a subagent |
//! | `gap` | the reader was too slow: what it was not given is left out, frames follow from `after` on |
//! | `status` | what a session does now |
//! | `passing` | a line of the agent that does not last |
//! | `session` | a session is new or has changed |
//! | `trouble` | the log cannot be written, and why; or `null` |
//! | `beat` | every 15 seconds; a reader that hears nothing at all has lost the connection |
//!
//! A reader that comes back says the last id it has (`Last-Event-ID`, or `after`) and misses nothing.

use std::{fmt::Write as _, io, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Path, Query, WebSocketUpgrade, rejection::QueryRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, Sleep, sleep};
use towline_protocol::{
    ToolName, ToolUseId,
    dialect::pocket::{BridgeId, Status},
};
use utoipa::IntoParams;

use crate::{
    Shown, Viewer,
    hub::{Draft, Item, Part, Scope},
    web::{
        Site,
        socket::{self, Farewell, Heard, Socket},
    },
};

use super::{
    ApiResult,
    described::{OfQuery, OfSession},
};

/// From where on.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(in crate::web) struct Place {
    /// The session to follow besides the list of all; not for `/api/sessions/{id}/events`.
    #[param(value_type = Option<String>)]
    session: Option<BridgeId>,
    /// The number of the last frame that the client has.
    after: Option<u64>,
    /// For clients that can send no header.
    token: Option<String>,
}

/// What happens in a session.
#[utoipa::path(get, path = "/api/sessions/{id}/events", params(("id" = String, Path), Place), responses((status = 200, content_type = "text/event-stream"), OfQuery, OfSession))]
pub(super) async fn of_session(
    Extension(site): Extension<Arc<Site>>,
    Path(id): Path<BridgeId>,
    headers: HeaderMap,
    place: Result<Query<Place>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = place?;
    site.desk.describe(&id).await?;
    let viewer = site.desk.bridge().watch(Scope::Attached, QUEUE).await;
    viewer.attach(&id, after(&headers, &place)).await;
    Ok(respond(Events::new(viewer, Form::Stream)))
}

/// What happens to the list of sessions, and in one of them if it is named.
#[utoipa::path(get, path = "/api/events", params(Place), responses((status = 200, content_type = "text/event-stream"), OfQuery, OfSession))]
pub(super) async fn of_everything(
    Extension(site): Extension<Arc<Site>>,
    headers: HeaderMap,
    place: Result<Query<Place>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = place?;
    let events = everything(&site, &headers, &place, Form::Stream).await?;
    Ok(respond(events))
}

/// The same over a WebSocket.
pub(in crate::web) async fn over_socket(
    Extension(site): Extension<Arc<Site>>,
    headers: HeaderMap,
    place: Result<Query<Place>, QueryRejection>,
    upgrade: WebSocketUpgrade,
) -> ApiResult<Response> {
    let Query(place) = place?;
    let events = everything(&site, &headers, &place, Form::Lines).await?;
    let taken = socket::upgrade(&site, upgrade, &headers, |socket| tell(socket, events));
    Ok(taken)
}

async fn everything(
    site: &Site,
    headers: &HeaderMap,
    place: &Place,
    form: Form,
) -> ApiResult<Events> {
    if let Some(id) = &place.session {
        site.desk.describe(id).await?;
    }
    let viewer = site.desk.bridge().watch(Scope::Chosen, QUEUE).await;
    let mut events = Events::new(viewer, form);
    for session in site.desk.sessions().await? {
        events.text.event("session", &session.record);
    }
    if let Some(id) = &place.session {
        events.viewer.attach(id, after(headers, place)).await;
    }
    Ok(events)
}

fn after(headers: &HeaderMap, place: &Place) -> u64 {
    let header = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    let last = header.and_then(|value| value.parse().ok());
    last.or(place.after).unwrap_or(0)
}

fn respond(events: Events) -> Response {
    let events = stream::unfold(events, |mut events| async move {
        let bytes = Bytes::from(events.next().await?);
        Some((Ok::<_, std::convert::Infallible>(bytes), events))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies must not wait for more.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(events)).into_response()
}

/// Tells who is at the other end of a WebSocket. There is nothing for that end to say.
async fn tell(mut socket: Socket, mut events: Events) {
    loop {
        tokio::select! {
            heard = socket.hear() => if let Heard::Gone = heard {
                return;
            },
            next = events.next() => match next {
                Some(text) => if socket.say(text.trim_end()).await.is_err() {
                    return;
                },
                None => return socket.close(Farewell::TryAgain, "too slow; connect again").await,
            },
        }
    }
}

/// What happens, as text.
struct Events {
    viewer: Viewer,
    text: EventText,
    beat: Pin<Box<Sleep>>,
}

impl Events {
    fn new(viewer: Viewer, form: Form) -> Self {
        Self {
            viewer,
            text: EventText {
                form,
                text: String::new(),
            },
            beat: Box::pin(sleep(BEAT)),
        }
    }

    /// The next events, as many as there are; nothing for a client that cannot keep up even with the list, and has to come
    /// again. Can be dropped and called again without losing anything.
    async fn next(&mut self) -> Option<String> {
        if self.text.text.is_empty() {
            tokio::select! {
                biased;
                shown = self.viewer.next() => self.text.show(shown?),
                // Whether or not there are events: a timer for each of them would cost more than they do.
                () = &mut self.beat => {
                    self.beat.as_mut().reset(Instant::now() + BEAT);
                    self.text.event("beat", &json!({}));
                }
            }
            // What waits besides goes along: one write for many events.
            while self.text.text.len() < CHUNK
                && let Some(shown) = self.viewer.try_next()
            {
                self.text.show(shown);
            }
        }
        Some(std::mem::take(&mut self.text.text))
    }
}

/// How events are written.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// As an event stream.
    Stream,
    /// As lines of JSON.
    Lines,
}

/// Events that are written and not sent yet.
struct EventText {
    form: Form,
    text: String,
}

impl EventText {
    fn show(&mut self, shown: Shown) {
        let item = match shown {
            Shown::Item(item) => item,
            Shown::Gap { session, after } => {
                return self.event("gap", &json!({"session": session, "after": after}));
            }
            Shown::Failed(error) => return self.event("trouble", &json!(error.to_string())),
        };
        match item {
            Item::Frame { session, frame } => {
                let body = frame.to_json();
                // Neither a line of the agent nor our own JSON has a line end in it.
                let rest = body.trim_start_matches('{');
                self.write("frame", Some(frame.seq), |text| {
                    text.push_str("{\"session\":");
                    write_json(text, &session);
                    text.push(',');
                    text.push_str(rest);
                });
            }
            Item::Delta { session, delta } => self.event(
                "delta",
                &DeltaEvent {
                    session: &session,
                    tool_name: delta.tool_name.as_ref().map(ToolName::as_str),
                    parent: delta.parent.as_ref(),
                    block: delta.block,
                    part: delta.part,
                    offset: delta.offset,
                    text: &delta.text(),
                },
            ),
            Item::Live {
                session,
                after,
                status,
                drafts,
            } => {
                let drafts = drafts.iter().map(|(parent, draft)| Drafted {
                    parent: parent.as_ref(),
                    draft,
                });
                let live = Live {
                    session: &session,
                    after,
                    status: &status,
                    drafts: drafts.collect(),
                };
                self.event("live", &live);
            }
            Item::Status { session, status } => {
                self.event("status", &json!({"session": session, "status": status}));
            }
            Item::Passing { line, .. } => self.write("passing", None, |text| text.push_str(&line)),
            Item::Session(record) => self.event("session", &*record),
            Item::Trouble(why) => self.event("trouble", &json!(why)),
            // The viewer has dealt with it.
            Item::Behind { .. } => {}
        }
    }

    fn event(&mut self, name: &str, data: &impl Serialize) {
        self.write(name, None, |text| write_json(text, data));
    }

    fn write(&mut self, name: &str, id: Option<u64>, data: impl FnOnce(&mut String)) {
        let text = &mut self.text;
        // Writing to a string does not fail.
        match (self.form, id) {
            (Form::Stream, Some(id)) => write!(text, "event: {name}\nid: {id}\ndata: ").ok(),
            (Form::Stream, None) => write!(text, "event: {name}\ndata: ").ok(),
            // A frame has its number in it.
            (Form::Lines, _) => write!(text, "{{\"event\":\"{name}\",\"data\":").ok(),
        };
        data(text);
        text.push_str(match self.form {
            Form::Stream => "\n\n",
            Form::Lines => "}\n",
        });
    }
}

/// Our own types are made of strings and numbers: they can be written.
fn write_json(text: &mut String, data: &impl Serialize) {
    serde_json::to_writer(Utf8(text), data).ok();
}

/// A string that JSON is written to as it is made, and not in a string of its own before.
struct Utf8<'a>(&'a mut String);

impl io::Write for Utf8<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .push_str(std::str::from_utf8(bytes).map_err(io::Error::other)?);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Serialize)]
struct DeltaEvent<'a> {
    session: &'a BridgeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a ToolUseId>,
    block: u64,
    part: Part,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    offset: u64,
    text: &'a str,
}

#[derive(Serialize)]
struct Live<'a> {
    session: &'a BridgeId,
    after: u64,
    status: &'a Status,
    drafts: Vec<Drafted<'a>>,
}

#[derive(Serialize)]
struct Drafted<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a ToolUseId>,
    #[serde(flatten)]
    draft: &'a Draft,
}

/// What may wait for a client, in bytes.
const QUEUE: usize = 2 << 20;
/// About how much is sent at once.
const CHUNK: usize = 64 << 10;
/// How often something is said at least, so that both sides notice when the other is gone.
const BEAT: Duration = Duration::from_secs(15);
