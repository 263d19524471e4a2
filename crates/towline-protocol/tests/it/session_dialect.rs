//! The dialect of document 003: to the standard wire and back.

use proptest::prelude::*;
use serde_json::Value;
use towline_protocol::{
    ToAgent, ToHost, Wire,
    dialect::session::{self, Session},
    trace::Direction,
};

use crate::data::{examples, recorded};

fn value(json: &towline_protocol::Json) -> Value {
    json.parse().unwrap()
}

#[test]
fn every_host_line_of_the_document_has_a_standard_form_and_comes_back() {
    let mut first = true;
    let mut seen = 0;
    for example in examples()
        .iter()
        .filter(|example| example.role == "session_to_agent")
    {
        let line = ToAgent::from_json(example.json.to_string()).unwrap();
        first = matches!(line, ToAgent::SessionCreate(_))
            || first && !matches!(line, ToAgent::SessionSend(_));
        let standard = session::to_standard(line.clone());
        assert!(!session::is_dialect(&standard), "{}", example.place);
        let again = session::to_dialect(standard, matches!(line, ToAgent::SessionCreate(_)));
        assert_eq!(
            without_empty_servers(value(&again.to_json())),
            without_empty_servers(example.json.clone()),
            "{}",
            example.place
        );
        seen += 1;
    }
    assert!(seen >= 7);
}

/// `"mcp_servers":{}` says nothing, and the standard wire has no place for it.
fn without_empty_servers(mut line: Value) -> Value {
    if let Some(request) = line.get_mut("request").and_then(Value::as_object_mut) {
        request.remove("mcp_servers");
    }
    line
}

#[test]
fn every_recorded_line_of_an_agent_comes_back_from_the_dialect() {
    let mut translated = 0;
    for recorded in recorded()
        .iter()
        .filter(|recorded| recorded.row.direction == Direction::Out)
    {
        let line = ToHost::from_json(recorded.row.text()).unwrap();
        let dialect = session::host_to_dialect(line.clone());
        translated += usize::from(dialect != line);
        // Through its own text, as it would go over the wire.
        let dialect = ToHost::from_json(dialect.to_json().text().clone()).unwrap();
        let again = session::host_to_standard(dialect).unwrap();
        assert_eq!(
            value(&again.to_json()),
            value(&line.to_json()),
            "{}",
            recorded.trace
        );
    }
    assert!(
        translated > 1000 || std::env::var_os("TOWLINE_TRACES").is_some(),
        "only {translated}"
    );
}

#[test]
fn every_recorded_line_of_a_host_comes_back_from_the_dialect() {
    for recorded in recorded()
        .iter()
        .filter(|recorded| recorded.row.direction == Direction::In)
    {
        let Ok(line) = ToAgent::from_json(recorded.row.text()) else {
            continue;
        };
        let standard = session::to_standard(line);
        let dialect = session::to_dialect(standard.clone(), true);
        let dialect = ToAgent::from_json(dialect.to_json().text().clone()).unwrap();
        let again = session::to_standard(dialect);
        // Only the message of a user line has a place in the dialect; ids and flags do not.
        match (&standard, &again) {
            (ToAgent::User(standard), ToAgent::User(again)) => {
                assert_eq!(
                    value(&again.message.to_json()),
                    value(&standard.message.to_json()),
                    "{}",
                    recorded.trace
                );
            }
            _ => assert_eq!(
                value(&again.to_standard_json()),
                value(&standard.to_standard_json()),
                "{}",
                recorded.trace
            ),
        }
    }
}

fn to_host(session: &mut Session, line: &str) -> Vec<Value> {
    let lines = session.to_host(ToHost::from_json(line).unwrap());
    lines.iter().map(|line| value(&line.to_json())).collect()
}

fn from_host(session: &mut Session, line: &str) -> Result<Vec<Value>, Value> {
    let lines = session.from_host(ToAgent::from_json(line).unwrap());
    let lines = lines.map_err(|error| value(&error.to_json()))?;
    Ok(lines
        .iter()
        .map(|line| value(&line.to_standard_json()))
        .collect())
}

/// A connection with a session that was created and announced.
fn running() -> Session {
    let mut session = Session::default();
    from_host(&mut session, CREATE).unwrap();
    to_host(
        &mut session,
        r#"{"type":"system","subtype":"init","session_id":"s"}"#,
    );
    session
}

const CREATE: &str = r#"{"type":"session.create","message":{"role":"user","content":"hi"}}"#;

