//! What becomes of an answer: what the agent is told, what the log keeps, and what the audit says was done.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Served, eventually,
    faults::{bridge, configure},
    http::Answer,
};

/// Has the agent ask, gives the answer, and waits until the turn is over.
fn answered(served: &Served, session: &str, ask: &str, decision: &Value) -> Answer {
    let question = asked(served, session, ask);
    let answer = served.post(&question, decision);
    assert!(answer.status < 300, "{ask}: {answer:?}");
    served.wait_for_status(session, "idle");
    answer
}

/// Has the agent ask, and gives where to answer.
fn asked(served: &Served, session: &str, ask: &str) -> String {
    served.tell(session, ask);
    let question = served.wait_for_question(session);
    format!("/api/sessions/{session}/questions/{question}")
}

/// What the agent was answered last.
fn told(served: &Served) -> Value {
    let answers = fs::read_to_string(served.project().join("agent.answers")).unwrap();
    let last: Value = serde_json::from_str(answers.lines().last().unwrap()).unwrap();
    last["response"]["response"].clone()
}

/// How the questions of a session ended.
fn outcomes(served: &Served, session: &str) -> Vec<Value> {
    let frames = served.frames(session).into_iter();
    frames
        .filter(|frame| frame["kind"] == "answer")
        .map(|frame| frame["body"]["outcome"].clone())
        .collect()
}

/// The entries of the audit, without when and who.
fn audit(data: &Path) -> Vec<Value> {
    let entries = fs::read_to_string(data.join("audit.jsonl")).unwrap();
    let entries = entries.lines().map(|line| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        for field in ["at", "client", "address", "session", "directory"] {
            entry.as_object_mut().unwrap().remove(field);
        }
        entry
    });
    entries.collect()
}

#[test]
fn allowing_for_the_session_where_nothing_is_suggested_does_not_allow_the_whole_tool() {
    let served = bridge();
    let session = served.session("scripted");
    for remember in ["session", "saved"] {
        let decision = json!({"decision": "allow", "remember": remember});
        let answer = answered(&served, &session, "ask 1", &decision);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["outcome"], "allowed");
        assert!(answer.body.contains("this once"), "{answer:?}");
        let told = told(&served);
        assert_eq!(told["behavior"], "allow");
        assert_eq!(told["updatedPermissions"], Value::Null, "{told}");
    }
    assert_eq!(outcomes(&served, &session), ["allowed", "allowed"]);
    let approved = audit(&served.folder.path().join("data"));
    let extents: Vec<_> = approved[1..].iter().map(|entry| &entry["extent"]).collect();
    assert_eq!(extents, ["once", "once"]);

    // The app is told the same.
    let mut app = served.client();
    app.say(&json!({"type": "input", "text": "ask 2", "sessionId": session}));
    app.expect(&[json!({"type": "permission_request", "toolUseId": "$CALL"})]);
    app.say(&json!({"type": "approve_always", "id": "$CALL", "sessionId": session}));
    app.expect(&[
        json!({"type": "permission_resolved", "toolUseId": "$CALL", "outcome": "allowed"}),
        json!({"type": "system", "subtype": "allowed_once", "toolUseId": "$CALL", "message": "~this once"}),
    ]);
}

#[test]
fn a_host_that_sends_one_narrow_rule_gets_that_rule_and_nothing_more() {
    let served = bridge();
    let project = served.project();
    let mut host = served
        .connect(&format!("/ws/session?cwd={}", project.display()))
        .unwrap();
    host.say(
        &json!({"type": "session.create", "message": {"role": "user", "content": "suggest 1"}}),
    );
    let respond = |updates: &Value| {
        json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R",
            "response": {"behavior": "allow", "updated_permissions": updates}}})
    };
    host.expect(&[json!({"type": "callback.request", "request_id": "$R"})]);
    let outside = tempfile::tempdir().unwrap();
    for (bad, words) in [
        (
            json!([{"type": "setMode", "mode": "bypassPermissions", "destination": "session"}]),
            "~--allow-bypass-permissions",
        ),
        (
            json!([{"type": "addDirectories", "directories": [outside.path()], "destination": "session"}]),
            "~none of the folders",
        ),
        // One answer had this saved, for all projects and for ever.
        (
            json!([{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow",
                "destination": "userSettings"}]),
            "~`addRules allow Bash in userSettings` was not suggested",
        ),
        (
            json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "git:*"}], "behavior": "allow",
                "destination": "userSettings"}]),
            "~--allow-any-rule",
        ),
        (
            json!([{"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"}]),
            "~--allow-any-rule",
        ),
    ] {
        host.say(&respond(&bad));
        host.expect(&[
            json!({"type": "error", "error": {"code": "REQUEST_FAILED", "message": words}}),
        ]);
    }
    assert!(
        !project.join("agent.answers").exists(),
        "nothing was answered"
    );

    let narrow = json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "git log"}],
        "behavior": "allow", "destination": "session"}]);
    host.say(&respond(&narrow));
    host.expect(&[json!({"type": "result"})]);
    assert_eq!(told(&served)["updatedPermissions"], narrow);
    let approved = audit(&served.folder.path().join("data"));
    assert_eq!(
        approved.last().unwrap()["changes"],
        json!(["addRules allow Bash(git log) in session"])
    );
}

