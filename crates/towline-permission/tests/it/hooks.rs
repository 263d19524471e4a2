//! What a hook's verdict makes of a decision.

use serde_json::json;
use towline_permission::{
    HookVerdict,
    PermissionMode::{self, BypassPermissions, Default as DefaultMode, DontAsk, Plan},
    Reason,
    Verdict::{Allow, Ask, Deny},
};

use crate::session::Session;

fn session(mode: PermissionMode, hook: HookVerdict) -> Session {
    let mut session = Session::new(mode);
    session.facts.hook = Some(hook);
    session
}

#[test]
fn a_hook_that_denies_wins_over_everything() {
    let session = session(BypassPermissions, HookVerdict::Deny(Some("no".into()))).allow("Write");
    let decision = session.decide("Write", &json!({"file_path": "a"}));
    assert_eq!(
        (decision.verdict, decision.reason),
        (Deny, Reason::Hook(Some("no".into())))
    );
}

#[test]
fn a_hook_that_allows_skips_the_ordinary_question_only() {
    let hook = || HookVerdict::Allow(None);
    let default = session(DefaultMode, hook());
    assert_eq!(default.write("a"), Allow);
    assert_eq!(default.read("/out/a"), Allow);
    assert_eq!(default.write(".git/a"), Ask);
    assert_eq!(default.verdict("AskUserQuestion", &json!({})), Ask);
    assert_eq!(default.clone().ask("Write").write("a"), Ask);
    assert_eq!(default.deny("Edit(**)").write("a"), Deny);
    assert_eq!(session(DontAsk, hook()).write("a"), Allow);
    assert_eq!(session(DontAsk, hook()).write(".git/a"), Deny);
    assert_eq!(session(Plan, hook()).write("a"), Ask);
    assert_eq!(session(Plan, hook()).verdict("mcp__a__x", &json!({})), Ask);
    assert_eq!(session(Plan, hook()).read("/out/a"), Allow);
}

#[test]
fn a_hook_that_asks_forces_a_question_where_nothing_denies() {
    let hook = || HookVerdict::Ask(Some("sure?".into()));
    for mode in [DefaultMode, DontAsk, BypassPermissions, Plan] {
        let session = session(mode.clone(), hook()).allow("Read");
        let decision = session.decide("Read", &json!({"file_path": "a"}));
        assert_eq!(decision.verdict, Ask, "{mode}");
        assert_eq!(
            decision.reason,
            Reason::Hook(Some("sure?".into())),
            "{mode}"
        );
        assert_eq!(decision.suggestions, None, "{mode}");
        assert_eq!(session.deny("Read(a)").read("a"), Deny, "{mode}");
    }
    assert_eq!(
        session(DontAsk, hook()).verdict("AskUserQuestion", &json!({})),
        Deny
    );
    let mut alone = session(DontAsk, hook());
    alone.policy.can_ask = false;
    assert_eq!(alone.read("a"), Deny);
}
