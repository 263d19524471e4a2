//! The real CLI against the scripted API: what it says, and what it asked. Slow; see `TOWLINE_SLOW`.

use std::{process::ExitStatus, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};
use towline_testkit::{
    real_cli::{RealCli, is_slow_wanted},
    script_api::{End, Kind, Recorded, Reply, Script, ScriptApi, Side},
};

/// A CLI that runs, and the API that it asks.
struct Session {
    api: ScriptApi,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    // Its folders go with it.
    _cli: RealCli,
}

impl Session {
    async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::start_with(replies, &[]).await
    }

    async fn start_with(replies: impl IntoIterator<Item = Reply>, arguments: &[&str]) -> Self {
        let api = ScriptApi::start(Script::new(replies)).await.unwrap();
        let cli = RealCli::find().unwrap();
        let mut command = cli.stream_command(&api.url());
        command.args(arguments);
        let mut child = Command::from(command).kill_on_drop(true).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            api,
            child,
            stdin,
            lines: stdout.lines(),
            _cli: cli,
        }
    }

    async fn say(&mut self, words: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": words}}))
            .await;
    }

    async fn ask(&mut self, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": "r1", "request": request}))
            .await;
    }

    async fn send(&mut self, line: &Value) {
        let line = format!("{line}\n");
        self.stdin.write_all(line.as_bytes()).await.unwrap();
    }

    /// The lines up to and with the next one of this type.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("no `{kind}` in time after {seen:#?}"));
            let line = line
                .unwrap()
                .unwrap_or_else(|| panic!("no `{kind}` after {seen:#?}"));
            let line: Value = serde_json::from_str(&line).unwrap();
            seen.push(line);
            if seen.last().unwrap()["type"] == kind {
                return seen;
            }
        }
    }

    async fn turn(&mut self, words: &str) -> Vec<Value> {
        self.say(words).await;
        self.until("result").await
    }

    async fn close(mut self) -> (ExitStatus, Vec<Recorded>) {
        drop(self.stdin);
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        (status.unwrap().unwrap(), self.api.requests())
    }
}

/// The content blocks of this type and of these lines.
fn blocks(lines: &[Value], line: &str, kind: &str) -> Vec<Value> {
    let lines = lines.iter().filter(|seen| seen["type"] == line);
    let blocks = lines.flat_map(|line| line["message"]["content"].as_array().cloned());
    blocks
        .flatten()
        .filter(|block| block["type"] == kind)
        .collect()
}

fn result(lines: &[Value]) -> (&Value, &Value) {
    let result = lines.last().unwrap();
    (&result["result"], &result["is_error"])
}

/// The lines that announce another try.
fn retries(lines: &[Value]) -> Vec<(&Value, &Value)> {
    let lines = lines.iter().filter(|line| line["subtype"] == "api_retry");
    lines
        .map(|line| (&line["error"], &line["error_status"]))
        .collect()
}

fn replies(requests: &[Recorded]) -> Vec<(&str, Option<End>)> {
    let requests = requests.iter();
    requests
        .map(|entry| (entry.reply.as_deref().unwrap_or("none"), entry.end))
        .collect()
}

#[tokio::test]
async fn a_text_is_what_the_cli_says() {
    if !is_slow_wanted("a_text_is_what_the_cli_says") {
        return;
    }
    let mut session = Session::start([Reply::text("Hello from the script.")]).await;
    let lines = session.turn("hi there").await;
    assert_eq!(
        result(&lines),
        (&json!("Hello from the script."), &json!(false))
    );
    let usage = &lines.last().unwrap()["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(100), &json!(6))
    );
    let (status, requests) = session.close().await;
    assert!(status.success());
    assert_eq!(replies(&requests), [("reply 1", Some(End::Complete))]);
    assert_eq!(requests[0].headers["x-api-key"], "(redacted)");
    assert_eq!(requests[0].body()["stream"], true);
}

#[tokio::test]
async fn a_tool_is_really_run_and_its_result_comes_back() {
    if !is_slow_wanted("a_tool_is_really_run_and_its_result_comes_back") {
        return;
    }
    let mut session = Session::start([
        Reply::message().tool("Bash", json!({"command": "echo from-the-tool"})),
        Reply::text("It said so.").when_tool_result_for("Bash"),
    ])
    .await;
    let lines = session.turn("run it").await;
    assert_eq!(result(&lines), (&json!("It said so."), &json!(false)));
    let results = blocks(&lines, "user", "tool_result");
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["content"], "from-the-tool");
    let (_, requests) = session.close().await;
    let ends = [
        ("reply 1", Some(End::Complete)),
        ("reply 2", Some(End::Complete)),
    ];
    assert_eq!(replies(&requests), ends);
}

#[tokio::test]
async fn thinking_is_shown_and_sent_back_in_the_second_turn() {
    if !is_slow_wanted("thinking_is_shown_and_sent_back_in_the_second_turn") {
        return;
    }
    let mut session = Session::start([
        Reply::message()
            .signed_thinking("a deep thought", "c2ln")
            .and_text("First."),
        Reply::text("Second."),
    ])
    .await;
    let lines = session.turn("one").await;
    let thinking = blocks(&lines, "assistant", "thinking");
    assert_eq!(
        (&thinking[0]["thinking"], &thinking[0]["signature"]),
        (&json!("a deep thought"), &json!("c2ln"))
    );
    assert_eq!(result(&lines).0, "First.");
    assert_eq!(result(&session.turn("two").await).0, "Second.");
    let (_, requests) = session.close().await;
    assert_eq!(requests.len(), 2);
    let second = requests[1].body().to_string();
    for words in ["a deep thought", "c2ln", "First.", "one", "two"] {
        assert!(second.contains(words), "{words}");
    }
}

