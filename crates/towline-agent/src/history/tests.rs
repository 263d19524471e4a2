//! The conversation against what the API takes: calls and their results, thoughts, texts without words.

use serde_json::{Value, json};
use towline_protocol::{Content, Json, Wire};

use super::{History, INTERRUPTED, LOST_BEGINNING, prompt_blocks};

/// Blocks that one side adds, in the order of the conversation.
enum Push {
    User(Value),
    Assistant(Value),
}
use Push::{Assistant, User};

fn blocks(value: &Value) -> Vec<Json> {
    let blocks = value.as_array().unwrap().iter();
    blocks.map(|block| Json::of(block).unwrap()).collect()
}

fn history(pushes: &[Push]) -> History {
    let mut history = History::default();
    for push in pushes {
        match push {
            User(value) => history.push_user(blocks(value)),
            Assistant(value) => history.push_assistant(blocks(value)),
        }
    }
    history
}

fn sent(history: &History) -> Vec<Value> {
    let messages = history.messages().into_iter();
    messages
        .map(|message| serde_json::from_str(message.as_str()).unwrap())
        .collect()
}

fn check(name: &str, pushes: &[Push], expected: &[(&str, Value)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    assert_eq!(sent(&history(pushes)), expected, "{name}");
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn thought() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "s"})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})
}

fn result(id: &str, words: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": words})
}

fn interrupted(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED, "is_error": true})
}

#[test]
fn marks_for_the_prompt_cache_are_taken_off_and_inputs_stay_as_they_are() {
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let marked = |mut block: Value| {
        block["cache_control"] = mark.clone();
        block
    };
    let call = |mark: Option<&Value>| {
        let input = json!({"cache_control": "x", "content": {"cache_control": 1}});
        let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": input});
        mark.map_or(call.clone(), |_| marked(call))
    };
    let document = |inside: Value| {
        let source = json!({"type": "content", "content": [inside]});
        json!({"type": "document", "source": source})
    };
    let of_blocks =
        |inside: Value| json!({"type": "tool_result", "tool_use_id": "a", "content": [inside]});
    check(
        "on each kind of block",
        &[
            User(json!([marked(text("go")), document(marked(text("d")))])),
            Assistant(json!([call(Some(&mark))])),
            User(json!([marked(of_blocks(marked(text("r"))))])),
        ],
        &[
            ("user", json!([text("go"), document(text("d"))])),
            ("assistant", json!([call(None)])),
            ("user", json!([of_blocks(text("r"))])),
        ],
    );
}

#[test]
fn results_stand_in_front_one_for_each_call() {
    let go = || User(json!([text("go")]));
    check(
        "in the order in which they come, before what else is said",
        &[
            go(),
            Assistant(json!([call("a"), call("b")])),
            User(json!([result("b", "2")])),
            User(json!([text("wait")])),
            User(json!([result("a", "1"), text("now")])),
        ],
        &[
            ("user", json!([text("go")])),
            ("assistant", json!([call("a"), call("b")])),
            (
                "user",
                json!([
                    result("b", "2"),
                    result("a", "1"),
                    text("wait"),
                    text("now")
                ]),
            ),
        ],
    );
    check(
        "without a call, twice, and too late",
        &[
            User(json!([text("go"), result("x", "0")])),
            Assistant(json!([call("a")])),
            User(json!([
                result("a", "1"),
                result("a", "2"),
                result("x", "3")
            ])),
            Assistant(json!([text("done")])),
            User(json!([result("a", "4")])),
            User(json!([text("thanks")])),
        ],
        &[
            ("user", json!([text("go")])),
            ("assistant", json!([call("a")])),
            ("user", json!([result("a", "1")])),
            ("assistant", json!([text("done")])),
            ("user", json!([text("thanks")])),
        ],
    );
    check(
        "calls without one get one",
        &[
            go(),
            Assistant(json!([call("a"), call("b")])),
            User(json!([result("b", "2"), text("stop")])),
            Assistant(json!([call("c")])),
        ],
        &[
            ("user", json!([text("go")])),
            ("assistant", json!([call("a"), call("b")])),
            (
                "user",
                json!([result("b", "2"), interrupted("a"), text("stop")]),
            ),
            ("assistant", json!([call("c")])),
            ("user", json!([interrupted("c")])),
        ],
    );
}

