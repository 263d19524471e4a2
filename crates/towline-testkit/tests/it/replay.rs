//! One side of a trace, played: against the recorded other side, against changes of it, and against itself.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, duplex};
use towline_protocol::{Line, Text};
use towline_testkit::replay::{
    Difference, End, FieldDifference, Output, Replay, Report, Side, Speed, Trace,
};

/// The recorded traces of the real CLI, by name.
fn traces() -> Vec<(String, Trace)> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../towline-protocol/tests/data/traces"
    );
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, Trace::read(&fs::read(file).unwrap()).unwrap())
    };
    files.iter().map(read).collect()
}

fn trace(name: &str) -> Trace {
    let mut traces = traces();
    let place = traces.iter().position(|(found, _)| found == name).unwrap();
    traces.swap_remove(place).1
}

/// What a side sent, and what was found.
#[derive(Debug, Default, PartialEq)]
struct Played {
    sent: Vec<String>,
    found: Vec<Difference>,
    closed: bool,
}

/// Gives the machine all these lines at once and then the end.
fn play(mut replay: Replay, lines: impl IntoIterator<Item = Text>) -> (Played, End) {
    let now = Instant::now();
    let mut played = Played::default();
    replay.start(now);
    drain(&mut replay, &mut played);
    for line in lines {
        replay.handle_line(Line::Text(line), now);
        drain(&mut replay, &mut played);
    }
    replay.handle_close(now);
    drain(&mut replay, &mut played);
    let end = replay.end().cloned().unwrap();
    (played, end)
}

fn drain(replay: &mut Replay, played: &mut Played) {
    while let Some(output) = replay.poll_output() {
        match output {
            Output::Send(line) => played.sent.push(line.to_string()),
            Output::Close => played.closed = true,
            Output::Found(difference) => played.found.push(difference),
        }
    }
}

fn said(trace: &Trace, side: Side) -> Vec<String> {
    trace.lines(side).map(ToString::to_string).collect()
}

#[test]
fn every_recorded_host_gets_every_recorded_line_of_its_agent() {
    let mut count = 0;
    for (name, trace) in traces() {
        let host: Vec<Text> = trace.lines(Side::Host).cloned().collect();
        let agent = said(&trace, Side::Agent);
        let (played, end) = play(Replay::agent(trace), host);
        assert_eq!((&played.sent, end), (&agent, End::Played), "{name}");
        assert_eq!(played.found, [], "{name}");
        count += 1;
    }
    assert!(count > 200, "{count}");
}

