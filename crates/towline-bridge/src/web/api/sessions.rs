//! Sessions: begin, say, answer, change, stop; and what is known of them.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{
        Path, Query,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use towline_host::{PermissionMode, SessionId};
use towline_protocol::dialect::pocket::{BridgeId, ClientMessageId};
use utoipa::{IntoParams, ToSchema};

use crate::{
    Begun, Input, Kind, Outcome, Question, Usage, Wish,
    access::Who,
    hub::{Control, Decision, Description, From, Setup, SetupOptions},
    log::Page,
    web::Site,
};

use super::{
    ApiResult,
    described::{OfBody, OfBridge, OfLog, OfQuery, OfSession},
    problem::ProblemBody,
};

type Sited = Extension<Arc<Site>>;

/// All sessions.
#[derive(Serialize, ToSchema)]
pub(super) struct Sessions {
    sessions: Vec<Description>,
}

/// All sessions that were not stopped.
#[utoipa::path(get, path = "/api/sessions", responses((status = 200, body = Sessions), OfBridge))]
pub(super) async fn list(Extension(site): Sited) -> ApiResult<Json<Sessions>> {
    let mut sessions = site.desk.sessions().await?;
    sessions.retain(|session| !session.record.archived);
    sessions.sort_by_key(|session| std::cmp::Reverse(session.record.active_at));
    Ok(Json(Sessions { sessions }))
}

/// How to begin a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Begin {
    /// Which agent; the default one if not said.
    agent: Option<String>,
    /// Where to work; the first root if not said.
    directory: Option<String>,
    /// Where else it may work.
    #[serde(default)]
    additional_directories: Vec<String>,
    /// The model.
    model: Option<String>,
    /// How much may be done without asking.
    #[schema(value_type = Option<String>)]
    permission_mode: Option<PermissionMode>,
    /// Go on with this session of the agent; `latest` for the newest one of the directory.
    resume: Option<String>,
    /// Go on in a copy of it.
    #[serde(default)]
    fork: bool,
    /// What only the agent's command line knows.
    #[serde(default)]
    options: SetupOptions,
}

/// Begin a session; 200 if the bridge goes on with the same already, and that one is opened.
#[utoipa::path(post, path = "/api/sessions", request_body = Begin, responses((status = 201, body = Description), (status = 200, body = Description), OfBody, OfBridge, (status = 403, body = ProblemBody, description = "outside of the roots, or a mode that is not enabled here"), (status = 404, body = ProblemBody, description = "there is no such directory"), (status = 429, body = ProblemBody, description = "no more agents may run")))]
pub(super) async fn start(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    begin: Result<Json<Begin>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Description>)> {
    let Json(begin) = begin?;
    let from = match begin.resume {
        None => From::Nothing,
        Some(id) if id == "latest" => From::Latest,
        Some(id) => From::Session {
            id: SessionId::from(id.as_str()),
            fork: begin.fork,
            at: None,
        },
    };
    let directory = begin.directory.unwrap_or_else(|| {
        let roots = site.desk.projects().roots().folders();
        roots
            .first()
            .map(|root| root.to_string_lossy().into_owned())
            .unwrap_or_default()
    });
    let wish = Wish {
        agent: begin.agent,
        setup: Setup {
            directory,
            additional_directories: begin.additional_directories,
            model: begin.model,
            permission_mode: begin.permission_mode,
            from,
            options: begin.options,
            ..Setup::default()
        },
    };
    let begun = site.desk.start(&who, wish).await?;
    let status = match &begun {
        Begun::New(_) => StatusCode::CREATED,
        Begun::Held(_) => StatusCode::OK,
    };
    Ok((status, Json(begun.description())))
}

/// What is known of a session.
#[utoipa::path(get, path = "/api/sessions/{id}", params(("id" = String, Path)), responses((status = 200, body = Description), OfSession))]
pub(super) async fn describe(
    Extension(site): Sited,
    Path(id): Path<BridgeId>,
) -> ApiResult<Json<Description>> {
    Ok(Json(site.desk.describe(&id).await?))
}

/// What to change of a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Changes {
    /// What to call it.
    title: Option<String>,
    /// How much may be done without asking.
    #[schema(value_type = Option<String>)]
    permission_mode: Option<PermissionMode>,
    /// The model.
    model: Option<String>,
}

