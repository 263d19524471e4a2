//! What a session begins with.

use towline_permission::{
    Behavior, Bypass, Destination, Dropped, PermissionMode, PermissionUpdate, Places, Policy,
    Settings, Startup, Trust,
};
use towline_protocol::RuleValue;

fn places() -> Places {
    Places {
        project: "/made/project".into(),
        home: "/home/ann".into(),
        ..Places::default()
    }
}

fn file(source: Destination, permissions: &str) -> (Destination, Settings) {
    let settings = Settings::read(&format!("{{\"permissions\": {permissions}}}"));
    assert_eq!(settings.problems, [], "{permissions}");
    (source, settings)
}

fn rules(policy: &Policy) -> Vec<String> {
    let entries = policy.entries().iter();
    entries
        .map(|entry| format!("{} {} {}", entry.source, entry.behavior, entry.rule))
        .collect()
}

#[test]
fn the_nearest_file_sets_the_mode_and_the_command_line_wins() {
    use Destination::{FlagSettings, LocalSettings, ProjectSettings, UserSettings};
    let mode = |value: &str| format!(r#"{{"defaultMode": "{value}"}}"#);
    let cases = [
        (vec![], None, "default"),
        (vec![(UserSettings, "plan")], None, "plan"),
        (
            vec![(UserSettings, "plan"), (ProjectSettings, "acceptEdits")],
            None,
            "acceptEdits",
        ),
        (
            vec![(ProjectSettings, "acceptEdits"), (LocalSettings, "dontAsk")],
            None,
            "dontAsk",
        ),
        (
            vec![(LocalSettings, "dontAsk"), (FlagSettings, "plan")],
            None,
            "plan",
        ),
        (
            vec![(UserSettings, "plan")],
            Some(PermissionMode::AcceptEdits),
            "acceptEdits",
        ),
        (
            vec![(UserSettings, "bypassPermissions")],
            None,
            "bypassPermissions",
        ),
        (
            vec![(ProjectSettings, "bypassPermissions")],
            None,
            "default",
        ),
        (
            vec![(ProjectSettings, "auto"), (UserSettings, "plan")],
            None,
            "plan",
        ),
        (vec![(LocalSettings, "bypassPermissions")], None, "default"),
        (vec![(UserSettings, "manual")], None, "default"),
        (vec![], Some(PermissionMode::Delegate), "delegate"),
    ];
    for (files, flag, expected) in cases {
        let startup = Startup {
            files: files
                .iter()
                .map(|(source, value)| file(source.clone(), &mode(value)))
                .collect(),
            mode: flag,
            trust: Trust::Trusted,
            ..Startup::default()
        };
        let (policy, _) = startup.policy(places());
        assert_eq!(policy.mode.as_str(), expected, "{files:?}");
    }
}

#[test]
fn bypassing_can_be_switched_off_by_any_file() {
    let disabled = r#"{"disableBypassPermissionsMode": "disable"}"#;
    for source in [Destination::UserSettings, Destination::ProjectSettings] {
        let startup = Startup {
            files: vec![file(source, disabled)],
            bypass: Bypass::Yes,
            ..Startup::default()
        };
        let (policy, notices) = startup.policy(places());
        assert_eq!(policy.mode, PermissionMode::Default);
        assert!(!policy.may_bypass);
        assert_eq!(notices.len(), 1);
    }
    for (bypass, mode, may_bypass) in [
        (Bypass::No, "plan", false),
        (Bypass::Possible, "plan", true),
        (Bypass::Yes, "bypassPermissions", true),
    ] {
        let startup = Startup {
            mode: Some(PermissionMode::Plan),
            bypass,
            ..Startup::default()
        };
        let (policy, _) = startup.policy(places());
        assert_eq!(
            (policy.mode.as_str(), policy.may_bypass),
            (mode, may_bypass)
        );
    }
}

#[test]
fn a_value_of_the_command_line_may_name_several_tools() {
    let cases = [
        ("Bash(npm test) Read", &["Bash(npm test)", "Read"][..]),
        ("Bash(a, b),Read,  Edit", &["Bash(a, b)", "Read", "Edit"]),
        ("Bash(echo (x) y) Read", &["Bash(echo (x) y)", "Read"]),
        ("Bash()", &["Bash"]),
        ("", &[]),
        ("bash(x) Read", &["Read"]),
        ("Bash(x", &[]),
        (") Read", &["Read"]),
    ];
    for (value, expected) in cases {
        let startup = Startup {
            allowed_tools: vec![value.to_owned()],
            ..Startup::default()
        };
        let (policy, _) = startup.policy(places());
        let rules: Vec<_> = policy
            .entries()
            .iter()
            .map(|entry| entry.rule.to_string())
            .collect();
        assert_eq!(rules, expected, "{value}");
    }
    let startup = Startup {
        disallowed_tools: vec!["Bash(".into()],
        ..Startup::default()
    };
    let (_, notices) = startup.policy(places());
    assert_eq!(
        notices,
        ["`Bash(` is no rule: the closing bracket is missing, or something stands behind it"]
    );
}

#[test]
fn a_policy_can_let_its_own_rules_alone_allow_something() {
    let policy_file = |permissions: &str| {
        let text =
            format!(r#"{{"allowManagedPermissionRulesOnly": true, "permissions": {permissions}}}"#);
        Settings::read(&text)
    };
    let startup = |source| Startup {
        files: vec![
            (source, policy_file(r#"{"allow": ["Bash(own)"]}"#)),
            file(
                Destination::UserSettings,
                r#"{"allow": ["Bash(other)"], "deny": ["Bash(rm:*)"]}"#,
            ),
        ],
        allowed_tools: vec!["Read".to_owned()],
        trust: Trust::Trusted,
        ..Startup::default()
    };
    let (mut policy, notices) = startup(Destination::PolicySettings).policy(places());
    assert_eq!(rules(&policy).len(), 2);
    assert_eq!(notices.len(), 2);
    // Nor can anybody add one later.
    let add = |behavior| {
        let rules = vec![RuleValue::content("Bash", "later")];
        PermissionUpdate::add_rules(rules, behavior, Destination::Session)
    };
    assert_eq!(
        policy.apply(&add(Behavior::Allow)),
        Err(Dropped::OnlyManagedRules)
    );
    assert_eq!(policy.apply(&add(Behavior::Deny)), Ok(()));
    assert_eq!(rules(&policy).len(), 3);
    // Nobody else can say so.
    let (policy, notices) = startup(Destination::LocalSettings).policy(places());
    assert_eq!(rules(&policy).len(), 4);
    assert_eq!(notices, Vec::<String>::new());
}

#[test]
fn of_two_files_of_one_source_the_later_one_sets_the_mode() {
    let startup = Startup {
        files: vec![
            file(Destination::PolicySettings, r#"{"defaultMode": "plan"}"#),
            file(Destination::PolicySettings, r#"{"defaultMode": "dontAsk"}"#),
        ],
        ..Startup::default()
    };
    assert_eq!(startup.policy(places()).0.mode, PermissionMode::DontAsk);
}
