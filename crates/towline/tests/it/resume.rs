//! A session that one program wrote and another goes on with: towline after itself, towline after the real CLI, the real
//! CLI after towline, the official Python SDK between them. The model must hear all that was said before.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::{self, RealCli, is_slow_wanted},
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, said, towline_room};

/// The session that is written first.
const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// What a request must hold of that session, in this order; agents add words of their own to prompts.
const HISTORY: &[&str] = &[
    "user: look at the file",
    "thought It is small.",
    "assistant: I look.",
    "call Bash",
    "result of Bash",
    "call Read",
    "call Bash",
    "result of Read",
    "result of Bash",
    "assistant: It says apple.",
    "user: thank you",
    "assistant: You are welcome.",
];

#[test]
fn towline_goes_on_with_its_own_session_and_forks_it() {
    block_on(async {
        let ours = towline_room();
        write_session(&ours, &ours).await;
        go_on_and_fork(&ours, &ours).await;
    });
}

#[test]
fn the_real_cli_goes_on_with_a_session_of_towlines() {
    if !is_slow_wanted("the real CLI resumes towline's session") {
        return;
    }
    block_on(async {
        let real = RealCli::find().unwrap();
        let ours = Guest::of(&real, env!("CARGO_BIN_EXE_towline"));
        write_session(&ours, &real).await;
        go_on_and_fork(&real, &real).await;
    });
}

#[test]
fn towline_goes_on_with_a_session_of_the_real_cli() {
    if !is_slow_wanted("towline resumes the real CLI's session") {
        return;
    }
    block_on(async {
        let real = RealCli::find().unwrap();
        write_session(&real, &real).await;
        let ours = Guest::of(&real, env!("CARGO_BIN_EXE_towline"));
        go_on_and_fork(&ours, &real).await;
    });
}

#[test]
fn towline_and_the_real_cli_take_turns_in_one_session() {
    if !is_slow_wanted("towline and the real CLI by turns") {
        return;
    }
    block_on(async {
        let real = RealCli::find().unwrap();
        let ours = Guest::of(&real, env!("CARGO_BIN_EXE_towline"));
        write_session(&ours, &real).await;
        let mut history: Vec<String> = HISTORY.iter().map(|&one| one.to_owned()).collect();
        for round in 0..2 {
            for (name, agent) in [("real", &real as &dyn Room), ("ours", &ours)] {
                let asked = format!("{name} {round}?");
                let request = go_on(agent, &["--resume", SESSION], &asked).await;
                history.push(format!("user: {asked}"));
                assert_holds(&request, &history);
                history.push(format!("assistant: On {asked}"));
            }
        }
    });
}

#[test]
fn the_python_sdk_reads_renames_and_forks_a_session_of_towlines() {
    if !is_slow_wanted("the Python SDK reads towline's session") {
        return;
    }
    block_on(async {
        let ours = towline_room();
        write_session(&ours, &ours).await;
        let seen = python(&ours);
        assert_eq!(seen["sessions"], json!([SESSION]));
        assert_eq!(seen["first_prompt"], "look at the file");
        assert_eq!(seen["cwd"], json!(ours.project().canonicalize().unwrap()));
        assert_eq!(seen["said"], json!(HISTORY), "{seen:#}");
        assert_eq!(seen["title"], "Named by Python");

        // Its title names the session, and its fork is a session that goes on.
        let request = go_on(&ours, &["--resume", "Named by Python"], "by its title").await;
        assert_holds(&request, &with(HISTORY, &["user: by its title"]));
        let fork = seen["fork"].as_str().unwrap();
        assert_ne!(fork, SESSION);
        let request = go_on(&ours, &["--resume", fork], "in the fork").await;
        assert_holds(&request, &with(HISTORY, &["user: in the fork"]));
        assert!(
            !said(&request)
                .iter()
                .any(|one| one.contains("by its title"))
        );
    });
}

/// Somewhere an agent can be started.
trait Room {
    fn start(&self, url: &str, arguments: &[&str]) -> Driven;
}

impl Room for RealCli {
    fn start(&self, url: &str, arguments: &[&str]) -> Driven {
        Driven::start(self, url, arguments)
    }
}

/// Another agent in the room of the first: the same home, the same project.
struct Guest<'a> {
    room: &'a RealCli,
    program: PathBuf,
}

impl<'a> Guest<'a> {
    fn of(room: &'a RealCli, program: &str) -> Self {
        let program = PathBuf::from(program);
        Self { room, program }
    }
}

impl Room for Guest<'_> {
    fn start(&self, url: &str, arguments: &[&str]) -> Driven {
        Driven::start_with(self.room, url, arguments, |command| {
            let mut guest = tokio::process::Command::new(&self.program);
            let host = command.as_std();
            guest
                .args(host.get_args())
                .env_clear()
                .envs(
                    host.get_envs()
                        .filter_map(|(name, value)| Some((name, value?))),
                )
                .current_dir(self.room.project())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            *command = guest;
        })
    }
}