/// Change a session.
#[utoipa::path(patch, path = "/api/sessions/{id}", params(("id" = String, Path)), request_body = Changes, responses((status = 200, body = Description), OfBody, OfSession, (status = 502, body = ProblemBody, description = "the agent refuses")))]
pub(super) async fn change(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    Path(id): Path<BridgeId>,
    changes: Result<Json<Changes>, JsonRejection>,
) -> ApiResult<Json<Description>> {
    let Json(changes) = changes?;
    if let Some(title) = changes.title {
        let title = Some(title).filter(|title| !title.trim().is_empty());
        site.desk.rename(&id, title).await?;
    }
    if let Some(mode) = changes.permission_mode {
        site.desk.control(&who, &id, Control::SetMode(mode)).await?;
    }
    if let Some(model) = changes.model {
        let control = Control::SetModel(Some(model));
        site.desk.control(&who, &id, control).await?;
    }
    Ok(Json(site.desk.describe(&id).await?))
}

/// Stop a session, and take it out of the list.
#[utoipa::path(delete, path = "/api/sessions/{id}", params(("id" = String, Path)), responses((status = 204), (status = 404, body = ProblemBody, description = "there is no such session"), OfBridge))]
pub(super) async fn stop(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    Path(id): Path<BridgeId>,
) -> ApiResult<StatusCode> {
    site.desk.stop(&who, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stop what the agent is doing.
#[utoipa::path(post, path = "/api/sessions/{id}/interrupt", params(("id" = String, Path)), responses((status = 204), OfSession, (status = 502, body = ProblemBody, description = "the agent refuses")))]
pub(super) async fn interrupt(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    Path(id): Path<BridgeId>,
) -> ApiResult<StatusCode> {
    site.desk.control(&who, &id, Control::Interrupt).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Something to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// A string, or the blocks of a message with pictures.
    #[schema(value_type = MessageContent)]
    content: Box<RawValue>,
    /// What the client calls it: sent again, it does not run again.
    #[schema(value_type = Option<String>)]
    client_message_id: Option<ClientMessageId>,
}

/// What can be said.
#[derive(ToSchema)]
#[schema(as = MessageContent)]
#[serde(untagged)]
#[expect(dead_code, reason = "content goes on as it came; this describes it")]
pub(super) enum MessageContent {
    /// Words, at least one.
    Words(String),
    /// Blocks, at least one.
    Blocks(Vec<MessageBlock>),
}

/// A block of what is said.
#[derive(ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "content goes on as it came; this describes it")]
pub(super) enum MessageBlock {
    /// Words.
    Text { text: String },
    /// A picture; where it comes from is as in the Messages API.
    Image {
        #[schema(value_type = Object)]
        source: serde_json::Value,
    },
    /// A PDF or other document; where it comes from is as in the Messages API.
    Document {
        #[schema(value_type = Object)]
        source: serde_json::Value,
    },
}

/// What became of it.
#[derive(Serialize, ToSchema)]
pub(super) struct Accepted {
    /// Its number in the session.
    seq: u64,
    /// Whether the agent is busy with something else.
    queued: bool,
    /// Whether it had been sent before.
    repeated: bool,
}

/// Say something.
#[utoipa::path(post, path = "/api/sessions/{id}/messages", params(("id" = String, Path)), request_body = Message, responses((status = 202, body = Accepted), OfBody, OfSession, (status = 429, body = ProblemBody, description = "no more agents may run")))]
pub(super) async fn say(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    Path(id): Path<BridgeId>,
    message: Result<Json<Message>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Accepted>)> {
    let Json(message) = message?;
    let input = Input {
        content: message.content,
        client_message_id: message.client_message_id,
        uuid: None,
        by: who.client,
    };
    let (seq, queued, repeated) = site.desk.input(&id, input).await?;
    Ok((
        StatusCode::ACCEPTED,
        Json(Accepted {
            seq,
            queued,
            repeated,
        }),
    ))
}

/// Which messages.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct After {
    /// Those after this number.
    after: u64,
    /// At most so many.
    limit: usize,
}

impl Default for After {
    fn default() -> Self {
        Self {
            after: 0,
            limit: 200,
        }
    }
}

/// A page of what happened in a session.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "frames are written as they are stored; this describes them"
)]
pub(super) struct Frames {
    /// The frames, the oldest first.
    frames: Vec<FrameShown>,
    /// Whether there are more after these.
    more: bool,
}

/// Something that happened in a session.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "frames are written as they are stored; this describes them"
)]
pub(super) struct FrameShown {
    /// Its number in the session.
    seq: u64,
    /// When it happened, in milliseconds since 1970.
    at: u64,
    kind: Kind,
    /// A line of the agent, an input, a question, an answer or a note.
    #[schema(value_type = Object)]
    body: serde_json::Value,
}

