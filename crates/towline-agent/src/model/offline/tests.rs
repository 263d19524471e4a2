//! Prompts and what the responder makes of them.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use towline_protocol::{Json, Wire as _};

use super::*;
use crate::model::{ModelEvent, Request};

const ALL: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "LS",
    "Glob",
    "Grep",
    "WebFetch",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "Agent",
    "TodoWrite",
];

fn request(messages: &[Value], tools: &[&str]) -> Request {
    Request {
        model: "offline".to_owned(),
        messages: messages
            .iter()
            .map(|message| Json::of(message).unwrap())
            .collect(),
        tools: tools
            .iter()
            .map(|name| Json::of(&json!({"name": name})).unwrap())
            .collect(),
        session_id: "s1".to_owned(),
        ..Request::default()
    }
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

/// An answered prompt before, so that the responder does not introduce itself.
fn later(prompt: &str) -> Vec<Value> {
    vec![
        user("hi"),
        json!({"role": "assistant", "content": "hello"}),
        user(prompt),
    ]
}

fn reply(messages: &[Value], tools: &[&str]) -> Reply {
    let request = request(messages, tools);
    Reply::to(&Conversation::read(&request.messages), &request.tools)
}

/// Each part in a few words.
fn shown(reply: &Reply) -> Vec<String> {
    let parts = reply.parts.iter().map(|part| match part {
        Part::Text(text) => format!("says {text}"),
        Part::Thinking(text) => format!("thinks {text}"),
        Part::Call { tool, input } => format!("{tool} {input}"),
    });
    parts.collect()
}

/// The conversation goes on as an agent would have it: the answer, and what its call gave.
fn go_on(messages: &mut Vec<Value>, reply: &Reply, result: &str, is_error: bool) {
    let id = format!("t{}", messages.len());
    let blocks: Vec<Value> = reply
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "s"}),
            Part::Call { tool, input } => {
                json!({"type": "tool_use", "id": id, "name": tool, "input": input})
            }
        })
        .collect();
    messages.push(json!({"role": "assistant", "content": blocks}));
    messages.push(user(json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}])));
}

fn calls(prompt: &str, tool: &'static str, input: Value) {
    let reply = reply(&later(prompt), ALL);
    assert_eq!(reply.parts, [Part::Call { tool, input }], "{prompt}");
    assert_eq!(reply.stop_reason(), "tool_use");
}

#[test]
fn each_word_calls_its_tool() {
    for (prompt, tool, input) in [
        (
            "run ls -l",
            "Bash",
            json!({"command": "ls -l", "description": "Run what was asked for"}),
        ),
        (
            "RUN ls",
            "Bash",
            json!({"command": "ls", "description": "Run what was asked for"}),
        ),
        ("read a.txt", "Read", json!({"file_path": "a.txt"})),
        (
            "write a.txt: hello: you",
            "Write",
            json!({"file_path": "a.txt", "content": "hello: you"}),
        ),
        (
            "write a.txt:\none\ntwo",
            "Write",
            json!({"file_path": "a.txt", "content": "one\ntwo"}),
        ),
        (
            "write a.txt:",
            "Write",
            json!({"file_path": "a.txt", "content": ""}),
        ),
        (
            "write a.txt: now then later",
            "Write",
            json!({"file_path": "a.txt", "content": "now then later"}),
        ),
        (
            "edit a.txt: one => two",
            "Edit",
            json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
        ),
        ("list src", "LS", json!({"path": "src"})),
        ("find **/*.rs", "Glob", json!({"pattern": "**/*.rs"})),
        (
            "search f(x)",
            "Grep",
            json!({"pattern": "f\\(x\\)", "output_mode": "content"}),
        ),
    ] {
        calls(prompt, tool, input);
    }
}

