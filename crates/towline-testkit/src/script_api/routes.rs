//! The paths of the API: which request is what, and what it gets.

mod control;

use std::{io, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, http::request::Parts};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    api_error::ApiError,
    connection::Line,
    exchange::Exchange,
    message::{Context, request_id},
    play::{Body, play},
    program::Program,
    record::{End, Kind},
    script::{Refusals, SideRules},
    seen::{Seen, check_countable},
    shared::Shared,
};

/// Answers one request.
///
/// # Errors
/// When the connection is to be cut instead.
pub(super) async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    line: Line,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = read(body, &shared).await;
    if let Some(path) = head.uri.path().strip_prefix("/_script/") {
        let answered = match body {
            Ok(body) => control::answer(&head, path, &body, &shared).await,
            Err(error) => Err(error),
        };
        return Ok(answered.unwrap_or_else(|error| error_response(&error, &request_id(0))));
    }
    let kind = kind(&head);
    if kind == Kind::Message {
        return message(&head, body, shared, line).await;
    }
    let seen = body.as_ref().cloned().unwrap_or_default();
    let mut exchange = Exchange::begin(&shared, &head, seen, kind);
    let answer = body.and_then(|body| plain(&head, kind, &body));
    if let (Kind::CountTokens, Err(error)) = (kind, &answer) {
        exchange.entry.refused = Some(error.message.clone());
    }
    Ok(finish(exchange, answer))
}

fn kind(head: &Parts) -> Kind {
    match (head.uri.path(), &head.method) {
        ("/v1/messages", &Method::POST) => Kind::Message,
        ("/v1/messages/count_tokens", &Method::POST) => Kind::CountTokens,
        ("/v1/models", &Method::GET) => Kind::Models,
        (path, &Method::GET) if path.starts_with("/v1/models/") => Kind::Models,
        // The CLI looks at `/api/hello` before its first request (2.1.325).
        ("/" | "/api/hello", &Method::GET | &Method::HEAD) => Kind::Probe,
        _ => Kind::Unknown,
    }
}

/// A request to the model.
async fn message(
    head: &Parts,
    body: Result<Bytes, ApiError>,
    shared: Arc<Shared>,
    line: Line,
) -> io::Result<Response<Body>> {
    let subagent = head.headers.contains_key(SUBAGENT);
    let (side_rules, refusals) = {
        let state = shared.state();
        (state.desk.side_rules(), state.desk.refusals())
    };
    let read = body.as_ref().map_err(Clone::clone);
    let read = read.and_then(|body| {
        let seen = Seen::read(body, subagent)?;
        match refusals {
            Refusals::AsTheApi => seen.check().map(|()| seen),
            Refusals::Off => Ok(seen),
        }
    });
    let body = body.unwrap_or_default();
    let seen = match read {
        Ok(seen) => seen,
        Err(error) => {
            let mut exchange = Exchange::begin(&shared, head, body, Kind::Message);
            exchange.entry.refused = Some(error.message.clone());
            return Ok(finish(exchange, Err(error)));
        }
    };
    let seen = match side_rules {
        SideRules::BuiltIn => seen,
        SideRules::Off => seen.without_side(),
    };
    let (exchange, choice) = Exchange::begin_message(&shared, head, body, &seen);
    let context = Context {
        index: exchange.entry.index,
        seen: &seen,
    };
    let program = choice.and_then(|choice| {
        let program = Program::of(&choice.reply, &context);
        program.check(&choice.name).map(|()| program)
    });
    match program {
        Ok(program) => play(program, exchange, line).await,
        Err(error) => Ok(finish(exchange, Err(error))),
    }
}

/// What needs no script.
fn plain(head: &Parts, kind: Kind, body: &[u8]) -> Result<Value, ApiError> {
    let path = head.uri.path();
    match kind {
        Kind::CountTokens => {
            check_countable(body)?;
            // Four bytes a token, as the rule of thumb has it.
            Ok(json!({"input_tokens": body.len().div_ceil(4)}))
        }
        Kind::Models => Ok(match path.strip_prefix("/v1/models/") {
            Some(id) => model(id),
            None => json!({
                "data": [model(MODEL)], "has_more": false, "first_id": MODEL, "last_id": MODEL,
            }),
        }),
        Kind::Probe => Ok(json!({"scripted": true})),
        Kind::Message | Kind::Side | Kind::Unknown => {
            let what = format!("{} {path} is not part of the scripted API", head.method);
            Err(ApiError::of_status(404).with_message(what))
        }
    }
}

fn model(id: &str) -> Value {
    json!({"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"})
}

/// Reads a body, within its bounds of size and time.
async fn read(body: Incoming, shared: &Shared) -> Result<Bytes, ApiError> {
    let limit = shared.options.body_limit;
    let body = Limited::new(body, limit).collect();
    match tokio::time::timeout(shared.options.body_time, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let what = format!("the request body is larger than {limit} bytes");
            Err(ApiError::of_status(413).with_message(what))
        }
        Ok(Err(error)) => Err(ApiError::invalid_request(format!(
            "the request body cannot be read: {error}"
        ))),
        Err(_) => Err(ApiError {
            status: 408,
            ..ApiError::invalid_request("the request body did not come in time")
        }),
    }
}

/// Ends an exchange with a response in one piece.
fn finish(mut exchange: Exchange, answer: Result<Value, ApiError>) -> Response<Body> {
    let id = request_id(exchange.entry.index);
    let response = match answer {
        Ok(value) => json_response(StatusCode::OK, &id, &value),
        Err(error) => error_response(&error, &id),
    };
    exchange.entry.status = Some(response.status().as_u16());
    exchange.end(End::Complete);
    response
}

fn error_response(error: &ApiError, id: &str) -> Response<Body> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, id, &error.body(id));
    // It would be the same again: clients that retry by themselves need not.
    let headers = response.headers_mut();
    headers.insert(
        "x-should-retry",
        hyper::header::HeaderValue::from_static("false"),
    );
    response
}

fn json_response(status: StatusCode, id: &str, value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let body = Full::new(text.into()).map_err(|never| match never {});
    let mut response = Response::new(body.boxed());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        "content-type",
        hyper::header::HeaderValue::from_static("application/json"),
    );
    if let Ok(id) = id.parse() {
        headers.insert("request-id", id);
    }
    response
}

/// The header by which the CLI names the subagent that asks (2.1.325).
const SUBAGENT: &str = "x-claude-code-agent-id";

/// The one model of the list. Requests may name any other.
const MODEL: &str = "claude-scripted";
