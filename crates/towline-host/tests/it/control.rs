//! What the host asks and tells: requests, their answers, refusals and time-outs, and messages.

use std::time::Duration;

use towline_host::{
    AgentCommand, Error, Json, PermissionMode, Prompt, Session, ToAgent, ToHost, Wire as _,
};

use crate::agents::{FakeAgent, in_short};

async fn started() -> (Session, FakeAgent) {
    FakeAgent::attach(AgentCommand::new("fake")).await
}

#[tokio::test]
async fn a_session_begins_with_what_the_agent_says_of_itself() {
    let (session, mut agent) = FakeAgent::pair(AgentCommand::new("fake"));
    let agent = async {
        let (kind, id) = agent.question().await;
        assert_eq!(kind, "initialize");
        agent.answer(&id, r#"{"commands":[{"name":"compact","description":"d","argumentHint":""}],"models":[{"value":"opus","displayName":"Opus"}],"account":{"email":"a@b"},"output_style":"default","available_output_styles":["default"]}"#).await;
        agent
    };
    let (session, _agent) = tokio::join!(session, agent);
    let session = session.unwrap();
    let told = session.agent().unwrap();
    assert_eq!(told.commands.as_ref().unwrap()[0].name, "compact");
    assert_eq!(told.models.as_ref().unwrap()[0].value, "opus");
    assert_eq!(told.account.as_ref().unwrap().email.as_deref(), Some("a@b"));
    assert_eq!(told.available_output_styles.as_ref().unwrap()[0], "default");
}

/// Asks with `ask`, expects the line `request` and gives `response`.
macro_rules! request_is {
    ($ask:expr, $request:literal, $response:literal) => {{
        let (session, mut agent) = started().await;
        let control = session.control().clone();
        let ask = $ask;
        let agent = async {
            let line = agent.read_text().await.unwrap();
            let id = r#""request_id":"host_1","request":"#;
            let expected = concat!(r#"{"type":"control_request",ID"#, $request, "}");
            assert_eq!(line, expected.replace("ID", id));
            agent.answer("host_1", $response).await;
        };
        let (answer, ()) = tokio::join!(ask(&control), agent);
        answer.unwrap()
    }};
}

#[tokio::test]
async fn requests_are_written_as_the_real_cli_reads_them() {
    request_is!(
        async |c: &towline_host::Control| c.interrupt().await,
        r#"{"subtype":"interrupt"}"#,
        r#"{"still_queued":[]}"#
    );
    request_is!(
        async |c: &towline_host::Control| c.set_permission_mode(PermissionMode::Plan).await,
        r#"{"subtype":"set_permission_mode","mode":"plan"}"#,
        r#"{"mode":"plan"}"#
    );
    request_is!(
        async |c: &towline_host::Control| c.set_model(Some("opus")).await,
        r#"{"subtype":"set_model","model":"opus"}"#,
        r#"{"model":"claude-opus"}"#
    );
    request_is!(
        async |c: &towline_host::Control| c.set_model(None).await,
        r#"{"subtype":"set_model","model":null}"#,
        "null"
    );
    request_is!(
        async |c: &towline_host::Control| c.set_max_thinking_tokens(Some(7)).await,
        r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":7}"#,
        "{}"
    );
    request_is!(
        async |c: &towline_host::Control| c.mcp_reconnect("calc").await,
        r#"{"subtype":"mcp_reconnect","serverName":"calc"}"#,
        "{}"
    );
    request_is!(
        async |c: &towline_host::Control| c.mcp_disable("calc").await,
        r#"{"subtype":"mcp_toggle","serverName":"calc","enabled":false}"#,
        "{}"
    );
    request_is!(
        async |c: &towline_host::Control| c.rename("Title").await,
        r#"{"subtype":"rename_session","title":"Title"}"#,
        "{}"
    );
    let status = request_is!(
        async |c: &towline_host::Control| c.mcp_status().await,
        r#"{"subtype":"mcp_status"}"#,
        r#"{"mcpServers":[{"name":"calc","status":"connected"}]}"#
    );
    assert_eq!(status.servers.unwrap()[0].status, "connected");
    let rewound = request_is!(
        async |c: &towline_host::Control| c.rewind_files(&"u1".into()).await,
        r#"{"subtype":"rewind_files","user_message_id":"u1"}"#,
        r#"{"canRewind":true}"#
    );
    assert_eq!(rewound.can_rewind, Some(true));
    let usage = request_is!(
        async |c: &towline_host::Control| c.context_usage().await,
        r#"{"subtype":"get_context_usage"}"#,
        r#"{"totalTokens":12}"#
    );
    assert_eq!(usage.total_tokens, Some(12));
}

#[tokio::test]
async fn any_request_at_all_can_be_made() {
    let fields = Json::new(r#"{"volume":11}"#).unwrap();
    let answer = request_is!(
        async |c: &towline_host::Control| c.control("turn_up", &fields).await,
        r#"{"volume":11,"subtype":"turn_up"}"#,
        r#"{"louder":true}"#
    );
    assert_eq!(answer.unwrap().as_str(), r#"{"louder":true}"#);
}

#[tokio::test]
async fn a_refusal_is_an_error_with_the_agents_words() {
    let (session, mut agent) = started().await;
    let agent = async {
        let (_, id) = agent.question().await;
        agent.write(&format!(r#"{{"type":"control_response","response":{{"subtype":"error","request_id":"{id}","error":"no such mode","error_code":"invalid_mode"}}}}"#)).await;
    };
    let ask = session.control().set_permission_mode(PermissionMode::Plan);
    let (answer, ()) = tokio::join!(ask, agent);
    let error = answer.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent refused `set_permission_mode`: no such mode"
    );
    let Error::Refused { failure, .. } = error else {
        panic!()
    };
    assert_eq!(failure.error_code.as_deref(), Some("invalid_mode"));
}

#[tokio::test(start_paused = true)]
async fn a_request_times_out_after_a_minute_and_is_taken_back() {
    let (mut session, mut agent) = started().await;
    let error = session.interrupt().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent did not answer `interrupt` within 60s"
    );
    let (_, id) = agent.question().await;
    assert!(
        matches!(agent.read().await, ToAgent::ControlCancelRequest(cancel) if cancel.request_id.to_string() == id)
    );
    agent.answer(&id, "{}").await;
    assert_eq!(
        in_short(&session.next().await.unwrap()),
        "malformed: belongs to no open question"
    );
}

#[tokio::test]
async fn requests_fail_at_once_when_the_agent_goes() {
    let (session, mut agent) = started().await;
    let ask = session.control().mcp_status();
    let agent = async move {
        agent.question().await;
        drop(agent);
    };
    let (answer, ()) = tokio::join!(ask, agent);
    assert!(matches!(answer.unwrap_err(), Error::Ended(_)));
    assert!(matches!(
        session.send("hello").await.unwrap_err(),
        Error::Ended(_)
    ));
    assert!(matches!(
        session.interrupt().await.unwrap_err(),
        Error::Ended(_)
    ));
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error_that_says_where() {
    let (session, mut agent) = started().await;
    let agent = async {
        let (_, id) = agent.question().await;
        agent.answer(&id, r#"{"totalTokens":"many"}"#).await;
    };
    let ask = session.control().context_usage();
    let (answer, ()) = tokio::join!(ask, agent);
    let error = answer.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent's answer to `get_context_usage` cannot be read"
    );
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("totalTokens"), "{source}");
}

#[tokio::test]
async fn an_answer_arrives_though_nobody_looks_at_the_events() {
    let (session, mut agent) = started().await;
    let agent = async {
        let line = format!(
            r#"{{"type":"error","error":{{"message":"{}"}}}}"#,
            "x".repeat(1000)
        );
        let (_, id) = agent.question().await;
        for _ in 0..2000 {
            agent.write(&line).await;
        }
        agent.answer(&id, "{}").await;
        agent
    };
    let (answer, _agent) = tokio::join!(session.interrupt(), agent);
    answer.unwrap();
}

#[tokio::test]
async fn messages_are_written_as_the_official_sdks_write_them() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    for (prompt, expected) in [
        (
            Prompt::from("hi"),
            r#"{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":""}"#,
        ),
        (
            Prompt::new().text("what?").image(png).unwrap(),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgpyZXN0"}}]},"parent_tool_use_id":null,"session_id":""}"#,
        ),
        (
            Prompt::from("stop that").uuid("u1").now(),
            r#"{"type":"user","message":{"role":"user","content":"stop that"},"parent_tool_use_id":null,"session_id":"","uuid":"u1","priority":"now"}"#,
        ),
        (
            Prompt::from("by the way").without_turn().verbatim(),
            r#"{"type":"user","message":{"role":"user","content":"by the way"},"parent_tool_use_id":null,"session_id":"","shouldQuery":false,"client_composed":true}"#,
        ),
    ] {
        let (session, mut agent) = started().await;
        session.send(prompt).await.unwrap();
        assert_eq!(agent.read_text().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn pictures_are_known_by_their_bytes() {
    for (bytes, expected) in [
        (&b"\x89PNG\r\n\x1a\n"[..], Some("image/png")),
        (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
        (b"GIF89a", Some("image/gif")),
        (b"GIF87a", Some("image/gif")),
        (b"RIFF\x10\0\0\0WEBPVP8 ", Some("image/webp")),
        (b"RIFF\x10\0\0\0WAVE", None),
        (b"<svg/>", None),
        (b"", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("picture.txt");
        std::fs::write(&file, bytes).unwrap();
        match (Prompt::new().image_file(&file).await, expected) {
            (Ok(prompt), Some(expected)) => {
                let (session, mut agent) = started().await;
                session.send(prompt).await.unwrap();
                let line = agent.read_text().await.unwrap();
                assert!(line.contains(expected), "{line}");
            }
            (Err(error), None) => assert_eq!(
                error.to_string(),
                format!("{} is no PNG, JPEG, GIF or WebP image", file.display())
            ),
            (result, expected) => panic!("{bytes:?}: {result:?}, not {expected:?}"),
        }
    }
    let missing = Prompt::new()
        .image_file("/no/such/picture")
        .await
        .unwrap_err();
    assert_eq!(missing.to_string(), "cannot read /no/such/picture");
}

#[tokio::test]
async fn the_end_of_input_leaves_the_agent_time_to_finish() {
    let (mut session, mut agent) = started().await;
    session.send("last words").await.unwrap();
    session.control().end_input().await.unwrap();
    assert!(agent.read_text().await.unwrap().contains("last words"));
    assert_eq!(agent.read_text().await, None);
    agent
        .write(r#"{"type":"result","subtype":"success","result":"done"}"#)
        .await;
    drop(agent);
    assert_eq!(
        session
            .next()
            .await
            .unwrap()
            .result()
            .unwrap()
            .text()
            .unwrap(),
        "done"
    );
    assert_eq!(in_short(&session.next().await.unwrap()), "ended");
}

#[tokio::test(start_paused = true)]
async fn closing_interrupts_first_and_then_ends_the_input() {
    let (session, mut agent) = started().await;
    let agent = async move {
        let (kind, id) = agent.question().await;
        assert_eq!(kind, "interrupt");
        agent.answer(&id, r#"{"still_queued":[]}"#).await;
        assert_eq!(agent.read_text().await, None);
    };
    let (ending, ()) = tokio::join!(session.close(), agent);
    assert!(ending.closed);
    assert_eq!(ending.to_string(), "`fake` was closed");
}

#[tokio::test(start_paused = true)]
async fn closing_ends_though_the_agent_stays() {
    let (session, agent) = started().await;
    let close = tokio::time::timeout(Duration::from_secs(11), session.close());
    assert!(close.await.is_ok());
    drop(agent);
}

#[tokio::test]
async fn lines_of_all_kinds_come_as_they_are() {
    let (mut session, mut agent) = started().await;
    let line = r#"{ "type" : "no_such_kind", "x":[1 , 2] }"#;
    agent.write(line).await;
    let Some(towline_host::Event::Message(frame)) = session.next().await else {
        panic!()
    };
    assert_eq!(frame.line(), line);
    assert!(matches!(frame.message, ToHost::Unknown(_)));
    assert_eq!(ToHost::from_json(line).unwrap(), frame.message);
}

#[tokio::test]
async fn the_environment_of_what_the_agent_runs_can_be_changed() {
    let (session, mut agent) = started().await;
    session
        .control()
        .update_environment([("A".to_owned(), "1".to_owned())])
        .await
        .unwrap();
    assert_eq!(
        agent.read_text().await.unwrap(),
        r#"{"type":"update_environment_variables","variables":{"A":"1"}}"#
    );
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_is_taken_back() {
    let command = AgentCommand::new("fake").request_timeout(None);
    let (session, mut agent) = FakeAgent::attach(command).await;
    let (_, id) = tokio::select! {
        answer = session.interrupt() => panic!("nothing answered, and there is {answer:?}"),
        question = agent.question() => question,
    };
    assert!(
        matches!(agent.read().await, ToAgent::ControlCancelRequest(cancel) if cancel.request_id.to_string() == id)
    );
}

#[tokio::test]
async fn what_is_sent_after_the_end_of_input_is_an_error() {
    let (session, mut agent) = started().await;
    session.control().end_input().await.unwrap();
    assert_eq!(agent.read_text().await, None);
    let error = session.send("too late").await.unwrap_err();
    assert!(matches!(error, Error::InputClosed), "{error}");
    let control = session.control().clone().with_timeout(None);
    let error = control.interrupt().await.unwrap_err();
    assert!(matches!(error, Error::InputClosed), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_the_agent_does_not_read_times_out() {
    let (session, _agent) = started().await;
    let big = "x".repeat(3 << 20);
    session.send(big.as_str()).await.unwrap();
    let error = session.send(big.as_str()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent has not read what it was sent before, and took no more within 60s"
    );
}
