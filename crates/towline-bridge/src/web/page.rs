//! The page: the files of `page/`, the same for everyone and so without a token. What is on it comes from the API.
//!
//! A browser asks each time whether a file is still the same (`no-cache`, `ETag`): after an update nobody has half of
//! the old page. A build for development reads the files where they are, so that a change needs no new build.

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "page"]
struct Files;

/// The page and what it is made of.
pub(super) fn routes() -> Router {
    Router::new()
        .route(
            "/",
            get(|headers: HeaderMap| async move { give("index.html", &headers) }),
        )
        .route(
            "/assets/{*path}",
            get(
                |Path(path): Path<String>, headers: HeaderMap| async move { give(&path, &headers) },
            ),
        )
}

fn give(path: &str, headers: &HeaderMap) -> Response {
    let Some((file, kind)) = Files::get(path).zip(content_type(path)) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let tag = format!(
        "\"{}\"",
        URL_SAFE_NO_PAD.encode(file.metadata.sha256_hash())
    );
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    // Proxies that compress mark a tag as weak.
    let is_known = known.is_some_and(|known| {
        known
            .split(',')
            .any(|known| known.trim().trim_start_matches("W/") == tag)
    });
    let about = [
        (header::ETAG, tag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_TYPE, kind),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, file.data).into_response()
}

/// What a file is, by the end of its name. What is not in the list is not given out.
fn content_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => return None,
    })
}
