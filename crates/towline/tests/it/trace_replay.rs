//! `towline trace replay`: as an agent for a host, as a host for an agent, and what it says of differences.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use towline_testkit::replay::{Side, Trace};

use crate::run::{Ran, towline};

fn recorded(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../towline-protocol/tests/data/traces"
    );
    format!("{folder}/{name}.jsonl")
}

/// What one side says in a trace.
fn said(file: &str, side: Side) -> String {
    let trace = Trace::read(&fs::read(file).unwrap()).unwrap();
    trace.lines(side).map(|line| format!("{line}\n")).collect()
}

fn replay(arguments: &[&str], stdin: &str) -> Ran {
    towline(
        &[&["trace", "replay"], arguments].concat(),
        stdin.as_bytes(),
    )
}

#[test]
fn the_recorded_host_gets_the_recorded_agent() {
    for name in [
        "control-03e_deny_message",
        "control-07a_all_events",
        "control-08a_sdk_mcp_initialize",
        "sessions-sub_parallel",
    ] {
        let file = recorded(name);
        let ran = replay(&[&file], &said(&file, Side::Host));
        assert_eq!(ran.stdout, said(&file, Side::Agent), "{name}");
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.ends_with(", not played 0, differences 0\n"));
    }
}

#[test]
fn another_host_is_told_where_it_differs() {
    let file = recorded("control-03e_deny_message");
    let host = said(&file, Side::Host)
        .replace("Nope", "No\u{202e}")
        .replace("\"go\"", "\"go on\"");
    let question =
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}"#;
    let ran = replay(&[&file, "--", "-p"], &format!("{question}\n{host}"));
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"1","error":"the trace has no answer to this"}}"#
    );
    insta::assert_snapshot!(Ran { stdout: String::new(), ..ran }, @r#"
    -- stderr
    other arguments
        expected ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"]
        came ["-p"]
    after row 0: control_request/interrupt was not recorded
        came {"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}
    row 2: user differs
        message.content: expected "go", came "go on"
    row 6: control_response/success differs
        response.response.message: expected "Nope, not allowed by tester", came "No\u{202e}, not allowed by tester"
    played to the end; sent 6, received 3, not played 0, differences 4
    -- exit 1
    "#);
}

#[test]
fn a_host_that_ends_or_says_nothing_is_told_what_was_waited_for() {
    let file = recorded("control-01_initialize");
    insta::assert_snapshot!(replay(&[&file], ""), @r#"
    -- stderr
    row 2: control_request/initialize never came
        expected {"type":"control_request","request_id":"req_1_initialize","request":{"subtype":"initialize"}}
    the other side ended too early; sent 0, received 0, not played 9, differences 1
    -- exit 1
    "#);

    let silent = tempfile::tempdir().unwrap();
    let file = silent.path().join("t.jsonl");
    fs::write(
        &file,
        "{\"dir\":\"out\",\"line\":{\"type\":\"keep_alive\"}}\n",
    )
    .unwrap();
    let agent = [
        "--as",
        "host",
        "--timeout",
        "1",
        "--",
        "/bin/sh",
        "-c",
        "cat >/dev/null",
    ];
    let ran = replay(&[&[file.to_str().unwrap()], &agent[..]].concat(), "");
    assert_eq!(ran.code, 0, "a sign of life is not waited for: {ran}");
}

#[test]
fn a_recording_of_a_replay_is_the_same_trace_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded("control-07a_all_events");
    let again = folder.path().join("again.jsonl");
    let once_more = folder.path().join("once-more.jsonl");
    let towline_path = env!("CARGO_BIN_EXE_towline");
    let play_and_record = |file: &str, out: &Path| {
        let out = out.to_str().unwrap();
        let agent = [
            "--",
            towline_path,
            "trace",
            "record",
            out,
            "--",
            towline_path,
            "trace",
            "replay",
            file,
        ];
        let ran = replay(&[&[file, "--as", "host"], &agent[..]].concat(), "");
        assert_eq!(ran.code, 0, "{ran}");
    };
    play_and_record(&file, &again);
    play_and_record(again.to_str().unwrap(), &once_more);
    // All but the arguments, the times and what the replay says to standard error.
    let rows = |file: &Path| -> Vec<String> {
        let text = fs::read_to_string(file).unwrap();
        let rows = text.lines().filter_map(|row| {
            let row = row.split_once(",\"dir\":").unwrap().1;
            let is_line = row.starts_with("\"in\"") || row.starts_with("\"out\"");
            is_line.then(|| row.to_owned())
        });
        rows.collect()
    };
    let first = rows(file.as_ref());
    assert!(first.len() > 10);
    assert_eq!(rows(&again), first);
    assert_eq!(rows(&once_more), first);
}

#[test]
fn an_agent_that_differs_is_told_of_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    fs::write(
        &file,
        r#"{"t":1,"dir":"in","line":{"type":"user","message":{"role":"user","content":"hi"}}}
{"t":2,"dir":"out","line":{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}}
{"t":3,"dir":"in","line":{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow"}}}}
{"t":4,"dir":"out","line":{"type":"result","subtype":"success","result":"done","duration_ms":5,"session_id":"s1"}}
"#,
    )
    .unwrap();
    // An agent with ids of its own, which gives back the answer it got as its result.
    let agent = r#"read -r user
echo '{"type":"control_request","request_id":"own","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}'
read -r answer
echo "$answer" >&2
echo '{"type":"result","subtype":"success","result":"other","duration_ms":77,"session_id":"own session"}'
cat >/dev/null
"#;
    let arguments = [
        file.to_str().unwrap(),
        "--as",
        "host",
        "--",
        "/bin/sh",
        "-c",
        agent,
    ];
    insta::assert_snapshot!(replay(&arguments, ""), @r#"
    -- stderr
    {"type":"control_response","response":{"subtype":"success","request_id":"own","response":{"behavior":"allow"}}}
    row 4: result/success differs
        result: expected "done", came "other"
    played to the end; sent 2, received 2, not played 0, differences 1
    -- exit 1
    "#);
    let ignoring = [&arguments[..1], &["--ignore", "result"], &arguments[1..]].concat();
    assert_eq!(replay(&ignoring, "").code, 0);
}

/// Plays both sides of a trace in which either side takes this long to say something; how long each took.
fn played(gap: Duration, speed: &[&str]) -> [Duration; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    let (user_at, result_at) = (gap.as_millis(), 2 * gap.as_millis());
    let init = r#"{"type":"system","subtype":"init","session_id":"s1"}"#;
    let user = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
    let result = r#"{"type":"result","subtype":"success","result":"done","session_id":"s1"}"#;
    let rows = [
        format!(r#"{{"t":0,"dir":"out","line":{init}}}"#),
        format!(r#"{{"t":{user_at},"dir":"in","line":{user}}}"#),
        format!(r#"{{"t":{result_at},"dir":"out","line":{result}}}"#),
    ];
    fs::write(&file, rows.join("\n")).unwrap();
    let agent = format!("echo '{init}'; read -r user; echo '{result}'; cat >/dev/null");
    let as_agent = [file.to_str().unwrap()];
    let as_host = [
        file.to_str().unwrap(),
        "--as",
        "host",
        "--",
        "/bin/sh",
        "-c",
        &agent,
    ];
    [&as_agent[..], &as_host].map(|arguments| {
        let begun = Instant::now();
        let ran = replay(&[speed, arguments].concat(), &format!("{user}\n"));
        assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
        begun.elapsed()
    })
}

#[test]
fn pauses_are_kept_at_the_recorded_speed() {
    let gap = Duration::from_millis(600);
    for took in played(gap, &["--speed", "recorded"]) {
        assert!(took >= gap, "{took:?}");
    }
}

#[test]
fn pauses_are_left_out_at_full_speed_and_unless_said_otherwise() {
    let gap = Duration::from_secs(60);
    for speed in [&["--speed", "full"][..], &[]] {
        for took in played(gap, speed) {
            assert!(took < gap / 2, "{took:?}");
        }
    }
}

#[test]
fn what_is_no_trace_is_not_played() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    fs::write(&file, "{\"dir\":\"sideways\",\"line\":{}}\n").unwrap();
    let file = file.to_str().unwrap();
    let ran = replay(&[file], "");
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        format!("towline: cannot play `{file}`: row 1: no direction `sideways`\n")
    );
    assert_eq!(replay(&["/no/such/trace"], "").code, 1);
}
