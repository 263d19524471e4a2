//! `WebFetch` against a server on this machine.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

use super::super::{SideCall, ToolCall};
use super::*;
use crate::Web;

type Body = Full<bytes::Bytes>;

/// A server with a few pages; nobody answers at `/slow`.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(move |request| answer_request(request, address));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    address
}

async fn answer_request(
    request: Request<Incoming>,
    address: SocketAddr,
) -> Result<Response<Body>, Infallible> {
    let respond = |status: u16, name: &str, value: String, body: Vec<u8>| {
        let response = Response::builder().status(status).header(name, value);
        Ok(response.body(Full::from(body)).unwrap())
    };
    let page =
        |kind: &str, body: &[u8]| respond(200, "content-type", kind.to_owned(), body.to_vec());
    let redirect = |to: String| respond(302, "location", to, Vec::new());
    match request.uri().path() {
        "/page" => page(
            "text/html; charset=utf-8",
            b"<h1>Title</h1><p>Some words.</p>",
        ),
        "/text" => page("text/plain", b"just text"),
        "/long" => page("text/plain", "ab".repeat(60_000).as_bytes()),
        "/image" => page("image/png", b"\x89PNG"),
        "/here" => redirect("/page".to_owned()),
        "/elsewhere" => redirect(format!("http://localhost:{}/page", address.port())),
        "/circle" => redirect("/circle".to_owned()),
        "/file" => redirect("file:///etc/passwd".to_owned()),
        "/large" => page("text/plain", &vec![b'a'; (10 << 20) + 1]),
        "/slow" => std::future::pending().await,
        _ => respond(404, "content-type", "text/plain".to_owned(), Vec::new()),
    }
}

fn place() -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let (mut place, _events) = Place::in_folder(folder.path());
    place.web.allow_private = true;
    (folder, place)
}

async fn fetch(place: &Place, input: Value) -> Outcome {
    match ToolCall::read("WebFetch", &input).unwrap() {
        Ok(call) => call.run(place).await,
        Err(outcome) => outcome,
    }
}

#[tokio::test]
async fn a_page_is_fetched_and_given_as_markdown() {
    let (_folder, place) = place();
    let url = format!("http://{}/here", server().await);
    let mut outcome = fetch(&place, json!({"url": url, "prompt": "what?"})).await;
    assert_eq!(outcome.content.text(), "# Title\n\nSome words.");
    assert_eq!(outcome.is_error, None);
    assert!(outcome.data["durationMs"].is_u64());
    outcome.data["durationMs"] = json!(0);
    let expected = json!({
        "bytes": 32, "code": 200, "codeText": "OK", "result": "# Title\n\nSome words.", "durationMs": 0, "url": url,
    });
    assert_eq!(*outcome.data, expected);
}

#[tokio::test]
async fn the_model_answers_from_the_page() {
    let (_folder, mut place) = place();
    let url = format!("http://{}/page", server().await);
    let input = json!({"url": url, "prompt": "What is it about?"});
    place.ask = Some(SideCall::new(|question: String| async move {
        assert!(
            question.contains("# Title\n\nSome words.") && question.contains("What is it about?")
        );
        Ok("Words.".to_owned())
    }));
    assert_eq!(fetch(&place, input.clone()).await.content.text(), "Words.");
    // Without a question there is nothing to ask.
    assert_eq!(
        fetch(&place, json!({"url": url})).await.content.text(),
        "# Title\n\nSome words."
    );
    place.ask = Some(SideCall::new(|_| async { Err("overloaded".to_owned()) }));
    let outcome = fetch(&place, input).await;
    assert_eq!(
        *outcome.data,
        json!("Error: the page was fetched, but could not be read: overloaded")
    );
}

#[tokio::test]
async fn a_page_on_another_host_is_for_the_model_to_decide() {
    let (_folder, place) = place();
    let address = server().await;
    let input = json!({"url": format!("http://{address}/elsewhere"), "prompt": "p"});
    let outcome = fetch(&place, input).await;
    let text = outcome.content.text();
    assert!(text.starts_with("REDIRECT DETECTED: "), "{text}");
    assert!(text.contains(&format!(
        "Redirect URL: http://localhost:{}/page\nStatus: 302 Found",
        address.port()
    )));
    assert_eq!(
        (outcome.is_error, &outcome.data["code"]),
        (None, &json!(302))
    );
}

#[tokio::test]
async fn a_long_page_is_read_in_parts() {
    let (_folder, place) = place();
    let url = format!("http://{}/long", server().await);
    let outcome = fetch(&place, json!({"url": url})).await;
    let text = outcome.content.text();
    assert!(text.starts_with("abab") && text.len() < 100_100);
    assert!(text.ends_with("[20000 more characters; call again with offset 100000 to go on]"));
    let outcome = fetch(&place, json!({"url": url, "offset": 119_998})).await;
    assert_eq!(outcome.content.text(), "ab");
}

#[tokio::test]
async fn what_cannot_be_fetched_is_a_clear_error() {
    let (_folder, mut place) = place();
    let address = server().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = listener.local_addr().unwrap();
    drop(listener);
    let cases = [
        (
            format!("http://{address}/nothing"),
            "the server answered 404",
        ),
        (
            format!("http://{address}/image"),
            "this is image/png, not text",
        ),
        (format!("http://{address}/circle"), "more than 10 redirects"),
        (format!("http://{address}/file"), "only http and https"),
        (format!("http://{address}/large"), "larger than 10 MB"),
        (format!("http://{closed}/"), "onnection refused"),
        (
            "http://nothing.invalid/".to_owned(),
            "the host is not known",
        ),
        ("nonsense".to_owned(), "give a whole one"),
    ];
    for (url, words) in cases {
        check_error(&place, &url, words).await;
    }
    place.web.timeout = Duration::from_millis(300);
    check_error(
        &place,
        &format!("http://{address}/slow"),
        "no answer within 0.3 s",
    )
    .await;
}

#[tokio::test]
async fn what_is_not_on_the_public_internet_is_refused_unless_allowed() {
    let (_folder, mut place) = place();
    let port = server().await.port();
    place.web = Web::default();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "2130706433",
    ] {
        let url = format!("http://{host}:{port}/page");
        check_error(&place, &url, "not on the public internet").await;
    }
}

async fn check_error(place: &Place, url: &str, words: &str) {
    let outcome = fetch(place, json!({"url": url, "prompt": "p"})).await;
    let text = outcome.content.text();
    assert_eq!(outcome.is_error, Some(true), "{url}: {text}");
    assert!(text.contains(words), "{url}: {text}");
}
