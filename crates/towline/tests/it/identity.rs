//! Who a session is: `--agent`, the setting `agent`, agents of files, of `--agents` and of `initialize`. The real CLI must
//! do the same (`TOWLINE_SLOW=1`).

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Recorded, Reply, Script, ScriptApi},
};

use crate::driven::{Driven, api, block_on, rooms, towline_room};

const REVIEWER: &str = r#"{"rev":{"description":"Reviews","prompt":"You review things.","tools":["Read","Bash(git:*)"],"model":"haiku"}}"#;

/// What the model was asked with: its name, its tools among those that matter here, the last block of the system prompt.
fn asked(api: &ScriptApi) -> (String, Vec<String>, String) {
    let requests = api.requests();
    let requests = requests.iter().map(Recorded::body);
    // The real CLI asks a small model for titles too.
    let request = requests.filter(|body| body["tools"].is_array() || body["system"].is_array());
    let body = request.last().unwrap();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let mut tools: Vec<String> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| ["Read", "Write", "Bash", "Edit"].contains(name))
        .map(ToOwned::to_owned)
        .collect();
    tools.sort();
    let system = body["system"].as_array().cloned().unwrap_or_default();
    let system: Vec<&str> = system
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    (
        body["model"].as_str().unwrap().to_owned(),
        tools,
        system.join("\n"),
    )
}

#[derive(Default)]
struct Case<'a> {
    arguments: &'a [&'a str],
    files: &'a [(&'a str, &'a str)],
    initialize: Option<Value>,
}

