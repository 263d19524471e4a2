//! Clients that do what they should not: nonsense, floods, too large, too slow. The bridge stays as it was.

use std::{
    fs,
    io::{Read, Write},
};

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};
use tungstenite::Message;

use crate::serve::{Client, Served};

/// A bridge with other limits.
fn limited(limits: &str) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("serve.toml");
    fs::write(&file, format!("[limits]\n{limits}\n")).unwrap();
    Served::with(folder, |command| {
        command.args(["--agent", "offline", "--config"]).arg(file);
    })
}

/// The sessions, without when they were last active.
fn sessions(client: &mut Client) -> Value {
    client.say(&json!({"type": "list_sessions"}));
    let heard = client.expect(&[json!({"type": "session_list"})]);
    heard.last().unwrap()["sessions"].clone()
}

/// Messages of every kind with fields of every kind, and what is no message at all.
fn nonsense(
    kinds: &'static [&'static str],
    fields: &'static [&'static str],
) -> impl Strategy<Value = String> {
    use proptest::prelude::*;
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!("00000000")),
        Just(json!("../../etc")),
    ];
    let value = scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z]{1,8}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    let field = prop::sample::select(fields);
    let message = (
        prop::sample::select(kinds),
        prop::collection::vec((field, value), 0..6),
    );
    let message = message.prop_map(|(kind, fields)| {
        let fields = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let mut message: serde_json::Map<_, _> = fields.collect();
        message.insert("type".to_owned(), kind.into());
        Value::Object(message).to_string()
    });
    let torn = (message.clone(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let end = text.floor_char_boundary(at.index(text.len().max(1)));
        text[..end].to_owned()
    });
    prop_oneof![6 => message, 2 => torn, 1 => "\\PC{0,60}"]
}

#[test]
fn a_thousand_messages_of_nonsense_change_nothing() {
    let bridge = limited("rate_burst = 10000\nrate_per_second = 10000");
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    client.say(&json!({"type": "start", "projectPath": "$PROJECT"}));
    client.expect(&[json!({"type": "status", "status": "idle"})]);
    let before = sessions(&mut client);
    say_nonsense(&mut client, &nonsense(KINDS, FIELDS), 1000);
    assert_eq!(sessions(&mut client), before);
    assert!(!bridge.errors().contains("panicked"), "{}", bridge.errors());
    client.say(&json!({"type": "input", "text": "think", "clientMessageId": "after"}));
    client.expect(&[
        json!({"type": "input_ack"}),
        json!({"type": "result", "subtype": "success"}),
    ]);
}

/// Says so many messages, one at a time: this is about sense, not about speed.
fn say_nonsense(client: &mut Client, strategy: &impl Strategy<Value = String>, count: usize) {
    let config = Config::default();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    for _ in 0..count {
        let text = strategy.new_tree(&mut runner).unwrap().current();
        client.say_text(&text).unwrap();
        client.say(&json!({"type": "list_sessions"}));
        client.expect(&[json!({"type": "session_list"})]);
    }
}

#[test]
fn messages_of_nonsense_that_do_something_begin_nothing_and_break_nothing() {
    let bridge = limited("rate_burst = 10000\nrate_per_second = 10000");
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    client.say(&json!({"type": "start", "projectPath": "$PROJECT"}));
    client.expect(&[
        json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
        json!({"type": "status", "status": "idle"}),
    ]);
    say_nonsense(&mut client, &nonsense(DOING, DOING_FIELDS), 600);
    let there = sessions(&mut client);
    let ids: Vec<_> = there.as_array().unwrap().iter().collect();
    assert_eq!(ids.len(), 1, "{there}");
    assert_eq!(there[0]["id"], client.name("S"));
    client.say(&json!({"type": "set_permission_mode", "mode": "default", "sessionId": "$S"}));
    client.say(
        &json!({"type": "input", "text": "think", "clientMessageId": "after", "sessionId": "$S"}),
    );
    client.expect(&[
        json!({"type": "input_ack", "clientMessageId": "after"}),
        json!({"type": "result", "subtype": "success"}),
    ]);
    assert!(!bridge.errors().contains("panicked"), "{}", bridge.errors());
}

