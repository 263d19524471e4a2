//! Which session it is, what its events add up to, one question at a time, and slash commands.

use std::time::Duration;

use towline_host::{
    AgentCommand, Error, SessionId, SlashCommands, ToAgent, VersionReq, protocol::CallState,
};

use crate::agents::{FakeAgent, HANDSHAKE, ScriptedAgent};

#[tokio::test]
async fn the_id_is_that_of_the_first_line_that_is_sure_of_it() {
    let (mut session, mut agent) =
        FakeAgent::attach(AgentCommand::new("fake").resume("old").fork()).await;
    for (line, expected) in [
        (
            r#"{"type":"system","subtype":"init","session_id":"old"}"#,
            None,
        ),
        (
            r#"{"type":"stream_event","event":{"type":"message_stop"},"session_id":"old"}"#,
            None,
        ),
        (
            r#"{"type":"assistant","message":{"content":[]},"session_id":"new"}"#,
            Some("new"),
        ),
        (
            r#"{"type":"user","message":{"role":"user","content":"x"},"session_id":"other"}"#,
            Some("new"),
        ),
        (
            r#"{"type":"conversation_reset","new_conversation_id":"c2","session_id":"new"}"#,
            None,
        ),
    ] {
        agent.write(line).await;
        session.next().await.unwrap();
        assert_eq!(session.id().map(SessionId::as_str), expected, "{line}");
    }
}

#[tokio::test]
async fn an_id_that_was_given_is_known_from_the_start() {
    let id = SessionId::from("11111111-1111-4111-8111-111111111111");
    let (session, _agent) = FakeAgent::attach(AgentCommand::new("fake").session_id(&id)).await;
    assert_eq!(session.id(), Some(&id));
}

#[tokio::test]
async fn calls_of_subagents_hang_below_the_call_that_started_them_and_tokens_are_kept_apart() {
    let (mut session, mut agent) = FakeAgent::attach(AgentCommand::new("fake")).await;
    for line in [
        r#"{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"task","name":"Task","input":{}}],"usage":{"input_tokens":10,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}"#,
        r#"{"type":"assistant","message":{"id":"m2","model":"x","content":[{"type":"tool_use","id":"read","name":"Read","input":{}}],"usage":{"input_tokens":100,"output_tokens":2}},"parent_tool_use_id":"task","session_id":"s"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"read","content":"ok"}]},"parent_tool_use_id":"task","session_id":"s"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.25,"session_id":"s"}"#,
    ] {
        agent.write(line).await;
        session.next().await.unwrap();
    }
    let progress = session.progress();
    let task = &progress.calls().children(None).next().unwrap().id;
    let read = progress.calls().children(Some(task)).next().unwrap();
    assert_eq!(
        progress.calls().composite_id(&read.id).as_str(),
        "task:read"
    );
    assert_eq!(read.state, CallState::Done);
    assert_eq!(progress.usages().main().input, 10);
    assert_eq!(progress.usages().subagent(task).input, 100);
    assert_eq!(progress.usages().context_tokens(), 11);
    assert_eq!(progress.usages().cost_usd(), Some(0.25));
}

const ANSWERING: &str = r#"
read -r line
printf '%s\n' "$line" > "${0%/*}/prompt"
echo '{"type":"system","subtype":"init","session_id":"s1"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"four","session_id":"s1","total_cost_usd":0.5,"structured_output":{"n":4}}'
cat > /dev/null
"#;

