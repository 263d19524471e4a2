//! What becomes of a turn when the API fails, cuts off, refuses or runs out of room: the lines, in order, and the exit
//! code. The real CLI must give the same (`TOWLINE_SLOW=1`).

use serde_json::Value;
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, prompt, rooms};

/// What a line tells about how the API is doing; nothing for lines that are about something else.
fn told(line: &Value) -> Option<String> {
    let text = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
    match (line["type"].as_str()?, line["subtype"].as_str()) {
        ("system", Some("api_retry")) => {
            let (status, error) = (&line["error_status"], text("error"));
            Some(format!("retry({status},{error})"))
        }
        ("system", Some("model_refusal_no_fallback")) => Some("refusal".to_owned()),
        ("assistant", _) if line["error"].is_string() => Some(format!("failed({})", text("error"))),
        ("assistant", _) => Some("said".to_owned()),
        ("user", _) if line["isSynthetic"] == true => Some("go-on".to_owned()),
        ("result", Some(subtype)) => {
            let (is_error, status) = (&line["is_error"], &line["api_error_status"]);
            let reason = text("terminal_reason");
            Some(format!("result({subtype},{is_error},{status},{reason})"))
        }
        _ => None,
    }
}

/// One prompt, and what is told until the end.
async fn play(room: &RealCli, url: &str, arguments: &[&str]) -> String {
    let mut agent = Driven::start(room, url, arguments);
    agent.say(&prompt("go")).await;
    let ended = agent.close_and_end().await;
    let told: Vec<String> = ended.lines.iter().filter_map(told).collect();
    format!("{} exit({})", told.join(" "), ended.code.unwrap())
}

#[track_caller]
fn check(test: &str, replies: impl Fn() -> Vec<Reply>, expected: &str) {
    for room in rooms(test) {
        block_on(async {
            let last = replies().pop().unwrap().forever();
            let api = api(Script::new(replies()).default_reply(last)).await;
            let found = play(&room, &api.url(), &[]).await;
            assert_eq!(found, expected, "{test}");
        });
    }
}

#[test]
fn a_failure_that_may_pass_is_tried_again_and_told() {
    for (status, while_hoping, in_the_end) in [
        (401, "authentication_failed", "authentication_failed"),
        (429, "rate_limit", "rate_limit"),
        (500, "server_error", "server_error"),
        (503, "server_error", "server_error"),
        (529, "overloaded", "server_error"),
    ] {
        // It comes once more than it is tried again.
        let expected = format!(
            "retry({status},{while_hoping}) failed({in_the_end}) result(success,true,{status},api_error) exit(1)"
        );
        check(
            &status.to_string(),
            || vec![Reply::error(status)],
            &expected,
        );
        let expected = format!(
            "retry({status},{while_hoping}) said result(success,false,null,completed) exit(0)"
        );
        let replies = || vec![Reply::error(status), Reply::text("fine")];
        check(&format!("{status}, then not"), replies, &expected);
    }
}

#[test]
fn a_failure_that_stays_is_told_at_once() {
    for (status, name) in [
        (400, "unknown"),
        (403, "authentication_failed"),
        (404, "model_not_found"),
    ] {
        let expected = format!("failed({name}) result(success,true,{status},api_error) exit(1)");
        check(
            &status.to_string(),
            || vec![Reply::error(status)],
            &expected,
        );
    }
}

#[test]
fn a_prompt_that_is_too_long_is_told_as_such() {
    let too_long = || {
        let words = "prompt is too long: 250000 tokens > 200000 maximum";
        vec![Reply::error(400).error_message(words)]
    };
    let expected = "failed(invalid_request) result(success,true,400,prompt_too_long) exit(1)";
    check("a prompt that is too long", too_long, expected);
    block_on(async {
        let room = crate::driven::towline_room();
        let api = api(Script::new(too_long()).default_reply(Reply::text("fine"))).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let result = agent.ask("go").await;
        let words = result["result"].as_str().unwrap();
        assert!(
            words.starts_with("Prompt is too long") && words.contains("250000 tokens > 200000"),
            "{words}"
        );
        assert_eq!(
            agent.ask("on").await["result"],
            "fine",
            "the session goes on"
        );
        assert_eq!(agent.close_and_end().await.code, Some(0));
    });
}

#[test]
fn an_api_that_nobody_reaches_has_no_status() {
    for room in rooms("an API that nobody reaches") {
        block_on(async {
            let found = play(&room, "http://127.0.0.1:9", &[]).await;
            let expected = "retry(null,unknown) failed(server_error) result(success,true,null,api_error) exit(1)";
            assert_eq!(found, expected);
        });
    }
}

#[test]
fn a_stream_that_breaks_off_is_tried_again() {
    let answered = "said result(success,false,null,completed) exit(0)";
    let cut = || {
        vec![
            Reply::text("one two three").cut_after_events(3),
            Reply::text("fine"),
        ]
    };
    check(
        "a stream that is cut",
        cut,
        &format!("retry(null,unknown) {answered}"),
    );
    let error = || {
        let reply = Reply::text("one two three");
        vec![
            reply.error_after_events(3, "overloaded_error", "Overloaded"),
            Reply::text("fine"),
        ]
    };
    check("an error in the stream", error, answered);
}

#[test]
fn an_answer_that_cannot_be_read_is_asked_for_in_one_piece() {
    let answered = "said result(success,false,null,completed) exit(0)";
    for (test, body) in [("an empty stream", ""), ("no events", "data: {no json\n\n")] {
        let replies = || {
            vec![
                Reply::http(200, "text/event-stream", body),
                Reply::text("fine"),
            ]
        };
        check(test, replies, answered);
    }
    let page = || vec![Reply::http(200, "text/html", "<html>hello</html>")];
    check(
        "a page",
        page,
        "failed(unknown) result(success,true,null,api_error) exit(1)",
    );
}

#[test]
fn a_model_that_runs_out_of_room_is_told_to_go_on_three_times() {
    let piece = "said go-on ".repeat(3);
    let expected = format!(
        "{piece}said failed(max_output_tokens) result(success,true,null,api_error) exit(1)"
    );
    let replies = || vec![Reply::text("and so on").stop_reason("max_tokens")];
    check("no room", replies, &expected);
}

#[test]
fn a_refusal_is_tried_once_more_and_then_told() {
    let replies = || vec![Reply::text("I had rather not").stop_reason("refusal")];
    let expected = "said go-on said refusal failed(invalid_request) result(success,true,null,api_error) exit(1)";
    check("a refusal", replies, expected);
}

#[test]
fn spent_money_ends_the_turn() {
    for room in rooms("spent money") {
        block_on(async {
            let look = Reply::message().tool("Bash", serde_json::json!({"command": "true"}));
            let api = api(Script::new([look.forever()])).await;
            let arguments = ["--max-budget-usd", "0.0000001", "--allowedTools", "Bash"];
            let found = play(&room, &api.url(), &arguments).await;
            let expected = "said result(error_max_budget_usd,true,null,budget_exhausted) exit(1)";
            assert_eq!(found, expected);
        });
    }
}
