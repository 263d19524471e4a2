//! Who gets in. First the host and the origin, for every request; then the token, for all but what is the same for
//! everyone.

use std::{
    net::SocketAddr,
    sync::{Arc, PoisonError},
    time::Instant,
};

use axum::{
    Extension,
    extract::{ConnectInfo, Request},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use crate::access::{Action, Presented, Refusal, Who, without_token};

use super::Site;

/// Sends away what does not belong here: a page of somebody else, or a name that leads here by a trick.
pub(super) async fn check_host(
    Extension(site): Extension<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    let host = text(request.headers(), &header::HOST).or_else(|| {
        // HTTP/2 has it in the target.
        request
            .uri()
            .authority()
            .map(axum::http::uri::Authority::as_str)
    });
    match site
        .hosts
        .check(host, text(request.headers(), &header::ORIGIN))
    {
        Ok(()) => next.run(request).await,
        Err(refusal) => (StatusCode::FORBIDDEN, format!("{refusal}\n")).into_response(),
    }
}

/// Lets in who has the token, and slows down who guesses.
pub(super) async fn let_in(
    Extension(site): Extension<Arc<Site>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
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
        address: address.ip().to_string(),
    };
    if let Err(response) = admit(&site, &presented, &who, address) {
        return response;
    }
    tracing::debug!(
        method = %request.method(),
        uri = %without_token(&request.uri().to_string()),
        address = who.address,
        "a request"
    );
    request.extensions_mut().insert(who);
    next.run(request).await
}

/// Checks a token, wherever it was shown.
#[expect(
    clippy::result_large_err,
    reason = "a response is what there is to be sent, once"
)]
pub(super) fn admit(
    site: &Site,
    presented: &Presented<'_>,
    who: &Who,
    address: SocketAddr,
) -> Result<(), Response> {
    let now = Instant::now();
    let mut throttle = site.throttle.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(wait) = throttle.check(address.ip(), now) {
        let seconds = wait.as_secs() + 1;
        let words = format!("too many wrong tokens from here: try again in {seconds} s\n");
        let again = [(header::RETRY_AFTER, seconds.to_string())];
        return Err((StatusCode::TOO_MANY_REQUESTS, again, words).into_response());
    }
    match site.token.check(presented) {
        Ok(_) => {
            throttle.succeeded(address.ip());
            Ok(())
        }
        Err(refusal) => {
            if refusal == Refusal::Wrong {
                throttle.failed(address.ip(), now);
                let reason = refusal.to_string();
                site.desk.write_down(who, &Action::LoginRefused { reason });
            }
            let how = [(header::WWW_AUTHENTICATE, "Bearer")];
            Err((StatusCode::UNAUTHORIZED, how, format!("{refusal}\n")).into_response())
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
