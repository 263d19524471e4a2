//! `/ws/session`: document 003's flows, with towline's own agent and with the real CLI behind the bridge.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::real_cli;

use crate::{
    pocket::with_the_real_cli,
    serve::{Client, Served, eventually},
};

/// Says something and gives the types of what is heard until a line of a type.
fn until(client: &mut Client, last: &Value) -> Vec<Value> {
    client.expect(std::slice::from_ref(last))
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect()
}

fn initialize() -> Value {
    json!({"type": "control_request", "request_id": "init-1", "request": {"subtype": "initialize", "mcp_servers": {}, "hooks": {}}})
}

#[test]
fn the_flows_of_the_document_are_kept_in_its_order() {
    have_the_flows(&Served::start());
}

#[test]
fn the_flows_of_the_document_are_kept_with_the_real_cli() {
    if real_cli::is_slow_wanted("document 003's protocol at the bridge with the real CLI") {
        let script = include_str!("../data/session-dialect.toml");
        have_the_flows(&with_the_real_cli(script));
    }
}

fn have_the_flows(bridge: &Served) {
    let project = bridge.project();
    let mut host = bridge
        .connect("/ws/session?permission_mode=default")
        .unwrap();

    host.say(&initialize());
    let lines = until(
        &mut host,
        &json!({"type": "system", "subtype": "init", "session_id": "$S"}),
    );
    assert_eq!(kinds(&lines), ["control_response", "system"], "{lines:#?}");
    assert_eq!(lines[0]["request_id"], "init-1");
    for field in ["commands", "models", "account"] {
        assert!(
            !lines[0]["response"][field].is_null(),
            "no {field}: {}",
            lines[0]
        );
    }

    host.say(&json!({"type": "session.create", "message": {"role": "user", "content": "run touch made"}}));
    let lines = until(
        &mut host,
        &json!({"type": "callback.request", "request_id": "$R",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "touch made"}, "tool_use_id": "$CALL"}}),
    );
    let kinds_heard = kinds(&lines);
    let place = |kind: &str| kinds_heard.iter().position(|heard| *heard == kind);
    assert!(
        place("session.created") < place("assistant"),
        "{kinds_heard:?}"
    );
    assert!(place("session.created").is_some(), "{kinds_heard:?}");
    let created = &lines[place("session.created").unwrap()];
    assert_eq!(created["session_id"], host.name("S"));

    host.say(&json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R",
        "response": {"behavior": "allow", "updated_input": {}, "updated_permissions": [], "tool_use_id": "$CALL"}}}));
    host.expect(&[
        json!({"type": "user", "message": {"type": "message", "content": [{"type": "tool_result", "tool_use_id": "$CALL"}]}}),
        json!({"type": "result", "subtype": "success", "session_id": "$S", "turn_count": "*", "duration_seconds": "*"}),
    ]);
    assert!(project.join("made").exists());

    host.say(&json!({"type": "session.send", "message": {"role": "user", "content": [{"type": "text", "text": "run touch never"}]}}));
    host.expect(&[json!({"type": "callback.request", "request_id": "$R2"})]);
    host.say(
        &json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R2",
        "response": {"behavior": "deny", "message": "not today"}}}),
    );
    host.expect(&[
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "~not today", "is_error": true}]}}),
        json!({"type": "result"}),
    ]);
    assert!(!project.join("never").exists());

    host.say(&json!({"type": "session.send", "message": {"role": "user", "content": "ask Which colour? red, green"}}));
    host.expect(&[json!({"type": "callback.request", "request_id": "$R3", "request": {"tool_name": "AskUserQuestion"}})]);
    host.say(
        &json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R3",
        "response": {"behavior": "allow", "updated_input": {"answers": {"0": "green"}}}}}),
    );
    host.expect(&[
        json!({"type": "user", "message": {"content": [{"content": "~green"}]}}),
        json!({"type": "result"}),
    ]);

    host.say(
        &json!({"type": "session.send", "message": {"role": "user", "content": "run sleep 30"}}),
    );
    host.expect(&[json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}})]);
    host.say(&json!({"type": "control_request", "request_id": "stop-1", "request": {"subtype": "interrupt"}}));
    host.expect(&[
        json!({"type": "control_response", "request_id": "stop-1"}),
        json!({"type": "result", "subtype": "error_during_execution"}),
    ]);
}