#[tokio::test]
async fn an_overloaded_api_is_asked_again() {
    if !is_slow_wanted("an_overloaded_api_is_asked_again") {
        return;
    }
    let busy = Reply::error(529).header("retry-after", "0");
    let mut session = Session::start([busy, Reply::text("At last.")]).await;
    let lines = session.turn("hi").await;
    assert_eq!(retries(&lines), [(&json!("overloaded"), &json!(529))]);
    assert_eq!(result(&lines), (&json!("At last."), &json!(false)));
    let (_, requests) = session.close().await;
    let statuses: Vec<_> = requests.iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [Some(529), Some(200)]);
}

#[tokio::test]
async fn a_stream_that_breaks_is_asked_for_again() {
    if !is_slow_wanted("a_stream_that_breaks_is_asked_for_again") {
        return;
    }
    let broken = Reply::text("one two three").cut_after_events(4);
    let mut session = Session::start([broken, Reply::text("Whole.")]).await;
    let lines = session.turn("hi").await;
    assert_eq!(
        result(&lines),
        (&json!("Whole."), &json!(false)),
        "{lines:#?}"
    );
    let (_, requests) = session.close().await;
    let ends = [
        ("reply 1", Some(End::Cut)),
        ("reply 2", Some(End::Complete)),
    ];
    assert_eq!(replies(&requests), ends);
}

#[tokio::test]
async fn a_script_that_is_used_up_is_an_error_and_no_storm_of_requests() {
    if !is_slow_wanted("a_script_that_is_used_up_is_an_error_and_no_storm_of_requests") {
        return;
    }
    let mut session = Session::start([]).await;
    let lines = session.turn("hi").await;
    let (text, is_error) = result(&lines);
    assert_eq!(is_error, true);
    let text = text.as_str().unwrap();
    assert!(text.contains("found no reply"), "{text}");
    let (status, requests) = session.close().await;
    assert_eq!(status.code(), Some(1));
    assert!(requests.len() <= 6, "{}", requests.len());
}

#[tokio::test]
async fn a_subagent_gets_the_reply_that_is_meant_for_it() {
    if !is_slow_wanted("a_subagent_gets_the_reply_that_is_meant_for_it") {
        return;
    }
    let mut session = Session::start([
        Reply::message().tool(
            "Agent",
            json!({
                "description": "look", "prompt": "look around", "subagent_type": "general-purpose",
                "run_in_background": false,
            }),
        ),
        Reply::text("The main agent ends."),
        Reply::text("The subagent reports.")
            .name("sub")
            .when_subagent(),
    ])
    .await;
    let lines = session.turn("send someone").await;
    assert_eq!(
        result(&lines),
        (&json!("The main agent ends."), &json!(false))
    );
    let results = json!(blocks(&lines, "user", "tool_result")).to_string();
    assert!(results.contains("The subagent reports."), "{results}");
    let (_, requests) = session.close().await;
    let names: Vec<_> = requests
        .iter()
        .map(|entry| entry.reply.as_deref().unwrap())
        .collect();
    assert_eq!(names, ["reply 1", "sub", "reply 2"]);
    assert!(requests[1].body().to_string().contains("look around"));
}

#[tokio::test]
async fn a_title_is_a_side_request() {
    if !is_slow_wanted("a_title_is_a_side_request") {
        return;
    }
    let mut session = Session::start([Reply::text("The conversation.")]).await;
    session
        .ask(&json!({"subtype": "generate_session_title", "description": "conversation", "persist": false}))
        .await;
    let lines = session.until("control_response").await;
    let response = &lines.last().unwrap()["response"];
    assert_eq!(
        response["response"]["title"], "Scripted session",
        "{response}"
    );
    assert_eq!(result(&session.turn("hi").await).0, "The conversation.");
    let sides: Vec<_> = session
        .api
        .record()
        .iter()
        .filter(|entry| entry.kind == Kind::Side)
        .map(|entry| entry.side)
        .collect();
    assert_eq!(sides, [Some(Side::Title)]);
    assert_eq!(session.close().await.1.len(), 1);
}

#[tokio::test]
async fn an_interrupt_reaches_a_reply_that_is_held_in_the_middle() {
    if !is_slow_wanted("an_interrupt_reaches_a_reply_that_is_held_in_the_middle") {
        return;
    }
    let held = Reply::text("one two three").hold_after_events(5, "gate");
    let mut session = Session::start_with([held], &["--include-partial-messages"]).await;
    session.say("hi").await;
    session.api.wait_until_held("gate").await.unwrap();
    // The CLI has seen what was sent before the gate.
    while session.until("stream_event").await.last().unwrap()["event"]["delta"]["text"] != "two " {}
    session.ask(&json!({"subtype": "interrupt"})).await;
    let lines = session.until("result").await;
    assert_eq!(lines.last().unwrap()["subtype"], "error_during_execution");
    let entry = session.api.wait_for_end(1).await.unwrap();
    assert_eq!(entry.end, Some(End::ClientLeft));
}

/// Longer than the CLI takes for anything on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);
