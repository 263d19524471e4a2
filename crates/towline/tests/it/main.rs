//! The tests of the command, one binary: each runs the built executable as a person or a script would.

#![expect(
    clippy::unwrap_used,
    reason = "the lint lets tests off, but not what several tests share"
)]

mod agent;
mod answers;
mod api_failures;
mod background;
mod backpressure;
mod bad_input;
mod clear;
mod control_requests;
mod crash;
mod dialect_session;
mod differential;
mod driven;
mod fetched_files;
mod hosted;
mod identity;
mod links;
mod notices;
mod page;
mod parity;
mod permission;
mod permission_real;
mod planning;
mod pocket;
mod pocket_pressure;
mod pocket_reconnect;
mod pocket_start;
mod pull_requests;
mod requests;
mod resume;
mod run;
mod script_api;
mod sdk_flags;
mod sdks;
mod serve;
mod session_dialect;
mod sessions;
mod signals;
mod snapshots;
mod statements;
mod terminal;
mod tool_inputs;
mod trace_check;
mod trace_record;
mod trace_replay;
mod trace_show;
mod trust;
mod unasked;
mod web;

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [
        &["trace"][..],
        &["sessions"],
        &["sessions", "show"],
        &["sessions", "list", "--all", "--project", "."],
        &["sessions", "search", "x", "--since", "yesterday"],
        &["sessions", "export", "x", "--format", "pdf"],
        &["trace", "show"],
        &["trace", "check"],
        &["trace", "show", "-", "--width", "wide"],
        &["trace", "record", "out.jsonl"],
        &["trace", "record", "out.jsonl", "true"],
        &["trace", "wrapper", "program", "--", "true"],
        &["trace", "replay"],
        &["trace", "replay", "x.jsonl", "--as", "nobody"],
        &["trace", "replay", "x.jsonl", "--as", "host"],
        &["trace", "replay", "x.jsonl", "--timeout", "0"],
        &["dialect"],
        &["dialect", "session"],
        &["dialect", "session", "claude"],
        &["script-api", "--listen", "here"],
        &["script-api", "--print-env", "--", "true"],
        &["permission"],
        &["permission", "check"],
        &["permission", "check", "Bash", "{}", "--mode", "fast"],
    ] {
        assert_eq!(run::towline(arguments, b"").code, 2, "{arguments:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_one_line_of_error() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("no\u{1b}[2Jsuch.jsonl");
    for command in ["show", "check"] {
        let ran = run::towline(&["trace", command, missing.to_str().unwrap()], b"");
        let place = directory.path().to_str().unwrap();
        assert_eq!(ran.code, 1);
        assert_eq!(ran.stdout, "");
        assert_eq!(
            ran.stderr.replace(place, "DIR"),
            "towline: cannot read `DIR/no\\u{1b}[2Jsuch.jsonl`: No such file or directory (os error 2)\n"
        );

        let ran = run::towline(&["trace", command, place], b"");
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1));
        assert!(ran.stderr.starts_with("towline: cannot read `"));
    }
}
