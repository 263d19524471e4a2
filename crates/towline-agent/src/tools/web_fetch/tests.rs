//! `WebFetch` against a server on this machine.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

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
            tokio::spawn(serve(stream, address));
        }
    });
    address
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, address: SocketAddr) {
    let service = service_fn(move |request| answer_request(request, address));
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A client that goes away is no failure of the server.
    connection.await.ok();
}

/// The same server with TLS, and its certificate.
async fn tls_server() -> (SocketAddr, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = rustls::crypto::ring::default_provider().into();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepting = acceptor.accept(stream);
            tokio::spawn(async move {
                if let Ok(stream) = accepting.await {
                    serve(stream, address).await;
                }
            });
        }
    });
    (address, made.cert.pem())
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
        "/latin" => page("text/html; charset=ISO-8859-1", b"<p>caf\xe9</p>"),
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
    place.web.private_hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
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

#[tokio::test]
async fn a_page_in_another_encoding_is_read_as_it_is_meant() {
    let (_folder, place) = place();
    let url = format!("http://{}/latin", server().await);
    assert_eq!(
        fetch(&place, json!({"url": url})).await.content.text(),
        "café"
    );
}

#[tokio::test]
async fn pages_are_fetched_through_a_proxy_but_not_those_it_is_not_for() {
    let (_folder, mut place) = place();
    place.web = Web {
        upgrade: false,
        ..Web::default()
    };
    place.web.proxy.http = Some(format!("http://{}", server().await));
    place.web.proxy.none = Some("direct.invalid".to_owned());
    // Nobody but the proxy knows this name, and it answers for it.
    let url = "http://somewhere.invalid/text";
    assert_eq!(
        fetch(&place, json!({"url": url})).await.content.text(),
        "just text"
    );
    for (url, words) in [
        ("http://direct.invalid/text", "the host is not known"),
        ("http://10.0.0.1/text", "not on the public internet"),
        ("http://localhost/text", "not on the public internet"),
    ] {
        check_error(&place, url, words).await;
    }
    place.web.proxy.http = Some("http://[bad".to_owned());
    check_error(&place, url, "HTTP_PROXY").await;
}

/// Plays the agent in the next test, when that starts this binary again: which certificates count is said by the
/// environment.
#[tokio::test]
async fn a_fetch_in_another_environment() {
    let (Some(url), Some(answer)) = (
        std::env::var_os("TOWLINE_TEST_URL"),
        std::env::var_os("TOWLINE_TEST_ANSWER"),
    ) else {
        return;
    };
    let (_folder, place) = place();
    let outcome = fetch(&place, json!({"url": url.to_str().unwrap()})).await;
    std::fs::write(answer, outcome.content.text().as_bytes()).unwrap();
}

#[tokio::test]
async fn a_server_with_tls_must_have_a_certificate_that_is_known() {
    let (address, certificate) = tls_server().await;
    let (_, stranger) = tls_server().await;
    for (known, words) in [(certificate, "just text"), (stranger, "certificate")] {
        let folder = tempfile::tempdir().unwrap();
        let (file, answer) = (
            folder.path().join("known.pem"),
            folder.path().join("answer"),
        );
        std::fs::write(&file, known).unwrap();
        let fetched = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "tools::web_fetch::tests::a_fetch_in_another_environment",
            ])
            .env("SSL_CERT_FILE", file)
            .env_remove("SSL_CERT_DIR")
            .env(
                "TOWLINE_TEST_URL",
                format!("https://localhost:{}/text", address.port()),
            )
            .env("TOWLINE_TEST_ANSWER", &answer)
            .output()
            .await
            .unwrap();
        assert!(fetched.status.success(), "{fetched:?}");
        let answer = std::fs::read_to_string(answer).unwrap();
        assert!(answer.contains(words), "{answer}");
    }
}

async fn check_error(place: &Place, url: &str, words: &str) {
    let outcome = fetch(place, json!({"url": url, "prompt": "p"})).await;
    let text = outcome.content.text();
    assert_eq!(outcome.is_error, Some(true), "{url}: {text}");
    assert!(text.contains(words), "{url}: {text}");
}
