//! Updates applied to a policy.

use towline_permission::{
    Behavior, Destination, Dropped, PermissionMode, PermissionUpdate, Policy, Rule,
};
use towline_protocol::{UpdateKind, Wire};

use crate::session::Session;

fn policy() -> Policy {
    let mut policy = Session::new(PermissionMode::Default).policy;
    for (rule, behavior, source) in [
        ("Read", Behavior::Allow, Destination::Session),
        ("Edit", Behavior::Allow, Destination::LocalSettings),
        ("Bash(rm:*)", Behavior::Deny, Destination::Session),
    ] {
        policy.add(rule.parse().unwrap(), behavior, source);
    }
    policy
}

/// The rules after an update, without what did not change, and what became of it.
fn apply(json: &str) -> (Vec<String>, Result<(), Dropped>) {
    let mut policy = policy();
    let before: Vec<_> = policy.entries().to_vec();
    let outcome = policy.apply(&PermissionUpdate::from_json(json).unwrap());
    let gone = before
        .iter()
        .filter(|entry| !policy.entries().contains(entry));
    let gone = gone.map(|entry| format!("-{} {}", entry.behavior, entry.rule));
    let new = policy
        .entries()
        .iter()
        .filter(|entry| !before.contains(entry));
    let new = new.map(|entry| format!("+{} {} {}", entry.source, entry.behavior, entry.rule));
    (gone.chain(new).collect(), outcome)
}

fn check(json: &str, changes: &[&str], outcome: &Result<(), Dropped>) {
    let (found, became) = apply(json);
    assert_eq!(found, changes, "{json}");
    assert_eq!(became, *outcome, "{json}");
}

#[test]
fn rules_are_added_replaced_and_removed_in_their_own_list() {
    check(
        r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"},{"toolName":"Read"}],"behavior":"allow","destination":"session"}"#,
        &["+session allow Bash(ls)"],
        &Ok(()),
    );
    for destination in [
        "session",
        "cliArg",
        "localSettings",
        "projectSettings",
        "userSettings",
    ] {
        let json = format!(
            r#"{{"type":"addRules","rules":[{{"toolName":"Write"}}],"behavior":"ask","destination":"{destination}"}}"#
        );
        check(&json, &[&format!("+{destination} ask Write")], &Ok(()));
    }
    check(
        r#"{"type":"replaceRules","rules":[{"toolName":"LS"}],"behavior":"allow","destination":"session"}"#,
        &["-allow Read", "+session allow LS"],
        &Ok(()),
    );
    check(
        r#"{"type":"removeRules","rules":[{"toolName":"Edit"}],"behavior":"allow","destination":"localSettings"}"#,
        &["-allow Edit"],
        &Ok(()),
    );
    check(
        r#"{"type":"removeRules","rules":[{"toolName":"Edit"}],"behavior":"allow","destination":"session"}"#,
        &[],
        &Ok(()),
    );
}

#[test]
fn forms_of_the_documents_work_where_they_make_nothing_looser() {
    let cases: &[(&str, &[&str], Result<(), Dropped>)] = &[
        (
            r#"{"type":"addRules","rules":[{"tool_name":"Bash","rule_content":"ls"}],"behavior":"deny","destination":"session"}"#,
            &["+session deny Bash(ls)"],
            Ok(()),
        ),
        (
            r#"{"type":"addRules","rules":[{"tool_name":"Bash","rule_content":"ls"}],"behavior":"allow","destination":"session"}"#,
            &[],
            Err(Dropped::ForeignForm),
        ),
        (
            r#"{"type":"addRules","toolName":"Bash","ruleContent":"ls","behavior":"ask","destination":"session"}"#,
            &["+session ask Bash(ls)"],
            Ok(()),
        ),
        (
            r#"{"type":"addRules","toolName":"Bash","ruleContent":"ls","behavior":"allow","destination":"session"}"#,
            &[],
            Err(Dropped::ForeignForm),
        ),
        (
            r#"{"type":"removeRules","toolName":"Read","behavior":"allow","destination":"session"}"#,
            &["-allow Read"],
            Ok(()),
        ),
        (
            r#"{"type":"removeRules","toolName":"Bash","ruleContent":"rm:*","behavior":"deny","destination":"session"}"#,
            &[],
            Err(Dropped::ForeignForm),
        ),
        (
            r#"{"type":"bash","action":"deny","pattern":"ls","scope":"session"}"#,
            &["+session deny Bash(ls)"],
            Ok(()),
        ),
        (
            r#"{"type":"bash","action":"allow","pattern":"ls","scope":"session"}"#,
            &[],
            Err(Dropped::ForeignForm),
        ),
        (
            r#"{"type":"clearRules","destination":"session"}"#,
            &["-allow Read"],
            Err(Dropped::NotCleared),
        ),
        (
            r#"{"type":"clearRules","destination":"localSettings"}"#,
            &["-allow Edit"],
            Ok(()),
        ),
        (
            r#"{"behavior":"allow","message":"always"}"#,
            &[],
            Err(Dropped::Hint),
        ),
    ];
    for (json, changes, outcome) in cases {
        check(json, changes, outcome);
    }
}

