//! Answers of a form: `--json-schema`, and `jsonSchema` of `initialize`. The real CLI must do the same
//! (`TOWLINE_SLOW=1`).

use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use crate::driven::{Driven, Ended, api, block_on, prompt, rooms, towline_room};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

fn answer(n: impl Into<Value>) -> Reply {
    Reply::message().tool("StructuredOutput", json!({"n": n.into()}))
}

/// Plays a script, and gives each line as a word and the last line whole.
#[track_caller]
fn check(test: &str, replies: &[Reply], expected: &str, look: impl Fn(&Value)) {
    for room in rooms(test) {
        block_on(async {
            let api = api(Script::new(replies.to_vec())).await;
            let mut agent = Driven::start(&room, &api.url(), &["--json-schema", SCHEMA]);
            agent.say(&prompt("go")).await;
            let ended = agent.close_and_end().await;
            assert_eq!(words(&ended), expected, "{test}");
            look(ended.lines.last().unwrap());
        });
    }
}

fn words(ended: &Ended) -> String {
    let lines = ended.lines.iter().filter_map(|line| {
        let block = &line["message"]["content"][0];
        Some(match line["type"].as_str()? {
            "assistant" => block["type"].as_str()?.to_owned(),
            "user" if line["isSynthetic"] == true => "reminder".to_owned(),
            "user" => block["content"].as_str()?.to_owned(),
            "result" => format!("{}({})", line["subtype"].as_str()?, line["num_turns"]),
            _ => return None,
        })
    });
    let lines: Vec<String> = lines.collect();
    format!("{} | exit {}", lines.join(" | "), ended.code.unwrap())
}

const TAKEN: &str = "tool_use | Structured output provided successfully";
const WRONG: &str = "tool_use | Output does not match required schema: /n: must be integer";

#[test]
fn an_answer_of_the_form_is_the_result() {
    let expected = format!("{TAKEN} | success(2) | exit 0");
    check("an answer of the form", &[answer(5)], &expected, |result| {
        assert_eq!(result["structured_output"], json!({"n": 5}));
        assert_eq!(result["result"], r#"{"n":5}"#);
        assert_eq!(
            (&result["stop_reason"], &result["terminal_reason"]),
            (&json!("tool_use"), &json!("completed"))
        );
    });
}

#[test]
fn an_answer_of_another_form_is_told_and_tried_again() {
    let replies = [answer("x"), answer(7)];
    let expected = format!("{WRONG} | {TAKEN} | success(3) | exit 0");
    check("another form", &replies, &expected, |result| {
        assert_eq!(result["structured_output"], json!({"n": 7}));
    });
}

#[test]
fn a_model_that_never_gets_it_right_is_an_error() {
    let replies = vec![answer("x"); 5];
    let expected = format!(
        "{} | error_max_structured_output_retries(6) | exit 1",
        [WRONG; 5].join(" | ")
    );
    check("never right", &replies, &expected, |result| {
        assert_eq!(
            result["terminal_reason"],
            "structured_output_retry_exhausted"
        );
        assert_eq!(
            result["errors"],
            json!([
                "Failed to provide valid structured output after 5 attempts — last StructuredOutput error: \
                    Output does not match required schema: /n: must be integer"
            ])
        );
        assert_eq!(result.get("structured_output"), None);
    });
}

#[test]
fn words_are_reminded_of_the_form_once() {
    let replies = [Reply::text("plain"), Reply::text("still plain")];
    check(
        "only words",
        &replies,
        "text | reminder | text | success(2) | exit 0",
        |result| {
            assert_eq!(result["result"], "still plain");
            assert_eq!(result.get("structured_output"), None);
        },
    );
}

#[test]
fn the_host_may_ask_for_the_form_when_it_introduces_itself() {
    for room in rooms("the form from the host") {
        block_on(async {
            let api = api(Script::new([answer(4)])).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            let schema: Value = serde_json::from_str(SCHEMA).unwrap();
            let request = json!({"subtype": "initialize", "jsonSchema": schema});
            agent
                .say(&json!({"type": "control_request", "request_id": "i", "request": request}))
                .await;
            let result = agent.ask("go").await;
            assert_eq!(result["structured_output"], json!({"n": 4}), "{result}");
            let request = api.requests()[0].body();
            let tools = request["tools"].as_array().unwrap();
            let offered = tools.iter().find(|tool| tool["name"] == "StructuredOutput");
            assert_eq!(offered.unwrap()["input_schema"], schema);
            assert_eq!(agent.close_and_end().await.code, Some(0));
        });
    }
}

#[test]
fn a_form_that_is_no_schema_is_refused() {
    for (schema, complaint) in [
        ("{", "Error: --json-schema is not valid JSON: "),
        ("[]", "Error: --json-schema must be a JSON object"),
        ("\"\"", "Error: --json-schema must be a JSON object"),
        (
            r#"{"type":"banana"}"#,
            "Error: --json-schema is not a valid JSON Schema: ",
        ),
        (
            r##"{"$ref":"#/nope"}"##,
            "Error: --json-schema is not a valid JSON Schema: ",
        ),
    ] {
        for room in rooms("no schema") {
            block_on(async {
                let agent = Driven::start(&room, "http://127.0.0.1:9", &["--json-schema", schema]);
                let ended = agent.close_and_end().await;
                assert_eq!((ended.code, ended.lines.len()), (Some(1), 0), "{schema}");
                assert!(
                    ended.stderr.starts_with(complaint),
                    "{schema}: {}",
                    ended.stderr
                );
                assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
            });
        }
    }
}

#[test]
fn a_bad_form_from_the_host_is_an_error_and_the_session_goes_on() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("words")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let request = json!({"subtype": "initialize", "jsonSchema": {"type": "banana"}});
        agent
            .say(&json!({"type": "control_request", "request_id": "i", "request": request}))
            .await;
        let answer = agent.hear_kind("control_response").await;
        assert_eq!(answer["response"]["subtype"], "error", "{answer}");
        assert_eq!(agent.ask("go").await["result"], "words");
    });
}

#[test]
fn as_text_the_answer_is_its_json() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([answer(5)])).await;
        let output = tokio::process::Command::from(room.command(&api.url()))
            .args(["-p", "go", "--json-schema", SCHEMA])
            .output()
            .await
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"n\":5}\n");
    });
}
