//! `/ws`: the fields of `start` and `list_recent_sessions` that change what is done.

use serde_json::{Value, json};

use crate::serve::Served;

#[test]
fn a_session_starts_in_the_mode_that_is_named() {
    let bridge = Served::start();
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    for (mode, is_asked) in [("default", true), ("acceptEdits", false), ("plan", true)] {
        client.say(&json!({"type": "start", "projectPath": "$PROJECT", "permissionMode": mode}));
        let name = format!("${mode}");
        client.expect(&[
            json!({"type": "system", "subtype": "session_created", "sessionId": name, "permissionMode": mode}),
        ]);
        client.say(&json!({"type": "input", "text": "write made.txt: one", "sessionId": name}));
        if is_asked {
            let question =
                json!({"type": "permission_request", "sessionId": name, "toolName": "Write"});
            client.expect(&[question]);
        } else {
            let heard = client.expect(&[json!({"type": "result", "sessionId": name})]);
            let is_question = |message: &Value| message["type"] == "permission_request";
            assert!(!heard.iter().any(is_question), "{heard:#?}");
        }
    }
}

#[test]
fn recent_sessions_are_no_more_than_the_limit() {
    let bridge = Served::start();
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    for name in ["$A", "$B"] {
        client.say(&json!({"type": "start", "projectPath": "$PROJECT"}));
        client
            .expect(&[json!({"type": "system", "subtype": "session_created", "sessionId": name})]);
        client.say(&json!({"type": "input", "text": "think", "sessionId": name}));
        client.expect(&[json!({"type": "result", "sessionId": name})]);
    }
    for (limit, more) in [(1, true), (2, false), (5, false)] {
        client.say(&json!({"type": "list_recent_sessions", "limit": limit}));
        let heard = client.expect(&[json!({"type": "recent_sessions", "hasMore": more})]);
        let sessions = heard.last().unwrap()["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), limit.min(2), "{sessions:#?}");
    }
}
