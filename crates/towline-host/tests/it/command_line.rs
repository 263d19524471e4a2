//! Every option and the arguments it becomes; those that the official SDKs have too become the same.

use std::time::Duration;

use towline_host::{
    AgentCommand, Effort, Error, HookEvent, HookOn, Json, PermissionMode, SettingSource, Thinking,
    Uuid, protocol::control::request::McpServerConfig,
};

fn agent() -> AgentCommand {
    AgentCommand::new("agent")
}

fn arguments(command: &AgentCommand) -> Vec<String> {
    let arguments = command.arguments().unwrap();
    arguments
        .into_iter()
        .map(|word| word.into_string().unwrap())
        .collect()
}

#[test]
fn an_agent_is_always_asked_to_speak_the_protocol() {
    assert_eq!(
        arguments(&agent()).join(" "),
        "--output-format stream-json --verbose --permission-prompt-tool stdio --input-format stream-json"
    );
    assert_eq!(
        arguments(&agent().without_questions()).join(" "),
        "--output-format stream-json --verbose --input-format stream-json"
    );
}

/// Each option and what it adds to the command line.
fn check(cases: impl IntoIterator<Item = (AgentCommand, &'static str)>) {
    for (command, expected) in cases {
        let before = "--output-format stream-json --verbose --permission-prompt-tool stdio ";
        let after = " --input-format stream-json";
        let line = arguments(&command).join(" ");
        let added = line
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after));
        assert_eq!(added, Some(expected), "{line}");
    }
}

fn json(text: &str) -> Json {
    Json::new(text).unwrap()
}

#[test]
fn which_conversation() {
    let uuid = Uuid::from("u");
    check([
        (agent().continue_latest(), "--continue"),
        (agent().resume("ID"), "--resume ID"),
        (agent().resume("ID").fork(), "--resume ID --fork-session"),
        (
            agent().resume("ID").resume_at(&uuid),
            "--resume ID --resume-session-at u",
        ),
        (
            agent().resume("ID").resume_without_turn(&uuid),
            "--resume ID --resume-drops-turn u",
        ),
        (agent().from_pull_request("7"), "--from-pr 7"),
        (agent().session_id(&"ID".into()), "--session-id ID"),
        (agent().name("T"), "--name T"),
        (agent().without_transcript(), "--no-session-persistence"),
        (agent().mirror_transcript(), "--session-mirror"),
        (agent().model("m"), "--model m"),
        (agent().model("m").model("n"), "--model n"),
        (agent().fallback_model("m2"), "--fallback-model m2"),
        (agent().agent("x"), "--agent x"),
        (agent().effort(Effort::High), "--effort high"),
        (agent().effort(Effort::ExtraHigh), "--effort xhigh"),
        (
            agent()
                .thinking(Thinking::Adaptive)
                .thinking_display("summarized"),
            "--thinking adaptive --thinking-display summarized",
        ),
    ]);
}

