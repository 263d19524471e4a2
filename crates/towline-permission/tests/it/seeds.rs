//! What the documents say of permissions, statement by statement: 004 §5.1 to §5.9 and 001 §3.2 and §3.3.
//!
//! Where the real CLI was seen to decide otherwise, that is what is tested here, and the test says so.

use serde_json::json;
use towline_permission::{
    Behavior, Destination, PermissionMode, PermissionUpdate, Rule, RuleError, Settings, Startup,
    Verdict::{Allow, Ask, Deny},
};
use towline_protocol::Wire;

use crate::session::Session;

/// 004 §5.1: the table of modes. `default` asks for "every tool execution" there; reading in the project is silent.
#[test]
fn the_modes_of_004_5_1_exist() {
    let write = |mode: &str| Session::new(PermissionMode::from(mode)).write("a");
    for (mode, expected) in [
        ("default", Ask),
        ("acceptEdits", Allow),
        ("bypassPermissions", Allow),
        ("plan", Ask),
        ("delegate", Ask),
        ("dontAsk", Deny),
    ] {
        assert_eq!(write(mode), expected, "{mode}");
    }
}

/// 004 §5.1: the safe tools of `acceptEdits`. WebSearch, WebFetch, and skills that bring tools are asked about by the
/// real CLI, and so here; AskUserQuestion is a question by nature.
#[test]
fn the_safe_tools_of_004_5_1_are_safe_but_for_those_that_the_real_cli_asks_about() {
    let session = Session::new(PermissionMode::AcceptEdits);
    let file = json!({"file_path": "a", "notebook_path": "a", "pattern": "*", "url": "https://a.test/", "skill": "x"});
    for tool in [
        "Read",
        "Glob",
        "Grep",
        "Edit",
        "Write",
        "NotebookEdit",
        "TaskCreate",
        "TaskUpdate",
        "TaskList",
        "TaskGet",
        "EnterPlanMode",
        "Task",
        "Skill",
    ] {
        assert_eq!(session.verdict(tool, &file), Allow, "{tool}");
    }
    for tool in ["WebSearch", "WebFetch", "AskUserQuestion", "ExitPlanMode"] {
        assert_eq!(session.verdict(tool, &file), Ask, "{tool}");
    }
}

/// 004 §5.2: the rules of the table, and the expression that takes them apart.
#[test]
fn the_rules_of_004_5_2_are_taken_apart_as_there() {
    for (text, tool, content) in [
        ("Read", "Read", None),
        ("Bash(npm:*)", "Bash", Some("npm:*")),
        ("Bash(git status)", "Bash", Some("git status")),
        ("Edit(.claude)", "Edit", Some(".claude")),
        ("Write(/etc/*)", "Write", Some("/etc/*")),
    ] {
        let rule: Rule = text.parse().unwrap();
        assert_eq!((rule.tool(), rule.content()), (tool, content));
    }
    // There, what does not fit is the name of a tool; the real CLI ignores it, and here it is reported.
    assert_eq!("Bash(".parse::<Rule>(), Err(RuleError::Unclosed));
}

/// 004 §5.2: `Read` is any use of the tool. `Edit(.claude)` does not lift the protection, and `Write(/etc/*)` allows
/// nothing in the real CLI; what it denies or asks about holds here.
#[test]
fn the_rules_of_004_5_2_mean_what_the_real_cli_makes_of_them() {
    let session = || Session::new(PermissionMode::Default);
    assert_eq!(session().allow("Read").read("/etc/hosts"), Allow);
    assert_eq!(session().allow("Edit(.claude)").write(".claude/a"), Ask);
    assert_eq!(session().allow("Write(//etc/*)").write("/etc/hosts"), Ask);
    assert_eq!(session().deny("Write(//etc/*)").write("/etc/hosts"), Deny);
}

/// 004 §5.3: three behaviors, and a fourth that is no answer.
#[test]
fn the_behaviors_of_004_5_3_do_what_they_say() {
    let verdict = |behavior| {
        let session = Session::new(PermissionMode::Default);
        session
            .rule_from("WebSearch", behavior, Destination::Session)
            .verdict("WebSearch", &json!({}))
    };
    assert_eq!(verdict(Behavior::Allow), Allow);
    assert_eq!(verdict(Behavior::Deny), Deny);
    assert_eq!(verdict(Behavior::Ask), Ask);
    assert_eq!(verdict(Behavior::Passthrough), Ask);
}

/// 004 §5.4: eight places where a rule can be. All count; the last two and a command's own cannot be changed by an
/// update.
#[test]
fn the_destinations_of_004_5_4_all_count() {
    for (name, changeable) in [
        ("session", true),
        ("cliArg", true),
        ("command", false),
        ("localSettings", true),
        ("projectSettings", true),
        ("userSettings", true),
        ("policySettings", false),
        ("flagSettings", false),
    ] {
        let session = Session::new(PermissionMode::Default);
        let denying = session.rule_from("WebSearch", Behavior::Deny, Destination::from(name));
        assert_eq!(denying.verdict("WebSearch", &json!({})), Deny, "{name}");
        let update = format!(
            r#"{{"type":"addRules","rules":[{{"toolName":"Read"}}],"behavior":"allow","destination":"{name}"}}"#
        );
        let update = PermissionUpdate::from_json(update).unwrap();
        let mut policy = denying.policy;
        assert_eq!(policy.apply(&update).is_ok(), changeable, "{name}");
    }
}

