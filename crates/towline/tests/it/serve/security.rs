//! Who gets in, and what they may reach.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Served, eventually};

#[test]
fn only_requests_for_this_bridge_from_its_own_page_with_its_token_get_in() {
    let served = Served::start();
    let token = format!("Authorization: Bearer {}", served.token);
    let address = &served.address;
    let own = format!("Origin: http://{address}");
    let cases: &[(&[&str], u16)] = &[
        (&[&token], 200),
        (&[&token, &own], 200),
        (&[], 401),
        (&["Authorization: Bearer wrong"], 401),
        (&["Cookie: towline=wrong"], 401),
        (&[&token, "Host: evil.example"], 403),
        (&[&token, "Host: evil.example:80"], 403),
        (&[&token, "Origin: https://evil.example"], 403),
        (&[&token, "Origin: null"], 403),
    ];
    for (headers, status) in cases {
        for path in ["/api/sessions", "/api/events", "/openapi.json", "/metrics"] {
            if *status == 200 && path == "/api/events" {
                // This one would not end.
                continue;
            }
            let answer = served.raw_request("GET", path, headers, None);
            assert_eq!(answer.status, *status, "{path} {headers:?}: {answer:?}");
        }
    }
    // Also what is the same for everyone is not for the pages of others.
    let rebound = served.raw_request("GET", "/", &["Host: evil.example"], None);
    assert_eq!(rebound.status, 403);
}

#[test]
fn the_token_is_traded_for_a_cookie_that_is_not_the_token() {
    let served = Served::start();
    let login = served.raw_request(
        "POST",
        "/api/login",
        &[],
        Some(&json!({"token": served.token})),
    );
    assert_eq!(login.status, 204, "{login:?}");
    let cookie = login.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie").then_some(value)
    });
    let cookie = cookie.unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains(&served.token));
    let shown = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(
        served
            .raw_request("GET", "/api/agents", &[&shown], None)
            .status,
        200
    );
    let wrong = served.raw_request("POST", "/api/login", &[], Some(&json!({"token": "wrong"})));
    assert_eq!(wrong.status, 401);
}

#[test]
fn who_guesses_is_slowed_down() {
    let served = Served::start();
    let statuses: Vec<u16> = (0..40)
        .map(|number| {
            let guess = format!("Authorization: Bearer guess-{number}");
            served
                .raw_request("GET", "/api/agents", &[&guess], None)
                .status
        })
        .collect();
    assert_eq!(statuses[0], 401);
    assert_eq!(*statuses.last().unwrap(), 429, "{statuses:?}");
    // Who has the right one gets in all the same, at whatever address others guess.
    assert_eq!(served.get("/api/agents").status, 200);
    let entry = json!({"token": served.token});
    assert_eq!(
        served
            .raw_request("POST", "/api/login", &[], Some(&entry))
            .status,
        204
    );
    let wrong = json!({"token": "wrong"});
    let guess = served.raw_request("POST", "/api/login", &[], Some(&wrong));
    assert_eq!(guess.status, 429, "and the guesser still waits");
}