#[test]
fn which_model_and_how_much_of_it() {
    check([
        (agent().thinking(Thinking::Disabled), "--thinking disabled"),
        (
            agent().max_thinking_tokens(100),
            "--max-thinking-tokens 100",
        ),
        (agent().max_turns(3), "--max-turns 3"),
        (agent().max_budget_usd(1.5), "--max-budget-usd 1.5"),
        (agent().task_budget(1000), "--task-budget 1000"),
        (agent().betas(["a", "b"]), "--betas a,b"),
        (
            agent().json_schema(&json(r#"{"type":"object"}"#)),
            r#"--json-schema {"type":"object"}"#,
        ),
    ]);
}

#[test]
fn what_the_model_is_told() {
    check([
        (agent().system_prompt("S"), "--system-prompt S"),
        (agent().system_prompt(""), "--system-prompt "),
        (agent().system_prompt_file("/f"), "--system-prompt-file /f"),
        (
            agent().append_system_prompt("A"),
            "--append-system-prompt A",
        ),
        (
            agent().append_system_prompt("- one"),
            "--append-system-prompt=- one",
        ),
        (
            agent().exclude_dynamic_prompt_sections(),
            "--exclude-dynamic-system-prompt-sections",
        ),
    ]);
}

#[test]
fn what_the_agent_may_do() {
    check([
        (
            agent().permission_mode(&PermissionMode::Plan),
            "--permission-mode plan",
        ),
        (
            agent().allowed_tools(["Read", "Bash(ls:*)"]),
            "--allowedTools Read,Bash(ls:*)",
        ),
        (agent().disallowed_tools(["Bash"]), "--disallowedTools Bash"),
        (agent().tools(["Read"]), "--tools Read"),
        (agent().tools::<&str>([]), "--tools "),
        (
            agent().add_dir("/a").add_dir("/b"),
            "--add-dir /a --add-dir /b",
        ),
        (
            agent().dangerously_skip_permissions(),
            "--dangerously-skip-permissions",
        ),
        (
            agent().allow_skipping_permissions(),
            "--allow-dangerously-skip-permissions",
        ),
        (
            agent().permission_prompts("none"),
            "--permission-prompts none",
        ),
    ]);
}

#[test]
fn what_the_agent_reads_and_tells() {
    let stdio = || McpServerConfig {
        command: Some("x".into()),
        ..McpServerConfig::default()
    };
    check([
        (agent().mcp_config("/m.json"), "--mcp-config /m.json"),
        (
            agent().remote_mcp_server("s", stdio()),
            r#"--mcp-config {"mcpServers":{"s":{"command":"x"}}}"#,
        ),
        (agent().strict_mcp_config(), "--strict-mcp-config"),
        (agent().settings("/s.json"), "--settings /s.json"),
        (
            agent().managed_settings(&json(r#"{"model":"q"}"#)),
            r#"--managed-settings {"model":"q"}"#,
        ),
        (
            agent().setting_sources([SettingSource::User, SettingSource::Project]),
            "--setting-sources user,project",
        ),
        (agent().setting_sources([]), "--setting-sources "),
        (agent().plugin_dir("/pl"), "--plugin-dir /pl"),
        (
            agent().project_config_root("/p"),
            "--project-config-root /p",
        ),
        (agent().file("file_abc:doc.txt"), "--file file_abc:doc.txt"),
        (agent().without_slash_commands(), "--disable-slash-commands"),
        (agent().bare(), "--bare"),
        (agent().partial_messages(), "--include-partial-messages"),
        (agent().hook_events(), "--include-hook-events"),
        (agent().replay_user_messages(), "--replay-user-messages"),
        (agent().forward_subagent_text(), "--forward-subagent-text"),
        (agent().debug(), "--debug"),
        (agent().debug_file("/d"), "--debug-file /d"),
        (
            agent().args(["--foo", "bar"]).arg("--flag"),
            "--foo bar --flag",
        ),
    ]);
}

#[test]
fn a_tool_that_answers_permissions_takes_the_hosts_place() {
    let command = agent().permission_prompt_tool("mcp__a__b");
    assert_eq!(
        arguments(&command).join(" "),
        "--output-format stream-json --verbose --permission-prompt-tool mcp__a__b --input-format stream-json"
    );
}

#[test]
fn what_no_command_line_takes_is_an_error_that_says_so() {
    let long = "x".repeat(200_000);
    let error = agent().settings(&long).arguments().unwrap_err();
    assert_eq!(
        error.to_string(),
        "--settings: is 200000 bytes long, and a command line takes 131071; pass a file instead"
    );
    let error = agent().model("a\0b").arguments().unwrap_err();
    assert!(matches!(error, Error::Option { option, .. } if option == "--model"));
}

#[tokio::test]
async fn a_prompt_too_long_for_a_command_line_goes_with_the_introduction() {
    let long = "x".repeat(200_000);
    let command = agent()
        .system_prompt(long.as_str())
        .append_system_prompt(long.as_str());
    assert!(
        !arguments(&command)
            .iter()
            .any(|word| word.contains("system-prompt"))
    );
    let (_session, mut agent) = crate::agents::FakeAgent::pair(command);
    let session = tokio::spawn(_session);
    let line = agent.read_text().await.unwrap();
    assert!(line.contains(&format!(
        r#""systemPrompt":["{long}"],"appendSystemPrompt":"{long}""#
    )));
    session.abort();
}

#[tokio::test]
async fn of_two_prompts_the_last_counts_however_long_they_are() {
    let long = "x".repeat(200_000);
    let said = |command| async {
        let words = arguments(&command).join(" ");
        let (session, mut agent) = crate::agents::FakeAgent::pair(command);
        let session = tokio::spawn(session);
        let line = agent.read_text().await.unwrap();
        session.abort();
        (words, line)
    };
    let (words, line) = said(agent().system_prompt(long.as_str()).system_prompt("short")).await;
    assert!(words.contains("--system-prompt short"), "{words}");
    assert!(!line.contains("systemPrompt"), "{line}");
    let (words, line) = said(agent().system_prompt("short").system_prompt(long.as_str())).await;
    assert!(!words.contains("--system-prompt"), "{words}");
    assert!(line.contains("systemPrompt"));
}

#[tokio::test]
async fn what_needs_the_introduction_cannot_go_without() {
    let hook = HookOn::new(HookEvent::Stop, "stop");
    let long = "x".repeat(200_000);
    for command in [
        agent().hook(hook).without_initialize(),
        agent().append_system_prompt(long).without_initialize(),
    ] {
        let (session, _agent) = crate::agents::FakeAgent::pair(command);
        let error = session.await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("without_initialize: hooks, agents,"),
            "{error}"
        );
    }
}

#[test]
fn keys_are_not_shown() {
    let command = agent()
        .env("ANTHROPIC_API_KEY", "secret")
        .arg(r#"--settings={"key":"secret"}"#)
        .arg(r#" {"key":"secret"}"#);
    for shown in [format!("{command:?}"), command.to_string()] {
        assert!(!shown.contains("secret"), "{shown}");
    }
    assert!(command.to_string().contains("--settings={…}"), "{command}");
}

#[tokio::test]
async fn hooks_and_agents_go_with_the_introduction() {
    let command = agent()
        .hook(
            HookOn::new(HookEvent::PreToolUse, "guard")
                .matching("Bash")
                .timeout(Duration::from_secs(5))
                .block_on_failure(),
        )
        .hook(HookOn::new(HookEvent::PreToolUse, "all"))
        .hook(HookOn::new(HookEvent::Stop, "done"))
        .agents(Json::new(r#"{"x":{"description":"d","prompt":"p"}}"#).unwrap());
    let (session, mut agent) = crate::agents::FakeAgent::pair(command);
    let session = tokio::spawn(session);
    assert_eq!(
        agent.read_text().await.unwrap(),
        r#"{"type":"control_request","request_id":"host_1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["guard"],"timeout":5,"onFailure":"block"},{"hookCallbackIds":["all"]}],"Stop":[{"hookCallbackIds":["done"]}]},"agents":{"x":{"description":"d","prompt":"p"}}}}"#
    );
    session.abort();
}

#[tokio::test]
async fn the_time_of_a_hook_keeps_its_fraction() {
    for (milliseconds, expected) in [
        (500, "0.5"),
        (1500, "1.5"),
        (2000, "2"),
        (100, "0.1"),
        (3_600_000, "3600"),
    ] {
        let time = Duration::from_millis(milliseconds);
        let hook = HookOn::new(HookEvent::Stop, "done").timeout(time);
        let (session, mut agent) = crate::agents::FakeAgent::pair(agent().hook(hook));
        let session = tokio::spawn(session);
        let line = agent.read_text().await.unwrap();
        let matcher = format!(r#"{{"hookCallbackIds":["done"],"timeout":{expected}}}"#);
        assert!(line.contains(&matcher), "{time:?}: {line}");
        session.abort();
    }
}

#[test]
fn packages_are_fetched_by_npx() {
    for (command, expected) in [
        (
            AgentCommand::npx("2.1.325"),
            "npx -y @anthropic-ai/claude-code@2.1.325 --output-format",
        ),
        (
            AgentCommand::router("latest"),
            "npx -y @musistudio/claude-code-router@latest code --output-format",
        ),
    ] {
        assert!(command.to_string().starts_with(expected), "{command}");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let error = agent()
        .current_dir("/no/such/place")
        .spawn()
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "working directory: /no/such/place is no directory"
    );
}

#[tokio::test]
async fn the_environment_is_inherited_but_for_what_would_mislead() {
    let agent =
        crate::agents::ScriptedAgent::new(r#"echo "$CLAUDECODE|$ADDED|$TAKEN|$PWD|$(pwd)" >&2"#);
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().canonicalize().unwrap();
    let mut session = agent
        .command()
        .env("CLAUDECODE", "")
        .env("ADDED", "yes")
        .env("TAKEN", "x")
        .env_remove("TAKEN")
        .current_dir(&directory)
        .spawn()
        .await
        .unwrap();
    let events = crate::agents::to_the_end(&mut session).await;
    let directory = directory.display();
    assert_eq!(events[0], format!("stderr: |yes||{directory}|{directory}"));
}
