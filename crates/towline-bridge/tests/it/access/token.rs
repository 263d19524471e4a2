//! The token: in which forms it is taken, what its file must be, where it must not be seen.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    thread,
};

use towline_bridge::access::{
    Presented, Reach, Refusal, Token, Way, answered_subprotocol, without_token,
};

const TOKEN: &str = "correct-horse-battery-staple";

fn token() -> Token {
    Token::parse(TOKEN).unwrap()
}

/// The `name=value` of the cookie.
fn cookie(token: &Token) -> String {
    let header = token.cookie(Reach::Plain);
    header.split(';').next().unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn it_is_taken_in_four_forms_and_no_other() {
    let token = token();
    let right = cookie(&token);
    let many = format!("a=b; {right}; c=d");
    let stolen = format!("{}={TOKEN}", right.split('=').next().unwrap());
    let none = Presented::default();
    let authorization = |header| Presented {
        authorization: Some(header),
        ..none
    };
    let cookie = |header| Presented {
        cookie: Some(header),
        ..none
    };
    let subprotocols = |header| Presented {
        subprotocols: Some(header),
        ..none
    };
    let query = |query| Presented {
        query: Some(query),
        ..none
    };
    for (presented, expected) in [
        (none, Err(Refusal::Missing)),
        (
            authorization("Bearer correct-horse-battery-staple"),
            Ok(Way::Header),
        ),
        (
            authorization("bearer  correct-horse-battery-staple "),
            Ok(Way::Header),
        ),
        (
            authorization("Bearer correct-horse-battery-stapl"),
            Err(Refusal::Wrong),
        ),
        (
            authorization("Bearer correct-horse-battery-staple2"),
            Err(Refusal::Wrong),
        ),
        (authorization("Bearer "), Err(Refusal::Missing)),
        (
            authorization("Basic correct-horse-battery-staple"),
            Err(Refusal::Missing),
        ),
        (
            authorization("correct-horse-battery-staple"),
            Err(Refusal::Missing),
        ),
        (cookie(&right), Ok(Way::Cookie)),
        (cookie(&many), Ok(Way::Cookie)),
        (cookie(&stolen), Err(Refusal::Wrong)),
        (cookie("other=1"), Err(Refusal::Missing)),
        (
            subprotocols("towline.v1, towline.token.correct-horse-battery-staple"),
            Ok(Way::Subprotocol),
        ),
        (subprotocols("towline.token."), Err(Refusal::Wrong)),
        (subprotocols("towline.v1"), Err(Refusal::Missing)),
        (
            query("a=1&token=correct-horse-battery-staple"),
            Ok(Way::Query),
        ),
        (
            query("token=correct%2Dhorse-battery-staple"),
            Ok(Way::Query),
        ),
        (
            query("token=wrong&token=correct-horse-battery-staple"),
            Ok(Way::Query),
        ),
        (query("token="), Err(Refusal::Wrong)),
        (
            query("tokens=correct-horse-battery-staple"),
            Err(Refusal::Missing),
        ),
    ] {
        assert_eq!(token.check(&presented), expected, "{presented:?}");
    }
}

#[test]
fn one_right_thing_is_enough() {
    let name = cookie(&token()).split('=').next().unwrap().to_owned();
    let old = format!("{name}=old");
    let presented = Presented {
        cookie: Some(&old),
        authorization: Some("Bearer correct-horse-battery-staple"),
        ..Presented::default()
    };
    assert_eq!(token().check(&presented), Ok(Way::Header));
}

#[test]
fn the_cookie_is_safe_from_scripts_and_other_pages_and_is_not_the_token() {
    let header = token().cookie(Reach::Plain);
    let (pair, attributes) = header.split_once("; ").unwrap();
    assert_eq!(
        attributes,
        "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"
    );
    assert!(!pair.contains(TOKEN));
    assert!(token().cookie(Reach::Tls).ends_with("; Secure"));
    assert_eq!(
        header,
        token().cookie(Reach::Plain),
        "it survives a restart"
    );
    let other = Token::generate().unwrap();
    let presented = Presented {
        cookie: Some(pair),
        ..Presented::default()
    };
    assert!(other.check(&presented).is_err(), "a new token ends it");
}

#[test]
fn two_bridges_on_one_machine_do_not_take_each_others_cookies_away() {
    let name = |token: &Token| cookie(token).split('=').next().unwrap().to_owned();
    assert_ne!(name(&token()), name(&Token::generate().unwrap()));
}

#[test]
fn it_is_never_seen_by_accident() {
    let token = token();
    assert_eq!(format!("{token:?}"), "Token(…)");
    let error = Token::parse("a secret with spaces").unwrap_err();
    assert!(
        !format!("{error} {error:?}").contains("secret"),
        "{error:?}"
    );
}

#[test]
fn a_uri_for_a_log_has_no_token_however_it_is_spelled() {
    for (uri, expected) in [
        ("/", "/"),
        ("/ws?token=s3cret", "/ws?token=…"),
        ("/ws?token=s3cret&a=1", "/ws?token=…&a=1"),
        ("/ws?a=1&TOKEN=s3cret", "/ws?a=1&TOKEN=…"),
        ("/ws?%74oken=s3cret", "/ws?%74oken=…"),
        ("/ws?a=1;token=s3cret", "/ws?a=1;token=…"),
        ("/ws?token=s3cret=s3cret", "/ws?token=…"),
        ("/ws?a=1?token=s3cret", "/ws?a=1?token=…"),
        ("http://h/#token=s3cret", "http://h/#token=…"),
        ("/?token=s3cret#token=s3cret", "/?token=…#token=…"),
        ("/?tokens=4&a", "/?tokens=4&a"),
    ] {
        assert_eq!(without_token(uri), expected, "{uri}");
    }
}

#[test]
fn a_websocket_is_answered_without_the_token_where_that_is_possible() {
    for (offered, expected) in [
        ("towline.token.x, towline.v1", Some("towline.v1")),
        ("towline.v1,towline.token.x", Some("towline.v1")),
        ("towline.token.x", Some("towline.token.x")),
        (" , ", None),
    ] {
        assert_eq!(answered_subprotocol(offered), expected, "{offered}");
    }
}

#[test]
fn chosen_tokens_fit_everywhere_they_go() {
    for (text, good) in [
        ("0123456789abcdef", true),
        ("0123456789-._~AZ", true),
        ("0123456789abcde", false),
        ("", false),
        ("0123456789abcdef ", false),
        ("0123456789abcdef,", false),
        ("0123456789abcdeé", false),
        (&"x".repeat(256), true),
        (&"x".repeat(257), false),
    ] {
        assert_eq!(Token::parse(text).is_ok(), good, "{text:?}");
    }
}

#[test]
fn generated_tokens_have_256_bits_and_differ() {
    let one = Token::generate().unwrap();
    assert_eq!(one.expose().len(), 43);
    assert!(!one.matches(Token::generate().unwrap().expose()));
    assert!(Token::parse(one.expose()).is_ok());
    assert_eq!(
        one.link("http://127.0.0.1:8765/"),
        format!("http://127.0.0.1:8765/#token={}", one.expose())
    );
}

#[test]
fn the_file_is_made_once_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/data");
    assert!(Token::look(&data).unwrap().is_none());
    assert!(!data.exists(), "who only looks makes nothing");
    let first = Token::load_or_create(&data).unwrap();
    assert!(first.created);
    assert_eq!(first.warning, None);
    assert_eq!((mode(&data), mode(&first.file)), (0o700, 0o600));
    let second = Token::load_or_create(&data).unwrap();
    assert!(!second.created);
    assert!(second.token.matches(first.token.expose()));
    assert_eq!(
        fs::read_dir(&data).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn bridges_that_start_at_once_have_one_token() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<_> = thread::scope(|scope| {
        let start = || scope.spawn(|| Token::load_or_create(folder.path()).unwrap());
        let started: Vec<_> = (0..8).map(|_| start()).collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(tokens.iter().filter(|kept| kept.created).count(), 1);
    assert!(
        tokens
            .iter()
            .all(|kept| kept.token.matches(tokens[0].token.expose()))
    );
}

#[test]
fn a_file_that_others_could_read_is_closed_and_that_is_said() {
    for open in [0o644, 0o640, 0o604, 0o666] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, format!("{TOKEN}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(open)).unwrap();
        let seen = Token::look(folder.path()).unwrap().unwrap();
        assert!(seen.token.matches(TOKEN));
        let warning = seen.warning.unwrap();
        assert!(warning.contains(&format!("mode {open:o}")), "{warning}");
        assert_eq!(mode(&file), open, "who only looks changes nothing");
        let kept = Token::load_or_create(folder.path()).unwrap();
        assert!(kept.token.matches(TOKEN));
        assert_eq!(mode(&file), 0o600);
        let seen = Token::look(folder.path()).unwrap().unwrap();
        assert_eq!(seen.warning, None);
        let warning = kept.warning.unwrap();
        assert!(warning.contains(&format!("mode {open:o}")), "{warning}");
        assert!(!warning.contains(TOKEN));
    }
}

#[test]
fn a_file_that_cannot_be_right_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let complaint = || {
        let error = Token::load_or_create(folder.path()).unwrap_err();
        let error = error.to_string();
        let seen = Token::look(folder.path()).unwrap_err().to_string();
        assert_eq!(seen, error, "who only looks says the same");
        assert!(error.contains(file.to_str().unwrap()), "{error}");
        fs::remove_file(&file)
            .or_else(|_| fs::remove_dir(&file))
            .unwrap();
        error
    };
    fs::write(&file, "short").unwrap();
    assert!(complaint().contains("delete the file to get a new token"));
    fs::write(&file, [0xff; 40]).unwrap();
    assert!(complaint().contains("UTF-8"));
    fs::write(&file, "x".repeat(100_000)).unwrap();
    assert!(complaint().contains("delete the file"));
    fs::create_dir(&file).unwrap();
    assert!(complaint().contains("is no file"));
    symlink("/etc/hostname", &file).unwrap();
    assert!(complaint().contains("is a link"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
    assert!(complaint().contains("is no file"));
}
