//! What answers come to, and which are refused.

use serde_json::{Value, json, value::to_raw_value};
use towline_protocol::{PermissionUpdate, Wire as _};

use super::{Verdict, suggestions};
use crate::{
    Ask, Outcome, Question,
    hub::{Decision, Refusal},
};

/// A question with these suggestions.
fn question(ask: Ask, suggestions: &Value) -> Question {
    let (tool, input) = match ask {
        Ask::Permission => ("Bash", json!({"command": "ls"})),
        Ask::Plan => ("ExitPlanMode", json!({"plan": "1. Read."})),
        Ask::Dialog => ("Dialog", json!({})),
        Ask::Choices => {
            let options = json!([{"label": "red"}, {"label": "green"}]);
            let asked = json!({"question": "Which?", "header": "Colour", "options": options});
            ("AskUserQuestion", json!({"questions": [asked]}))
        }
    };
    let request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "q",
        "permission_suggestions": suggestions});
    Question {
        id: "q".into(),
        ask,
        tool_name: tool.into(),
        tool_use_id: Some("q".into()),
        input: to_raw_value(&input).unwrap(),
        request: to_raw_value(&request).unwrap(),
    }
}

fn rule(content: &str, destination: &str) -> Value {
    json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": content}], "behavior": "allow",
        "destination": destination})
}

fn decision(json: &Value) -> Decision {
    serde_json::from_value(json.clone()).unwrap()
}

fn updates(verdict: &Verdict) -> Value {
    let updates = verdict.updates().iter();
    updates
        .map(|update| serde_json::from_str::<Value>(update.to_json().as_str()).unwrap())
        .collect()
}

#[test]
fn allowing_for_longer_never_reaches_further_than_the_agent_suggests() {
    let kept = rule("ls:*", "localSettings");
    let held = rule("ls:*", "session");
    let cases = [
        ("once", json!([kept]), json!([]), Outcome::Allowed),
        (
            "session",
            json!([kept]),
            json!([held]),
            Outcome::AllowedForSession,
        ),
        (
            "saved",
            json!([kept]),
            json!([kept]),
            Outcome::AllowedAndSaved,
        ),
        // Where it is suggested for the session alone, nothing is saved, and nothing is said to be.
        (
            "saved",
            json!([held]),
            json!([held]),
            Outcome::AllowedForSession,
        ),
        ("session", json!([]), json!([]), Outcome::Allowed),
        ("saved", json!([]), json!([]), Outcome::Allowed),
        ("session", json!(null), json!([]), Outcome::Allowed),
        // A mere hint says nothing that could be remembered.
        (
            "session",
            json!([{"behavior": "allow", "message": "why not"}]),
            json!([]),
            Outcome::Allowed,
        ),
    ];
    for (remember, suggested, expected, outcome) in cases {
        let question = question(Ask::Permission, &suggested);
        let given = decision(&json!({"decision": "allow", "remember": remember}));
        let verdict = Verdict::on(&question, given).unwrap();
        assert_eq!(updates(&verdict), expected, "{remember} {suggested}");
        assert_eq!(verdict.outcome, outcome, "{remember} {suggested}");
        let is_short = remember != "once" && expected == json!([]);
        assert_eq!(verdict.shortfall.is_some(), is_short, "{remember}");
    }
}

#[test]
fn an_answer_that_was_looked_at_comes_to_the_same_again() {
    let rule = rule("ls:*", "localSettings");
    for (ask, answer) in [
        (
            Ask::Permission,
            json!({"decision": "allow", "remember": "session"}),
        ),
        (
            Ask::Permission,
            json!({"decision": "allow", "input": {"command": "ls -l"}}),
        ),
        (
            Ask::Permission,
            json!({"decision": "deny", "message": "no"}),
        ),
        (
            Ask::Plan,
            json!({"decision": "allow", "mode": "acceptEdits"}),
        ),
        (
            Ask::Choices,
            json!({"decision": "choose", "answers": {"Which?": ["red"]}}),
        ),
        (Ask::Choices, json!({"decision": "say", "words": "neither"})),
        (
            Ask::Dialog,
            json!({"decision": "allow", "input": {"name": "Ann"}}),
        ),
    ] {
        let question = question(ask, &json!([rule]));
        let first = Verdict::on(&question, decision(&answer)).unwrap();
        let again = Verdict::on(&question, first.decision.clone()).unwrap();
        let shown = |verdict: &Verdict| {
            format!(
                "{:?} {:?} {:?}",
                verdict.decision, verdict.outcome, verdict.message
            )
        };
        assert_eq!(shown(&again), shown(&first), "{answer}");
    }
}