#[tokio::test]
async fn one_question_gives_one_answer() {
    let agent = ScriptedAgent::new(&format!("{HANDSHAKE}{ANSWERING}"));
    let command = AgentCommand::new(&agent.program);
    let answer = command.ask("two and two?").await.unwrap();
    assert_eq!(answer.text, "four");
    assert_eq!(answer.session_id.unwrap().as_str(), "s1");
    assert_eq!(answer.cost_usd, Some(0.5));
    assert_eq!(answer.structured.unwrap().as_str(), r#"{"n":4}"#);
    let prompt = std::fs::read_to_string(agent.file("prompt")).unwrap();
    assert!(prompt.contains("two and two?"));
}

#[tokio::test]
async fn a_failed_turn_is_an_error_for_a_script() {
    for (result, expected) in [
        (
            r#""subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]"#,
            "the turn failed: Reached maximum number of turns (1)",
        ),
        (
            r#""subtype":"success","is_error":true,"result":"API Error: 500""#,
            "the turn failed: API Error: 500",
        ),
        (
            r#""subtype":"error_during_execution","is_error":true"#,
            "the turn failed: error_during_execution",
        ),
    ] {
        let agent = ScriptedAgent::new(&format!(
            "{HANDSHAKE}read -r _; echo '{{\"type\":\"result\",{result}}}'; cat > /dev/null"
        ));
        let error = AgentCommand::new(&agent.program)
            .ask("x")
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn an_agent_that_ends_without_a_result_is_an_error_for_a_script() {
    let agent = ScriptedAgent::new(&format!("{HANDSHAKE}read -r _; echo oops >&2; exit 9"));
    let error = AgentCommand::new(&agent.program)
        .ask("x")
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("ended by itself with exit code 9; its last words:\noops"),
        "{error}"
    );
}

#[tokio::test]
async fn work_in_the_background_is_waited_for() {
    let agent = ScriptedAgent::new(&format!(
        r#"{HANDSHAKE}read -r _
echo '{{"type":"system","subtype":"task_started","task_id":"a1","task_type":"local_agent","is_backgrounded":true}}'
echo '{{"type":"result","subtype":"success","is_error":false,"result":"waiting"}}'
echo '{{"type":"system","subtype":"task_notification","task_id":"a1","status":"completed"}}'
echo '{{"type":"result","subtype":"success","is_error":false,"result":"all done"}}'
cat > /dev/null"#
    ));
    let answer = AgentCommand::new(&agent.program).ask("x").await.unwrap();
    assert_eq!(answer.text, "all done");
}

#[tokio::test]
async fn the_version_is_asked_for_and_compared() {
    let agent = ScriptedAgent::new(&format!(
        "[ \"$1\" = --version ] && {{ echo '2.1.325 (Claude Code)'; exit; }}\n{HANDSHAKE}cat > /dev/null"
    ));
    let command = AgentCommand::new(&agent.program);
    assert_eq!(command.version().await.unwrap().to_string(), "2.1.325");
    let wants = |wanted: &str| {
        command
            .clone()
            .require_version(VersionReq::parse(wanted).unwrap())
    };
    wants(">=2.1.0").spawn().await.unwrap().close().await;
    let error = wants(">=3").spawn().await.unwrap_err().to_string();
    assert!(
        error.ends_with("is version 2.1.325, and >=3 is wanted"),
        "{error}"
    );

    let dumb = ScriptedAgent::new("echo what?");
    let error = AgentCommand::new(&dumb.program)
        .version()
        .await
        .unwrap_err()
        .to_string();
    assert!(error.ends_with(r#"says no version: "what?""#), "{error}");
    let broken = ScriptedAgent::new("echo broken >&2; exit 1");
    let error = AgentCommand::new(&broken.program)
        .version()
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Ended(_)), "{error}");
}

#[tokio::test]
async fn a_version_is_not_waited_for_longer_than_any_answer() {
    let silent = ScriptedAgent::new("exec sleep 1000");
    let patience = Duration::from_millis(100);
    let command = AgentCommand::new(&silent.program).request_timeout(Some(patience));
    let error = command.version().await.unwrap_err();
    assert!(
        matches!(&error, Error::TimedOut { request, after } if request == "--version" && *after == patience),
        "{error}"
    );
}

/// Counts how often it is started, and tells its commands as `initialize` does.
const COUNTING: &str = r#"
echo x >> "${0%/*}/starts"
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[{"name":"compact","description":"Shortens","argumentHint":""}]}}}\n' "$id"
cat > /dev/null
"#;

