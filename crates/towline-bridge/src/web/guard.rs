//! Who gets in. First the host and the origin, for every request, and what a proxy in front says of it; then the token, for
//! all but what is the same for everyone; then the body, within its bounds.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, PoisonError},
    time::Instant,
};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{ConnectInfo, DefaultBodyLimit, FromRequest as _, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use crate::access::{
    Action, Hop, Presented, Reach, Refusal, Who, query_without_token, without_token,
};

use super::{BodyBounds, Site, room::Visitor};

/// Where a request comes from: the peer, or whoever is behind the proxy in front.
#[derive(Clone, Copy, Debug)]
pub(super) struct From(pub(super) IpAddr);

/// Sends away what does not belong here: a page of somebody else, or a name that leads here by a trick.
pub(super) async fn check_host(
    Extension(site): Extension<Arc<Site>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let host = text(headers, &header::HOST).or_else(|| {
        // HTTP/2 has it in the target.
        request
            .uri()
            .authority()
            .map(axum::http::uri::Authority::as_str)
    });
    if let Err(refusal) = site.hosts.check(host, text(headers, &header::ORIGIN)) {
        return (StatusCode::FORBIDDEN, format!("{refusal}\n")).into_response();
    }
    let mut from = peer.ip();
    if site.reach == Reach::BehindProxy {
        let hop = last_hop(headers);
        // Whoever looks whether it is well need not be a proxy.
        if !hop.is_encrypted && request.uri().path() != "/healthz" {
            return (StatusCode::FORBIDDEN, NOT_ENCRYPTED).into_response();
        }
        from = hop.client.unwrap_or(from);
    }
    request.extensions_mut().insert(From(from));
    next.run(request).await
}

/// What the proxy in front says. Of several headers of one name the last is its own.
fn last_hop(headers: &HeaderMap) -> Hop {
    let last = |name: &str| {
        let mut values = headers.get_all(name).into_iter();
        values.next_back().and_then(|value| value.to_str().ok())
    };
    Hop::read(
        last("x-forwarded-proto"),
        last("x-forwarded-for"),
        last("forwarded"),
    )
}

/// Lets in who has the token, and slows down who guesses.
pub(super) async fn let_in(
    Extension(site): Extension<Arc<Site>>,
    Extension(From(address)): Extension<From>,
    Extension(visitor): Extension<Visitor>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let presented = Presented {
        authorization: text(headers, &header::AUTHORIZATION),
        cookie: text(headers, &header::COOKIE),
        subprotocols: text(headers, &header::SEC_WEBSOCKET_PROTOCOL),
        query: request.uri().query(),
    };
    let who = Who {
        client: client_name(headers),
        address: address.to_string(),
    };
    if let Err(response) = admit(&site, &presented, &who, address) {
        return response;
    }
    if visitor.is_let_in().is_err() {
        return no_room();
    }
    tracing::debug!(
        method = %request.method(),
        uri = %without_token(&request.uri().to_string()),
        address = who.address,
        "a request"
    );
    request.extensions_mut().insert(who);
    // It has done its work; what comes after knows neither it nor its name.
    if let Some(uri) = uri_without_token(request.uri()) {
        *request.uri_mut() = uri;
    }
    next.run(request).await
}

/// The URI without a token in its query, if it has one there.
fn uri_without_token(uri: &Uri) -> Option<Uri> {
    let query = query_without_token(uri.query()?)?;
    let path = uri.path();
    let path_and_query = match query.as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = path_and_query.parse().ok();
    Uri::from_parts(parts).ok()
}

/// Checks a token, wherever it was shown. A right one gets in whatever others at its address have guessed.
#[expect(
    clippy::result_large_err,
    reason = "a response is what there is to be sent, once"
)]
pub(super) fn admit(
    site: &Site,
    presented: &Presented<'_>,
    who: &Who,
    address: IpAddr,
) -> Result<(), Response> {
    let Err(refusal) = site.token.check(presented) else {
        return Ok(());
    };
    if refusal == Refusal::Wrong {
        let now = Instant::now();
        let mut throttle = site.throttle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(wait) = throttle.check(address, now) {
            let seconds = wait.as_secs() + 1;
            let words = format!("too many wrong tokens from here: try again in {seconds} s\n");
            let again = [(header::RETRY_AFTER, seconds.to_string())];
            return Err((StatusCode::TOO_MANY_REQUESTS, again, words).into_response());
        }
        throttle.failed(address, now);
        drop(throttle);
        let reason = refusal.to_string();
        site.desk.write_down(who, &Action::LoginRefused { reason });
    }
    let how = [(header::WWW_AUTHENTICATE, "Bearer")];
    Err((StatusCode::UNAUTHORIZED, how, format!("{refusal}\n")).into_response())
}

/// What somebody with a right token gets when as many as may be are there already.
pub(super) fn no_room() -> Response {
    let words = "there are as many connections as there may be: try again later\n";
    let again = [(header::RETRY_AFTER, "5"), (header::CONNECTION, "close")];
    (StatusCode::SERVICE_UNAVAILABLE, again, words).into_response()
}

/// Takes in the whole body first, within its bounds: who sends it drop by drop has a place that others need.
pub(super) async fn take_body(
    State(bounds): State<BodyBounds>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let refuse = |status: StatusCode, words: String| {
        let close = [(header::CONNECTION, "close")];
        (status, close, words).into_response()
    };
    let mut bare = Request::new(body);
    DefaultBodyLimit::max(bounds.bytes).apply(&mut bare);
    match tokio::time::timeout(bounds.time, Bytes::from_request(bare, &())).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(rejection)) => refuse(rejection.status(), format!("{rejection}\n")),
        Err(_) => {
            let words = format!("the body did not come within {} s\n", bounds.time.as_secs());
            refuse(StatusCode::REQUEST_TIMEOUT, words)
        }
    }
}

/// Tells browsers to trust nothing but what is ours.
pub(super) async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    let nothing_kept = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(nothing_kept);
    response
}

/// What a client calls itself.
fn client_name(headers: &HeaderMap) -> String {
    let given = text(headers, &header::USER_AGENT).unwrap_or("unknown");
    given
        .chars()
        .filter(|c| !c.is_control())
        .take(100)
        .collect()
}

fn text<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Scripts, styles and connections of our own; pictures also from the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";
/// What a proxy has to say of itself.
const NOT_ENCRYPTED: &str = "this bridge runs with --behind-proxy: it is reached through a proxy that encrypts and sends \
                             `X-Forwarded-Proto: https` (or `Forwarded: proto=https`)\n";
