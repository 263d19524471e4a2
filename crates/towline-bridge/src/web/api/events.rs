//! The event stream: what happens, as it happens (`text/event-stream`).
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

use std::{fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Path, Query, rejection::QueryRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use towline_protocol::{
    ToolName, ToolUseId,
    dialect::pocket::{BridgeId, Status},
};
use utoipa::IntoParams;

use crate::{
    Shown, Viewer,
    hub::{Draft, Item, Part, Scope},
    web::Site,
};

use super::ApiResult;

/// From where on.
#[derive(Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct Place {
    /// The session to follow besides the list of all; only for `/api/events`.
    #[param(value_type = Option<String>)]
    session: Option<BridgeId>,
    /// The number of the last frame that the client has.
    after: Option<u64>,
    /// For clients that can send no header.
    token: Option<String>,
}

/// What happens in a session.
#[utoipa::path(get, path = "/api/sessions/{id}/events", params(("id" = String, Path), Place), responses((status = 200, content_type = "text/event-stream")))]
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
    Ok(respond(viewer, String::new()))
}

/// What happens to the list of sessions, and in one of them if it is named.
#[utoipa::path(get, path = "/api/events", params(Place), responses((status = 200, content_type = "text/event-stream")))]
pub(super) async fn of_everything(
    Extension(site): Extension<Arc<Site>>,
    headers: HeaderMap,
    place: Result<Query<Place>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = place?;
    if let Some(id) = &place.session {
        site.desk.describe(id).await?;
    }
    let viewer = site.desk.bridge().watch(Scope::Chosen, QUEUE).await;
    let mut text = String::new();
    for session in site.desk.sessions().await? {
        event(&mut text, "session", &session.record);
    }
    if let Some(id) = &place.session {
        viewer.attach(id, after(&headers, &place)).await;
    }
    Ok(respond(viewer, text))
}

fn after(headers: &HeaderMap, place: &Place) -> u64 {
    let header = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    let last = header.and_then(|value| value.parse().ok());
    last.or(place.after).unwrap_or(0)
}

fn respond(viewer: Viewer, first: String) -> Response {
    let beat = Box::pin(tokio::time::sleep(BEAT));
    let state = (viewer, first, beat);
    let events = stream::unfold(state, |(mut viewer, mut text, mut beat)| async move {
        if text.is_empty() {
            tokio::select! {
                biased;
                shown = viewer.next() => match shown {
                    Some(shown) => write(&mut text, shown),
                    // A client that cannot keep up even with the list comes again.
                    None => return None,
                },
                // Whether or not there are events: a timer for each of them would cost more than they do.
                () = &mut beat => {
                    beat.as_mut().reset(tokio::time::Instant::now() + BEAT);
                    event(&mut text, "beat", &json!({}));
                }
            }
            // What waits besides goes along: one write for many events.
            while text.len() < CHUNK
                && let Some(shown) = viewer.try_next()
            {
                write(&mut text, shown);
            }
        }
        let bytes = Bytes::from(text);
        Some((
            Ok::<_, std::convert::Infallible>(bytes),
            (viewer, String::new(), beat),
        ))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies must not wait for more.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(events)).into_response()
}

fn write(text: &mut String, shown: Shown) {
    let item = match shown {
        Shown::Item(item) => item,
        Shown::Gap { session, after } => {
            return event(text, "gap", &json!({"session": session, "after": after}));
        }
        Shown::Failed(error) => return event(text, "trouble", &json!(error.to_string())),
    };
    match item {
        Item::Frame { session, frame } => {
            let (seq, session) = (frame.seq, json!(session));
            let body = frame.to_json();
            // Neither a line of the agent nor our own JSON has a line end in it.
            let rest = body.trim_start_matches('{');
            write!(
                text,
                "event: frame\nid: {seq}\ndata: {{\"session\":{session},{rest}\n\n"
            )
            .ok();
        }
        Item::Delta { session, delta } => event(
            text,
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
            event(text, "live", &live);
        }
        Item::Status { session, status } => {
            event(
                text,
                "status",
                &json!({"session": session, "status": status}),
            );
        }
        Item::Passing { line, .. } => {
            write!(text, "event: passing\ndata: {line}\n\n").ok();
        }
        Item::Session(record) => event(text, "session", &*record),
        Item::Trouble(why) => event(text, "trouble", &json!(why)),
        // The viewer has dealt with it.
        Item::Behind { .. } => {}
    }
}

fn event(text: &mut String, name: &str, data: &impl Serialize) {
    // Our own types are made of strings and numbers: they can be written.
    let data = serde_json::to_string(data).unwrap_or_default();
    write!(text, "event: {name}\ndata: {data}\n\n").ok();
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