#[test]
fn an_update_that_cannot_be_meant_changes_nothing_and_says_why() {
    let rules = r#""rules":[{"toolName":"Write"}]"#;
    let cases = [
        (
            format!(r#"{{"type":"addRules",{rules},"behavior":"allow"}}"#),
            Dropped::NoDestination,
        ),
        (
            format!(r#"{{"type":"addRules",{rules},"behavior":"allow","destination":"bogus"}}"#),
            Dropped::BadDestination(Destination::from("bogus")),
        ),
        (
            format!(
                r#"{{"type":"addRules",{rules},"behavior":"allow","destination":"policySettings"}}"#
            ),
            Dropped::BadDestination(Destination::PolicySettings),
        ),
        (
            format!(r#"{{"type":"addRules",{rules},"destination":"session"}}"#),
            Dropped::BadBehavior,
        ),
        (
            format!(
                r#"{{"type":"addRules",{rules},"behavior":"passthrough","destination":"session"}}"#
            ),
            Dropped::BadBehavior,
        ),
        (
            r#"{"type":"addRules","behavior":"allow","destination":"session"}"#.into(),
            Dropped::NoRules,
        ),
        (
            r#"{"type":"addDirectories","destination":"session"}"#.into(),
            Dropped::NoDirectories,
        ),
        (
            r#"{"type":"setMode","destination":"session"}"#.into(),
            Dropped::UnknownMode,
        ),
        (
            r#"{"type":"setMode","mode":"bogus","destination":"session"}"#.into(),
            Dropped::UnknownMode,
        ),
        (
            r#"{"type":"setMode","mode":"bypassPermissions","destination":"session"}"#.into(),
            Dropped::BypassNotLaunched,
        ),
        (
            r#"{"type":"bogus","destination":"session"}"#.into(),
            Dropped::UnknownKind(UpdateKind::from("bogus")),
        ),
    ];
    for (json, why) in cases {
        check(&json, &[], &Err(why));
    }
}

#[test]
fn modes_and_directories_change_at_once() {
    let mut policy = policy();
    let mut apply = |json: &str| {
        policy
            .apply(&PermissionUpdate::from_json(json).unwrap())
            .unwrap();
    };
    apply(r#"{"type":"setMode","mode":"acceptEdits","destination":"userSettings"}"#);
    apply(r#"{"type":"addDirectories","directories":["../x","/y"],"destination":"localSettings"}"#);
    apply(r#"{"type":"removeDirectories","directories":["/y"],"destination":"localSettings"}"#);
    apply(r#"{"type":"removeDirectories","directories":["/made/x"],"destination":"session"}"#);
    assert_eq!(policy.mode, PermissionMode::AcceptEdits);
    let paths: Vec<_> = policy
        .directories()
        .iter()
        .map(|known| &*known.path)
        .collect();
    assert_eq!(paths, ["/made/x"]);
    policy.may_bypass = true;
    policy.set_mode(&PermissionMode::BypassPermissions).unwrap();
    policy.set_mode(&PermissionMode::Manual).unwrap();
    assert_eq!(policy.mode, PermissionMode::Default);
}

#[test]
fn a_rule_that_was_taken_away_can_be_added_again() {
    let mut policy = policy();
    let rule = Rule::with_content("Read", "secret");
    for _ in 0..2 {
        policy.add(rule.clone(), Behavior::Deny, Destination::Session);
        policy.add(rule.clone(), Behavior::Deny, Destination::Session);
        assert_eq!(policy.entries().len(), 4);
        policy.retain(|entry| entry.rule != rule);
        assert_eq!(policy.entries().len(), 3);
    }
}
