//! The fake agent: every prompt gives the lines it should, and every line is one that the protocol knows.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use towline_protocol::{
    ControlResponse, Json, ToAgent, ToHost, Wire,
    control::{Reply, answer},
};
use towline_testkit::fake_agent::{FakeAgent, PROGRAM};

struct Host {
    lines: Lines<BufReader<DuplexStream>>,
    writer: DuplexStream,
}

impl Host {
    fn start() -> Self {
        let (reader, writer) = FakeAgent::start();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    async fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn prompt(&mut self, words: &str) {
        let content = Json::of(words).unwrap();
        self.write(&format!(
            r#"{{"type":"user","message":{{"role":"user","content":{content}}},"uuid":{content}}}"#
        ))
        .await;
    }

    async fn ask(&mut self, subtype: &str, request: &str) -> Reply {
        self.write(&format!(
            r#"{{"type":"control_request","request_id":"q","request":{{"subtype":"{subtype}"{request}}}}}"#
        ))
        .await;
        match self.read().await {
            Some(ToHost::ControlResponse(response)) => response.reply,
            other => panic!("{other:?}"),
        }
    }

    /// The next line, which must have nothing that the protocol does not know.
    async fn read(&mut self) -> Option<ToHost> {
        let line = self.lines.next_line().await.unwrap()?;
        let line = ToHost::from_json(line).unwrap();
        assert_eq!(line.unnamed_paths(), [""; 0], "{line:?}");
        Some(line)
    }

    /// The lines of a turn, in short; its questions are answered with `answer`.
    async fn turn(&mut self, answer: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.read().await {
            lines.push(line.full_kind());
            match line {
                ToHost::ControlRequest(question) => {
                    let answer = Some(Json::new(answer).unwrap());
                    let response = ControlResponse::success(question.request_id, answer);
                    let line = ToAgent::ControlResponse(Box::new(response));
                    self.write(line.to_standard_json().as_str()).await;
                }
                ToHost::Result(result) => {
                    let errors = result.errors.iter().flatten();
                    let words = result.text().into_iter().chain(errors);
                    lines.extend(words.map(ToString::to_string));
                    break;
                }
                _ => {}
            }
        }
        lines
    }
}

const ALLOW: &str = r#"{"behavior":"allow"}"#;
const DENY: &str = r#"{"behavior":"deny","message":"not here"}"#;

#[tokio::test]
async fn the_first_word_of_a_prompt_says_what_happens() {
    let said = "system/init assistant result/success";
    let asked = "system/init assistant control_request/can_use_tool user assistant result/success";
    let subagent = "system/init assistant system/task_started assistant user assistant \
                    system/task_notification user assistant result/success";
    for (prompt, answer, kinds, words) in [
        ("say hello you", ALLOW, said, "hello you"),
        ("what?", ALLOW, said, "what?"),
        ("", ALLOW, said, ""),
        ("run ls -l", ALLOW, asked, "ran ls -l"),
        (
            "run ls",
            r#"{"behavior":"allow","updatedInput":{"command":"pwd"}}"#,
            asked,
            "ran pwd",
        ),
        (
            "run ls",
            r#"{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}"#,
            asked,
            "ran ls, with 1 changed permissions",
        ),
        ("run ls", DENY, asked, "denied: not here"),
        (
            "run ls",
            r#"{"behavior":"deny","message":"no","interrupt":true}"#,
            "system/init assistant control_request/can_use_tool user result/error_during_execution",
            "interrupted",
        ),
        (
            "ask Really?",
            r#"{"behavior":"allow","updatedInput":{"questions":[],"answers":{"Really?":"yes"}}}"#,
            asked,
            r#"heard {"Really?":"yes"}"#,
        ),
        (
            "ask Really?",
            r#"{"behavior":"allow","updatedInput":{"answers":{},"response":"later"}}"#,
            asked,
            "heard later",
        ),
        ("plan to rest", ALLOW, asked, "begins"),
        ("plan to rest", DENY, asked, "denied: not here"),
        ("hook guard", ALLOW, said, "there is no hook named guard"),
        (
            "form Your name?",
            r#"{"action":"decline"}"#,
            "system/init control_request/elicitation assistant result/success",
            r#"{"action":"decline"}"#,
        ),
        ("subagent done", ALLOW, subagent, "the subagent says done"),
        (
            "fail no luck",
            ALLOW,
            "system/init result/error_during_execution",
            "no luck",
        ),
        ("crash", ALLOW, "system/init", "init"),
    ] {
        let mut host = Host::start();
        host.prompt(prompt).await;
        let mut lines = host.turn(answer).await;
        let last = if prompt == "crash" {
            "init".to_owned()
        } else {
            lines.pop().unwrap()
        };
        assert_eq!((&*lines.join(" "), &*last), (kinds, words), "{prompt}");
    }
}

#[tokio::test]
async fn words_are_streamed_one_at_a_time() {
    let mut host = Host::start();
    host.prompt("stream one two").await;
    let mut accumulator = towline_protocol::Accumulator::default();
    let mut drafts = Vec::new();
    while let Some(line) = host.read().await {
        accumulator.handle(&line);
        drafts.extend(accumulator.draft(None).map(towline_protocol::Draft::text));
        if matches!(line, ToHost::Result(_)) {
            break;
        }
    }
    drafts.dedup();
    assert_eq!(drafts, ["", "one ", "one two"]);
}

#[tokio::test]
async fn what_is_in_the_background_comes_back_with_a_turn_of_its_own() {
    let mut host = Host::start();
    host.prompt("background tea").await;
    let first = host.turn(ALLOW).await;
    assert_eq!(first.last().unwrap(), "it is at work");
    let second = host.turn(ALLOW).await;
    assert_eq!(
        second.join(" "),
        "assistant user assistant system/task_notification system/init assistant result/success the subagent says tea"
    );
}

#[tokio::test]
async fn a_hook_that_was_registered_is_called_with_its_event() {
    let mut host = Host::start();
    let hooks = r#","hooks":{"Stop":[{"hookCallbackIds":["done"]}]}"#;
    host.ask("initialize", hooks).await;
    host.prompt("hook done").await;
    let lines = host.turn(r#"{"decision":"block"}"#).await;
    assert_eq!(lines[1], "control_request/hook_callback");
    assert_eq!(lines.last().unwrap(), r#"{"decision":"block"}"#);
}

#[tokio::test]
async fn a_tool_of_the_host_is_called_after_a_greeting() {
    let mut host = Host::start();
    host.prompt(r#"call calculator add {"a":1}"#).await;
    let refused = host.turn("{}").await;
    assert_eq!(
        refused.last().unwrap(),
        "nobody told of an MCP server `calculator`"
    );
    host.ask("initialize", r#","sdkMcpServers":["calculator"]"#)
        .await;
    for greetings in [2, 0] {
        host.prompt(r#"call calculator add {"a":1}"#).await;
        let answer = r#"{"mcp_response":{"result":{"content":[{"type":"text","text":"3"}]}}}"#;
        let lines = host.turn(answer).await;
        let messages = lines
            .iter()
            .filter(|line| *line == "control_request/mcp_message")
            .count();
        assert_eq!(messages, greetings + 1);
        assert_eq!(lines.last().unwrap(), "3");
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_wait_and_takes_a_question_back() {
    for prompt in ["wait", "run ls"] {
        let mut host = Host::start();
        host.prompt(prompt).await;
        while !matches!(
            (prompt, host.read().await.unwrap()),
            ("wait", _) | (_, ToHost::ControlRequest(_))
        ) {}
        host.prompt("say later").await;
        let Reply::Success(reply) = host.ask("interrupt", "").await else {
            panic!()
        };
        let told = reply.response.as_option().unwrap().to_string();
        assert_eq!(told, r#"{"still_queued":["say later"]}"#);
        let rest = host.turn(ALLOW).await.join(" ");
        let taken_back = rest.starts_with("control_cancel_request ");
        assert_eq!(taken_back, prompt == "run ls");
        assert!(rest.ends_with("result/error_during_execution interrupted"));
        assert_eq!(host.turn(ALLOW).await.last().unwrap(), "later");
    }
}

#[tokio::test]
async fn queued_messages_can_be_taken_back() {
    let mut host = Host::start();
    host.prompt("wait").await;
    host.read().await;
    host.prompt("one").await;
    host.prompt("two").await;
    for (subtype, fields, told) in [
        (
            "cancel_async_message",
            r#","message_uuid":"one""#,
            r#"{"cancelled":true}"#,
        ),
        (
            "cancel_async_message",
            r#","message_uuid":"one""#,
            r#"{"cancelled":false}"#,
        ),
        (
            "interrupt",
            r#","cancel_queued":true"#,
            r#"{"still_queued":[],"cancelled":["two"]}"#,
        ),
    ] {
        let Reply::Success(reply) = host.ask(subtype, fields).await else {
            panic!()
        };
        assert_eq!(reply.response.as_option().unwrap().as_str(), told);
    }
}

/// Asks and reads the answer as what it should be, with nothing left over.
async fn answer<A: Wire>(subtype: &str, fields: &str) {
    let mut host = Host::start();
    let Reply::Success(reply) = host.ask(subtype, fields).await else {
        panic!("{subtype} is refused")
    };
    let answer = reply.response.as_option().unwrap().clone();
    let answer = A::from_json(answer.text().clone()).unwrap();
    assert_eq!(answer.unnamed_paths(), [""; 0], "{subtype}");
}

#[tokio::test]
async fn answers_have_the_form_that_is_read() {
    answer::<answer::InitializeAnswer>("initialize", "").await;
    answer::<answer::McpStatusAnswer>("mcp_status", "").await;
    answer::<answer::McpSetServersAnswer>("mcp_set_servers", r#","servers":{}"#).await;
    answer::<answer::McpCallAnswer>("mcp_call", r#","tool":"t""#).await;
    answer::<answer::RewindAnswer>("rewind_files", r#","user_message_id":"u""#).await;
    answer::<answer::TaskOutputAnswer>("get_task_output", r#","task_id":"t""#).await;
    answer::<answer::ContextUsageAnswer>("get_context_usage", "").await;
    answer::<answer::SessionCostAnswer>("get_session_cost", "").await;
    answer::<answer::UsageAnswer>("get_usage", "").await;
    answer::<answer::SettingsAnswer>("get_settings", "").await;
    answer::<answer::VersionAnswer>("get_binary_version", "").await;
    answer::<answer::HooksListingAnswer>("get_hooks_listing", "").await;
    answer::<answer::ModelsAnswer>("list_models", "").await;
    answer::<answer::PermissionRulesAnswer>("list_permission_rules", "").await;
    answer::<answer::FileSuggestionsAnswer>("file_suggestions", r#","query":"m""#).await;
    answer::<answer::ReadFileAnswer>("read_file", r#","path":"a.txt""#).await;
    answer::<answer::ReloadPluginsAnswer>("reload_plugins", "").await;
    answer::<answer::ReloadSkillsAnswer>("reload_skills", "").await;
    answer::<answer::ReloadOutputStylesAnswer>("reload_output_styles", "").await;
    answer::<answer::SideQuestionAnswer>("side_question", r#","question":"why?""#).await;
}

#[tokio::test]
async fn a_request_that_nobody_knows_is_refused() {
    let mut host = Host::start();
    let Reply::Error(refusal) = host.ask("turn_up", "").await else {
        panic!()
    };
    assert_eq!(refusal.error_code.as_deref(), Some("unsupported_request"));
}

#[tokio::test]
async fn what_is_no_json_is_said_to_be_none_in_both_directions() {
    let mut host = Host::start();
    host.write("{").await;
    assert!(matches!(host.read().await, Some(ToHost::Error(_))));
    host.prompt("garble").await;
    host.read().await;
    let line = host.lines.next_line().await.unwrap().unwrap();
    assert_eq!(line, "this is no JSON");
    assert_eq!(host.turn(ALLOW).await.last().unwrap(), "that was no JSON");
}

#[tokio::test]
async fn the_agent_ends_with_its_input_or_when_it_is_told_to() {
    let mut host = Host::start();
    host.writer.shutdown().await.unwrap();
    assert!(host.read().await.is_none());
    let mut host = Host::start();
    host.ask("end_session", "").await;
    assert!(host.read().await.is_none());
}

#[tokio::test]
async fn the_program_says_back_what_it_is_told() {
    use std::process::Stdio;

    let mut program = tokio::process::Command::new(PROGRAM)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    stdin
        .write_all(br#"{"type":"user","message":{"role":"user","content":"say \"hi\"\\"}}"#)
        .await
        .unwrap();
    stdin.write_all(b"\n").await.unwrap();
    drop(stdin);
    let output = program.wait_with_output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let result = ToHost::from_json(said.lines().last().unwrap()).unwrap();
    let ToHost::Result(result) = result else {
        panic!("{said}")
    };
    assert_eq!(result.text().unwrap(), "say \"hi\"\\");
}