#[test]
fn words_about_more_than_files_call_their_tools_too() {
    for (prompt, tool, input) in [
        (
            "fetch https://a.example",
            "WebFetch",
            json!({"url": "https://a.example", "prompt": "Say what is on the page."}),
        ),
        (
            "agent run ls",
            "Agent",
            json!({"description": "run ls", "prompt": "run ls", "subagent_type": "general-purpose", "run_in_background": false}),
        ),
        (
            "todo buy, sell, buy",
            "TodoWrite",
            json!({"todos": [
            {"content": "buy", "status": "pending", "activeForm": "buy"},
            {"content": "sell", "status": "pending", "activeForm": "sell"}]}),
        ),
        (
            "ask Which one? a, b",
            "AskUserQuestion",
            json!({"questions": [{"question": "Which one?", "header": "Which one?",
            "options": [{"label": "a", "description": "Choose a"}, {"label": "b", "description": "Choose b"}], "multiSelect": false}]}),
        ),
        (
            "ask Go on",
            "AskUserQuestion",
            json!({"questions": [{"question": "Go on?", "header": "Go on?",
            "options": [{"label": "Yes", "description": "Choose Yes"}, {"label": "No", "description": "Choose No"}], "multiSelect": false}]}),
        ),
    ] {
        calls(prompt, tool, input);
    }
}

#[test]
fn steps_run_one_after_the_other_and_what_they_gave_is_said() {
    let mut messages = later("run ls then think hard then read a.txt then run false");
    let first = reply(&messages, ALL);
    assert_eq!(
        shown(&first),
        [r#"Bash {"command":"ls","description":"Run what was asked for"}"#]
    );
    go_on(&mut messages, &first, "a.txt\n", false);
    let second = reply(&messages, ALL);
    assert_eq!(
        shown(&second),
        [
            "says Bash gave:\na.txt",
            "thinks hard",
            "says I have thought about it.",
            r#"Read {"file_path":"a.txt"}"#
        ]
    );
    go_on(&mut messages, &second, "", false);
    let third = reply(&messages, ALL);
    assert_eq!(
        shown(&third),
        [
            "says Read gave nothing.",
            r#"Bash {"command":"false","description":"Run what was asked for"}"#
        ]
    );
    go_on(&mut messages, &third, "Exit code 1", true);
    let last = reply(&messages, ALL);
    assert_eq!(shown(&last), ["says Bash failed: Exit code 1"]);
    assert_eq!(last.stop_reason(), "end_turn");
}

#[test]
fn a_plan_begins_with_planning_unless_it_has_begun() {
    let mut messages = later("plan do it");
    let first = reply(&messages, ALL);
    assert_eq!(shown(&first), ["EnterPlanMode {}"]);
    go_on(&mut messages, &first, "planning", false);
    // What the agent notes now does not change the steps.
    messages.push(json!({"role": "system", "content": "Plan mode is on."}));
    let second = reply(&messages, ALL);
    assert_eq!(
        shown(&second),
        [
            "says EnterPlanMode gave:\nplanning",
            r#"ExitPlanMode {"plan":"do it"}"#
        ]
    );
    go_on(&mut messages, &second, "approved", false);
    assert_eq!(
        shown(&reply(&messages, ALL)),
        ["says ExitPlanMode gave:\napproved"]
    );
    let mut planning = later("x");
    planning.push(user(json!([
        {"type": "text", "text": "<system-reminder>Plan mode is on.</system-reminder>"},
        {"type": "text", "text": "plan do it"},
    ])));
    assert_eq!(
        shown(&reply(&planning, ALL)),
        [r#"ExitPlanMode {"plan":"do it"}"#]
    );
}

#[test]
fn the_first_answer_says_who_speaks_and_an_unknown_word_what_is_understood() {
    let first = shown(&reply(&[user("good morning")], ALL));
    assert_eq!(first.len(), 1);
    assert!(
        first[0].contains("offline responder") && first[0].contains("run COMMAND"),
        "{first:?}"
    );
    assert!(!first[0].contains("agent PROMPT"), "{first:?}");
    let second = shown(&reply(&later("good morning"), ALL));
    assert!(!second[0].contains("offline responder"), "{second:?}");
    let with_call = shown(&reply(&[user("run ls")], ALL));
    assert_eq!(with_call.len(), 2);
    assert!(with_call[0].contains("offline responder"));
}

#[test]
fn what_is_missing_is_said() {
    for (prompt, tools, words) in [
        (
            "run ls",
            &[][..],
            "says I cannot run: the tool Bash is not offered here.",
        ),
        (
            "agent x",
            &["Bash"],
            "says I cannot agent: the tool Agent or Task is not offered here.",
        ),
        (
            "edit a.txt: one",
            ALL,
            "says \"edit\" is: edit PATH: OLD => NEW.",
        ),
        ("write", ALL, "says \"write\" is: write PATH: TEXT."),
    ] {
        assert_eq!(shown(&reply(&later(prompt), tools)), [words], "{prompt}");
    }
    // Another tool for the same thing will do.
    assert_eq!(
        shown(&reply(&later("todo buy, sell"), &["TaskCreate"])),
        [r#"TaskCreate {"subject":"buy","description":"buy, sell"}"#]
    );
}

async fn stream(offline: &Offline, request: &Request) -> Vec<Value> {
    let (sender, mut receiver) = mpsc::channel(4);
    let read = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(match event {
                ModelEvent::Stream { event } => event.to_json().parse().unwrap(),
                ModelEvent::Done { .. } => json!("done"),
                other => panic!("{other:?}"),
            });
        }
        events
    };
    let call = async move { offline.call(request, &sender).await };
    tokio::join!(call, read).1
}

#[tokio::test]
async fn an_answer_is_a_stream_like_the_api_s() {
    let offline = Offline::with_pace(Duration::ZERO);
    let request = request(
        &later("think long and hard about what comes next then run ls"),
        ALL,
    );
    let events = stream(&offline, &request).await;
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap_or("done"))
        .collect();
    assert_eq!(kinds.first(), Some(&"message_start"));
    assert_eq!(
        kinds[kinds.len() - 3..],
        ["message_delta", "message_stop", "done"]
    );
    let joined = |index: u64, field: &str| -> String {
        let deltas = events.iter().filter(|event| event["index"] == index);
        deltas
            .filter_map(|event| event["delta"][field].as_str())
            .collect()
    };
    assert_eq!(joined(0, "thinking"), "long and hard about what comes next");
    assert_eq!(joined(1, "text"), "I have thought about it.");
    let input: Value = serde_json::from_str(&joined(2, "partial_json")).unwrap();
    assert_eq!(input["command"], "ls");
    assert!(
        events[0]["message"]["usage"]["input_tokens"]
            .as_u64()
            .unwrap()
            > 10
    );
    // No two answers share an id.
    let again = stream(&offline, &request).await;
    assert_ne!(events[0]["message"]["id"], again[0]["message"]["id"]);
}

