//! Which agent is started, and with which words.

use std::path::Path;

use towline_bridge::{
    agents::{AgentChoice, Agents, ApiKey, Bypass, Found},
    hub::{From, Setup, SetupOptions},
};
use towline_host::PermissionMode;

fn found(claude: Option<&str>, api_key: ApiKey) -> Found {
    Found {
        towline: "/bin/towline".into(),
        claude: claude.map(Into::into),
        api_key,
    }
}

fn choice(name: &str, args: &[&str]) -> AgentChoice {
    AgentChoice {
        name: name.into(),
        command: "/bin/agent".into(),
        args: args.iter().map(|word| (*word).into()).collect(),
        env: [("KEY".to_owned(), "s3cret".to_owned())].into(),
    }
}

fn setup() -> Setup {
    Setup {
        directory: "/work".into(),
        ..Setup::default()
    }
}

#[test]
fn the_default_is_what_works_with_what_there_is() {
    let (present, absent) = (ApiKey::Present, ApiKey::Absent);
    let claude = Some("/bin/claude");
    let own = [choice("own", &[])];
    for (found, configured, wanted, default, all) in [
        (
            found(None, absent),
            &[][..],
            None,
            Some("offline"),
            "towline offline",
        ),
        (
            found(None, present),
            &[],
            None,
            Some("towline"),
            "towline offline",
        ),
        (
            found(claude, absent),
            &[],
            None,
            Some("claude"),
            "towline claude offline",
        ),
        (
            found(claude, present),
            &[],
            None,
            Some("towline"),
            "towline claude offline",
        ),
        (
            found(claude, present),
            &[],
            Some("claude"),
            Some("claude"),
            "towline claude offline",
        ),
        (
            found(None, absent),
            &own,
            None,
            Some("own"),
            "own towline offline",
        ),
        (
            found(claude, absent),
            &own,
            None,
            Some("claude"),
            "own towline claude offline",
        ),
        (
            found(claude, absent),
            &own,
            Some("own"),
            Some("own"),
            "own towline claude offline",
        ),
        (found(None, present), &[], Some("claude"), None, ""),
    ] {
        let agents = Agents::new(&found, configured, wanted);
        assert_eq!(
            agents
                .as_ref()
                .ok()
                .map(|agents| &*agents.default_choice().name),
            default,
            "{found:?}"
        );
        if let Ok(agents) = agents {
            let names: Vec<_> = agents
                .choices()
                .iter()
                .map(|choice| &*choice.name)
                .collect();
            assert_eq!(names.join(" "), all);
        }
    }
}

#[test]
fn an_unknown_agent_is_an_error_that_names_those_there_are() {
    let agents = Agents::new(&found(None, ApiKey::Absent), &[], None).unwrap();
    let error = agents.named("codex").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no agent `codex`; there are: towline, offline"
    );
    assert_eq!(
        agents.named("towline").unwrap().command,
        Path::new("/bin/towline")
    );
}

#[test]
fn an_agent_of_the_configuration_takes_the_place_of_another_of_its_name() {
    let own = [choice("claude", &[])];
    let agents = Agents::new(&found(Some("/bin/claude"), ApiKey::Absent), &own, None).unwrap();
    assert_eq!(agents.default_choice().command, Path::new("/bin/agent"));
    assert_eq!(agents.choices().len(), 3);
}

#[test]
fn what_a_session_wants_becomes_flags() {
    const ALWAYS: &str = "--output-format stream-json --verbose --permission-prompt-tool stdio --include-partial-messages";
    let session = |fork: bool, at: Option<&str>| From::Session {
        id: "7c1f".into(),
        fork,
        at: at.map(Into::into),
    };
    let own = choice("own", &["run", "--fast"]);
    let offline = choice("offline", &["--model", "offline"]);
    let (refused, enabled) = (Bypass::Refused, Bypass::Enabled);
    let bypass = || Some(PermissionMode::BypassPermissions);
    #[rustfmt::skip]
    let cases = [
        (&own, refused, setup(), ""),
        (&own, refused, Setup { model: Some("opus".into()), ..setup() }, " --model opus"),
        (&own, refused, Setup { model: Some("-x".into()), ..setup() }, " --model=-x"),
        (&offline, refused, Setup { model: Some("opus".into()), ..setup() }, ""),
        (&own, refused, Setup { additional_directories: vec!["/a".into(), "/b".into()], ..setup() },
            " --add-dir /a --add-dir /b"),
        (&own, refused, Setup { permission_mode: Some(PermissionMode::Plan), ..setup() }, " --permission-mode plan"),
        (&own, refused, Setup { permission_mode: bypass(), ..setup() }, ""),
        (&own, enabled, Setup { permission_mode: bypass(), ..setup() },
            " --allow-dangerously-skip-permissions --permission-mode bypassPermissions"),
        (&own, refused, Setup { session_id: Some("5e55".into()), ..setup() }, " --session-id 5e55"),
        (&own, refused, Setup { from: From::Latest, ..setup() }, " --continue"),
        (&own, refused, Setup { from: session(false, None), session_id: Some("5e55".into()), ..setup() },
            " --resume 7c1f"),
        (&own, refused, Setup { from: session(true, None), ..setup() }, " --resume 7c1f --fork-session"),
        (&own, refused, Setup { from: session(true, Some("a5e0")), ..setup() },
            " --resume 7c1f --resume-session-at a5e0 --fork-session"),
        (&own, refused, Setup { options: SetupOptions {
            effort: Some("xhigh".into()),
            max_turns: Some(3),
            max_budget_usd: Some(0.5),
            fallback_model: Some("haiku".into()),
            forget: true,
        }, ..setup() },
            " --effort xhigh --max-turns 3 --max-budget-usd 0.5 --fallback-model haiku --no-session-persistence"),
    ];
    for (choice, bypass, setup, flags) in cases {
        let before = choice.args.join(" ");
        let command = choice.command(&setup, bypass).to_string();
        assert_eq!(
            command,
            format!("/bin/agent {before} {ALWAYS}{flags} --input-format stream-json")
        );
    }
    let command = own.command(&setup(), refused);
    assert!(
        command
            .environment()
            .any(|(name, value)| name == "KEY" && value == "s3cret")
    );
}

#[test]
fn the_keys_of_an_agent_are_not_seen_by_accident() {
    let shown = format!("{:?}", choice("own", &[]));
    assert!(
        shown.contains("KEY") && !shown.contains("s3cret"),
        "{shown}"
    );
}
