//! Which agent is started, and with which words.

use std::path::Path;

use towline_bridge::agents::{
    AgentChoice, Agents, ApiKey, Beginning, Bypass, Found, SessionOptions,
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

fn options() -> SessionOptions {
    SessionOptions {
        directory: "/work".into(),
        additional_directories: Vec::new(),
        model: None,
        permission_mode: None,
        bypass: Bypass::Refused,
        beginning: Beginning::New,
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
    let own = choice("own", &["run", "--fast"]);
    let offline = choice("offline", &["--model", "offline"]);
    let with = |change: fn(&mut SessionOptions)| {
        let mut options = options();
        change(&mut options);
        options
    };
    for (choice, options, before, after) in [
        (&own, options(), "run --fast ", ""),
        (
            &own,
            with(|options| options.model = Some("opus".into())),
            "run --fast ",
            " --model opus",
        ),
        (
            &own,
            with(|options| options.model = Some("-x".into())),
            "run --fast ",
            " --model=-x",
        ),
        (
            &offline,
            with(|options| options.model = Some("opus".into())),
            "--model offline ",
            "",
        ),
        (
            &own,
            with(|options| options.additional_directories = vec!["/a".into(), "/b".into()]),
            "run --fast ",
            " --add-dir /a --add-dir /b",
        ),
        (
            &own,
            with(|options| options.permission_mode = Some(PermissionMode::Plan)),
            "run --fast ",
            " --permission-mode plan",
        ),
        (
            &own,
            with(|options| options.permission_mode = Some(PermissionMode::BypassPermissions)),
            "run --fast ",
            "",
        ),
        (
            &own,
            with(|options| {
                options.permission_mode = Some(PermissionMode::BypassPermissions);
                options.bypass = Bypass::Enabled;
            }),
            "run --fast ",
            " --allow-dangerously-skip-permissions --permission-mode bypassPermissions",
        ),
        (
            &own,
            with(|options| options.beginning = Beginning::Resume("7c1f".into())),
            "run --fast ",
            " --resume 7c1f",
        ),
        (
            &own,
            with(|options| options.beginning = Beginning::Fork("7c1f".into())),
            "run --fast ",
            " --resume 7c1f --fork-session",
        ),
    ] {
        let command = choice.command(&options).to_string();
        assert_eq!(
            command,
            format!("/bin/agent {before}{ALWAYS}{after} --input-format stream-json")
        );
    }
    let command = own.command(&options());
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