/// Asks once, and gives what the model was asked with and the line that began the turn.
async fn play(room: &RealCli, case: &Case<'_>) -> ((String, Vec<String>, String), Value) {
    for (path, text) in case.files {
        let path = room.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
    let mut agent = Driven::start(room, &api.url(), case.arguments);
    if let Some(agents) = &case.initialize {
        let request = json!({"subtype": "initialize", "systemPrompt": [""], "agents": agents});
        agent
            .say(&json!({"type": "control_request", "request_id": "i", "request": request}))
            .await;
    }
    agent.say(&crate::driven::prompt("hi")).await;
    let init = agent.hear(|line| line["subtype"] == "init").await;
    agent.hear_kind("result").await;
    assert_eq!(agent.close_and_end().await.code, Some(0));
    (asked(&api), init)
}

/// The model, the tools, and a part of the system prompt.
#[track_caller]
fn check(test: &str, case: &Case<'_>, expected: (&str, &[&str], &str)) {
    for room in rooms(test) {
        let ((model, tools, system), init) = block_on(play(&room, case));
        let (expected_model, expected_tools, words) = expected;
        assert!(model.contains(expected_model), "{test}: {model}");
        assert_eq!(init["model"], model, "{test}");
        assert_eq!(tools, expected_tools, "{test}");
        assert!(system.contains(words), "{test}: {system}");
    }
}

const HELPER: &str =
    "---\nname: helper\ndescription: helps\ntools: Read, Edit\nmodel: inherit\n---\nYou help.\n";

#[test]
fn a_session_takes_the_prompt_the_tools_and_the_model_of_its_agent() {
    let both = ["--agents", REVIEWER, "--agent", "rev"];
    let with = |more: &[&'static str]| [&both[..], more].concat();
    let reviewer = ("haiku", &["Bash", "Read"][..], "You review things.");
    check(
        "an agent of --agents",
        &Case {
            arguments: &both,
            ..Case::default()
        },
        reviewer,
    );
    check(
        "its model gives way to --model",
        &Case {
            arguments: &with(&["--model", "sonnet"]),
            ..Case::default()
        },
        ("sonnet", reviewer.1, reviewer.2),
    );
    check(
        "its prompt gives way to --system-prompt, and more follows it",
        &Case {
            arguments: &with(&["--system-prompt", "SYS", "--append-system-prompt", "APP"]),
            ..Case::default()
        },
        ("haiku", reviewer.1, "SYS\n\nAPP"),
    );
    check(
        "an empty --system-prompt is none",
        &Case {
            arguments: &with(&["--system-prompt", ""]),
            ..Case::default()
        },
        reviewer,
    );
    check(
        "--tools takes more away",
        &Case {
            arguments: &with(&["--tools", "Read,Write"]),
            ..Case::default()
        },
        ("haiku", &["Read"], reviewer.2),
    );
    check(
        "the settings name it, and a model that gives way",
        &Case {
            arguments: &["--agents", REVIEWER],
            files: &[(
                ".claude/settings.json",
                r#"{"agent":"rev","model":"sonnet"}"#,
            )],
            ..Case::default()
        },
        reviewer,
    );
    check(
        "an agent of a file",
        &Case {
            arguments: &["--agent", "helper"],
            files: &[(".claude/agents/deep/helper.md", HELPER)],
            ..Case::default()
        },
        ("opus", &["Edit", "Read"], "You help."),
    );
    check(
        "an agent of the host",
        &Case {
            arguments: &["--agent", "late"],
            initialize: Some(
                json!({"late": {"description": "d", "prompt": "Host's.", "model": "sonnet"}}),
            ),
            ..Case::default()
        },
        ("sonnet", &["Bash", "Edit", "Read", "Write"], "Host's."),
    );
}

#[test]
fn the_agents_are_told_to_the_host() {
    for room in rooms("agents are told") {
        let case = Case {
            arguments: &["--agents", REVIEWER],
            files: &[(".claude/agents/helper.md", HELPER)],
            initialize: Some(json!({"Late": {"description": "d", "prompt": "p"}})),
        };
        let (_, init) = block_on(play(&room, &case));
        let agents = init["agents"].as_array().unwrap().iter();
        let ours = ["helper", "Late", "rev"].map(Value::from);
        let listed: Vec<&Value> = agents.filter(|agent| ours.contains(agent)).collect();
        assert_eq!(listed, ours.iter().collect::<Vec<_>>());
    }
}

#[test]
fn an_agent_that_nobody_knows_is_an_error_where_nobody_can_define_it_later() {
    for room in rooms("an unknown agent") {
        block_on(async {
            let arguments = ["-p", "hi", "--agents", REVIEWER, "--agent", "nobody"];
            let output = tokio::process::Command::from(room.command("http://127.0.0.1:9"))
                .args(arguments)
                .output()
                .await
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            assert!(
                stderr.starts_with("--agent 'nobody' not found. Available agents: ")
                    && stderr.contains("rev")
                    && stderr.lines().count() == 1,
                "{stderr}"
            );
            // A host may still have defined it; it has not, and the session is as any other.
            let case = Case {
                arguments: &["--agent", "nobody"],
                ..Case::default()
            };
            let ((model, tools, _), _) = play(&room, &case).await;
            assert!(
                model.contains("opus") && tools.len() == 4,
                "{model} {tools:?}"
            );
        });
    }
}

#[test]
fn definitions_that_are_none_are_refused() {
    for (agents, complaint) in [
        ("{", "invalid JSON: "),
        ("[]", "an object is expected"),
        (r#"{"x":5}"#, "x: an object is expected"),
        (
            r#"{"x":{"description":"d"}}"#,
            "x.prompt: a string is expected",
        ),
        (
            r#"{"x":{"description":"d","prompt":"p","tools":"Read"}}"#,
            "x.tools: an array is expected",
        ),
    ] {
        block_on(async {
            let room = towline_room();
            let agent = Driven::start(&room, "http://127.0.0.1:9", &["--agents", agents]);
            let ended = agent.close_and_end().await;
            let expected = format!("Error: Invalid --agents configuration: {complaint}");
            assert_eq!((ended.code, ended.lines.len()), (Some(1), 0), "{agents}");
            assert!(
                ended.stderr.starts_with(&expected),
                "{agents}: {}",
                ended.stderr
            );
        });
    }
}

#[test]
fn a_session_that_goes_on_is_who_it_was() {
    for room in rooms("a session that goes on") {
        block_on(async {
            let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
            let id = "11111111-2222-4333-8444-555555555555";
            let first = ["--agents", REVIEWER, "--agent", "rev", "--session-id", id];
            let mut agent = Driven::start(&room, &api.url(), &first);
            agent.ask("hi").await;
            assert_eq!(agent.close_and_end().await.code, Some(0));
            let mut agent =
                Driven::start(&room, &api.url(), &["--agents", REVIEWER, "--resume", id]);
            agent.ask("and on").await;
            assert_eq!(agent.close_and_end().await.code, Some(0));
            let (model, tools, system) = asked(&api);
            assert!(model.contains("haiku"), "{model}");
            assert_eq!(tools, ["Bash", "Read"]);
            assert!(system.contains("You review things."), "{system}");
        });
    }
}
