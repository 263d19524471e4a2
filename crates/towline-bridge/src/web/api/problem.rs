//! [`Problem`]: what an API request gets when it cannot be done.

use std::io;

use axum::{
    Json,
    extract::rejection::{JsonRejection, QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Denial, access::RootError, hub::Refusal, log::LogError, project::ProjectError};

/// Something, or a problem.
pub(crate) type ApiResult<T> = Result<T, Problem>;

/// Why a request cannot be done.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }
}

/// A problem as it is sent.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    error: Said,
}

/// What is said of a problem.
#[derive(Serialize, ToSchema)]
#[schema(as = ProblemSaid)]
struct Said {
    /// What it is, for programs.
    code: &'static str,
    /// What it is and what to do, for people.
    message: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let error = Said {
            code: self.code,
            message: self.message,
        };
        (self.status, Json(ProblemBody { error })).into_response()
    }
}

impl From<Denial> for Problem {
    fn from(denial: Denial) -> Self {
        let (status, code) = match &denial {
            Denial::Path(error) if is_missing(error) => (StatusCode::NOT_FOUND, "path_not_found"),
            Denial::Path(_) => (StatusCode::FORBIDDEN, "path_not_allowed"),
            Denial::Agent(_) => (StatusCode::BAD_REQUEST, "no_such_agent"),
            Denial::Bypass | Denial::Beyond(_) => (StatusCode::FORBIDDEN, "bypass_not_enabled"),
            Denial::Unshown(_) => (StatusCode::FORBIDDEN, "rule_not_shown"),
            Denial::FilesChanged(_) => (StatusCode::CONFLICT, "files_changed"),
            Denial::Unsayable(_) => (StatusCode::BAD_REQUEST, "invalid_content"),
            Denial::Refused(refusal) => match refusal {
                Refusal::NoSession(_) => (StatusCode::NOT_FOUND, "session_not_found"),
                Refusal::NoQuestion(_) => (StatusCode::NOT_FOUND, "question_not_found"),
                Refusal::Over(_) => (StatusCode::CONFLICT, "question_over"),
                Refusal::Unfit(_) => (StatusCode::BAD_REQUEST, "unfit_answer"),
                Refusal::Taken(_) => (StatusCode::CONFLICT, "taken"),
                Refusal::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_agents"),
                Refusal::Busy(_) => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
                Refusal::Waits(_) => (StatusCode::SERVICE_UNAVAILABLE, "waits"),
                Refusal::Agent(_) => (StatusCode::BAD_GATEWAY, "agent"),
            },
        };
        Self::new(status, code, denial.to_string())
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "log", error.to_string())
    }
}

impl From<RootError> for Problem {
    fn from(error: RootError) -> Self {
        Self::from(Denial::from(error))
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        let (status, code) = match error {
            ProjectError::Path(error) => return Self::from(error),
            ProjectError::Missing(_) => (StatusCode::NOT_FOUND, "path_not_found"),
            ProjectError::Unusable(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unusable"),
            ProjectError::TooSlow { .. } => (StatusCode::GATEWAY_TIMEOUT, "too_slow"),
        };
        Self::new(status, code, error.to_string())
    }
}

/// Whether it is inside, and not there.
fn is_missing(error: &RootError) -> bool {
    let RootError::Io { error, .. } = error else {
        return false;
    };
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), "invalid_body", rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), "invalid_query", rejection.body_text())
    }
}
