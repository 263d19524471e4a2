//! What the modes change.

use serde_json::{Value, json};
use towline_permission::{
    PermissionMode::{
        self, AcceptEdits, Auto, BypassPermissions, Default as DefaultMode, Delegate, DontAsk,
        Manual, Plan,
    },
    Reason,
    Verdict::{Allow, Ask, Deny},
};

use crate::session::Session;

#[test]
fn each_mode_lets_through_what_it_is_for() {
    let all = [
        DefaultMode,
        Manual,
        Delegate,
        AcceptEdits,
        Plan,
        Auto,
        DontAsk,
        BypassPermissions,
    ];
    let cases: [(&str, Value, [towline_permission::Verdict; 8]); 9] = [
        ("Read", json!({"file_path": "a"}), [Allow; 8]),
        (
            "Read",
            json!({"file_path": "/out/a"}),
            [Ask, Ask, Ask, Ask, Ask, Allow, Deny, Allow],
        ),
        (
            "Write",
            json!({"file_path": "a"}),
            [Ask, Ask, Ask, Allow, Ask, Allow, Deny, Allow],
        ),
        (
            "Write",
            json!({"file_path": "/out/a"}),
            [Ask, Ask, Ask, Ask, Ask, Ask, Deny, Allow],
        ),
        (
            "Write",
            json!({"file_path": ".git/a"}),
            [Ask, Ask, Ask, Ask, Ask, Ask, Deny, Allow],
        ),
        (
            "WebSearch",
            json!({}),
            [Ask, Ask, Ask, Ask, Ask, Ask, Deny, Allow],
        ),
        (
            "mcp__a__x",
            json!({}),
            [Ask, Ask, Ask, Ask, Ask, Ask, Deny, Allow],
        ),
        (
            "Agent",
            json!({}),
            [Allow, Allow, Allow, Allow, Allow, Ask, Allow, Allow],
        ),
        ("TodoWrite", json!({}), [Allow; 8]),
    ];
    for (tool, input, expected) in cases {
        for (mode, expected) in all.iter().zip(expected) {
            let session = Session::new(mode.clone());
            assert_eq!(
                session.verdict(tool, &input),
                expected,
                "{tool} {input} in {mode}"
            );
        }
    }
}

#[test]
fn rules_that_deny_or_ask_hold_in_every_mode() {
    for mode in [DefaultMode, AcceptEdits, Plan, Auto, BypassPermissions] {
        let session = Session::new(mode.clone())
            .ask("Write")
            .ask("Read(secret)")
            .deny("Edit(locked)");
        assert_eq!(session.write("a"), Ask, "{mode}");
        assert_eq!(session.read("secret/a"), Ask, "{mode}");
        assert_eq!(session.write("locked/a"), Deny, "{mode}");
    }
}

#[test]
fn while_planning_what_changes_something_is_asked_about_whatever_the_rules_allow() {
    let session = Session::new(Plan)
        .allow("Edit(**)")
        .allow("Write")
        .allow("mcp__a");
    let decision = session.decide("Write", &json!({"file_path": "a"}));
    assert_eq!(
        (decision.verdict, decision.reason),
        (Ask, Reason::Mode(Plan))
    );
    assert_eq!(session.verdict("mcp__a__x", &json!({})), Ask);
    let mut reading = session;
    reading.facts.tool_only_reads = true;
    assert_eq!(reading.verdict("mcp__a__x", &json!({})), Allow);
}

#[test]
fn a_session_where_nobody_can_be_asked_denies_what_would_be_asked() {
    for mode in [DefaultMode, AcceptEdits, Plan, Auto, BypassPermissions] {
        let mut session = Session::new(mode.clone())
            .ask("WebSearch")
            .allow("Read(//out/**)");
        session.policy.can_ask = false;
        assert_eq!(session.verdict("WebSearch", &json!({})), Deny, "{mode}");
        assert_eq!(
            session.verdict("AskUserQuestion", &json!({})),
            Deny,
            "{mode}"
        );
        assert_eq!(session.read("/out/a"), Allow, "{mode}");
        assert_eq!(session.decide("WebSearch", &json!({})).suggestions, None);
    }
}

#[test]
fn a_plan_that_is_left_returns_to_the_mode_before() {
    let mut policy = Session::new(AcceptEdits).policy;
    policy.enter_plan();
    policy.enter_plan();
    assert_eq!(policy.mode, Plan);
    policy.leave_plan();
    assert_eq!(policy.mode, AcceptEdits);
    policy.leave_plan();
    assert_eq!(policy.mode, AcceptEdits);
    let mut policy = Session::new(Plan).policy;
    policy.leave_plan();
    assert_eq!(policy.mode, PermissionMode::Default);
}
