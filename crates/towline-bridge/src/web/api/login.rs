//! Trading the token for a cookie, so that a page need not keep it.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::rejection::JsonRejection,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    access::{Presented, Who},
    web::{
        Site,
        guard::{self, From},
        room::Visitor,
    },
};

use super::{ApiResult, described::OfBody};

/// What somebody shows to be let in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// The token, as the link has it behind the `#`.
    token: String,
}

/// Trade the token for a cookie.
#[utoipa::path(post, path = "/api/login", security(()), request_body = Entry, responses((status = 204), OfBody, (status = 401, body = String, content_type = "text/plain", description = "it is not the token"), (status = 429, body = String, content_type = "text/plain", description = "too many wrong tokens were shown")))]
pub(super) async fn enter(
    Extension(site): Extension<Arc<Site>>,
    Extension(From(address)): Extension<From>,
    Extension(visitor): Extension<Visitor>,
    entry: Result<Json<Entry>, JsonRejection>,
) -> ApiResult<Response> {
    let Json(entry) = entry?;
    let bearer = format!("Bearer {}", entry.token);
    let presented = Presented {
        authorization: Some(&bearer),
        ..Presented::default()
    };
    let who = Who {
        client: "login".to_owned(),
        address: address.to_string(),
    };
    if let Err(response) = guard::admit(&site, &presented, &who, address) {
        return Ok(response);
    }
    if visitor.is_let_in().is_err() {
        return Ok(guard::no_room());
    }
    let cookie = [(header::SET_COOKIE, site.token.cookie(site.reach))];
    Ok((StatusCode::NO_CONTENT, cookie).into_response())
}

/// Give the cookie back.
#[utoipa::path(delete, path = "/api/login", security(()), responses((status = 204)))]
pub(super) async fn leave(Extension(site): Extension<Arc<Site>>) -> Response {
    let cookie = [(header::SET_COOKIE, site.token.expired_cookie())];
    (StatusCode::NO_CONTENT, cookie).into_response()
}