#[tokio::test]
async fn slash_commands_are_found_by_an_introduction_and_kept() {
    let agent = ScriptedAgent::new(COUNTING);
    let starts = || {
        std::fs::read_to_string(agent.file("starts"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    let commands = SlashCommands::of(AgentCommand::new(&agent.program));
    let found = commands.list().await.unwrap();
    assert_eq!(
        (found[0].name.as_str(), found[0].description.as_deref()),
        ("compact", Some("Shortens"))
    );
    commands.list().await.unwrap();
    assert_eq!(starts(), 1);
    commands.forget().await;
    commands.list().await.unwrap();
    assert_eq!(starts(), 2);
    tokio::time::pause();
    tokio::time::advance(SlashCommands::KEPT_FOR).await;
    tokio::time::resume();
    commands.list().await.unwrap();
    assert_eq!(starts(), 3);
}

#[tokio::test]
async fn slash_commands_are_found_by_a_probe_where_the_introduction_tells_none() {
    let agent = ScriptedAgent::new(
        r#"
while read -r line; do
  case $line in
    *'"subtype":"initialize"'*)
      id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      printf '{"type":"control_response","response":{"subtype":"error","request_id":"%s","error":"what?"}}\n' "$id" ;;
    *'"content":"/"'*)
      echo '{"type":"system","subtype":"init","slash_commands":["/help","beads:list"]}' ;;
  esac
done
"#,
    );
    let commands =
        SlashCommands::of(AgentCommand::new(&agent.program).close_grace(Duration::from_secs(1)));
    let names: Vec<_> = commands
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|command| command.name)
        .collect();
    assert_eq!(names, ["help", "beads:list"]);
}

#[tokio::test]
async fn slash_commands_are_found_by_a_probe_where_nobody_answers_the_introduction() {
    let agent = ScriptedAgent::new(
        r#"
while read -r line; do
  case $line in
    *'"content":"/"'*) echo '{"type":"system","subtype":"init","slash_commands":["help"]}' ;;
  esac
done
"#,
    );
    let command = AgentCommand::new(&agent.program)
        .request_timeout(Some(Duration::from_secs(1)))
        .close_grace(Duration::from_secs(1));
    let found = SlashCommands::of(command).list().await.unwrap();
    let names: Vec<_> = found.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["help"]);
}

/// What a session says to a question, while another message of ours is still to be answered.
async fn ask_second(lines: impl FnOnce(&str) -> Vec<String>) -> Result<String, Error> {
    let (mut session, mut agent) = FakeAgent::attach(AgentCommand::new("fake")).await;
    session.send("first").await.unwrap();
    let answer = async {
        agent.read().await;
        let ToAgent::User(second) = agent.read().await else {
            panic!("no message");
        };
        for line in lines(second.uuid.unwrap().as_str()) {
            agent.write(&line).await;
        }
        // Held open until the answer is there.
        agent
    };
    let (answer, _agent) = tokio::join!(session.ask("second"), answer);
    answer.map(|answer| answer.text.to_string())
}

fn result(text: &str, answers: Option<&str>) -> String {
    let uuids = answers.map(|uuid| format!(r#","user_message_uuids":["{uuid}"]"#));
    let uuids = uuids.unwrap_or_default();
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","session_id":"s"{uuids}}}"#
    )
}

fn lifecycle(uuid: &str, state: &str) -> String {
    format!(r#"{{"type":"command_lifecycle","command_uuid":"{uuid}","state":"{state}"}}"#)
}

const TELLS: &str =
    r#"{"type":"system","subtype":"init","session_id":"s","capabilities":["msg_lifecycle_v1"]}"#;

#[tokio::test]
async fn an_answer_to_an_earlier_message_is_not_taken_for_the_answer_to_this_one() {
    let first_has_no_uuid = |second: &str| {
        let lines = [TELLS.to_owned(), result("one", None)];
        [
            lines,
            [lifecycle(second, "queued"), result("two", Some(second))],
        ]
        .concat()
    };
    assert_eq!(ask_second(first_has_no_uuid).await.unwrap(), "two");
    let first_has_one =
        |second: &str| vec![result("one", Some("other")), result("two", Some(second))];
    assert_eq!(ask_second(first_has_one).await.unwrap(), "two");
}

#[tokio::test]
async fn a_message_that_is_taken_up_in_a_turn_that_runs_is_answered_by_that_turn() {
    let lines = |second: &str| {
        let lines = [TELLS.to_owned(), lifecycle(second, "started")];
        [lines, [result("both", Some("other")), String::new()]].concat()
    };
    assert_eq!(ask_second(lines).await.unwrap(), "both");
}

#[tokio::test]
async fn a_message_that_is_taken_back_is_not_waited_for() {
    let lines = |second: &str| vec![TELLS.to_owned(), lifecycle(second, "cancelled")];
    let error = ask_second(lines).await.unwrap_err();
    assert!(error.to_string().contains("taken back"), "{error}");
}

#[tokio::test]
async fn an_agent_that_does_not_tell_which_message_it_answers_is_believed_to_answer_the_last() {
    let lines = |_: &str| vec![result("one", None)];
    assert_eq!(ask_second(lines).await.unwrap(), "one");
}