/// 004 §5.5: what the context holds: mode, directories with their sources, rules by source, whether bypassing is
/// possible and whether anybody can be asked.
#[test]
fn the_context_of_004_5_5_is_a_policy() {
    let mut session = Session::new(PermissionMode::Default)
        .rule_from("Read(/path)", Behavior::Allow, Destination::Session)
        .rule_from("Bash(npm:*)", Behavior::Deny, Destination::CliArg);
    session
        .policy
        .add_directory("/out", Destination::UserSettings);
    let entries = session.policy.entries();
    assert_eq!(entries[0].rule.to_string(), "Read(/path)");
    assert_eq!(entries[1].source, Destination::CliArg);
    assert_eq!(
        session.policy.directories()[0].source,
        Destination::UserSettings
    );
    assert!(!session.policy.may_bypass);
    session.policy.can_ask = false;
    assert_eq!(session.verdict("WebSearch", &json!({})), Deny);
}

/// 004 §5.6: rules are added, removed and replaced.
#[test]
fn the_operations_of_004_5_6_change_rules() {
    let mut policy = Session::new(PermissionMode::Default).policy;
    let mut apply = |kind: &str, rule: &str| {
        let json = format!(
            r#"{{"type":"{kind}","rules":[{{"toolName":"{rule}"}}],"behavior":"allow","destination":"session"}}"#
        );
        policy
            .apply(&PermissionUpdate::from_json(json).unwrap())
            .unwrap();
        let rules = policy.entries().iter();
        rules
            .map(|entry| entry.rule.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(apply("addRules", "Read"), ["Read"]);
    assert_eq!(apply("addRules", "Edit"), ["Read", "Edit"]);
    assert_eq!(apply("removeRules", "Read"), ["Edit"]);
    assert_eq!(apply("replaceRules", "Write"), ["Write"]);
}

/// 004 §5.7: deny, ask, the tool's own check, mode, allow, ask. In step 6 "plan with bypass available" allows there;
/// the real CLI asks.
#[test]
fn the_order_of_004_5_7_holds() {
    let session = |mode| Session::new(mode);
    let bypass = || PermissionMode::BypassPermissions;
    assert_eq!(
        session(bypass())
            .deny("Write")
            .ask("Write")
            .allow("Write")
            .write("a"),
        Deny
    );
    assert_eq!(
        session(bypass()).ask("Write").allow("Write").write("a"),
        Ask
    );
    assert_eq!(
        session(bypass()).deny("Edit(a)").allow("Write").write("a"),
        Deny
    );
    assert_eq!(
        session(bypass()).verdict("AskUserQuestion", &json!({})),
        Ask
    );
    assert_eq!(session(bypass()).write("a"), Allow);
    assert_eq!(
        session(PermissionMode::Default).allow("Write").write("a"),
        Allow
    );
    assert_eq!(session(PermissionMode::Default).write("a"), Ask);
    let mut planning = session(PermissionMode::Plan);
    planning.policy.may_bypass = true;
    assert_eq!(planning.write("a"), Ask);
}

/// 004 §5.8: the settings file of the example.
#[test]
fn the_settings_of_004_5_8_are_read() {
    let settings = Settings::read(
        r#"{"permissions": {"allow": ["Bash(npm:*)", "Edit(.claude)", "Read"], "deny": ["Bash(rm -rf:*)"],
            "ask": ["Write(/etc/*)"], "defaultMode": "acceptEdits", "additionalDirectories": ["/path/to/extra"]}}"#,
    );
    assert_eq!(settings.problems, []);
    let startup = Startup {
        files: vec![(Destination::UserSettings, settings)],
        ..Startup::default()
    };
    let (policy, notices) = startup.policy(Session::new(PermissionMode::Default).policy.places);
    assert_eq!(policy.entries().len(), 5);
    assert_eq!(policy.mode, PermissionMode::AcceptEdits);
    assert_eq!(policy.directories()[0].path, "/path/to/extra");
    assert_eq!(notices, [""; 0]);
}

/// 004 §5.9: "yes, for this session" adds a rule to the session, and the same call is not asked about again.
#[test]
fn the_labels_of_004_5_9_are_updates_of_the_session() {
    let mut session = Session::new(PermissionMode::Default);
    let call = json!({"file_path": "/out/a"});
    let decision = session.decide("Read", &call);
    let update = &decision.suggestions.unwrap()[0];
    assert_eq!(update.destination, Some(Destination::Session));
    session.policy.apply(update).unwrap();
    assert_eq!(session.verdict("Read", &call), Allow);
    // "… and allow to edit its own settings": there is such a suggestion, and it is for this session.
    let decision = session.decide("Write", &json!({"file_path": ".claude/skills/x/SKILL.md"}));
    assert_eq!(
        decision.suggestions.unwrap()[0].destination,
        Some(Destination::Session)
    );
}

/// 001 §3.3: tools that are not asked about. Reading is silent in the project only.
#[test]
fn the_tools_of_001_3_3_are_not_asked_about() {
    let session = Session::new(PermissionMode::Default);
    let input = json!({"file_path": "a", "notebook_path": "a", "pattern": "x"});
    for tool in [
        "Glob",
        "Grep",
        "Read",
        "NotebookRead",
        "Task",
        "TodoWrite",
        "TodoRead",
    ] {
        assert_eq!(session.verdict(tool, &input), Allow, "{tool}");
    }
    for tool in ["Write", "Edit", "WebFetch"] {
        assert_eq!(session.verdict(tool, &input), Ask, "{tool}");
    }
    assert_eq!(session.read("/out/a"), Ask);
}
