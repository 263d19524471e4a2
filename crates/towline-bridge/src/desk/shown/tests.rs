//! Which changes may go with an answer.

use serde_json::{Value, json, value::to_raw_value};
use towline_protocol::{PermissionUpdate, Wire as _};

use super::{Unshown, changes};
use crate::{
    Ask, Question,
    hub::{Decision, Verdict},
};

fn question(ask: Ask, tool: &str, input: &Value, suggestions: &Value) -> Question {
    let request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "q",
        "permission_suggestions": suggestions});
    Question {
        id: "q".into(),
        ask,
        tool_name: tool.into(),
        tool_use_id: Some("q".into()),
        input: to_raw_value(input).unwrap(),
        request: to_raw_value(&request).unwrap(),
    }
}

fn update(json: &Value) -> PermissionUpdate {
    PermissionUpdate::from_json(json.to_string()).unwrap()
}

/// The check of an answer with this change.
fn check(question: &Question, given: &Value) -> Result<(), String> {
    let decision = Decision::Allow {
        input: None,
        remember: Default::default(),
        mode: None,
        updates: Some(vec![update(given)]),
    };
    let verdict = Verdict::on(question, decision).map_err(|refusal| refusal.to_string())?;
    Unshown::check(question, &verdict).map_err(|unshown| unshown.to_string())
}

fn rules(kind: &str, behavior: &str, contents: &[Value], destination: &str) -> Value {
    let rules: Vec<Value> = contents
        .iter()
        .map(|content| match content {
            Value::String(content) => json!({"toolName": "Bash", "ruleContent": content}),
            other => other.clone(),
        })
        .collect();
    json!({"type": kind, "rules": rules, "behavior": behavior, "destination": destination})
}

fn allow(content: &str, destination: &str) -> Value {
    rules("addRules", "allow", &[json!(content)], destination)
}

/// One answer had `Bash` in it, to be kept in the person's own settings for ever.
#[test]
fn an_answer_could_have_any_rule_saved() {
    let suggested = json!([
        rules("addRules", "allow", &[json!("git log *"), json!("git diff *")], "localSettings"),
        {"type": "addDirectories", "directories": ["/data"], "destination": "session"},
    ]);
    let question = question(
        Ask::Permission,
        "Bash",
        &json!({"command": "git log"}),
        &suggested,
    );
    let whole = json!({"toolName": "Bash"});
    for bad in [
        rules(
            "addRules",
            "allow",
            std::slice::from_ref(&whole),
            "userSettings",
        ),
        rules("addRules", "allow", std::slice::from_ref(&whole), "session"),
        rules(
            "addRules",
            "allow",
            &[json!({"toolName": "Write"})],
            "session",
        ),
        // The suggestion, somewhere else than it was to be kept.
        allow("git log *", "userSettings"),
        allow("git log *", "projectSettings"),
        allow("git log *", "cliArg"),
        // The call, for longer than this session, or as a pattern.
        allow("git log", "localSettings"),
        allow("git:*", "session"),
        allow("git log:*", "session"),
        allow("git *", "session"),
        allow("*", "session"),
        allow("", "session"),
        rules(
            "addRules",
            "allow",
            &[json!("git log"), json!("git push")],
            "session",
        ),
        rules("replaceRules", "allow", &[json!("git log")], "session"),
        rules("replaceRules", "deny", &[json!("git log")], "session"),
        rules("removeRules", "deny", &[json!("git log")], "session"),
        rules("removeRules", "ask", &[json!("git log *")], "localSettings"),
        rules("addRules", "deny", &[json!("git log")], "userSettings"),
        json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        json!({"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"}),
        json!({"type": "addDirectories", "directories": ["/data"], "destination": "localSettings"}),
        json!({"type": "addDirectories", "directories": ["/"], "destination": "session"}),
        json!({"type": "clearRules", "destination": "session"}),
        json!({"type": "somethingNew", "destination": "session"}),
    ] {
        let why = check(&question, &bad).expect_err(&bad.to_string());
        assert!(why.contains("--allow-any-rule"), "{why}");
    }
    for good in [
        suggested[0].clone(),
        suggested[1].clone(),
        allow("git log *", "localSettings"),
        allow("git diff *", "session"),
        allow("git log", "session"),
        rules("addRules", "deny", &[json!("git push:*")], "session"),
        rules("addRules", "ask", &[json!("git push:*")], "session"),
    ] {
        assert_eq!(check(&question, &good), Ok(()), "{good}");
    }
}

#[test]
fn the_very_call_is_no_pattern_and_no_folder() {
    let glob = question(
        Ask::Permission,
        "Bash",
        &json!({"command": "rm *"}),
        &Value::Null,
    );
    assert!(check(&glob, &allow("rm *", "session")).is_err());
    for (tool, path, content, is_call) in [
        ("Write", "/app/a.txt", "//app/a.txt", true),
        ("Read", "/app/a.txt", "//app/a.txt", true),
        ("Write", "/app/a.txt", "/app/a.txt", false),
        ("Write", "/app/a.txt", "//app/**", false),
        ("Write", "/app/a.txt", "//app", false),
        ("Write", "/app/*", "//app/*", false),
        ("Write", "/app/", "//app/", false),
        ("Write", "a.txt", "a.txt", false),
        ("Grep", "/app", "//app", false),
        (
            "WebFetch",
            "https://example.org/x",
            "domain:example.org",
            false,
        ),
    ] {
        let input = json!({"file_path": path, "path": path, "url": path});
        let question = question(Ask::Permission, tool, &input, &Value::Null);
        let rule = json!({"toolName": tool, "ruleContent": content});
        let given = rules("addRules", "allow", &[rule], "session");
        assert_eq!(
            check(&question, &given).is_ok(),
            is_call,
            "{tool} {path} {content}"
        );
    }
    // Of another tool it is another call.
    let question = question(
        Ask::Permission,
        "Read",
        &json!({"file_path": "/app/a"}),
        &Value::Null,
    );
    let rule = json!({"toolName": "Edit", "ruleContent": "//app/a"});
    assert!(check(&question, &rules("addRules", "allow", &[rule], "session")).is_err());
}

#[test]
fn a_plan_is_gone_on_with_in_a_mode_of_the_session_and_nothing_else() {
    let plan = question(
        Ask::Plan,
        "ExitPlanMode",
        &json!({"plan": "1."}),
        &Value::Null,
    );
    let mode =
        |destination| json!({"type": "setMode", "mode": "acceptEdits", "destination": destination});
    assert_eq!(check(&plan, &mode("session")), Ok(()));
    assert!(check(&plan, &mode("localSettings")).is_err());
    assert!(check(&plan, &allow("npm test", "session")).is_err());
}

#[test]
fn changes_are_told_with_their_destination() {
    let updates = [
        update(&rules(
            "addRules",
            "allow",
            &[json!("git log *"), json!({"toolName": "Read"})],
            "localSettings",
        )),
        update(
            &json!({"type": "addDirectories", "directories": ["/data"], "destination": "session"}),
        ),
        update(&json!({"type": "setMode", "mode": "plan", "destination": "session"})),
    ];
    assert_eq!(
        changes(&updates),
        [
            "addRules allow Bash(git log *) in localSettings",
            "addRules allow Read in localSettings",
            "addDirectories /data in session",
            "setMode plan in session",
        ]
    );
}