#[test]
fn who_talks_too_fast_is_told_and_then_sent_away_and_the_others_stay() {
    let bridge = Served::start();
    let mut quiet = bridge.client();
    let mut loud = bridge.client();
    let message = Message::text(r#"{"type":"client_capabilities"}"#);
    // Until the socket does not take any more, or all are sent.
    for _ in 0..20_000 {
        if loud.socket.send(message.clone()).is_err() {
            break;
        }
    }
    let mut was_told = false;
    let frame = loop {
        match loud.try_hear() {
            Ok(heard) => {
                was_told |= heard["message"]
                    .as_str()
                    .is_some_and(|words| words.contains("too many messages"));
            }
            Err(frame) => break frame,
        }
    };
    assert!(was_told);
    // A reset may be faster than the farewell.
    if let Some(frame) = frame {
        assert_eq!(u16::from(frame.code), 1008, "{frame:?}");
    }
    assert_eq!(sessions(&mut quiet), json!([]));
}

#[test]
fn a_message_that_is_too_large_ends_its_connection_alone() {
    let bridge = limited("frame_bytes = 65536");
    let mut other = bridge.client();
    let mut client = bridge.client();
    client.expect(&[json!({"type": "project_history"})]);
    let text = "x".repeat(60_000);
    client.say(&json!({"type": "input", "text": text}));
    client.expect(&[json!({"type": "input_rejected"})]);
    let text = json!({"type": "input", "text": "x".repeat(70_000)}).to_string();
    client.say_text(&text).ok();
    let ended = loop {
        match client.try_hear() {
            Ok(_) => {}
            Err(frame) => break frame,
        }
    };
    if let Some(frame) = ended {
        assert_eq!(u16::from(frame.code), 1009, "{frame:?}");
    }
    assert_eq!(sessions(&mut other), json!([]));
}

#[test]
fn a_client_that_does_not_read_costs_little_and_is_told_of_the_gap() {
    let bridge = Served::start();
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    client.say(&json!({"type": "start", "projectPath": "$PROJECT"}));
    client.expect(&[
        json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
        json!({"type": "status", "status": "idle"}),
    ]);
    let mut slow = bridge.client();
    slow.expect(&[json!({"type": "project_history"})]);
    // While the agent waits for an answer, what is said waits too, and everyone is told of it.
    client.say(&json!({"type": "input", "text": "run touch x", "sessionId": "$S"}));
    client.expect(&[json!({"type": "permission_request"})]);
    let before = bridge.memory();
    let words = "0123456789abcdef".repeat(64 << 10);
    for number in 0..INPUTS {
        let text = format!("{number} {words}");
        client.say(&json!({"type": "input", "text": text, "sessionId": "$S"}));
        client.expect(&[json!({"type": "input_ack", "queued": true})]);
    }
    let grown = bridge.memory().saturating_sub(before);
    assert!(
        grown < 48 << 10,
        "{grown} KiB more for {INPUTS} MiB that nobody reads"
    );

    // Now it reads: in order, all of it, and with the gap named.
    let (mut last, mut heard, mut gaps) = (0, 0, 0);
    while heard <= INPUTS {
        let message = slow.hear();
        if message["type"] == "history_snapshot" {
            assert_eq!(message["reason"], "gap");
            gaps += 1;
        }
        if message["type"] == "user_input" {
            let text = message["text"].as_str().unwrap();
            let expected = match heard {
                0 => "run".to_owned(),
                heard => (heard - 1).to_string(),
            };
            let number = text.split(' ').next().unwrap();
            assert_eq!(number, expected, "none is left out and none comes twice");
            heard += 1;
        }
        if let Some(seq) = message["historySeq"].as_u64() {
            assert!(seq > last, "{seq} after {last}");
            last = seq;
        }
    }
    assert!(gaps > 0, "it was never behind: the test is too small");
}

#[test]
fn what_is_no_websocket_is_refused_and_a_torn_frame_harms_nobody() {
    let bridge = Served::start();
    let mut client = bridge.client();
    client.expect(&[json!({"type": "project_history"})]);
    let stream = client.socket.get_mut();
    // A frame that says it has more than it has, and then the end.
    stream
        .write_all(&[0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, b'x'])
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).ok();
    assert_eq!(sessions(&mut bridge.client()), json!([]));
}

/// How many inputs of a mebibyte: more than the buffers of the system hold.
const INPUTS: usize = 60;

/// What messages say they are.
const KINDS: &[&str] = &[
    "approve",
    "approve_always",
    "reject",
    "answer",
    "stop_session",
    "get_history",
    "list_recent_sessions",
    "resume_session",
    "client_capabilities",
    "interrupt",
    "set_sandbox_mode",
    "get_history_delta",
    "archive_session",
    "resolve_session_link",
    "read_file",
    "list_files",
    "list_directory",
    "get_diff",
    "get_diff_image",
    "list_worktrees",
    "remove_worktree",
    "rewind",
    "rewind_dry_run",
    "fork",
    "get_usage",
    "push_register",
    "nothing",
    "",
];

/// What fields are called, but for those that would name the one session there is.
const FIELDS: &[&str] = &[
    "sessionId",
    "id",
    "toolUseId",
    "message",
    "result",
    "limit",
    "offset",
    "projectPath",
    "filePath",
    "path",
    "sinceSeq",
    "targetUuid",
    "mode",
    "requestId",
    "maxLines",
    "staged",
    "version",
    "token",
    "platform",
    "worktreePath",
    "name",
    "searchQuery",
    "namedOnly",
    "provider",
    "clearContext",
    "scope",
    "permissionMode",
    "sandboxMode",
];

/// Messages that do something with the one session there is, or begin another.
const DOING: &[&str] = &["start", "input", "rename_session", "set_permission_mode"];

/// What their fields are called.
const DOING_FIELDS: &[&str] = &[
    "sessionId",
    "projectPath",
    "text",
    "name",
    "mode",
    "clientMessageId",
    "baseSeq",
    "images",
    "imageBase64",
    "mimeType",
    "permissionMode",
    "executionMode",
    "planMode",
    "continue",
    "model",
    "effort",
    "maxTurns",
    "maxBudgetUsd",
    "existingWorktreePath",
    "useWorktree",
    "provider",
    "providerSessionId",
    "additionalWritableRoots",
    "skills",
    "mentions",
];
