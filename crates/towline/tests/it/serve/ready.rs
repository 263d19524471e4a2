//! What `towline serve` says when it starts or cannot, and that `towline doctor` says the same.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Command, Stdio},
};

use super::{Served, faults::configure};

/// What came of a command: whether it went well, what it said, and what it complained of.
struct Said {
    is_well: bool,
    out: String,
    err: String,
}

/// Runs `serve` or `doctor` to its end.
fn run(folder: &Path, command: &str, arguments: &[&str]) -> Said {
    for name in ["home", "project"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let mut usual = Vec::new();
    for (flag, value) in [("--agent", "offline"), ("--listen", "127.0.0.1:0")] {
        if !arguments.contains(&flag) {
            usual.extend([flag, value]);
        }
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_towline"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder.join("home"))
        .current_dir(folder.join("project"))
        .arg(command)
        .args(usual)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said {
        is_well: ran.status.success(),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

/// Neither starts, each says why in one line, and that line has these words.
fn check(folder: &Path, arguments: &[&str], what: &str, words: &str) {
    let served = run(folder, "serve", arguments);
    assert!(!served.is_well, "serve {arguments:?}");
    assert_eq!(served.err.lines().count(), 1, "{}", served.err);
    assert!(served.err.contains(words), "{words} in {}", served.err);
    let found = run(folder, "doctor", arguments);
    assert!(!found.is_well, "doctor {arguments:?}: {}", found.out);
    let problems: Vec<&str> = found
        .out
        .lines()
        .filter(|line| line.starts_with("problem"))
        .collect();
    assert_eq!(problems.len(), 1, "{}", found.out);
    assert!(
        problems[0].contains(&format!(" {what}: ")) && problems[0].contains(words),
        "{what}, {words} in {}",
        problems[0]
    );
}

#[test]
fn what_keeps_serve_from_starting_is_said_in_a_line_and_found_by_the_doctor() {
    let room = tempfile::tempdir().unwrap();
    let path = |name: &str| room.path().join(name).to_str().unwrap().to_owned();
    let data = path("data");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(
        room.path(),
        &["--data", &data, "--listen", &address],
        "listen",
        "something listens there already",
    );
    check(
        room.path(),
        &["--data", &data, "--root", &path("none")],
        "roots",
        &path("none"),
    );
    fs::write(path("file"), "").unwrap();
    check(
        room.path(),
        &["--data", &path("file/data")],
        "data",
        "Not a directory",
    );
    let (cert, key) = (path("none.pem"), path("none.key"));
    check(
        room.path(),
        &["--data", &data, "--tls-cert", &cert, "--tls-key", &key],
        "TLS",
        "none.pem",
    );
    for (name, words) in [
        ("folder", "is no file"),
        ("link", "is a link"),
        ("short", "a token has"),
    ] {
        let data = path(name);
        fs::create_dir(&data).unwrap();
        let token = Path::new(&data).join("token");
        match name {
            "folder" => fs::create_dir(&token),
            "link" => symlink("/etc/hostname", &token),
            _ => fs::write(&token, "short"),
        }
        .unwrap();
        check(room.path(), &["--data", &data], "token", words);
    }
    fs::create_dir(path("damaged")).unwrap();
    fs::write(
        path("damaged/log.sqlite3"),
        "no database at all, but long enough to be looked at".repeat(40),
    )
    .unwrap();
    check(
        room.path(),
        &["--data", &path("damaged")],
        "data",
        "log.sqlite3",
    );
    let served = Served::start();
    let held = served.folder.path().join("data");
    check(
        room.path(),
        &["--data", held.to_str().unwrap()],
        "data",
        "another bridge",
    );
}

#[test]
fn the_doctor_finds_what_serve_would_use_and_leaves_nothing_behind() {
    let room = tempfile::tempdir().unwrap();
    let data = room.path().join("data");
    let data = data.to_str().unwrap();
    let found = run(room.path(), "doctor", &["--data", data]);
    assert!(found.is_well, "{}", found.out);
    assert!(
        found.out.contains(&format!("data: {data} will be made")),
        "{}",
        found.out
    );
    assert!(
        found.out.contains("configuration: none at "),
        "{}",
        found.out
    );
    assert!(found.out.contains("token: one will be made"));
    assert!(!Path::new(data).exists());

    let config = configure(room.path());
    let config = config.to_str().unwrap();
    let found = run(room.path(), "doctor", &["--data", data, "--config", config]);
    assert!(
        found
            .out
            .contains(&format!("configuration: read from {config}")),
        "{}",
        found.out
    );
    let served = Served::start();
    served.session("offline");
    let folder = served.end();
    let kept = folder.path().join("data");
    let found = run(room.path(), "doctor", &["--data", kept.to_str().unwrap()]);
    assert!(
        found.is_well && found.out.contains("with 1 sessions"),
        "{}",
        found.out
    );
}

#[test]
fn the_doctor_says_where_the_token_is_and_who_can_read_it() {
    let folder = Served::start().end();
    let data = folder.path().join("data");
    let token = data.join("token");
    let (data, shown) = (data.to_str().unwrap(), token.display());
    let line = |arguments: &[&str]| {
        let found = run(folder.path(), "doctor", arguments);
        assert!(found.is_well, "{}", found.out);
        let mut lines = found.out.lines().filter(|line| line.contains("  token: "));
        let line = lines.next().unwrap().to_owned();
        assert_eq!(lines.next(), None, "{}", found.out);
        line
    };
    let arguments = ["--data", data];
    assert_eq!(
        line(&arguments),
        format!("ok       token: read from {shown}")
    );
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let open = format!(
        "note     token: {shown} can be read by others (mode 644): delete it and start again to get a new token"
    );
    assert_eq!(line(&arguments), open);
    let mode = token.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "it changes nothing");
    let given = ["--data", data, "--token", "correct-horse-battery-staple"];
    assert_eq!(line(&given), "ok       token: the one that was given");
}

#[test]
fn the_doctor_misses_the_program_of_the_default_agent() {
    let room = tempfile::tempdir().unwrap();
    let config = room.path().join("serve.toml");
    let text = "[[agents]]\nname = \"mine\"\ncommand = \"no-such-program\"\n";
    fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let data = room.path().join("data");
    let flags = ["--config", config, "--data", data.to_str().unwrap()];
    let found = run(room.path(), "doctor", &flags);
    assert!(found.is_well, "it is not the default: {}", found.out);
    assert!(
        found.out.contains("note     agent: the program of `mine`"),
        "{}",
        found.out
    );
    let flags = [&flags[..], &["--agent", "mine"]].concat();
    let found = run(room.path(), "doctor", &flags);
    assert!(!found.is_well, "{}", found.out);
    assert!(
        found.out.contains("problem  agent: the program of `mine`"),
        "{}",
        found.out
    );
}

#[test]
fn serve_says_where_it_is_how_to_get_in_and_which_agents_there_are() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["home", "project"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path().join("home"));
    let token = "correct-horse-battery-staple-and-more";
    let mut child = super::serve(&mut command, folder.path(), |command| {
        command.args(["--agent", "offline", "--token", token]);
    });
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let address = said[0].strip_prefix("listening on ").unwrap();
    assert_eq!(said[1], format!("open http://{address}/#token={token}"));
    assert_eq!(said[2], "agents: towline, offline (default)");
    assert!(!folder.path().join("data/token").exists(), "it was given");
}

#[test]
fn the_token_of_the_flag_is_the_one_that_lets_in() {
    let token = "correct-horse-battery-staple-and-more";
    let served = Served::with(tempfile::tempdir().unwrap(), |command| {
        command.args(["--agent", "offline", "--token", token]);
    });
    assert_eq!(served.token, token);
    assert_eq!(served.get("/api/sessions").status, 200);
    let wrong = served.raw_request(
        "GET",
        "/api/sessions",
        &["Authorization: Bearer wrong"],
        None,
    );
    assert_eq!(wrong.status, 401, "{wrong:?}");
}

#[test]
fn each_wrong_setting_has_a_line_of_its_own_that_names_the_flags() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = ["--listen", "nowhere", "--token", "short"];
    let served = run(folder.path(), "serve", &wrong);
    let lines: Vec<&str> = served.err.lines().collect();
    assert!(!served.is_well);
    assert_eq!(lines.len(), 2, "{}", served.err);
    assert!(lines[0].starts_with("towline: --listen: "), "{lines:?}");
    assert!(lines[1].starts_with("towline: --token: "), "{lines:?}");
    assert!(!served.err.contains("\\n"), "{}", served.err);
    let found = run(folder.path(), "doctor", &wrong).out;
    let problems = found.lines().filter(|line| line.starts_with("problem"));
    assert_eq!(problems.count(), 2, "{found}");

    let open = ["--listen", "0.0.0.0:0", "--public", "box"];
    let served = run(folder.path(), "serve", &open);
    for flag in ["--tls-cert", "--tls-key", "--behind-proxy"] {
        assert!(served.err.contains(flag), "{flag} in {}", served.err);
    }
}

#[test]
fn every_flag_is_in_the_document_that_help_names() {
    let said = Command::new(env!("CARGO_BIN_EXE_towline"))
        .args(["serve", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(said.stdout).unwrap();
    assert!(help.contains("docs/serve.md"), "{help}");
    let document = include_str!("../../../../../docs/serve.md");
    let flags: Vec<_> = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--"))
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert!(flags.len() > 8, "{help}");
    for flag in flags {
        assert!(document.contains(&format!("`--{flag}")), "--{flag}");
    }
}