#[test]
fn an_answer_of_another_kind_than_was_asked_for_is_refused() {
    for (ask, answer, words) in [
        (
            Ask::Permission,
            json!({"decision": "say", "words": "yes"}),
            "allow it or deny it",
        ),
        (
            Ask::Permission,
            json!({"decision": "choose", "answers": {"Which?": ["red"]}}),
            "allow it or deny it",
        ),
        (
            Ask::Permission,
            json!({"decision": "allow", "mode": "acceptEdits"}),
            "only a plan",
        ),
        (
            Ask::Permission,
            json!({"decision": "allow", "input": "ls"}),
            "an object",
        ),
        (
            Ask::Plan,
            json!({"decision": "say", "words": "yes"}),
            "allow it or deny it",
        ),
        (
            Ask::Plan,
            json!({"decision": "choose", "answers": {}}),
            "allow it or deny it",
        ),
        (
            Ask::Choices,
            json!({"decision": "allow"}),
            "choose, say something",
        ),
        (
            Ask::Choices,
            json!({"decision": "choose", "answers": {"What?": ["red"]}}),
            "not what is asked",
        ),
        (
            Ask::Dialog,
            json!({"decision": "say", "words": "yes"}),
            "filled in",
        ),
        (
            Ask::Dialog,
            json!({"decision": "choose", "answers": {}}),
            "filled in",
        ),
    ] {
        let refused = Verdict::on(&question(ask, &json!([])), decision(&answer));
        let Err(Refusal::Unfit(why)) = refused else {
            panic!("{answer} to {ask:?}: {refused:?}");
        };
        assert!(why.contains(words), "{answer} to {ask:?}: {why}");
    }
}

#[test]
fn updates_that_somebody_gives_are_taken_as_they_are_or_not_at_all() {
    let question = question(Ask::Permission, &json!([rule("ls:*", "localSettings")]));
    let given = |updates: &Value| {
        let updates = updates.as_array().unwrap().iter();
        let updates =
            updates.map(|update| PermissionUpdate::from_json(update.to_string()).unwrap());
        let decision = Decision::Allow {
            input: None,
            remember: Default::default(),
            mode: None,
            updates: Some(updates.collect()),
        };
        Verdict::on(&question, decision)
    };
    for (own, outcome) in [
        (
            json!([rule("ls src", "session")]),
            Outcome::AllowedForSession,
        ),
        (
            json!([rule("ls src", "userSettings")]),
            Outcome::AllowedAndSaved,
        ),
        (json!([]), Outcome::Allowed),
    ] {
        let verdict = given(&own).unwrap();
        assert_eq!(updates(&verdict), own);
        assert_eq!(verdict.outcome, outcome, "{own}");
    }
    let flat =
        json!([{"type": "bash", "action": "allow", "pattern": "ls src", "scope": "session"}]);
    assert_eq!(
        updates(&given(&flat).unwrap()),
        json!([rule("ls src", "session")])
    );
    for bad in [
        json!([{"behavior": "allow"}]),
        json!([{"type": "addRules", "behavior": "allow", "destination": "session"}]),
        json!([{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "perhaps"}]),
    ] {
        assert!(matches!(given(&bad), Err(Refusal::Unfit(_))), "{bad}");
    }
}

#[test]
fn what_cannot_be_read_suggests_nothing() {
    let mut question = question(Ask::Permission, &json!([rule("ls:*", "session")]));
    assert_eq!(suggestions(&question).len(), 1);
    question.request = to_raw_value(&json!({"permission_suggestions": 7})).unwrap();
    assert_eq!(suggestions(&question), []);
}
