//! `towline [flags] [prompt]`: formats, exit codes, signals. The agent itself is tested where it is; here it answers
//! with `--model offline`, and only what holds for every answer is looked at.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A home and a project of their own.
struct Room(TempDir);

/// What a run gave.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Room {
    fn new() -> Self {
        let room = tempfile::tempdir().unwrap();
        std::fs::create_dir(room.path().join("project")).unwrap();
        Self(room)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
        command
            .args(words)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.0.path())
            .env("TMPDIR", self.0.path())
            .current_dir(self.0.path().join("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().unwrap()
    }

    fn run(&self, words: &[&str], stdin: &str) -> Ran {
        let mut child = self.start(words);
        // A run that fails at once does not read it.
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).ok();
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

const STREAM: &[&str] = &[
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--model",
    "offline",
];
const HELLO: &str = r#"{"type":"user","message":{"role":"user","content":"hello"}}"#;

#[test]
fn wrong_use_of_the_agent_is_one_line_and_exit_code_1() {
    let room = Room::new();
    for (words, expected) in [
        (&["--foo"][..], "error: unknown option '--foo'\n"),
        (&["-p", "--foo=1", "x"], "error: unknown option '--foo=1'\n"),
        (
            &["-p", "--model"],
            "error: option '--model <model>' argument missing\n",
        ),
        (
            &["-p"],
            "Error: Input must be provided either through stdin or as a prompt argument when using --print\n",
        ),
        (
            &[],
            "Error: Input must be provided either through stdin or as a prompt argument when using --print\n",
        ),
        (
            &["-p", "--resume"],
            "Error: --resume requires a valid session ID or session title when used with --print. \
             Usage: towline -p --resume <session-id|title>\n",
        ),
        (
            &["-p", "--output-format", "stream-json", "x"],
            "Error: When using --print, --output-format=stream-json requires --verbose\n",
        ),
        (
            &["-p", "--session-id", "\u{1b}[2J", "x"],
            "Error: Invalid session ID. Must be a valid UUID.\n",
        ),
        (&["--\u{1b}[2J"], "error: unknown option '--\\u{1b}[2J'\n"),
    ] {
        let ran = room.run(words, "");
        assert_eq!(
            (ran.code, &*ran.stdout, &*ran.stderr),
            (Some(1), "", expected),
            "{words:?}"
        );
    }
    let ran = room.run(&["-p"], " \n");
    assert!(
        ran.stderr
            .starts_with("Error: Input contained only whitespace."),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_version_begins_with_one_that_hosts_know() {
    for flag in ["--version", "-v"] {
        let ran = Room::new().run(&[flag], "");
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        assert_eq!(
            ran.stdout,
            format!("2.1.325 (towline {})\n", env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn the_help_shows_commands_and_flags_in_groups() {
    let ran = Room::new().run(&["--help"], "");
    assert_eq!(ran.code, Some(0));
    for part in [
        "Usage: towline [flags] [prompt]",
        "  trace ",
        "  sessions ",
        "Session:",
        "  -r, --resume [value] ",
        "  --allowed-tools <tools...> ",
        "Accepted, no effect:",
    ] {
        assert!(
            ran.stdout.contains(part),
            "{part} is missing in\n{}",
            ran.stdout
        );
    }
    // What has no effect is not offered as if it had one.
    let (works, accepted) = ran.stdout.split_once("Accepted, no effect:").unwrap();
    for flag in [
        "--include-hook-events",
        "--mcp-config",
        "--strict-mcp-config",
    ] {
        assert!(!works.contains(flag) && accepted.contains(flag), "{flag}");
    }
    assert!(works.contains("--thinking-display"));
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(125), "{widest:?}");
    let of_command = Room::new().run(&["trace", "--help"], "");
    assert!(
        of_command.stdout.contains("Usage: towline trace"),
        "{}",
        of_command.stdout
    );
}

// From here on the agent answers: these hold for the real engine and for any that ends each turn with a `result`.

#[test]
fn text_is_the_answer_alone() {
    let room = Room::new();
    for (words, stdin) in [
        (&["-p", "hello", "--model", "offline"][..], ""),
        (&["--model=offline", "hello"], ""),
        (&["-p", "--model", "offline"], "hello\n"),
        (&["-p", "--model", "offline", "hello"], "and more\n"),
    ] {
        let ran = room.run(words, stdin);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{words:?}");
        assert!(
            ran.stdout.ends_with('\n') && ran.stdout.trim() != "",
            "{words:?}: {:?}",
            ran.stdout
        );
        assert!(
            serde_json::from_str::<Value>(&ran.stdout).is_err(),
            "{words:?}"
        );
    }
}

#[test]
fn json_is_the_result_and_with_verbose_an_array() {
    let room = Room::new();
    let ran = room.run(
        &[
            "-p",
            "hello",
            "--model",
            "offline",
            "--output-format",
            "json",
        ],
        "",
    );
    assert_eq!(
        (ran.code, &*ran.stderr, ran.stdout.lines().count()),
        (Some(0), "", 1)
    );
    let result = json(&ran.stdout);
    assert_eq!(
        (&result["type"], &result["subtype"]),
        (&Value::from("result"), &Value::from("success"))
    );

    let ran = room.run(
        &[
            "-p",
            "hello",
            "--model",
            "offline",
            "--output-format=json",
            "--verbose",
        ],
        "",
    );
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let lines = json(&ran.stdout);
    assert_eq!(lines.as_array().unwrap().last().unwrap()["type"], "result");
}

#[test]
fn stream_json_is_a_line_each() {
    let room = Room::new();
    let ran = room.run(
        &[
            "-p",
            "hello",
            "--model",
            "offline",
            "--output-format",
            "stream-json",
            "--verbose",
        ],
        "",
    );
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert_eq!(json(ran.stdout.lines().last().unwrap())["type"], "result");

    // The prompt of the command line is no part of a conversation in lines.
    let words = [STREAM, &["not this"]].concat();
    let ran = room.run(&words, &format!("{HELLO}\n"));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let results = ran
        .stdout
        .lines()
        .filter(|line| json(line)["type"] == "result");
    assert_eq!(results.count(), 1);

    let ran = room.run(STREAM, "");
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), "", ""));
}

#[test]
fn a_session_that_was_given_a_name_is_resumed_by_it() {
    let room = Room::new();
    let named = [
        "--model",
        "offline",
        "-p",
        "hello",
        "--name",
        "release notes",
    ];
    assert_eq!(room.run(&named, "").code, Some(0));
    let resume = [
        "--model",
        "offline",
        "-p",
        "--resume",
        "release notes",
        "and?",
    ];
    let ran = room.run(&resume, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_host_of_document_003_is_understood() {
    let room = Room::new();
    let folder = room.0.path().join("project/sub");
    std::fs::create_dir(&folder).unwrap();
    let words = [
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--permission-prompt-tool",
        "stdio",
        "--model",
        "offline",
        "--cwd",
        "sub",
    ];
    let create = r#"{"type":"session.create","message":{"role":"user","content":"hello"}}"#;
    let send = r#"{"type":"session.send","message":{"role":"user","content":"again"}}"#;
    let mut child = room.start(&words);
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| json(&line.unwrap()));
    let mut folders = Vec::new();
    let mut until_result = || {
        let mut kinds = Vec::new();
        for line in lines.by_ref() {
            folders.extend(line["cwd"].as_str().map(PathBuf::from));
            kinds.push(line["type"].as_str().unwrap().to_owned());
            if kinds.last().unwrap() == "result" {
                break;
            }
        }
        kinds
    };
    stdin.write_all(format!("{create}\n").as_bytes()).unwrap();
    let kinds = until_result();
    assert!(kinds.contains(&"session.created".to_owned()), "{kinds:?}");
    stdin
        .write_all(format!("{send}\nno JSON\n").as_bytes())
        .unwrap();
    let kinds = until_result();
    assert!(!kinds.contains(&"session.created".to_owned()), "{kinds:?}");
    assert_eq!(folders[0], folder.canonicalize().unwrap());
    drop(stdin);
    // What is wrong with a line is told in a line, and the session goes on.
    let rest: Vec<Value> = lines.collect();
    let is_told =
        kinds.contains(&"error".to_owned()) || rest.iter().any(|line| line["type"] == "error");
    assert!(is_told, "{kinds:?} {rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_ends_it_with_the_code_that_shells_know() {
    let room = Room::new();
    for (signal, expected) in [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        // Nothing runs, so there is nothing to interrupt but the process.
        (Signal::INT, 0),
    ] {
        let mut child = room.start(STREAM);
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdin.write_all(format!("{HELLO}\n").as_bytes()).unwrap();
        let mut line = String::new();
        while !line.contains(r#""result""#) {
            line.clear();
            assert_ne!(
                stdout.read_line(&mut line).unwrap(),
                0,
                "it ended too early"
            );
        }
        let process = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process(process, signal).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(expected), "{signal:?}");
    }
}

#[test]
fn a_reader_that_is_gone_ends_it_quietly() {
    let room = Room::new();
    for format in ["text", "json"] {
        let mut child = room.start(&["-p", "--model", "offline", "--output-format", format]);
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(stderr, "", "{format}");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{format}");
    }
}
