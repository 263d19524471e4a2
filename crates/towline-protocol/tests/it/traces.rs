//! Every recorded line of the real CLI: read as a known kind, written back equal from the typed value alone, and its
//! bytes untouched. `TOWLINE_TRACES=FOLDER` runs the same over other traces.

use std::collections::BTreeMap;

use serde_json::Value;
use towline_protocol::{DecodeError, Frame, Text, ToAgent, ToHost, Wire, trace::Direction};

use crate::data::recorded;

/// Host lines that are bad on purpose, by trace and a piece of the line: what reading them must say. `unknown` is for
/// kinds that do not exist; the line is kept whole.
const BAD_HOST_LINES: &[(&str, &str, &str)] = &[
    (
        "control-06a_control_requests",
        r#""mode":"bogus""#,
        "unknown",
    ),
    ("control-02e_user_misc", "bogus_block", "unknown"),
    (
        "control-02f_keepalive_env_misc_types",
        r#""subtype":"x""#,
        "unknown",
    ),
    (
        "control-06a_control_requests",
        "req_18_",
        "expected a string in `request.model` at byte 99",
    ),
    (
        "control-06a_control_requests",
        "req_22_",
        "expected a whole number in `request.max_thinking_tokens` at byte 141",
    ),
    (
        "control-06a_control_requests",
        "req_39_",
        "expected an object in `request.servers` at byte 113",
    ),
    (
        "control-06a_control_requests",
        "req_10_",
        "missing field `mode` in `request` at byte 78",
    ),
    (
        "control-06a_control_requests",
        "req_40_",
        "missing field `servers` in `request` at byte 74",
    ),
    (
        "control-06a_control_requests",
        "req_45_",
        "missing field `task_id` in `request` at byte 68",
    ),
    (
        "control-06a_control_requests",
        "req_43_",
        "missing field `user_message_id` in `request` at byte 71",
    ),
    ("control-06a_control_requests", "no_such_subtype", "unknown"),
    (
        "control-06b_bad_control_requests_0",
        r#""request":{}"#,
        "unknown",
    ),
    (
        "control-06b_bad_control_requests_3",
        r#""subtype":5"#,
        "expected a string in `request.subtype` at byte 65",
    ),
    (
        "control-07u_bad_hooks_shape",
        "nonsense",
        "expected an array in `request.hooks.PreToolUse` at byte 114",
    ),
    ("control-09c2_no_type", "foo", "unknown"),
    ("control-09c_unknown_type", "weird", "unknown"),
    (
        "control-09d2_nonobject_string",
        "str",
        "expected an object at byte 0",
    ),
    (
        "control-09d3_array",
        "[1,2]",
        "expected an object at byte 0",
    ),
    ("control-09d5_true", "true", "expected an object at byte 0"),
    (
        "control-09g4_content_number",
        r#""content": 5"#,
        "expected a string or a list of blocks in `message.content` at byte 56",
    ),
    (
        "control-09g4b_content_number_alone",
        r#""content":5"#,
        "expected a string or a list of blocks in `message.content` at byte 50",
    ),
    (
        "control-09h_control_response_malformed",
        "control_response",
        "missing field `response` at byte 0",
    ),
];

#[test]
fn every_line_of_an_agent_is_read_whole() {
    let mut lines = 0;
    let mut unnamed = BTreeMap::<String, usize>::new();
    for recorded in recorded()
        .iter()
        .filter(|recorded| recorded.row.direction == Direction::Out)
    {
        lines += 1;
        let kind = check::<ToHost>(
            &recorded.trace,
            &recorded.row.text(),
            ToHost::full_kind,
            &mut unnamed,
        );
        assert!(kind.is_ok(), "{}: {kind:?}", recorded.trace);
    }
    report(lines, &unnamed);
    let unknown: Vec<_> = unnamed.keys().filter(|path| path.contains('=')).collect();
    assert!(unknown.is_empty(), "unknown kinds or values: {unknown:#?}");
}

#[test]
fn every_line_of_a_host_is_read_whole_or_is_bad_on_purpose() {
    let mut lines = 0;
    let mut unnamed = BTreeMap::new();
    let mut met = vec![false; BAD_HOST_LINES.len()];
    for recorded in recorded()
        .iter()
        .filter(|recorded| recorded.row.direction == Direction::In)
    {
        lines += 1;
        let text = recorded.row.text();
        // Some of the lines of another trace.
        let trace = match recorded.trace.as_str() {
            "control-06h_control_requests_cut" => "control-06a_control_requests",
            trace => trace,
        };
        let bad = BAD_HOST_LINES
            .iter()
            .position(|(of, piece, _)| *of == trace && text.contains(piece));
        let mut own = BTreeMap::new();
        let kind = check::<ToAgent>(&recorded.trace, &text, ToAgent::full_kind, &mut own);
        match bad.map(|place| (place, BAD_HOST_LINES[place].2)) {
            None => {
                assert!(kind.is_ok(), "{}: {kind:?}\n{text}", recorded.trace);
                unnamed.append(&mut own);
            }
            Some((place, "unknown")) => {
                met[place] = true;
                assert!(
                    kind.is_ok() && !own.is_empty(),
                    "{}: {kind:?}\n{text}",
                    recorded.trace
                );
            }
            Some((place, wanted)) => {
                met[place] = true;
                assert_eq!(
                    kind.unwrap_err().to_string(),
                    wanted,
                    "{}: {text}",
                    recorded.trace
                );
            }
        }
    }
    report(lines, &unnamed);
    let unknown: Vec<_> = unnamed.keys().filter(|path| path.contains('=')).collect();
    assert!(unknown.is_empty(), "unknown kinds or values: {unknown:#?}");
    if std::env::var_os("TOWLINE_TRACES").is_none() {
        let unmet: Vec<_> = met
            .iter()
            .zip(BAD_HOST_LINES)
            .filter(|(met, _)| !**met)
            .map(|(_, row)| row)
            .collect();
        assert!(unmet.is_empty(), "bad lines that no trace has: {unmet:?}");
    }
}

/// Reads a line; the bytes must come back, and the typed value alone must give an equal JSON value.
fn check<M: Wire + Clone>(
    trace: &str,
    text: &Text,
    kind: impl Fn(&M) -> String,
    unnamed: &mut BTreeMap<String, usize>,
) -> Result<String, DecodeError> {
    let frame = Frame::<M>::decode(text.clone())?;
    assert_eq!(frame.bytes(), text.as_bytes(), "{trace}: the bytes changed");

    let message = frame.message.clone();
    drop(frame);
    let kind = kind(&message);
    let again = message.to_json();
    assert_eq!(
        again.parse::<Value>().unwrap(),
        serde_json::from_str::<Value>(text).unwrap(),
        "{trace}: {kind} changed"
    );
    assert!(
        !again.as_str().contains('\n'),
        "{trace}: {kind} is more than one line"
    );
    for path in message.unnamed_paths() {
        *unnamed.entry(format!("{kind} {path}")).or_default() += 1;
    }
    Ok(kind)
}

/// Every JSON path that no named field holds; `cargo test -- --nocapture` shows it.
#[expect(
    clippy::print_stdout,
    reason = "the report is for whoever runs the test by hand"
)]
fn report(lines: usize, unnamed: &BTreeMap<String, usize>) {
    println!(
        "{lines} lines, {} paths that no named field holds",
        unnamed.len()
    );
    for (path, count) in unnamed {
        println!("  {count} × {path}");
    }
}
