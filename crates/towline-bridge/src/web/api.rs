//! The HTTP API: sessions, messages, questions, files, usage; described by `/openapi.json`.
//!
//! What happens is read from an event stream ([`events`]); everything else is a request with an answer. An error is
//! `{"error":{"code":"…","message":"…"}}`.

#![expect(
    unused_qualifications,
    reason = "the macros of utoipa write whole paths"
)]

mod described;
pub(super) mod events;
mod login;
mod old;
mod problem;
mod project;
mod sessions;
mod trust;

use axum::{
    Json, Router,
    routing::{get, post},
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme},
};

use described::Guarded;
use problem::ProblemBody;

pub(super) use described::OfBridge;
pub(super) use problem::{ApiResult, Problem};

/// What needs a token.
pub(super) fn routes() -> Router {
    Router::new()
        .route("/api/sessions", get(sessions::list).post(sessions::start))
        .route(
            "/api/sessions/{id}",
            get(sessions::describe)
                .patch(sessions::change)
                .delete(sessions::stop),
        )
        .route(
            "/api/sessions/{id}/messages",
            get(sessions::messages).post(sessions::say),
        )
        .route("/api/sessions/{id}/events", get(events::of_session))
        .route("/api/sessions/{id}/interrupt", post(sessions::interrupt))
        .route("/api/sessions/{id}/questions", get(sessions::questions))
        .route(
            "/api/sessions/{id}/questions/{question}",
            post(sessions::answer),
        )
        .route("/api/events", get(events::of_everything))
        .route("/api/agents", get(sessions::agents))
        .route("/api/usage", get(sessions::usage))
        .route("/api/search", get(old::search))
        .route("/api/past", get(old::recent))
        .route("/api/past/{session}", get(old::history))
        .route("/api/file", get(project::file))
        .route("/api/files", get(project::files))
        .route("/api/directory", get(project::directory))
        .route("/api/diff", get(project::diff))
        .route("/api/trust", get(trust::shown).post(trust::answer))
        .route("/openapi.json", get(description))
}

/// What lets somebody in, and what is the same for everyone.
pub(super) fn open_routes() -> Router {
    Router::new().route("/api/login", post(login::enter).delete(login::leave))
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Towline",
        description = "Sessions of coding agents, for any number of clients"
    ),
    paths(
        sessions::list,
        sessions::start,
        sessions::describe,
        sessions::change,
        sessions::stop,
        sessions::messages,
        sessions::say,
        sessions::interrupt,
        sessions::questions,
        sessions::answer,
        sessions::agents,
        sessions::usage,
        events::of_session,
        events::of_everything,
        old::search,
        old::recent,
        old::history,
        project::file,
        project::files,
        project::directory,
        project::diff,
        trust::shown,
        trust::answer,
        login::enter,
        login::leave,
        description,
        crate::web::health::healthz,
        crate::web::health::metrics,
    ),
    components(schemas(ProblemBody)),
    modifiers(&Keys, &Guarded),
    security(("bearer" = []), ("cookie" = []))
)]
struct Description;

/// What lets a client in: the token in a header, or the cookie that `/api/login` gives for it.
struct Keys;

impl Modify for Keys {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", bearer);
        let cookie = ApiKeyValue::with_description(
            "towline_*",
            "the cookie that `/api/login` sets; each bridge has a name of its own for it",
        );
        let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(cookie));
        components.add_security_scheme("cookie", cookie);
    }
}

/// This description.
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, body = Object)))]
async fn description() -> Json<utoipa::openapi::OpenApi> {
    Json(Description::openapi())
}

#[cfg(test)]
mod tests;
