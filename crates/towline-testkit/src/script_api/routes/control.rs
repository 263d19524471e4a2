//! `/_script/…`: what was asked, more replies, gates, and starting anew, over HTTP for tests in any language.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use hyper::{Method, Response, StatusCode, http::request::Parts};
use serde_json::{Value, json};

use super::{ApiError, Body, Shared, json_response, request_id};
use crate::script_api::{Json, Recorded, script::replies_from_json};

pub(super) async fn answer(
    head: &Parts,
    path: &str,
    body: &[u8],
    shared: &Shared,
) -> Result<Response<Body>, ApiError> {
    check_host(head, shared)?;
    let answer = match (path, &head.method) {
        ("requests", &Method::GET) => Json::of(&requests(head, shared).await?),
        ("replies", &Method::POST) => add(body, shared)?.into(),
        ("state", &Method::GET) => shared.describe().into(),
        ("reset", &Method::POST) => {
            shared.reset();
            json!({}).into()
        }
        (path, &Method::POST) if path.starts_with("release/") => {
            let gate = path.trim_start_matches("release/");
            json!({"held": shared.gates.release(gate)}).into()
        }
        _ => return Err(ApiError::of_status(404).with_message(PATHS)),
    };
    Ok(json_response(StatusCode::OK, &request_id(0), &answer))
}

/// The requests behind a number. With `wait` an answer without any is held back so many seconds.
async fn requests(head: &Parts, shared: &Shared) -> Result<Vec<Recorded>, ApiError> {
    let query = head.uri.query().unwrap_or_default();
    let mut query: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    let mut number = |name: &str| {
        let text = query.remove(name);
        let number = text.map(|text| {
            let number = text.parse::<u64>();
            number.map_err(|_| {
                ApiError::invalid_request(format!("`{name}` must be a whole number, is `{text}`"))
            })
        });
        number.transpose()
    };
    let after = number("after")?.unwrap_or(0);
    let wait = number("wait")?.unwrap_or(0).min(LONGEST_WAIT);
    if let Some(name) = query.keys().next() {
        let problem = format!("unknown parameter `{name}`, known are `after` and `wait`");
        return Err(ApiError::invalid_request(problem));
    }
    let found = shared.wait_for(|state| {
        let found: Vec<_> = state.record.after(after).cloned().collect();
        (wait == 0 || !found.is_empty()).then_some(found)
    });
    let found = tokio::time::timeout(Duration::from_secs(wait.max(1)), found).await;
    Ok(found.unwrap_or_default())
}

fn add(body: &[u8], shared: &Shared) -> Result<Value, ApiError> {
    let replies = replies_from_json(body);
    let replies = replies.map_err(|error| ApiError::invalid_request(error.to_string()))?;
    let added = shared.add(replies).map_err(ApiError::invalid_request)?;
    Ok(json!({"added": added}))
}

/// A page in a browser must not read what was asked here: it can reach the port under a name of its own, but then the
/// name is what it asks for.
fn check_host(head: &Parts, shared: &Shared) -> Result<(), ApiError> {
    let host = head.headers.get("host").and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_ours = name.is_empty() || name == "localhost" || name.parse::<IpAddr>().is_ok();
    if is_ours || shared.options.allow_remote {
        return Ok(());
    }
    let what = format!("`{name}` is not where this server is; use its address");
    Err(ApiError::of_status(403).with_message(what))
}

const PATHS: &str = "known are GET /_script/requests, POST /_script/replies, POST /_script/release/NAME, \
                     GET /_script/state and POST /_script/reset";

/// Seconds; longer than any client waits without asking again.
const LONGEST_WAIT: u64 = 120;