/// Has a conversation with thoughts, calls one by one and side by side, and two prompts.
async fn write_session(agent: &dyn Room, room: &RealCli) {
    let file = room.project().join("fruit.txt");
    std::fs::write(&file, "apple\n").unwrap();
    let api = api(Script::new([
        Reply::message()
            .signed_thinking("It is small.", "c2lnbmVk")
            .and_text("I look.")
            .tool(
                "Bash",
                json!({"command": "ls", "description": "Lists files"}),
            ),
        Reply::message()
            .tool("Read", json!({"file_path": file}))
            .tool(
                "Bash",
                json!({"command": "cat fruit.txt", "description": "Shows it"}),
            ),
        Reply::text("It says apple."),
        Reply::text("You are welcome."),
    ]))
    .await;
    let arguments = ["--session-id", SESSION, "--allowedTools", "Bash,Read"];
    let mut agent = agent.start(&api.url(), &arguments);
    for (asked, answer) in [
        ("look at the file", "It says apple."),
        ("thank you", "You are welcome."),
    ] {
        let result = agent.ask(asked).await;
        assert_eq!(result["result"], answer, "{result}");
    }
    assert_eq!(agent.close_and_end().await.code, Some(0));
}

/// Goes on, forks, and goes on in the fork and in the session: each knows its own history.
async fn go_on_and_fork(agent: &dyn Room, room: &RealCli) {
    let request = go_on(agent, &["--resume", SESSION], "and then?").await;
    assert_holds(&request, &with(HISTORY, &["user: and then?"]));

    let both = ["user: and then?", "assistant: On and then?"];
    let before = sessions(room);
    let request = go_on(agent, &["--resume", SESSION, "--fork-session"], "in a fork").await;
    assert_holds(
        &request,
        &with(HISTORY, &[&both[..], &["user: in a fork"]].concat()),
    );
    let mut forks = sessions(room);
    forks.retain(|name| !before.contains(name));
    let [fork] = forks.as_slice() else {
        panic!("{forks:?} came with the fork");
    };

    let request = go_on(agent, &["--resume", SESSION], "in the first").await;
    assert_holds(
        &request,
        &with(HISTORY, &[&both[..], &["user: in the first"]].concat()),
    );
    assert!(!said(&request).iter().any(|one| one.contains("in a fork")));

    let more = [
        "user: in a fork",
        "assistant: On in a fork",
        "user: once more",
    ];
    let request = go_on(agent, &["--resume", fork], "once more").await;
    assert_holds(&request, &with(HISTORY, &[&both[..], &more].concat()));
    assert!(
        !said(&request)
            .iter()
            .any(|one| one.contains("in the first"))
    );
}

/// Asks something in a session, and gives what the model was asked.
async fn go_on(agent: &dyn Room, arguments: &[&str], asked: &str) -> Value {
    let answer = format!("On {asked}");
    let api = api(Script::new([Reply::text(&answer)])).await;
    let mut agent = agent.start(&api.url(), arguments);
    let result = agent.ask(asked).await;
    assert_eq!(result["result"], answer, "{arguments:?}: {result}");
    let ended = agent.close_and_end().await;
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{arguments:?}");
    let requests = api.requests();
    assert_eq!(requests.len(), 1, "{arguments:?}");
    requests[0].body()
}

fn with(history: &[&str], more: &[&str]) -> Vec<String> {
    let all = history.iter().chain(more);
    all.map(|&one| one.to_owned()).collect()
}

/// That a request holds all this in this order, and nothing else that the model said or called.
fn assert_holds(request: &Value, expected: &[String]) {
    let said = said(request);
    let kept = said
        .iter()
        .filter(|one| !one.starts_with("user: ") || expected.contains(one));
    let kept: Vec<_> = kept.cloned().collect();
    assert_eq!(kept, expected);
}

/// The ids of all sessions of a room.
fn sessions(room: &RealCli) -> Vec<String> {
    let projects = std::fs::read_dir(room.home().join(".claude/projects")).unwrap();
    let folders = projects.map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|entry| PathBuf::from(entry.unwrap().file_name()));
    let files = files.filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

/// What the Python SDK sees of the only session of a room, after which it has renamed and forked it.
fn python(room: &RealCli) -> Value {
    let output = Command::new(real_cli::installed("python-sdk").unwrap())
        .args(["-c", ASK_PYTHON, SESSION])
        .env("CLAUDE_CONFIG_DIR", room.home().join(".claude"))
        .current_dir(room.project())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

const ASK_PYTHON: &str = r#"
import json, sys, claude_agent_sdk as sdk
key = sys.argv[1]
calls, said = {}, []
for entry in sdk.get_session_messages(key):
    content = entry.message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content:
        kind = block["type"]
        if kind == "text":
            said.append(f"{entry.type}: {block['text']}")
        elif kind == "thinking":
            said.append(f"thought {block['thinking']}")
        elif kind == "tool_use":
            calls[block["id"]] = block["name"]
            said.append(f"call {block['name']}")
        elif kind == "tool_result":
            said.append(f"result of {calls[block['tool_use_id']]}")
sessions = [session.session_id for session in sdk.list_sessions()]
before = sdk.get_session_info(key)
fork = sdk.fork_session(key)
sdk.rename_session(key, "Named by Python")
print(json.dumps({
    "sessions": sessions, "first_prompt": before.first_prompt, "cwd": before.cwd, "said": said,
    "title": sdk.get_session_info(key).custom_title, "fork": fork.session_id,
}))
"#;
