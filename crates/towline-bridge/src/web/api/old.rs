//! What was said before: search over the bridge's sessions, and sessions that were held elsewhere.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::{Path, Query, rejection::QueryRejection},
    http::header,
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use towline_host::{SessionId, store::Excerpt};
use utoipa::{IntoParams, ToSchema};

use crate::{
    log::{Page, Piece},
    past::Recent,
    web::Site,
};

use super::{
    ApiResult,
    described::{OfBridge, OfLog, OfQuery},
    problem::ProblemBody,
};

/// What to look for.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Sought {
    /// These words.
    words: String,
    /// At most so many places.
    limit: Option<usize>,
}

/// A place where the words were found.
#[derive(Serialize, ToSchema)]
pub(super) struct FoundAt {
    session: String,
    seq: u64,
    at: u64,
    /// The words around it; what was looked for is marked.
    snippet: Vec<SnippetPiece>,
}

/// A piece of a snippet.
#[derive(Serialize, ToSchema)]
pub(super) struct SnippetPiece {
    text: String,
    found: bool,
}

/// Where these words were said in sessions of the bridge.
#[utoipa::path(get, path = "/api/search", params(Sought), responses((status = 200, body = Vec<FoundAt>), OfQuery, OfBridge))]
pub(super) async fn search(
    Extension(site): Extension<Arc<Site>>,
    query: Result<Query<Sought>, QueryRejection>,
) -> ApiResult<Json<Vec<FoundAt>>> {
    let Query(Sought { words, limit }) = query?;
    let limit = limit.unwrap_or(50).min(500);
    let hits = site.desk.search(words, limit).await?;
    let found = hits.into_iter().map(|hit| FoundAt {
        session: hit.session.to_string(),
        seq: hit.seq,
        at: hit.at,
        snippet: hit.snippet.into_iter().map(piece).collect(),
    });
    Ok(Json(found.collect()))
}

fn piece(piece: Piece) -> SnippetPiece {
    let (text, found) = match piece {
        Piece::Around(text) => (text, false),
        Piece::Found(text) => (text, true),
    };
    SnippetPiece { text, found }
}

/// Which old sessions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// At most so many.
    limit: Option<usize>,
    /// Pass over so many of the newest.
    offset: Option<usize>,
    /// Those of this directory.
    #[param(value_type = Option<String>)]
    directory: Option<PathBuf>,
    /// Those in which these words were said.
    words: Option<String>,
}

/// An old session.
#[derive(Serialize, ToSchema)]
pub(super) struct OldSession {
    /// What to resume.
    session: String,
    title: String,
    directory: Option<String>,
    branch: Option<String>,
    /// When it was last written to.
    modified: String,
    /// The words around what was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<String>,
}

/// Sessions that were held with any agent on this machine, in directories that may be used.
#[utoipa::path(get, path = "/api/past", params(Which), responses((status = 200, body = Vec<OldSession>), OfQuery, OfBridge, (status = 403, body = ProblemBody, description = "the directory is outside of the roots"), (status = 404, body = ProblemBody, description = "there is no such directory")))]
pub(super) async fn recent(
    Extension(site): Extension<Arc<Site>>,
    query: Result<Query<Which>, QueryRejection>,
) -> ApiResult<Json<Vec<OldSession>>> {
    let Query(which) = query?;
    let listed = site.desk.recent(Recent {
        limit: which.limit.unwrap_or(50).min(500),
        offset: which.offset.unwrap_or(0),
        project: which.directory,
        words: which.words,
        time: SEARCH_TIME,
    });
    let sessions = listed.await?.sessions.into_iter().map(|found| {
        let summary = found.summary;
        let directory = summary.cwd.as_ref();
        OldSession {
            session: summary.session.key().to_string(),
            title: summary.title,
            directory: directory.map(|directory| directory.to_string_lossy().into_owned()),
            branch: summary.git_branch,
            modified: summary.modified.to_string(),
            excerpt: found
                .excerpt
                .map(|Excerpt { before, hit, after }| format!("{before}{hit}{after}")),
        }
    });
    Ok(Json(sessions.collect()))
}

/// The end of an old session's conversation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is written piece by piece; this describes it")]
pub(super) struct OldMessages {
    /// The messages, the oldest first.
    messages: Vec<OldMessage>,
    /// How many there are before these.
    earlier: usize,
}

/// A message of an old session.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is written piece by piece; this describes it")]
pub(super) struct OldMessage {
    /// `user` or `assistant`.
    role: String,
    /// A string, or blocks.
    content: serde_json::Value,
    uuid: Option<String>,
    timestamp: Option<String>,
}

/// The last messages of an old session.
#[utoipa::path(get, path = "/api/past/{session}", params(("session" = String, Path)), responses((status = 200, body = OldMessages), OfLog, (status = 400, body = ProblemBody, description = "that is no session id, or the session does not say where it was held"), (status = 403, body = ProblemBody, description = "it was held outside of the roots")))]
pub(super) async fn history(
    Extension(site): Extension<Arc<Site>>,
    Path(session): Path<SessionId>,
) -> ApiResult<Response> {
    let page = Page {
        frames: 200,
        bytes: 4 << 20,
    };
    site.desk.check_past(&session).await?;
    let history = site.desk.bridge().library().history(session, page).await?;
    let messages: Vec<_> = history
        .messages
        .iter()
        .map(|message| {
            let uuid = message.uuid.as_ref().map(ToString::to_string);
            let uuid = serde_json::to_string(&uuid).unwrap_or_default();
            let timestamp = serde_json::to_string(&message.timestamp).unwrap_or_default();
            let (role, content) = (message.role, message.content.as_str());
            format!(
                r#"{{"role":"{role}","content":{content},"uuid":{uuid},"timestamp":{timestamp}}}"#
            )
        })
        .collect();
    let body = format!(
        r#"{{"messages":[{}],"earlier":{}}}"#,
        messages.join(","),
        history.earlier
    );
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// How long old sessions are searched.
const SEARCH_TIME: Duration = Duration::from_secs(5);