#[test]
fn a_token_in_the_query_is_taken_by_every_route_that_reads_one() {
    let served = Served::start();
    let session = served.session("offline");
    let (token, directory) = (&served.token, served.project());
    let directory = directory.display();
    for path in [
        format!("/api/files?directory={directory}&token={token}"),
        format!("/api/directory?token={token}&directory={directory}"),
        format!("/api/past?token={token}&limit=1"),
        format!("/api/search?words=x&token={token}"),
        format!("/api/sessions/{session}/messages?after=0&token={token}"),
        format!("/api/sessions/{session}/messages?token={token}"),
        format!("/api/sessions?token={token}"),
    ] {
        let answer = served.raw_request("GET", &path, &[], None);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    // What nobody knows is still told.
    let unknown = served.get("/api/past?limt=1");
    assert_eq!(unknown.status, 400, "{unknown:?}");
    assert!(unknown.body.contains("limt"), "{unknown:?}");
}

#[test]
fn who_sends_a_body_drop_by_drop_does_not_keep_others_out() {
    let served = Served::start();
    let unfinished = |path: &str| {
        let mut stream = served.stream();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
            served.address
        );
        stream.write_all(head.as_bytes()).ok();
        stream
    };
    // More than there are places.
    let mut crowd: Vec<TcpStream> = (0..80).map(|_| unfinished("/api/login")).collect();
    let started = Instant::now();
    loop {
        let mut stream = served.stream();
        let request = format!(
            "GET /api/agents HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            served.address, served.token
        );
        stream.write_all(request.as_bytes()).ok();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok();
        if answer.contains(" 200 ") {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{answer:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut answer = String::new();
    crowd[0].read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");

    // A token is short; and without one, nothing is listened to at all.
    let long = json!({"token": "x".repeat(5_000)});
    let answer = served.raw_request("POST", "/api/login", &[], Some(&long));
    assert_eq!(answer.status, 413, "{answer:?}");
    let mut answer = String::new();
    let mut stranger = unfinished("/api/sessions");
    stranger.read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer:?}");
}

#[test]
fn behind_a_proxy_only_what_came_to_it_encrypted_gets_in_and_its_sender_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::with(folder, |command| {
        command.args([
            "--agent",
            "offline",
            "--behind-proxy",
            "--public",
            "box.example",
        ]);
    });
    let token = format!("Authorization: Bearer {}", served.token);
    let wrong = "Authorization: Bearer wrong";
    let host = "Host: box.example";
    for (headers, status) in [
        (&[][..], 403),
        (&["X-Forwarded-Proto: http"], 403),
        (&["X-Forwarded-Proto: https, http"], 403),
        (&["X-Forwarded-Proto: https", "Forwarded: proto=http"], 403),
        (&["Forwarded: for=192.0.2.1"], 403),
        (&["X-Forwarded-Proto: https"], 200),
        (&["X-Forwarded-Proto: http, https"], 200),
        (
            &["Forwarded: for=192.0.2.1;proto=http, for=192.0.2.2;proto=https"],
            200,
        ),
    ] {
        let headers = [&[host, &token], headers].concat();
        let answer = served.raw_request("GET", "/api/agents", &headers, None);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    // A page that came to the browser without encryption is nobody's.
    let proto = "X-Forwarded-Proto: https";
    for (origin, status) in [
        ("Origin: https://box.example", 200),
        ("Origin: http://box.example", 403),
        ("Origin: http://box.example:443", 403),
        ("Origin: https://evil.example", 403),
    ] {
        let headers = [host, &token, proto, origin];
        let answer = served.raw_request("GET", "/api/agents", &headers, None);
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
    }
    let health = served.raw_request("GET", "/healthz", &[host], None);
    assert_eq!(health.status, 200, "{health:?}");

    // Each sender guesses for himself, whatever he says was before him.
    let guess = |number: u8, sender: &str| {
        let sent = format!("X-Forwarded-For: 203.0.113.{number}, {sender}");
        let headers = [host, proto, wrong, &sent];
        served
            .raw_request("GET", "/api/agents", &headers, None)
            .status
    };
    let first: Vec<u16> = (0..20)
        .map(|number| guess(number, "198.51.100.1"))
        .collect();
    assert!(first.contains(&429), "{first:?}");
    assert_eq!(guess(99, "198.51.100.2"), 401);
    let audit = fs::read_to_string(served.folder.path().join("data/audit.jsonl")).unwrap();
    assert!(audit.contains(r#""address":"198.51.100.1""#), "{audit}");
    assert!(!audit.contains("203.0.113."), "{audit}");
}

#[test]
fn without_a_proxy_nobody_is_who_he_says_he_is() {
    let served = Served::start();
    let statuses: Vec<u16> = (0..40)
        .map(|number| {
            let guess = format!("Authorization: Bearer guess-{number}");
            let sender = format!("X-Forwarded-For: 198.51.100.{number}");
            served
                .raw_request("GET", "/api/agents", &[&guess, &sender], None)
                .status
        })
        .collect();
    assert_eq!(*statuses.last().unwrap(), 429, "{statuses:?}");
    let audit = fs::read_to_string(served.folder.path().join("data/audit.jsonl")).unwrap();
    assert!(!audit.contains("198.51.100."), "{audit}");
}

#[test]
fn a_start_whose_link_would_be_refused_is_refused_with_what_to_do() {
    for (arguments, words) in [
        (&["--public", "box.example"][..], "--behind-proxy"),
        (
            &["--behind-proxy", "--listen", "0.0.0.0:0"],
            "--public HOST",
        ),
        (&["--token", "short"], "--token: a token has"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let said = std::process::Command::new(env!("CARGO_BIN_EXE_towline"))
            .env_clear()
            .env("HOME", folder.path())
            .args(["serve", "--root"])
            .arg(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8(said.stderr).unwrap();
        assert!(!said.status.success(), "{arguments:?}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
        assert!(said.stdout.is_empty());
    }
}

#[test]
fn a_token_in_a_file_that_others_can_read_is_warned_of() {
    for (mode, warned) in [(0o644, true), (0o600, false)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve.toml");
        fs::write(&file, "token = \"0123456789abcdef0123456789abcdef\"\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let served = Served::with(folder, |command| {
            command.args(["--agent", "offline", "--config"]).arg(&file);
        });
        let errors = fs::read_to_string(served.folder.path().join("stderr")).unwrap();
        assert_eq!(errors.contains("others can read it"), warned, "{errors}");
        assert!(!errors.contains("0123456789abcdef"), "{errors}");
    }
}

#[test]
fn the_token_is_in_no_log_and_every_file_is_for_its_owner_alone() {
    // With everything written down that can be.
    let served = Served::with(tempfile::tempdir().unwrap(), |command| {
        command
            .env("TOWLINE_LOG", "trace")
            .args(["--agent", "offline"]);
    });
    let session = served.session("offline");
    served.tell(&session, "say hello");
    served.wait_for_status(&session, "idle");
    let by_query = format!("/api/sessions?token={}", served.token);
    assert_eq!(served.raw_request("GET", &by_query, &[], None).status, 200);
    let wrong = served.raw_request("GET", "/api/sessions?token=wrong", &[], None);
    assert_eq!(wrong.status, 401);
    let entry = json!({"token": served.token});
    served.raw_request("POST", "/api/login", &[], Some(&entry));
    let by_query = format!("/ws?token={}", served.token);
    served.connect_with(&by_query, None).unwrap().hear();
    served.client().hear();
    let (token, folder) = (served.token.clone(), served.end());
    let mut looked_at = 0;
    for entry in fs::read_dir(folder.path().join("data")).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
        let bytes = fs::read(&path).unwrap();
        let has_it = bytes
            .windows(token.len())
            .any(|window| window == token.as_bytes());
        assert_eq!(has_it, path.ends_with("token"), "{}", path.display());
        looked_at += 1;
    }
    assert!(looked_at >= 3);
    let errors = fs::read_to_string(folder.path().join("stderr")).unwrap();
    assert!(
        errors.contains("a request"),
        "little is written down: {errors}"
    );
    assert!(!errors.contains(&token), "{errors}");
}

#[test]
fn nothing_outside_the_roots_is_shown_or_worked_in() {
    let served = Served::start();
    let project = served.project();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret words").unwrap();
    symlink(outside.path(), project.join("way-out")).unwrap();
    symlink(outside.path().join("secret"), project.join("link")).unwrap();
    let directory = project.to_str().unwrap();
    let above = format!("..{}/secret", outside.path().display());
    let absolute = outside.path().join("secret");
    for path in [
        "link",
        "way-out/secret",
        &above,
        "../../../../etc/passwd",
        absolute.to_str().unwrap(),
    ] {
        let answer = served.get(&format!("/api/file?directory={directory}&path={path}"));
        assert!(
            !answer.body.contains("secret words") && !answer.body.contains("root:"),
            "{path}: {answer:?}"
        );
        assert!(answer.body.contains("error"), "{path}: {answer:?}");
    }
    let elsewhere = [
        "/",
        "/etc",
        "way-out",
        outside.path().to_str().unwrap(),
        &format!("{directory}/way-out"),
        &format!("{directory}/.."),
        "",
    ];
    for directory in elsewhere {
        let answer = served.post("/api/sessions", &json!({"directory": directory}));
        assert_eq!(answer.status, 403, "{directory}: {answer:?}");
        let wider = json!({"additional_directories": [directory]});
        assert_eq!(
            served.post("/api/sessions", &wider).status,
            403,
            "{directory}"
        );
    }
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]));
}

#[test]
fn what_was_said_outside_the_roots_is_neither_shown_nor_resumed() {
    let served = Served::start();
    let outside = tempfile::tempdir().unwrap();
    let inside = served.project();
    let projects = inside.with_file_name("home").join(".claude/projects");
    let transcript = |directory: &Path, id: &str| {
        let folder = directory
            .to_str()
            .unwrap()
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        fs::create_dir_all(projects.join(&folder)).unwrap();
        let record = json!({
            "type": "user", "uuid": "00000000-0000-4000-8000-0000000000aa", "parentUuid": null, "sessionId": id,
            "cwd": directory, "message": {"role": "user", "content": "secret words"}, "isSidechain": false,
            "userType": "external", "version": "2.1.325", "timestamp": "2026-01-01T00:00:00.000Z",
        });
        let file = projects.join(folder).join(format!("{id}.jsonl"));
        fs::write(file, format!("{record}\n")).unwrap();
    };
    let [mine, other] = [1, 2].map(|number| format!("00000000-0000-4000-8000-00000000000{number}"));
    transcript(&inside, &mine);
    transcript(outside.path(), &other);

    let seen = |id: &str| served.get(&format!("/api/past/{id}"));
    assert!(
        seen(&mine).body.contains("secret words"),
        "{:?}",
        seen(&mine)
    );
    assert_eq!(seen(&other).status, 403, "{:?}", seen(&other));
    assert!(!served.get("/api/past").body.contains(&other));
    let resumed = |id: &str| served.post("/api/sessions", &json!({"resume": id}));
    assert_eq!(resumed(&other).status, 403, "{:?}", resumed(&other));
    assert!(resumed(&mine).status < 300, "{:?}", resumed(&mine));
}

#[test]
fn nobody_goes_without_asking_unless_that_was_enabled_at_the_start() {
    let served = Served::start();
    let bypass = json!({"permission_mode": "bypassPermissions"});
    let refused = served.post("/api/sessions", &bypass);
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(
        refused.body.contains("--allow-bypass-permissions"),
        "{refused:?}"
    );
    let session = served.session("offline");
    let changed = served.request("PATCH", &format!("/api/sessions/{session}"), Some(&bypass));
    assert_eq!(changed.status, 403, "{changed:?}");
    let enabled = Served::with(tempfile::tempdir().unwrap(), |command| {
        command.args(["--agent", "offline", "--allow-bypass-permissions"]);
    });
    assert_eq!(enabled.post("/api/sessions", &bypass).status, 201);
}

#[test]
fn what_is_too_large_is_refused_and_what_is_wrong_is_explained() {
    let served = Served::start();
    let session = served.session("offline");
    let large = served.tell(&session, &"x".repeat(17 << 20));
    assert_eq!(large.status, 413, "{}", large.head);
    let cases = [
        ("/api/sessions", json!({"directry": "/"}), 422, "directry"),
        (
            "/api/sessions",
            json!({"agent": "nobody"}),
            400,
            "there are",
        ),
        (
            "/api/sessions/ffffffff/messages",
            json!({"content": "hello"}),
            404,
            "ffffffff",
        ),
        (
            "/api/sessions/../../etc/messages",
            json!({"content": "hello"}),
            404,
            "",
        ),
    ];
    for (path, body, status, words) in cases {
        let answer = served.post(path, &body);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert!(answer.body.contains(words), "{path}: {answer:?}");
    }
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
    for (content, words) in [
        (json!(7), "send a string"),
        (json!(""), "nothing is said"),
        (json!([]), "nothing is said"),
        (json!({"a": 1}), "it is an object"),
        (json!([result]), "tool_result"),
    ] {
        let path = format!("/api/sessions/{session}/messages");
        let answer = served.post(&path, &json!({"content": content}));
        assert_eq!(answer.status, 400, "{content}: {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "invalid_content", "{content}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{content}: {message}");
    }
    assert_eq!(
        served.describe(&session)["record"]["last_seq"],
        0,
        "nothing of it happened"
    );
}

#[test]
fn a_thousand_connections_and_slow_ones_do_not_stop_who_watches_already() {
    let served = Served::start();
    let session = served.session("offline");
    let mut events = served.follow(&session, 0);
    events.until(|name, _| name == "live");
    let before = served.memory();
    // Each sends the beginning of a request, and then nothing.
    let crowd: Vec<TcpStream> = (0..1_000)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(&served.address).ok()?;
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ").ok()?;
            Some(stream)
        })
        .collect();
    let after = served.memory();
    assert!(
        after < before + (16 << 10),
        "{before} KiB before, {after} KiB after"
    );
    let started = Instant::now();
    // Those that hold a place are sent away when they take too long.
    let deadline = started + Duration::from_secs(40);
    let answer = loop {
        let mut stream = served.stream();
        let request = format!(
            "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            served.address
        );
        stream.write_all(request.as_bytes()).ok();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok();
        if answer.contains(" 200 ") {
            break answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(answer.ends_with("ok\n"));
    drop(crowd);
    served.tell(&session, "say still here");
    events.until(|name, data| name == "frame" && data["body"]["type"] == "result");
}

/// A connection that is kept, and asks for something on it again and again.
struct Polite(TcpStream);

impl Polite {
    /// Whether it was answered, and with which status.
    fn ask(&mut self, served: &Served, path: &str, header: &str) -> Option<String> {
        let host = &served.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n");
        self.0.write_all(request.as_bytes()).ok()?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.0.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().unwrap());
        self.0.read_exact(&mut vec![0; length]).ok()?;
        head.split(' ').nth(1).map(str::to_owned)
    }
}

/// A bridge with room for eight.
fn small() -> Served {
    Served::with(tempfile::tempdir().unwrap(), |command| {
        command
            .env("TOWLINE_MAX_VIEWERS", "8")
            .args(["--agent", "offline"]);
    })
}

#[test]
fn polite_strangers_on_all_places_do_not_lock_the_owner_out() {
    let served = small();
    let token = format!("Authorization: Bearer {}\r\n", served.token);
    let mut owner = Polite(served.stream());
    let known = owner.ask(&served, "/api/agents", &token);
    assert_eq!(known.as_deref(), Some("200"));
    // Many more than there are places; those that are let go come again.
    let mut crowd: Vec<Polite> = (0..40).map(|_| Polite(served.stream())).collect();
    for _ in 0..3 {
        for stranger in &mut crowd {
            if stranger.ask(&served, "/healthz", "").is_none() {
                *stranger = Polite(served.stream());
                stranger.ask(&served, "/healthz", "");
            }
        }
        let started = Instant::now();
        let answer = served.get("/api/agents");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(started.elapsed() < Duration::from_secs(1));
        let again = owner.ask(&served, "/api/agents", &token);
        assert_eq!(
            again.as_deref(),
            Some("200"),
            "who is known keeps the place"
        );
    }
    let there = crowd
        .iter_mut()
        .filter_map(|stranger| stranger.ask(&served, "/healthz", ""));
    assert!(there.count() <= 16, "strangers have no more room than that");
}

#[test]
fn where_all_places_are_taken_by_known_clients_a_newcomer_is_told_to_come_again() {
    let served = small();
    let token = format!("Authorization: Bearer {}\r\n", served.token);
    let mut known: Vec<Polite> = (0..8).map(|_| Polite(served.stream())).collect();
    for client in &mut known {
        let status = client.ask(&served, "/api/agents", &token);
        assert_eq!(status.as_deref(), Some("200"));
    }
    let answer = served.get("/api/agents");
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.head.contains("Retry-After: 5"), "{answer:?}");
    for client in &mut known {
        let status = client.ask(&served, "/api/agents", &token);
        assert_eq!(status.as_deref(), Some("200"), "nobody had to go");
    }
    drop(known);
    eventually("there is room again", || {
        served.get("/api/agents").status == 200
    });
}