#[test]
fn an_id_that_the_model_uses_again_is_another_call() {
    check(
        "in one message and in a later one",
        &[
            User(json!([text("go")])),
            Assistant(json!([call("a"), call("a")])),
            User(json!([result("a", "1"), result("a", "2")])),
            Assistant(json!([call("a")])),
            User(json!([result("a", "3")])),
        ],
        &[
            ("user", json!([text("go")])),
            ("assistant", json!([call("a"), call("a_2")])),
            ("user", json!([result("a", "1"), result("a_2", "2")])),
            ("assistant", json!([call("a_3")])),
            ("user", json!([result("a_3", "3")])),
        ],
    );
}

#[test]
fn a_call_that_the_api_would_not_take_is_sent_in_a_form_that_it_takes() {
    let mut list = call("a b:c");
    list["input"] = json!([1]);
    let mut none = call("");
    none.as_object_mut().unwrap().remove("input");
    check(
        "ids with other letters, inputs that are no objects",
        &[
            User(json!([text("go")])),
            Assistant(json!([list, none])),
            User(json!([result("", "2"), result("a b:c", "1")])),
        ],
        &[
            ("user", json!([text("go")])),
            (
                "assistant",
                json!([
                    call("a_b_c"),
                    json!({"type": "tool_use", "id": "call", "name": "Bash", "input": {}})
                ]),
            ),
            ("user", json!([result("call", "2"), result("a_b_c", "1")])),
        ],
    );
}

#[test]
fn what_only_the_model_says_is_no_part_of_a_prompt() {
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let picture = json!({"type": "image", "source": {"type": "url", "url": "https://a/b.png"}});
    check(
        "blocks of the other side",
        &[
            User(json!([
                thought(),
                call("a"),
                server,
                found,
                text("go"),
                picture
            ])),
            Assistant(json!([server, found, result("x", "1"), text("found")])),
        ],
        &[
            ("user", json!([text("go"), picture])),
            ("assistant", json!([server, found, text("found")])),
        ],
    );
}

#[test]
fn nothing_is_left_of_thoughts_and_texts_that_say_nothing() {
    check(
        "blank texts",
        &[
            User(json!([text("go"), text(" "), text("")])),
            Assistant(json!([text("\n")])),
            User(json!([text("on")])),
        ],
        &[("user", json!([text("go"), text("on")]))],
    );
    check(
        "thoughts alone",
        &[
            User(json!([text("go")])),
            Assistant(json!([thought(), text(" ")])),
            User(json!([text("on")])),
        ],
        &[("user", json!([text("go"), text("on")]))],
    );
    check(
        "thoughts behind words stay as they were said",
        &[
            User(json!([text("go")])),
            Assistant(json!([thought(), text("so"), thought()])),
            User(json!([text("on")])),
        ],
        &[
            ("user", json!([text("go")])),
            ("assistant", json!([thought(), text("so"), thought()])),
            ("user", json!([text("on")])),
        ],
    );
    check(
        "an answer without a question",
        &[Assistant(json!([text("so")]))],
        &[
            ("user", json!([text(LOST_BEGINNING)])),
            ("assistant", json!([text("so")])),
        ],
    );
}

#[test]
fn a_question_beside_the_conversation_leaves_its_open_calls_out() {
    let history = history(&[
        User(json!([text("go")])),
        Assistant(json!([text("look"), call("a")])),
    ]);
    let mut beside = history.answered();
    beside.push_user(blocks(&json!([text("how far?")])));
    assert_eq!(
        sent(&beside),
        [json!({"role": "user", "content": [text("go"), text("how far?")]})]
    );
}

#[test]
fn a_prompt_always_says_something() {
    for (content, expected) in [
        (json!(""), json!([text("(no content)")])),
        (json!([]), json!([text("(no content)")])),
        (json!([text(" ")]), json!([text("(no content)")])),
        (json!([result("a", "1")]), json!([text("(no content)")])),
        (json!([result("a", "1"), text("go")]), json!([text("go")])),
        (json!([text(""), text("go")]), json!([text("go")])),
        (json!("go"), json!([text("go")])),
    ] {
        let read = Content::from_json(Json::of(&content).unwrap().text().clone()).unwrap();
        let written = prompt_blocks(Some(&read)).into_iter();
        let written: Vec<Value> = written
            .map(|block| serde_json::from_str(block.as_str()).unwrap())
            .collect();
        assert_eq!(json!(written), expected, "{content}");
    }
}