#[test]
fn every_recorded_agent_gets_every_recorded_line_of_its_host() {
    for (name, trace) in traces() {
        let agent: Vec<Text> = trace.lines(Side::Agent).cloned().collect();
        let host = said(&trace, Side::Host);
        let (played, end) = play(Replay::host(trace), agent);
        let expected = Played {
            sent: host,
            found: Vec::new(),
            closed: true,
        };
        assert_eq!((played, end), (expected, End::Played), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_two_sides_of_every_trace_play_against_each_other() {
    for (name, trace) in traces() {
        for speed in [Speed::Full, Speed::Recorded] {
            let (here, there) = duplex(256);
            let agent = Replay::agent(trace.clone()).at(speed).run(here);
            let host = Replay::host(trace.clone()).at(speed).run(there);
            let (agent, host) = tokio::join!(agent, host);
            assert!(agent.is_same() && host.is_same(), "{name}: {agent}; {host}");
            assert_eq!((&agent.end, &host.end), (&End::Played, &End::Played));
        }
    }
}

/// A host line of a trace, changed.
fn changed(trace: &Trace, index: usize, change: impl FnOnce(&mut Value)) -> Vec<Text> {
    let mut lines: Vec<Text> = trace.lines(Side::Host).cloned().collect();
    let mut line = serde_json::from_str(&lines[index]).unwrap();
    change(&mut line);
    lines[index] = line.to_string().into();
    lines
}

fn field(path: &str, expected: Option<&str>, came: Option<&str>) -> FieldDifference {
    FieldDifference {
        path: path.to_owned(),
        expected: expected.map(str::to_owned),
        came: came.map(str::to_owned),
    }
}

#[test]
fn every_kind_of_change_is_reported_with_its_row() {
    let trace = trace("control-03e_deny_message");
    let host: Vec<Text> = trace.lines(Side::Host).cloned().collect();
    let never = format!(
        "row 6: control_response/success never came\n    expected {}",
        host[1]
    );
    let extra = r#"{"type":"user","message":{"role":"user","content":"more"}}"#;
    let stray = r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#;
    let stray_came =
        format!("after row 5: control_response/success was not recorded\n    came {stray}");
    let answer = |change: fn(&mut Value)| {
        changed(&trace, 1, |line| change(&mut line["response"]["response"]))
    };
    let said = |line: &mut Value| line["message"]["content"] = json!("stop");
    let cases: [(&str, Vec<Text>, &[&str]); 7] = [
        (
            "another value",
            changed(&trace, 0, said),
            &["row 2: user differs\n    message.content: expected \"go\", came \"stop\""],
        ),
        (
            "a field less",
            answer(|answer| drop(answer.as_object_mut().unwrap().remove("message"))),
            &["row 6: control_response/success differs\n    \
               response.response.message: expected \"Nope, not allowed by tester\", came nothing"],
        ),
        (
            "a field more",
            answer(|answer| answer["interrupt"] = json!(true)),
            &["row 6: control_response/success differs\n    \
               response.response.interrupt: expected nothing, came true"],
        ),
        (
            "a line more",
            [&host[..], &[extra.into()]].concat(),
            &[&format!(
                "after row 9: user was not recorded\n    came {extra}"
            )],
        ),
        (
            "garbage",
            [&["{no".into()], &host[..]].concat(),
            &["after row 0: ? was not recorded\n    came {no"],
        ),
        ("a line less", host[..1].to_vec(), &[&never]),
        (
            "an answer to another question",
            vec![host[0].clone(), stray.into()],
            &[&stray_came, &never],
        ),
    ];
    for (what, lines, expected) in cases {
        let (played, _) = play(Replay::agent(trace.clone()), lines);
        let found: Vec<String> = played.found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn no_change_of_a_host_line_goes_unnoticed() {
    let mut changes = 0;
    for (name, trace) in traces().into_iter().step_by(5) {
        for (index, line) in said(&trace, Side::Host).iter().enumerate() {
            let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            for field in fields.keys().filter(|field| *field != "type") {
                let lines = changed(&trace, index, |line| {
                    line.as_object_mut().unwrap().remove(field);
                });
                let mut replay = Replay::agent(trace.clone());
                let now = Instant::now();
                let mut played = Played::default();
                replay.start(now);
                for line in lines {
                    replay.handle_line(Line::Text(line), now);
                }
                replay.handle_close(now);
                drain(&mut replay, &mut played);
                assert!(!played.found.is_empty(), "{name}: {line} without {field}");
                changes += 1;
            }
        }
    }
    assert!(changes > 100, "{changes}");
}

#[test]
fn a_host_with_ids_of_its_own_gets_its_answers_under_them() {
    let trace = trace("control-05g_interrupt_cancel_queued");
    let own = |id: &str| format!("own-{id}");
    let mut renamed = Vec::new();
    let rename = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        for name in ["request_id", "uuid"] {
            if let Some(id) = value.get(name).and_then(Value::as_str) {
                value[name] = json!(own(id));
            }
        }
        value.to_string()
    };
    let host: Vec<Text> = said(&trace, Side::Host)
        .iter()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            for name in ["request_id", "uuid"] {
                if let Some(id) = value.get(name).and_then(Value::as_str) {
                    renamed.push(id.to_owned());
                }
            }
            rename(line).into()
        })
        .collect();
    assert_eq!(renamed.len(), 2, "{renamed:?}");
    let agent = said(&trace, Side::Agent);
    let (played, end) = play(Replay::agent(trace), host);
    assert_eq!((&played.found[..], end), (&[][..], End::Played));
    let expected: Vec<Value> = agent
        .iter()
        .map(|line| {
            let line = renamed.iter().fold(line.clone(), |line, id| {
                line.replace(&format!("\"{id}\""), &format!("\"{}\"", own(id)))
            });
            serde_json::from_str(&line).unwrap()
        })
        .collect();
    let sent: Vec<Value> = played
        .sent
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(sent, expected);
    assert_ne!(played.sent, agent);
}

#[test]
fn one_live_id_for_two_recorded_ones_is_reported_and_still_answered() {
    let trace = Trace::read(
        br#"{"dir":"in","line":{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}}
{"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"a"}}}
{"dir":"in","line":{"type":"control_request","request_id":"b","request":{"subtype":"interrupt"}}}
{"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"b"}}}
"#,
    )
    .unwrap();
    let line = r#"{"type":"control_request","request_id":7,"request":{"subtype":"interrupt"}}"#;
    let (played, end) = play(Replay::agent(trace), [line.into(), line.into()]);
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":7}}"#;
    assert_eq!(played.sent, [answer, answer]);
    assert_eq!(
        played.found,
        [Difference::Changed {
            row: 3,
            kind: "control_request/interrupt".to_owned(),
            fields: vec![field("request_id", Some("\"b\""), Some("7"))],
        }]
    );
    assert_eq!(end, End::Played);
}

#[test]
fn a_question_that_the_trace_does_not_know_is_answered_with_an_error() {
    let trace = trace("control-03e_deny_message");
    let question =
        r#"{"type":"control_request","request_id":"q","request":{"subtype":"mcp_status"}}"#;
    let (played, _) = play(Replay::agent(trace.clone()), [question.into()]);
    let answer: Value = serde_json::from_str(&played.sent[0]).unwrap();
    assert_eq!(
        answer,
        json!({"type":"control_response","response":{"subtype":"error","request_id":"q",
            "error":"the trace has no answer to this"}})
    );
    assert!(matches!(
        &played.found[0],
        Difference::Unexpected { kind, .. } if kind == "control_request/mcp_status"
    ));

    let (played, _) = play(Replay::host(trace), [question.into()]);
    let answer: Value = serde_json::from_str(&played.sent[1]).unwrap();
    assert_eq!(answer["response"]["subtype"], "error");
}

#[test]
fn times_are_not_compared_but_must_be_there() {
    let trace = Trace::read(
        br#"{"dir":"out","line":{"type":"result","subtype":"success","duration_ms":5,"cwd":"/a"}}"#,
    )
    .unwrap();
    let check = |line: &str, ignored: &[&str]| {
        let ignored = ignored.iter().map(|name| (*name).to_owned());
        let replay = Replay::host(trace.clone()).ignoring(ignored);
        play(replay, [line.into()]).0.found.len()
    };
    let late = r#"{"type":"result","subtype":"success","duration_ms":9000,"cwd":"/b"}"#;
    assert_eq!(check(late, &[]), 1, "the folder is another");
    assert_eq!(check(late, &["cwd"]), 0);
    let without = r#"{"type":"result","subtype":"success","cwd":"/a"}"#;
    assert_eq!(check(without, &[]), 1);
    let text = r#"{"type":"result","subtype":"success","duration_ms":"5","cwd":"/a"}"#;
    assert_eq!(check(text, &[]), 2, "no result, so none came");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_says_nothing_is_told_of_after_the_time_out() {
    let trace = trace("control-01_initialize");
    let first = said(&trace, Side::Host).remove(0);
    let (_host, agent) = duplex(1024);
    let replay = Replay::agent(trace).waiting(Duration::from_secs(60));
    let began = tokio::time::Instant::now();
    let report = replay.run(agent).await;
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    let missing = Difference::Missing {
        row: 2,
        kind: "control_request/initialize".to_owned(),
        expected: first.clone(),
    };
    assert_eq!(report.differences, [missing]);
    assert_eq!(report.end, End::TimedOut);
    assert!(!report.is_same());
    assert_eq!(
        format!("{}\n{report}", report.differences[0]),
        format!(
            "row 2: control_request/initialize never came\n    expected {first}\n\
             waited too long for the other side; sent 0, received 0, not played {}, differences 1",
            report.unplayed
        )
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_speaks_its_last_at_the_end_of_its_input_is_let_do_so() {
    let trace = Trace::read(
        br#"{"t":1,"dir":"in","line":{"type":"user","message":{"role":"user","content":"a"}}}
{"t":2,"dir":"out","line":{"type":"result","subtype":"success"}}
"#,
    )
    .unwrap();
    let (host, agent) = duplex(1024);
    let host = tokio::spawn(Replay::host(trace).run(host));
    let mut agent = BufReader::new(agent);
    let mut heard = String::new();
    agent.read_to_string(&mut heard).await.unwrap();
    let result = b"{\"type\":\"result\",\"subtype\":\"success\"}\n";
    agent.write_all(result).await.unwrap();
    drop(agent);
    let report = host.await.unwrap();
    assert!(report.is_same(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn recorded_speed_keeps_the_recorded_pauses() {
    let trace = Trace::read(
        br#"{"t":100,"dir":"out","line":{"type":"keep_alive"}}
{"t":1100,"dir":"in","line":{"type":"user","message":{"role":"user","content":"a"}}}
{"t":3600,"dir":"out","line":{"type":"result","subtype":"success"}}
"#,
    )
    .unwrap();
    let (host, agent) = duplex(1024);
    let agent = tokio::spawn(Replay::agent(trace).at(Speed::Recorded).run(agent));
    let mut host = BufReader::new(host);
    let mut line = String::new();
    host.read_line(&mut line).await.unwrap();
    let began = tokio::time::Instant::now();
    let user = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n";
    host.write_all(user).await.unwrap();
    host.read_line(&mut line).await.unwrap();
    let waited = began.elapsed().as_millis();
    assert!((2500..2510).contains(&waited), "{waited}");
    drop(host);
    assert!(agent.await.unwrap().is_same());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_never_reads_does_not_hold_the_replay_for_ever() {
    let trace = trace("control-11_tools_default");
    let lines: Vec<String> = said(&trace, Side::Host);
    let (mut host, agent) = duplex(64);
    let agent = tokio::spawn(Replay::agent(trace).run(agent));
    // The other end takes what it is given for a while, although nothing of what it says is read.
    let all = lines.join("\n") + "\n";
    let write = host.write_all(all.as_bytes());
    tokio::time::timeout(Duration::from_secs(5), write)
        .await
        .ok();
    let report: Report = agent.await.unwrap();
    assert!(
        matches!(report.end, End::Played | End::TimedOut),
        "{report}"
    );
}

#[test]
fn a_file_that_cannot_be_played_says_where() {
    for (file, problem) in [
        (
            "{\"type\":\"keep_alive\"}\n",
            "row 1: a bare line: without `dir` nobody knows which side said it",
        ),
        (
            "\n{\"dir\":\"sideways\",\"line\":1}\n",
            "row 2: no direction `sideways`",
        ),
        (
            "{\"dir\":\"in\",\"line\":\"a\\nb\"}\n",
            "row 1: a line with a line break in it cannot be sent",
        ),
        (
            "{\"dir\":\"in\"}\n",
            "row 1: not a row of a trace: missing field `line` at byte 0",
        ),
        (
            "{\"dir\":\"argv\",\"line\":7}\n",
            "row 1: bad arguments: invalid type: integer `7`, expected a sequence at line 1 column 1",
        ),
    ] {
        let error = Trace::read(file.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
    let cut = "{\"dir\":\"in\",\"line\":{}}\n{\"dir\":\"out\",\"li";
    let trace = Trace::read(cut.as_bytes()).unwrap();
    assert_eq!(said(&trace, Side::Host), ["{}"]);
}
