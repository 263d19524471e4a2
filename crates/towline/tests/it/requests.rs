//! Requests that the Messages API takes, whatever was said before: by the host, by a model that thinks and says nothing, by
//! an interrupt in the middle. The scripted API refuses what the real one refuses. The real CLI's requests must be taken too
//! (`TOWLINE_SLOW=1`).

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Api, Driven, api, block_on, prompt, rooms, said, towline_room};

const BASH: &[&str] = &["--allowedTools", "Bash"];

fn of_blocks(blocks: &Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": blocks}})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "made up"})
}

fn bash(command: &str) -> Reply {
    Reply::message().tool_with_id("toolu_1", "Bash", json!({"command": command}))
}

fn echo(words: &str) -> Reply {
    bash(&format!("echo {words}"))
}

/// Says these lines one after the other, each once the turn before is over; the last request in short.
async fn conversation(room: &RealCli, replies: Vec<Reply>, lines: &[Value]) -> Vec<String> {
    let api = api(Script::new(replies).default_reply(Reply::text("Done."))).await;
    let mut agent = Driven::start(room, &api.url(), BASH);
    for line in lines {
        agent.say(line).await;
        agent.hear_kind("result").await;
    }
    agent.close_and_end().await;
    last(&api)
}

fn last(api: &Api) -> Vec<String> {
    said(&api.requests().last().unwrap().body())
}

/// Both agents have this conversation without a refusal, and this is what ours sends at its end.
#[track_caller]
fn check(test: &str, replies: impl Fn() -> Vec<Reply>, lines: &[Value], expected: &[&str]) {
    check_in(rooms(test), test, replies, lines, expected);
}

#[track_caller]
fn check_in(
    rooms: Vec<RealCli>,
    test: &str,
    replies: impl Fn() -> Vec<Reply>,
    lines: &[Value],
    expected: &[&str],
) {
    for (place, room) in rooms.into_iter().enumerate() {
        let sent = block_on(conversation(&room, replies(), lines));
        if place == 0 {
            assert_eq!(sent, expected, "{test}");
        }
    }
}

/// A model that is held at `gate` is interrupted once this event has come; this is what ours sends next.
#[track_caller]
fn check_interrupted(test: &str, reply: impl Fn() -> Reply, event: &str, expected: &[&str]) {
    for (place, room) in rooms(test).into_iter().enumerate() {
        let sent = block_on(async {
            let script = Script::new([reply()]).default_reply(Reply::text("Done."));
            let api = api(script).await;
            let arguments = [BASH, &["--include-partial-messages"]].concat();
            let mut agent = Driven::start(&room, &api.url(), &arguments);
            agent.say(&prompt("go")).await;
            api.wait_until_held("gate").await.unwrap();
            // What was sent before the gate has come.
            agent.hear(|line| line["event"]["type"] == event).await;
            let interrupt = json!({"subtype": "interrupt"});
            agent
                .say(&json!({"type": "control_request", "request_id": "1", "request": interrupt}))
                .await;
            agent.hear_kind("result").await;
            api.release("gate");
            agent.ask("on").await;
            agent.close_and_end().await;
            last(&api)
        });
        if place == 0 {
            assert_eq!(sent, expected, "{test}");
        }
    }
}

#[test]
fn a_model_that_only_thinks_or_says_nothing_does_not_spoil_the_conversation() {
    let on = [prompt("go"), prompt("on")];
    type First = (&'static str, fn() -> Reply);
    let firsts: [First; 4] = [
        ("thoughts alone", || Reply::message().thinking("hm")),
        ("no block", Reply::message),
        ("an empty text", || Reply::text("")),
        ("a blank text", || Reply::text(" \n")),
    ];
    for (name, first) in firsts {
        check(name, || vec![first()], &on, &["user: go", "user: on"]);
    }
    check(
        "thoughts behind the answer",
        || {
            vec![
                Reply::message()
                    .thinking("hm")
                    .and_text("so")
                    .thinking("well"),
            ]
        },
        &on,
        &[
            "user: go",
            "thought hm",
            "assistant: so",
            "thought well",
            "user: on",
        ],
    );
}

#[test]
fn what_a_host_says_without_words_is_left_out() {
    // Of content without words the real CLI leaves nothing, so that its request ends with the assistant, which the API refuses.
    for (name, content, as_real) in [
        ("an empty text", json!([text("")]), false),
        ("a blank text", json!([text(" "), text("\n")]), false),
        ("no block", json!([]), false),
        (
            "a result that was not asked for",
            json!([result("toolu_x")]),
            true,
        ),
        (
            "a result that was given before",
            json!([result("toolu_1")]),
            true,
        ),
    ] {
        let rooms = match as_real {
            true => rooms(name),
            false => vec![towline_room()],
        };
        check_in(
            rooms,
            name,
            || vec![echo("one")],
            &[prompt("go"), of_blocks(&content), prompt("on")],
            &[
                "user: go",
                "call Bash",
                "result of Bash",
                "assistant: Done.",
                "user: (no content)",
                "assistant: Done.",
                "user: on",
            ],
        );
    }
    check(
        "words beside them",
        Vec::new,
        &[of_blocks(&json!([
            result("toolu_x"),
            text(" "),
            text("go")
        ]))],
        &["user: go"],
    );
}

#[test]
fn what_only_a_model_says_is_no_part_of_a_prompt() {
    // The real CLI passes these on, and every later request of the session is refused.
    let call = json!({"type": "tool_use", "id": "toolu_z", "name": "Bash", "input": {}});
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "s"});
    let line = of_blocks(&json!([call, thought, text("go")]));
    let sent = block_on(conversation(
        &towline_room(),
        Vec::new(),
        &[line, prompt("on")],
    ));
    assert_eq!(sent, ["user: go", "assistant: Done.", "user: on"]);
}

