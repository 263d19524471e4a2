//! The files that a repository brings, and whether they count: each kind of thing, by each degree of trust.

use towline_permission::{
    Behavior, Brought, Bypass, Destination, HookVerdict, PermissionMode, Places, Policy, Settings,
    Startup, Trust, TrustFacts,
};

use Destination::{FlagSettings, LocalSettings, PolicySettings, ProjectSettings, UserSettings};

const ALL: [Trust; 3] = [Trust::Trusted, Trust::VouchedFor, Trust::Neither];
const BROUGHT: [Destination; 2] = [ProjectSettings, LocalSettings];

fn places() -> Places {
    Places {
        project: "/made/project".into(),
        home: "/home/ann".into(),
        ..Places::default()
    }
}

fn file(source: &Destination, permissions: &str) -> (Destination, Settings) {
    let settings = Settings::read(&format!("{{\"permissions\": {permissions}}}"));
    assert_eq!(settings.problems, [], "{permissions}");
    (source.clone(), settings)
}

fn start(trust: Trust, files: Vec<(Destination, Settings)>) -> (Policy, Vec<String>) {
    let startup = Startup {
        files,
        trust,
        ..Startup::default()
    };
    startup.policy(places())
}

fn rules(policy: &Policy) -> Vec<String> {
    let entries = policy.entries().iter();
    entries
        .map(|entry| format!("{} {} {}", entry.source, entry.behavior, entry.rule))
        .collect()
}

#[test]
fn trust_follows_from_the_person_the_flag_and_the_host() {
    let facts = |accepted, named_sources, entrypoint| TrustFacts {
        accepted,
        named_sources,
        entrypoint,
    };
    for (facts, expected) in [
        (facts(true, false, None), Trust::Trusted),
        (facts(true, true, Some("sdk-py")), Trust::Trusted),
        (facts(false, true, None), Trust::VouchedFor),
        (facts(false, false, Some("sdk-py")), Trust::VouchedFor),
        (facts(false, false, Some("sdk-ts")), Trust::VouchedFor),
        // The CLI's own name for itself, and names that only look like an SDK's.
        (facts(false, false, Some("sdk-cli")), Trust::Neither),
        (facts(false, false, Some("cli")), Trust::Neither),
        (facts(false, false, Some("sdk-py2")), Trust::Neither),
        (facts(false, false, Some("SDK-PY")), Trust::Neither),
        (facts(false, false, Some("")), Trust::Neither),
        (facts(false, false, None), Trust::Neither),
    ] {
        assert_eq!(Trust::of(&facts), expected, "{facts:?}");
    }
}

#[test]
fn each_kind_of_thing_counts_as_the_table_says() {
    //                          trusted, vouched for, neither
    let table = [
        (Brought::Restriction, [true, true, true]),
        (Brought::Text, [true, true, true]),
        (Brought::Program, [true, true, false]),
        (Brought::Grant, [true, false, false]),
        (Brought::Environment, [true, false, false]),
    ];
    for (what, counts) in table {
        for (trust, expected) in ALL.into_iter().zip(counts) {
            for source in BROUGHT {
                assert_eq!(trust.admits(&source, what), expected, "{trust:?} {what:?}");
            }
            for own in [
                UserSettings,
                FlagSettings,
                PolicySettings,
                Destination::CliArg,
            ] {
                assert!(trust.admits(&own, what), "{trust:?} {what:?} {own}");
            }
        }
    }
}

#[test]
fn the_allow_of_a_hook_counts_in_a_trusted_folder_alone() {
    let allow = HookVerdict::Allow(None);
    let deny = HookVerdict::Deny(Some("no".into()));
    for (trust, of_allow, of_deny) in [
        (Trust::Trusted, Some(&allow), Some(&deny)),
        (Trust::VouchedFor, None, Some(&deny)),
        (Trust::Neither, None, None),
    ] {
        for source in BROUGHT {
            let said = |verdict: &HookVerdict| trust.hook_verdict(&source, verdict.clone());
            assert_eq!(said(&allow).as_ref(), of_allow, "{trust:?}");
            assert_eq!(said(&deny).as_ref(), of_deny, "{trust:?}");
        }
    }
}

/// `defaultMode: acceptEdits` of a checked-in file, and `Bash(python3:*)` of a committed local one, counted in a folder
/// that no person had trusted.
#[test]
fn what_an_untrusted_repository_brought_took_questions_away() {
    let permissions = r#"{"allow": ["Bash(python3:*)"], "deny": ["Write"], "ask": ["Edit"],
        "additionalDirectories": ["../x", "~/y"], "defaultMode": "acceptEdits", "disableBypassPermissionsMode": "disable"}"#;
    for source in BROUGHT {
        let restrictions = [format!("{source} deny Write"), format!("{source} ask Edit")];
        for trust in [Trust::VouchedFor, Trust::Neither] {
            let (policy, notices) = start(trust, vec![file(&source, permissions)]);
            assert_eq!(rules(&policy), restrictions);
            assert_eq!(policy.directories(), []);
            assert_eq!(policy.mode, PermissionMode::Default);
            let name = match source {
                LocalSettings => ".claude/settings.local.json",
                _ => ".claude/settings.json",
            };
            assert_eq!(
                notices,
                [
                    format!(
                        "the project is not trusted, so `permissions.defaultMode` of its {name} does not count: \
                             acceptEdits asks less than default"
                    ),
                    format!(
                        "the project is not trusted, so 1 of the `permissions.allow` of its {name} do not count"
                    ),
                    format!(
                        "the project is not trusted, so 2 of the `permissions.additionalDirectories` of its {name} \
                             do not count"
                    ),
                ]
            );
        }
        let (policy, notices) = start(Trust::Trusted, vec![file(&source, permissions)]);
        assert_eq!(policy.entries().len(), 3);
        let paths = policy.directories().iter().map(|known| &*known.path);
        assert_eq!(paths.collect::<Vec<_>>(), ["/made/x", "/home/ann/y"]);
        assert_eq!(policy.mode, PermissionMode::AcceptEdits);
        assert_eq!(notices, [""; 0]);
    }
}