#[test]
fn initialize_sets_prompt_and_servers_and_is_answered_flat() {
    let mut session = Session::default();
    let sent = from_host(
        &mut session,
        r#"{"type":"control_request","request_id":"i","request":{"subtype":"initialize","system_prompt":"be brief","mcp_servers":{"calc":{"command":"calc"}},"agents":{},"hooks":{}}}"#,
    )
    .unwrap();
    assert_eq!(
        sent[0]["request"]["systemPrompt"],
        serde_json::json!(["be brief"])
    );
    assert!(
        sent[0]["request"].get("mcpServers").is_none(),
        "the servers are set once"
    );
    assert_eq!(sent[1]["request"]["subtype"], "mcp_set_servers");
    assert_eq!(sent[1]["request"]["servers"]["calc"]["command"], "calc");

    let answer = to_host(
        &mut session,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{"commands":[{"name":"help","description":"d"}],"models":[{"value":"opus","displayName":"Opus"}],"account":{"subscriptionType":"pro"}}}}"#,
    );
    assert_eq!(
        answer,
        [
            serde_json::json!({"type":"control_response","request_id":"i","response":{
            "commands":[{"name":"/help","description":"d"}],
            "models":[{"value":"opus","display":"Opus"}],
            "account":{"account_type":"pro"}}})
        ]
    );
    let own = sent[1]["request_id"].as_str().unwrap();
    let swallowed = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{own}","response":{{}}}}}}"#
    );
    assert_eq!(to_host(&mut session, &swallowed), [] as [Value; 0]);
}

#[test]
fn translating_a_single_line_drops_nothing() {
    let create = r#"{"type":"session.create","message":{"role":"user","content":"hi"},"x":1}"#;
    let standard = session::to_standard(ToAgent::from_json(create).unwrap());
    assert_eq!(value(&standard.to_standard_json())["x"], 1);
    assert_eq!(
        value(&session::to_dialect(standard, true).to_json())["x"],
        1
    );
    let initialize = r#"{"type":"control_request","request_id":"i","request":{"subtype":"initialize","mcp_servers":{"calc":{"command":"calc"}}}}"#;
    let standard = session::to_standard(ToAgent::from_json(initialize).unwrap());
    assert_eq!(
        value(&session::to_dialect(standard, true).to_json()),
        value(&towline_protocol::Json::new(initialize).unwrap())
    );
}

#[test]
fn a_session_is_created_once_and_announced_once() {
    let mut session = Session::default();
    let early = from_host(
        &mut session,
        r#"{"type":"session.send","message":{"role":"user","content":"x"}}"#,
    );
    assert_eq!(early.unwrap_err()["error"]["code"], "SESSION_NOT_FOUND");

    let sent = from_host(&mut session, CREATE).unwrap();
    assert_eq!(
        sent[0]["message"],
        serde_json::json!({"role":"user","content":"hi"})
    );
    assert_eq!(
        from_host(&mut session, CREATE).unwrap_err()["error"]["code"],
        "SESSION_EXISTS"
    );

    let init = to_host(
        &mut session,
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"]}"#,
    );
    assert_eq!(
        init[0]["tools"],
        serde_json::json!([{"name":"Bash","description":""}])
    );
    assert_eq!(
        init[1],
        serde_json::json!({"type":"session.created","session_id":"s"})
    );
}