#[test]
fn marks_of_the_host_for_the_cache_are_not_added_to_those_of_the_agent() {
    // The real CLI passes these on beside its own: its third request has five.
    let marked = |words: &str, mark: Value| {
        let block = json!({"type": "text", "text": words, "cache_control": mark});
        of_blocks(&json!([block]))
    };
    let usual = json!({"type": "ephemeral"});
    let lines = [
        marked("one", usual.clone()),
        marked("two", json!({"type": "ephemeral", "ttl": "1h"})),
        marked("three", usual.clone()),
        marked("four", usual),
        prompt("five"),
    ];
    let sent = block_on(conversation(&towline_room(), Vec::new(), &lines));
    let asked: Vec<_> = sent
        .iter()
        .filter(|line| line.starts_with("user"))
        .collect();
    assert_eq!(
        asked,
        [
            "user: one",
            "user: two",
            "user: three",
            "user: four",
            "user: five"
        ]
    );
}

#[test]
fn a_result_from_the_host_does_not_stand_beside_the_true_one() {
    for room in rooms("a result while the call runs") {
        block_on(async {
            let wait = "until test -e go; do sleep 0.02; done";
            let api = api(Script::new([bash(wait)]).default_reply(Reply::text("Done."))).await;
            let mut agent = Driven::start(&room, &api.url(), BASH);
            agent.say(&prompt("go")).await;
            agent.hear_kind("assistant").await;
            agent.say(&of_blocks(&json!([result("toolu_1")]))).await;
            std::fs::write(room.project().join("go"), "").unwrap();
            agent.hear_kind("result").await;
            agent.ask("on").await;
            agent.close_and_end().await;
            let words = json!(last(&api)).to_string();
            assert!(!words.contains("made up"), "{words}");
        });
    }
}

#[test]
fn a_call_under_an_id_that_was_used_before_is_answered_too() {
    check(
        "one id in two answers",
        || vec![echo("one"), Reply::text("Done."), echo("two")],
        &[prompt("go"), prompt("on")],
        &[
            "user: go",
            "call Bash",
            "result of Bash",
            "assistant: Done.",
            "user: on",
            "call Bash",
            "result of Bash",
        ],
    );
    check(
        "one id in one answer",
        || {
            let input = json!({"command": "echo two"});
            vec![echo("one").tool_with_id("toolu_1", "Bash", input)]
        },
        &[prompt("go"), prompt("on")],
        &[
            "user: go",
            "call Bash",
            "call Bash",
            "result of Bash",
            "result of Bash",
            "assistant: Done.",
            "user: on",
        ],
    );
}

#[test]
fn an_interrupt_leaves_nothing_half_said() {
    let expected = &[
        "user: go",
        "user: [Request interrupted by user]",
        "user: on",
    ];
    check_interrupted(
        "behind thoughts",
        || {
            Reply::message()
                .thinking("hm")
                .then_hold("gate")
                .and_text("so")
        },
        "content_block_stop",
        expected,
    );
    check_interrupted(
        "in thoughts",
        || {
            Reply::message()
                .thinking("hm hm hm")
                .hold_after_events(3, "gate")
        },
        "content_block_start",
        expected,
    );
    check_interrupted(
        "in a call",
        || echo("one").hold_after_events(3, "gate"),
        "content_block_start",
        expected,
    );
}

#[test]
fn a_prompt_of_white_space_is_not_sent_and_says_so() {
    let blank = "Blank prompt — the message was only whitespace, so nothing was sent to the model.";
    for room in rooms("a blank prompt") {
        block_on(async {
            let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            agent.say(&prompt(" \n")).await;
            let told = agent.hear(|line| line["subtype"] == "informational").await;
            assert_eq!([&told["content"], &told["level"]], [blank, "warning"]);
            let result = agent.hear_kind("result").await;
            assert_eq!(
                [
                    &result["result"],
                    &result["subtype"],
                    &result["num_turns"],
                    &result["is_error"]
                ],
                [&json!(blank), &json!("success"), &json!(0), &json!(false)]
            );
            assert_eq!(api.requests().len(), 0);
            agent.ask("on").await;
            let ended = agent.close_and_end().await;
            assert_eq!(ended.code, Some(0));
            let words = last(&api);
            assert_eq!(words.last().unwrap(), "user: on");
            assert!(!words.contains(&"user:  \n".to_owned()), "{words:?}");
        });
    }
}