/// What happened in a session, page by page.
#[utoipa::path(get, path = "/api/sessions/{id}/messages", params(("id" = String, Path), After), responses((status = 200, body = Frames), OfQuery, OfSession, OfLog))]
pub(super) async fn messages(
    Extension(site): Sited,
    Path(id): Path<BridgeId>,
    query: Result<Query<After>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(After { after, limit }) = query?;
    let last = site.desk.describe(&id).await?.record.last_seq;
    let page = Page {
        frames: limit.clamp(1, 1000),
        bytes: 4 << 20,
    };
    let frames = site
        .desk
        .bridge()
        .library()
        .frames(&id, after, page)
        .await?;
    let more = frames.last().map_or(after, |frame| frame.seq) < last;
    let frames: Vec<_> = frames.iter().map(crate::Frame::to_json).collect();
    let body = format!(r#"{{"frames":[{}],"more":{more}}}"#, frames.join(","));
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// The open questions of a session.
#[utoipa::path(get, path = "/api/sessions/{id}/questions", params(("id" = String, Path)), responses((status = 200, body = Vec<Question>), OfSession))]
pub(super) async fn questions(
    Extension(site): Sited,
    Path(id): Path<BridgeId>,
) -> ApiResult<Json<Vec<Question>>> {
    Ok(Json(site.desk.describe(&id).await?.questions))
}

/// What an answer came to, where that is less than was wished for.
#[derive(Serialize, ToSchema)]
pub(super) struct Shortfall {
    /// How the question ended.
    outcome: Outcome,
    /// Why not as wished.
    note: &'static str,
}

/// Answer a question; 409 if somebody was faster. 200 says what was done where that is less than was wished for.
#[utoipa::path(post, path = "/api/sessions/{id}/questions/{question}", params(("id" = String, Path), ("question" = String, Path)), request_body = Decision, responses((status = 200, body = Shortfall), (status = 204), OfBody, OfSession, (status = 404, body = ProblemBody, description = "there is no such session or no such question"), (status = 409, body = ProblemBody, description = "somebody was faster, or it is over")))]
pub(super) async fn answer(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    Path((id, question)): Path<(BridgeId, String)>,
    decision: Result<Json<Decision>, JsonRejection>,
) -> ApiResult<Response> {
    let Json(decision) = decision?;
    let verdict = site.desk.answer(&who, &id, &question, decision).await?;
    let outcome = verdict.outcome;
    Ok(match verdict.shortfall {
        Some(note) => Json(Shortfall { outcome, note }).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// The agents that can be chosen.
#[derive(Serialize, ToSchema)]
pub(super) struct Choices {
    agents: Vec<String>,
    default: String,
    /// The folders whose projects may be used.
    roots: Vec<String>,
    /// Whether sessions may run in the mode `bypassPermissions`.
    bypass_permissions: bool,
    version: &'static str,
}

/// What can be chosen when a session begins.
#[utoipa::path(get, path = "/api/agents", responses((status = 200, body = Choices)))]
pub(super) async fn agents(Extension(site): Sited) -> Json<Choices> {
    let agents = site.desk.agents();
    let roots = site.desk.projects().roots().folders().iter();
    Json(Choices {
        agents: agents
            .choices()
            .iter()
            .map(|choice| choice.name.clone())
            .collect(),
        default: agents.default_choice().name.clone(),
        roots: roots
            .map(|root| root.to_string_lossy().into_owned())
            .collect(),
        bypass_permissions: site.desk.allows_bypass(),
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// What sessions have used.
#[derive(Serialize, ToSchema)]
pub(super) struct Used {
    /// All together.
    total: Usage,
    /// Each by itself, stopped ones too.
    sessions: Vec<UsedBy>,
}

/// What one session has used.
#[derive(Serialize, ToSchema)]
pub(super) struct UsedBy {
    #[schema(value_type = String)]
    session: BridgeId,
    usage: Usage,
}

/// What sessions have used.
#[utoipa::path(get, path = "/api/usage", responses((status = 200, body = Used), OfBridge))]
pub(super) async fn usage(Extension(site): Sited) -> ApiResult<Json<Used>> {
    let mut total = Usage::default();
    let sessions = site.desk.sessions().await?.into_iter().map(|session| {
        let usage = session.record.usage;
        total.cost_usd += usage.cost_usd;
        total.input_tokens += usage.input_tokens;
        total.cached_tokens += usage.cached_tokens;
        total.output_tokens += usage.output_tokens;
        total.turns += usage.turns;
        UsedBy {
            session: session.record.id,
            usage,
        }
    });
    let sessions = sessions.collect();
    Ok(Json(Used { total, sessions }))
}