#[test]
fn a_question_becomes_a_callback_and_its_answer_a_control_response() {
    let mut session = running();
    let question = to_host(
        &mut session,
        r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls -la"},"tool_use_id":"t","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"session"}]}}"#,
    );
    assert_eq!(
        question,
        [
            serde_json::json!({"type":"callback.request","request_id":"q","request":{
            "subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls -la"},"tool_use_id":"t",
            "permission_suggestions":[{"type":"bash","action":"allow","pattern":"ls *","scope":"session"}],
            "blocked_path":null}})
        ]
    );
    let answered = from_host(
        &mut session,
        r#"{"type":"callback.response","response":{"subtype":"success","request_id":"q","response":{"behavior":"allow","updated_input":{"command":"ls"},"updated_permissions":[{"type":"bash","action":"allow","pattern":"ls *","scope":"session"}],"tool_use_id":"t"}}}"#,
    );
    assert_eq!(
        answered.unwrap(),
        [
            serde_json::json!({"type":"control_response","response":{"subtype":"success","request_id":"q","response":{
            "behavior":"allow","updatedInput":{"command":"ls"},"toolUseID":"t",
            "updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"session"}]}}})
        ]
    );
}

#[test]
fn a_result_counts_turns_and_seconds() {
    let mut session = running();
    let result = to_host(
        &mut session,
        r#"{"type":"result","subtype":"error_max_turns","num_turns":3,"duration_ms":5200,"errors":["Maximum turns exceeded"],"session_id":"s"}"#,
    );
    assert_eq!(result.len(), 1, "the session is announced once");
    assert_eq!(result[0]["turn_count"], 3);
    assert_eq!(result[0]["duration_seconds"], 5.2);
    assert_eq!(result[0]["error"], "Maximum turns exceeded");
}

#[test]
fn the_message_of_a_user_line_says_that_it_is_one() {
    let mut session = running();
    let line = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"s"}"#;
    assert_eq!(
        to_host(&mut session, line),
        [
            serde_json::json!({"type":"user","message":{"type":"message","role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"s"})
        ]
    );
    let examples = examples();
    let mut shown = examples
        .iter()
        .filter(|example| example.role == "session_to_host" && example.kind == "user");
    let example = shown.next().unwrap();
    let line = ToHost::from_json(example.json.to_string()).unwrap();
    let standard = session::host_to_standard(line).unwrap();
    assert_eq!(value(&standard.to_json())["message"].get("type"), None);
    let again = session::host_to_dialect(standard);
    assert_eq!(value(&again.to_json()), example.json, "{}", example.place);
}

#[test]
fn a_failed_request_is_an_error_with_its_code() {
    let mut session = running();
    let failed = to_host(
        &mut session,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"x","error":"no","error_code":"invalid_mode"}}"#,
    );
    assert_eq!(
        failed,
        [
            serde_json::json!({"type":"error","error":{"code":"invalid_mode","message":"no"},"request_id":"x"})
        ]
    );
}

proptest! {
    #[test]
    fn a_message_of_any_text_comes_back(text in ".{0,80}", first in any::<bool>()) {
        let kind = if first { "session.create" } else { "session.send" };
        let line = serde_json::json!({"type": kind, "message": {"role": "user", "content": text}});
        let dialect = ToAgent::from_json(line.to_string()).unwrap();
        let again = session::to_dialect(session::to_standard(dialect), first);
        prop_assert_eq!(value(&again.to_json()), line);
    }

    #[test]
    fn an_answer_to_a_question_comes_back(
        allow in any::<bool>(),
        message in prop::option::of(".{0,20}"),
        input in prop::option::of("[a-z]{0,10}"),
        id in "[a-z0-9]{1,8}",
    ) {
        let mut answer = serde_json::json!({"behavior": if allow { "allow" } else { "deny" }, "tool_use_id": "t"});
        if let Some(message) = message { answer["message"] = message.into(); }
        if let Some(input) = input { answer["updated_input"] = serde_json::json!({"command": input}); }
        let line = serde_json::json!({"type": "callback.response", "response": {"subtype": "success", "request_id": id, "response": answer}});
        let dialect = ToAgent::from_json(line.to_string()).unwrap();
        let standard = session::to_standard(dialect);
        prop_assert_eq!(standard.kind(), "control_response");
        prop_assert_eq!(value(&session::to_dialect(standard, false).to_json()), line);
    }
}

#[test]
fn in_front_of_an_agent_the_opening_comes_in_the_documents_order() {
    let opening = session::Opening {
        session_id: Some("s".into()),
        cwd: Some("/p".into()),
        resumes: false,
    };
    let mut session = Session::opened(opening);
    let initialize = r#"{"type":"control_request","request_id":"i","request":{"subtype":"initialize","mcp_servers":{"calc":{"command":"calc"}}}}"#;
    from_host(&mut session, initialize).unwrap();
    let other = r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#;
    assert_eq!(to_host(&mut session, other).len(), 1);
    let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{"commands":[{"name":"help"}],"agents":[{"name":"Explore"}],"models":[],"current_permission_mode":"plan","claude_code_version":"2"}}}"#;
    assert_eq!(
        to_host(&mut session, answer)[1],
        serde_json::json!({"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":[],
            "mcp_servers":[{"name":"calc","status":"pending"}],"permissionMode":"plan",
            "slash_commands":["help"],"claude_code_version":"2","agents":["Explore"]})
    );
    assert_eq!(to_host(&mut session, answer).len(), 1, "said once");

    from_host(&mut session, CREATE).unwrap();
    let init = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    let kinds = |lines: Vec<Value>| -> Vec<String> {
        let kinds = lines
            .iter()
            .map(|line| line["type"].as_str().unwrap().to_owned());
        kinds.collect()
    };
    assert_eq!(
        kinds(to_host(&mut session, init)),
        ["session.created", "system"]
    );
    assert_eq!(kinds(to_host(&mut session, init)), ["system"]);

    // Without an `initialize` the agent's own line is the first.
    let mut session = Session::opened(session::Opening::default());
    from_host(&mut session, CREATE).unwrap();
    assert_eq!(
        kinds(to_host(&mut session, init)),
        ["system", "session.created"]
    );
}

#[test]
fn an_agent_that_fails_before_its_first_turn_did_not_find_the_session_to_resume() {
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s","errors":["gone"]}"#;
    let opening = |resumes| session::Opening {
        resumes,
        ..session::Opening::default()
    };
    let mut session = Session::opened(opening(true));
    from_host(&mut session, CREATE).unwrap();
    let lines = to_host(&mut session, failed);
    let error =
        serde_json::json!({"type":"error","error":{"code":"SESSION_NOT_FOUND","message":"gone"}});
    assert_eq!(
        (&lines[0], &lines[1]["type"]),
        (&error, &Value::from("result"))
    );

    let init = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    for (resumes, begins) in [(true, true), (false, false)] {
        let mut session = Session::opened(opening(resumes));
        from_host(&mut session, CREATE).unwrap();
        if begins {
            to_host(&mut session, init);
        }
        let lines = to_host(&mut session, failed);
        assert!(
            lines.iter().all(|line| line["type"] != "error"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_type_that_nobody_knows_is_refused() {
    let mut session = Session::default();
    let refusal = from_host(&mut session, r#"{"type":"session.destroy"}"#).unwrap_err();
    assert_eq!(refusal["error"]["code"], "UNKNOWN_TYPE");
}