#[test]
fn whoever_started_the_bridge_can_let_answers_save_any_rule() {
    let folder = tempfile::tempdir().unwrap();
    let config = configure(folder.path());
    let served = Served::with(folder, |command| {
        command.arg("--allow-any-rule").arg("--config").arg(config);
    });
    let mut host = served
        .connect(&format!("/ws/session?cwd={}", served.project().display()))
        .unwrap();
    host.say(
        &json!({"type": "session.create", "message": {"role": "user", "content": "suggest 1"}}),
    );
    host.expect(&[json!({"type": "callback.request", "request_id": "$R"})]);
    let wide = json!([{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow",
        "destination": "userSettings"}]);
    host.say(
        &json!({"type": "callback.response", "response": {"subtype": "success", "request_id": "$R",
            "response": {"behavior": "allow", "updated_permissions": wide}}}),
    );
    host.expect(&[json!({"type": "result"})]);
    assert_eq!(told(&served)["updatedPermissions"], wide);
    let approved = audit(&served.folder.path().join("data"));
    assert_eq!(
        approved.last().unwrap()["changes"],
        json!(["addRules allow Bash in userSettings"])
    );
}

#[test]
fn an_answer_that_does_not_fit_changes_nothing() {
    let served = bridge();
    let session = served.session("scripted");
    for (number, ask, good, bad) in [
        (
            1,
            "ask",
            json!({"decision": "deny"}),
            [
                json!({"decision": "say", "words": "go on"}),
                json!({"decision": "choose", "answers": {"Which?": ["red"]}}),
                json!({"decision": "allow", "mode": "acceptEdits"}),
            ],
        ),
        (
            2,
            "choose",
            json!({"decision": "say", "words": "neither"}),
            [
                json!({"decision": "allow"}),
                json!({"decision": "choose", "answers": {"What?": ["red"]}}),
                json!({"decision": "allow", "remember": "session"}),
            ],
        ),
    ] {
        let question = asked(&served, &session, &format!("{ask} {number}"));
        let before = served.frames(&session).len();
        for bad in bad {
            let refused = served.post(&question, &bad);
            assert_eq!(refused.status, 400, "{bad}: {refused:?}");
            assert!(refused.body.contains("unfit_answer"), "{refused:?}");
        }
        assert_eq!(served.frames(&session).len(), before);
        assert_eq!(served.post(&question, &good).status, 204);
        served.wait_for_status(&session, "idle");
    }
    assert_eq!(outcomes(&served, &session), ["denied", "answered"]);
    let actions = audit(&served.folder.path().join("data"));
    let actions: Vec<_> = actions.iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions, ["started", "denied", "answered"]);
}

#[test]
fn the_audit_says_what_was_done_with_each_question() {
    let folder = tempfile::tempdir().unwrap();
    let config = configure(folder.path());
    let served = Served::with(folder, |command| {
        command
            .env("TOWLINE_QUESTION_TIMEOUT", "3s")
            .arg("--config")
            .arg(config);
    });
    let session = served.session("scripted");
    for (ask, decision) in [
        ("suggest 1", json!({"decision": "allow"})),
        (
            "suggest 2",
            json!({"decision": "allow", "remember": "session"}),
        ),
        (
            "suggest 3",
            json!({"decision": "allow", "remember": "saved"}),
        ),
        ("suggest 4", json!({"decision": "deny", "message": "no"})),
        (
            "choose 5",
            json!({"decision": "choose", "answers": {"Which?": ["red"]}}),
        ),
    ] {
        answered(&served, &session, ask, &decision);
    }
    asked(&served, &session, "ask 6");
    served.wait_for_status(&session, "idle");
    assert_eq!(
        outcomes(&served, &session),
        [
            "allowed",
            "allowed_for_session",
            "allowed_and_saved",
            "denied",
            "answered",
            "timed_out"
        ]
    );
    let data = served.folder.path().join("data");
    eventually("the last entry is written", || audit(&data).len() == 7);
    let git = r#"{"command":"git log"}"#;
    let approved = |extent: &str, changes: &[&str]| {
        let mut entry =
            json!({"action": "approved", "tool": "Bash", "input": git, "extent": extent});
        if !changes.is_empty() {
            entry["changes"] = json!(changes);
        }
        entry
    };
    let mut entries = audit(&data);
    // How a question with choices begins is of no matter here.
    entries[5]["input"] = json!("");
    assert_eq!(
        entries,
        [
            json!({"action": "started", "agent": "scripted"}),
            approved("once", &[]),
            approved("session", &["addRules allow Bash(git:*) in session"]),
            approved("saved", &["addRules allow Bash(git:*) in localSettings"]),
            json!({"action": "denied", "tool": "Bash", "input": git}),
            json!({"action": "answered", "tool": "AskUserQuestion", "input": ""}),
            json!({"action": "timed_out", "tool": "Bash", "input": r#"{"command":"rm -r old"}"#}),
        ]
    );
}
