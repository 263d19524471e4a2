//! `towline serve` with a certificate: all that it serves is encrypted, and what is not encrypted gets no answer.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
};

use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;
use tungstenite::{ClientRequestBuilder, Error};

use super::{Client, Served, http::Answer};

/// A bridge that encrypts, and who trusts its certificate and no other.
struct Encrypted {
    served: Served,
    trust: Arc<ClientConfig>,
    /// Its name and port, as other machines know them.
    host: String,
}

impl Encrypted {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        fs::write(&certificate, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let served = Served::with(folder, |command| {
            command.args(["--agent", "offline", "--public", NAME]);
            command.arg("--tls-cert").arg(certificate);
            command.arg("--tls-key").arg(key);
        });
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let trust =
            ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
        let (_, port) = served.address.rsplit_once(':').unwrap();
        let host = format!("{NAME}:{port}");
        let trust = Arc::new(trust);
        Self {
            served,
            trust,
            host,
        }
    }

    fn stream(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let name = NAME.try_into().unwrap();
        let connection = ClientConnection::new(Arc::clone(&self.trust), name).unwrap();
        StreamOwned::new(connection, self.served.stream())
    }

    /// The head of a request, whatever it is sent over.
    fn request(&self, start: &str, headers: &str) -> String {
        let host = &self.host;
        format!("{start} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
    }
}

#[test]
fn with_a_certificate_the_link_and_the_requests_are_https() {
    let bridge = Encrypted::start();
    let (host, token) = (&bridge.host, &bridge.served.token);
    assert_eq!(bridge.served.link, format!("https://{host}/#token={token}"));
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let own = format!("{bearer}Origin: https://{host}\r\n");
    let plain = format!("{bearer}Origin: http://{host}\r\n");
    for (headers, status) in [
        (bearer.as_str(), 200),
        (&own, 200),
        (&plain, 403),
        ("Authorization: Bearer wrong\r\n", 401),
        ("", 401),
    ] {
        let request = bridge.request("GET /api/agents", headers);
        let answer = Answer::to(bridge.stream(), &request);
        assert_eq!(answer.status, status, "{headers}: {answer:?}");
    }
    let page = Answer::to(bridge.stream(), &bridge.request("GET /", ""));
    assert!(page.body.contains("<title>"), "{page:?}");

    let entry = json!({"token": token}).to_string();
    let length = entry.len();
    let kind = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
    let login = bridge.request("POST /api/login", &kind) + &entry;
    let login = Answer::to(bridge.stream(), &login);
    assert_eq!(login.status, 204, "{login:?}");
    assert!(login.head.contains("; Secure"), "{login:?}");
}

#[test]
fn with_a_certificate_a_session_is_had_over_wss() {
    let bridge = Encrypted::start();
    let connect = |token: &str| {
        let uri = format!("wss://{}/ws", bridge.host).parse().unwrap();
        let request = ClientRequestBuilder::new(uri)
            .with_header("Authorization", format!("Bearer {token}"))
            .with_header("Origin", format!("https://{}", bridge.host));
        Client::over(bridge.stream(), request)
    };
    let mut client = connect(&bridge.served.token).unwrap();
    client.say(&json!({"type": "start", "projectPath": bridge.served.project()}));
    client.expect(&[json!({"type": "system", "subtype": "session_created", "sessionId": "$S"})]);
    client.say(&json!({"type": "input", "text": "think", "sessionId": "$S"}));
    client.expect(&[json!({"type": "result", "sessionId": "$S"})]);
    match connect("wrong") {
        Err(Error::Http(answer)) => assert_eq!(answer.status(), 401),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a wrong token got in"),
    }
}

#[test]
fn with_a_certificate_what_is_not_encrypted_gets_no_answer() {
    let bridge = Encrypted::start();
    let bearer = format!("Authorization: Bearer {}\r\n", bridge.served.token);
    for path in ["/", "/healthz", "/api/agents"] {
        let mut stream = bridge.served.stream();
        let request = bridge.request(&format!("GET {path}"), &bearer);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // The connection is closed, with an alert of TLS or without.
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("HTTP/"), "{path}: {answer:?}");
    }
    let uri = format!("ws://{}/ws", bridge.host).parse().unwrap();
    let request = ClientRequestBuilder::new(uri).with_header("Authorization", &bearer);
    assert!(Client::over(bridge.served.stream(), request).is_err());
    // Who was refused has kept nobody out.
    let request = bridge.request("GET /healthz", "");
    assert_eq!(Answer::to(bridge.stream(), &request).status, 200);
}

/// The name in the certificate.
const NAME: &str = "box.example";