#[tokio::test(start_paused = true)]
async fn pieces_come_one_after_the_other() {
    let offline = Offline::default();
    let before = tokio::time::Instant::now();
    let events = stream(&offline, &request(&[user("hello")], ALL)).await;
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "content_block_delta")
        .count();
    assert!(deltas > 10);
    assert!(before.elapsed() >= PACE * u32::try_from(deltas - 1).unwrap());
}

proptest! {
    #[test]
    fn no_prompt_makes_it_panic(prompt in ".{0,80}", verb in 0..14_usize, joint in ".{0,9}") {
        let words = ["run", "read", "write", "edit", "list", "find", "search", "ask", "plan", "think", "agent", "fetch", "todo", ""];
        let prompt = format!("{} {prompt} then {joint}: {prompt} => ? then {}", words[verb], words[13 - verb]);
        let reply = reply(&[user(prompt)], ALL);
        prop_assert!(!reply.parts.is_empty());
    }

    #[test]
    fn pieces_are_the_text(text in ".*") {
        prop_assert_eq!(pieces(&text).collect::<String>(), text);
    }

    #[test]
    fn no_message_makes_it_panic(text in r#"[\[\]{}":,a-z0-9 ]{0,60}"#) {
        if let Ok(message) = Json::new(text) {
            let request = Request { messages: vec![message], ..Request::default() };
            prop_assert!(!Offline::with_pace(Duration::ZERO).events(&request).is_empty());
        }
    }
}