#[test]
fn what_is_wrong_is_told_with_its_code_and_the_connection_goes_on() {
    let bridge = Served::start();
    let mut host = bridge.connect("/ws/session").unwrap();
    for (say, code) in [
        ("nonsense", "INVALID_MESSAGE"),
        (
            r#"{"type":"session.send","message":{"role":"user","content":"x"}}"#,
            "SESSION_NOT_FOUND",
        ),
        (r#"{"type":"session.burn"}"#, "UNKNOWN_TYPE"),
        (
            r#"{"type":"callback.response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow"}}}"#,
            "REQUEST_FAILED",
        ),
        (
            r#"{"type":"control_request","request_id":"i","request":{"subtype":"initialize","system_prompt":"Be a pirate."}}"#,
            "REQUEST_FAILED",
        ),
    ] {
        host.say_text(say).unwrap();
        host.expect(&[json!({"type": "error", "error": {"code": code, "message": "*"}})]);
    }
    host.expect(&[json!({"type": "control_response", "request_id": "i"})]);
    let create = json!({"type": "session.create", "message": {"role": "user", "content": "think"}});
    host.say(&create);
    host.expect(&[
        json!({"type": "session.created"}),
        json!({"type": "result"}),
    ]);
    host.say(&create);
    host.expect(&[json!({"type": "error", "error": {"code": "SESSION_EXISTS"}})]);

    // No way around the mode that is not enabled.
    for subtype in ["apply_flag_settings", "update_settings"] {
        let settings = json!({"permissions": {"defaultMode": "bypassPermissions"}});
        host.say(&json!({
            "type": "control_request", "request_id": subtype, "request": {"subtype": subtype, "source": "localSettings", "settings": settings},
        }));
        host.expect(&[
            json!({"type": "error", "request_id": subtype, "error": {"code": "REQUEST_FAILED", "message": "~--allow-bypass-permissions"}}),
        ]);
    }

    // Nor around the rules: a server is a command, and nobody knows what an unknown request does.
    let servers = json!({"calc": {"command": "touch", "args": ["started"]}});
    for (request, words) in [
        (
            json!({"subtype": "mcp_set_servers", "servers": servers}),
            "~MCP servers are not set",
        ),
        (json!({"subtype": "run_anything"}), "~does not know"),
    ] {
        host.say(&json!({"type": "control_request", "request_id": "beyond", "request": request}));
        host.expect(&[
            json!({"type": "error", "request_id": "beyond", "error": {"code": "REQUEST_FAILED", "message": words}}),
        ]);
    }
    let mut host = bridge.connect("/ws/session").unwrap();
    host.say(&json!({
        "type": "control_request", "request_id": "i", "request": {"subtype": "initialize", "mcp_servers": servers},
    }));
    let heard = host.expect(&[
        json!({"type": "error", "error": {"code": "REQUEST_FAILED", "message": "~MCP servers are not set"}}),
        json!({"type": "control_response", "request_id": "i"}),
        json!({"type": "system", "subtype": "init"}),
    ]);
    assert_eq!(
        heard.last().unwrap()["mcp_servers"],
        json!([]),
        "{heard:#?}"
    );

    for query in [
        "cwd=/etc",
        "agent=nobody",
        "permission_mode=bypassPermissions",
    ] {
        let mut host = bridge.connect(&format!("/ws/session?{query}")).unwrap();
        host.say(&initialize());
        host.expect(&[
            json!({"type": "error", "error": {"code": "REQUEST_FAILED", "message": "*"}}),
        ]);
    }
}

#[test]
fn a_tool_result_answers_the_open_question_of_its_call_and_everybody_knows() {
    let bridge = Served::start();
    let mut phone = bridge.client();
    let mut host = bridge.connect("/ws/session").unwrap();
    let result = |call: &str, content: &str| {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": content});
        json!({"type": "session.send", "message": {"role": "user", "content": [block]}})
    };
    let refused = |words: &str| json!({"type": "error", "error": {"code": "REQUEST_FAILED", "message": format!("~{words}")}});
    host.say(&json!({"type": "session.create", "message": {"role": "user", "content": "ask Which colour? red, green"}}));
    host.expect(&[json!({"type": "callback.request", "request": {"tool_name": "AskUserQuestion", "tool_use_id": "$CALL"}})]);
    phone.expect(&[json!({"type": "permission_request", "sessionId": "$S", "toolUseId": "$Q"})]);
    host.say(&result("toolu_other", "green"));
    host.expect(&[refused("the call toolu_other asks nothing")]);
    host.say(&result("$CALL", ""));
    host.expect(&[refused("has no answer in it")]);
    host.say(&result("$CALL", r#"{"answers":{"0":"green"}}"#));
    let heard = host.expect(&[
        json!({"type": "user", "message": {"content": [{"content": "~green"}]}}),
        json!({"type": "result"}),
    ]);
    let withdrawn = heard
        .iter()
        .any(|line| line["type"] == "control_cancel_request");
    assert!(!withdrawn, "its own answer is no news: {heard:#?}");
    phone.expect(&[json!({"type": "permission_resolved", "sessionId": "$S", "toolUseId": "$Q"})]);
    let audit = bridge.project().with_file_name("data").join("audit.jsonl");
    eventually("the audit has the answer", || {
        let audit = fs::read_to_string(&audit).unwrap();
        audit.contains(r#""answered""#)
    });
    host.say(&result("$CALL", "red"));
    host.expect(&[refused("asks nothing, or does not any more")]);

    // A permission is not given by saying what came of it.
    host.say(
        &json!({"type": "session.send", "message": {"role": "user", "content": "run touch made"}}),
    );
    host.expect(&[json!({"type": "callback.request", "request_id": "$R", "request": {"tool_name": "Bash", "tool_use_id": "$BASH"}})]);
    host.say(&result("$BASH", "done"));
    host.expect(&[refused("Bash asks for permission")]);
    host.say(&json!({"type": "session.send", "message": {"role": "user", "content": ""}}));
    host.expect(&[refused("nothing is said")]);
    host.say(
        &json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R",
        "response": {"behavior": "deny", "message": "no"}}}),
    );
    host.expect(&[json!({"type": "result"})]);
    assert!(!bridge.project().join("made").exists());
}

#[test]
fn where_nobody_has_to_be_asked_a_host_may_want_anything_of_the_agent() {
    let bridge = Served::with(tempfile::tempdir().unwrap(), |command| {
        command.args(["--agent", "offline", "--allow-bypass-permissions"]);
    });
    let mut host = bridge.connect("/ws/session").unwrap();
    host.say(&initialize());
    host.expect(&[json!({"type": "control_response", "request_id": "init-1"})]);
    host.say(&json!({
        "type": "control_request", "request_id": "settings", "request": {"subtype": "apply_flag_settings", "settings": {}},
    }));
    host.expect(&[json!({"type": "control_response", "request_id": "settings"})]);
    for request in [
        json!({"subtype": "mcp_set_servers", "servers": {"calc": {"command": "calc"}}}),
        json!({"subtype": "run_anything"}),
    ] {
        // The words are those of the agent, which has neither.
        let words = format!("~subtype: {}", request["subtype"].as_str().unwrap());
        host.say(&json!({"type": "control_request", "request_id": "beyond", "request": request}));
        host.expect(&[
            json!({"type": "error", "request_id": "beyond", "error": {"code": "REQUEST_FAILED", "message": words}}),
        ]);
    }
}

#[test]
fn the_session_stays_when_its_connection_is_gone_and_others_see_and_answer_it() {
    let bridge = Served::start();
    fs::write(bridge.project().join("a.txt"), "alpha").unwrap();
    let mut phone = bridge.client();
    let cwd = bridge.project();
    let mut host = bridge
        .connect(&format!("/ws/session?cwd={}&agent=offline", cwd.display()))
        .unwrap();
    host.say(
        &json!({"type": "session.create", "message": {"role": "user", "content": "run touch x"}}),
    );
    host.expect(&[
        json!({"type": "session.created", "session_id": "$AGENT"}),
        json!({"type": "callback.request", "request_id": "$R"}),
    ]);
    // The phone is faster: the question is taken back.
    phone.expect(&[json!({"type": "permission_request", "toolUseId": "$R", "sessionId": "$S"})]);
    phone.say(&json!({"type": "reject", "id": "$R"}));
    host.expect(&[
        json!({"type": "control_cancel_request", "request_id": "$R"}),
        json!({"type": "result"}),
    ]);
    phone.say(&json!({"type": "input", "text": "think aloud", "sessionId": "$S"}));
    host.expect(&[
        json!({"type": "user", "message": {"content": "think aloud"}}),
        json!({"type": "result"}),
    ]);
    let agent = host.name("AGENT");
    drop(host);
    phone.say(&json!({"type": "list_sessions"}));
    phone.expect(&[
        json!({"type": "session_list", "sessions": [{"id": "$S", "claudeSessionId": agent}]}),
    ]);

    // By the agent's name of it, the host is back in the same session.
    let mut host = bridge
        .connect(&format!("/ws/session?resume={agent}"))
        .unwrap();
    host.say(&initialize());
    host.expect(&[json!({"type": "system", "subtype": "init", "session_id": agent})]);
    host.say(
        &json!({"type": "session.create", "message": {"role": "user", "content": "read a.txt"}}),
    );
    host.expect(&[
        json!({"type": "session.created", "session_id": agent}),
        json!({"type": "result"}),
    ]);
    phone.expect(&[json!({"type": "user_input", "text": "read a.txt", "sessionId": "$S"})]);
}