#[test]
fn what_forbids_bypassing_counts_whoever_wrote_it() {
    let disabled = r#"{"disableBypassPermissionsMode": "disable"}"#;
    for trust in ALL {
        for source in BROUGHT {
            let startup = Startup {
                files: vec![file(&source, disabled)],
                bypass: Bypass::Yes,
                trust,
                ..Startup::default()
            };
            let (policy, _) = startup.policy(places());
            assert_eq!(policy.mode, PermissionMode::Default);
            assert!(!policy.may_bypass);
        }
        // Nor does a file of the project take it back.
        let back = r#"{"disableBypassPermissionsMode": null}"#;
        let startup = Startup {
            files: vec![file(&UserSettings, disabled), file(&LocalSettings, back)],
            bypass: Bypass::Yes,
            trust,
            ..Startup::default()
        };
        assert!(!startup.policy(places()).0.may_bypass);
    }
}

#[test]
fn a_mode_of_an_untrusted_project_counts_if_it_asks_as_much() {
    let mode = |value: &str| format!(r#"{{"defaultMode": "{value}"}}"#);
    // The person's own mode, that of the checked-in file, that of the local one, and what holds.
    for (own, project, local, expected) in [
        ("", "acceptEdits", "", "default"),
        ("", "", "acceptEdits", "default"),
        ("", "plan", "", "plan"),
        ("", "", "dontAsk", "dontAsk"),
        ("", "manual", "", "default"),
        ("", "plan", "default", "plan"),
        ("", "plan", "acceptEdits", "plan"),
        ("", "dontAsk", "plan", "plan"),
        ("plan", "default", "", "plan"),
        ("plan", "dontAsk", "", "plan"),
        ("dontAsk", "default", "", "dontAsk"),
        ("dontAsk", "acceptEdits", "auto", "dontAsk"),
        ("acceptEdits", "default", "", "default"),
        ("acceptEdits", "acceptEdits", "", "acceptEdits"),
        ("bypassPermissions", "acceptEdits", "", "acceptEdits"),
        ("", "bypassPermissions", "auto", "default"),
    ] {
        let files = [
            (UserSettings, own),
            (ProjectSettings, project),
            (LocalSettings, local),
        ];
        let files: Vec<_> = files
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(source, value)| file(source, &mode(value)))
            .collect();
        for trust in [Trust::VouchedFor, Trust::Neither] {
            let (policy, _) = start(trust, files.clone());
            assert_eq!(policy.mode.as_str(), expected, "{own} {project} {local}");
        }
    }
    // Of the two local files of a repository's folder each is judged by itself.
    let both = vec![
        file(&LocalSettings, &mode("plan")),
        file(&LocalSettings, &mode("acceptEdits")),
    ];
    assert_eq!(
        start(Trust::Neither, both.clone()).0.mode,
        PermissionMode::Plan
    );
    assert_eq!(
        start(Trust::Trusted, both).0.mode,
        PermissionMode::AcceptEdits
    );
}

#[test]
fn what_answers_saved_counts_where_the_file_does_not() {
    let saved = r#"{"allow": ["Bash(npm test)"], "deny": ["Bash(rm:*)"], "additionalDirectories": ["/data"],
        "defaultMode": "acceptEdits"}"#;
    let startup = |trust, source: &Destination| Startup {
        files: vec![file(
            source,
            r#"{"allow": ["Bash(python3:*)"], "defaultMode": "plan"}"#,
        )],
        saved: vec![file(source, saved)],
        trust,
        ..Startup::default()
    };
    for source in BROUGHT {
        for trust in [Trust::VouchedFor, Trust::Neither] {
            let (policy, _) = startup(trust, &source).policy(places());
            let expected = [
                format!("{source} allow Bash(npm test)"),
                format!("{source} deny Bash(rm:*)"),
            ];
            assert_eq!(rules(&policy), expected);
            assert_eq!(policy.directories()[0].path, "/data");
            assert_eq!(policy.mode, PermissionMode::AcceptEdits);
        }
        // In a trusted folder the file is the truth: a rule that a person took out of it is gone.
        let (policy, _) = startup(Trust::Trusted, &source).policy(places());
        assert_eq!(rules(&policy), [format!("{source} allow Bash(python3:*)")]);
        assert_eq!(policy.mode, PermissionMode::Plan);
    }
    // The organisation's word is above them, too.
    let managed = r#"{"allowManagedPermissionRulesOnly": true}"#;
    let mut managed_only = startup(Trust::Neither, &LocalSettings);
    managed_only
        .files
        .push((PolicySettings, Settings::read(managed)));
    let (policy, _) = managed_only.policy(places());
    let allowing = policy.entries().iter();
    assert_eq!(
        allowing
            .filter(|entry| entry.behavior == Behavior::Allow)
            .count(),
        0
    );
}
