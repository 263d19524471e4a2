//! What is asked for and not there, and what goes wrong beside the conversation, is told: in a line to a host, on
//! standard error to a person. And what the session does is told to a host that wants to know.

use std::{fs, path::Path, process::Output};

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, Ended, api, block_on, prompt, towline_room};

const HOOKS: &str =
    r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch hooked"}]}]}}"#;
const SERVERS: &str = r#"{"mcpServers":{"weather":{"command":"touch"}}}"#;

/// The notices in lines, in their order.
fn notices(ended: &Ended) -> Vec<String> {
    let lines = ended.lines.iter();
    let notices = lines.filter(|line| line["subtype"] == "informational");
    notices
        .map(|line| line["content"].as_str().unwrap().to_owned())
        .collect()
}

/// One turn with the responder that needs no account, after an introduction.
fn have_turn(room: &RealCli, arguments: &[&str], introduction: &Value) -> (Value, Ended) {
    block_on(async {
        let arguments = [&["--model", "offline"], arguments].concat();
        let mut agent = Driven::start(room, "http://127.0.0.1:9", &arguments);
        agent
            .say(&json!({"type": "control_request", "request_id": "1", "request": introduction}))
            .await;
        let answer = agent.hear_kind("control_response").await;
        agent.say(&prompt("say hello")).await;
        (answer, agent.close_and_end().await)
    })
}

fn introduction() -> Value {
    json!({"subtype": "initialize"})
}

/// One answer as a person gets it.
fn answer(room: &RealCli, home: &Path, arguments: &[&str]) -> Output {
    let mut command = room.command("http://127.0.0.1:9");
    command.env("HOME", home);
    command.args(["-p", "say hello", "--model", "offline"]);
    command.args(arguments).output().unwrap()
}

#[test]
fn hooks_and_servers_that_do_not_run_were_dropped_in_silence() {
    let room = towline_room();
    let (answer_to, ended) = have_turn(&room, &[], &introduction());
    let answer_to = &answer_to["response"]["response"];
    assert_eq!(answer_to["hook_on_failure_supported"], false);
    assert_eq!(notices(&ended), [] as [&str; 0]);

    let hooks = "hooks are not there yet; those in the settings of the command line do not run";
    let servers = "MCP servers are not there yet; not started: weather";
    let called = "hooks are not there yet; those of `initialize` are not called";
    let with_hooks =
        json!({"subtype": "initialize", "hooks": {"Stop": [{"hookCallbackIds": ["a"]}]}});
    let without = json!({"subtype": "initialize", "hooks": {}, "sdkMcpServers": []});
    let with_servers = json!({"subtype": "initialize", "sdkMcpServers": ["weather"]});
    for (arguments, introduction, expected) in [
        (&["--settings", HOOKS][..], introduction(), hooks),
        (&["--mcp-config", SERVERS], introduction(), servers),
        (&[], with_hooks, called),
        (&[], with_servers, servers),
        (&[], without, ""),
    ] {
        let (_, ended) = have_turn(&room, arguments, &introduction);
        let expected: Vec<&str> = Some(expected)
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect();
        assert_eq!(notices(&ended), expected, "{arguments:?}");
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    }
    fs::write(room.project().join(".mcp.json"), SERVERS).unwrap();
    let untrusted =
        "the project is not trusted, so the MCP servers of its .mcp.json are not started: weather";
    for (arguments, expected) in [
        (&[][..], untrusted),
        (&["--setting-sources", "project"], servers),
    ] {
        let (_, ended) = have_turn(&room, arguments, &introduction());
        assert_eq!(notices(&ended), [expected], "{arguments:?}");
    }
    let (_, ended) = have_turn(&room, &["--strict-mcp-config"], &introduction());
    assert_eq!(notices(&ended), [] as [&str; 0]);
    assert!(!room.project().join("hooked").exists());

    let told = answer(&room, &room.home(), &["--settings", HOOKS]);
    let stderr = String::from_utf8(told.stderr).unwrap();
    assert_eq!(stderr, format!("towline: {hooks}\ntowline: {untrusted}\n"));
}

#[test]
fn a_transcript_that_cannot_be_written_was_not_told_to_a_person() {
    let room = towline_room();
    for format in ["text", "json"] {
        let told = answer(&room, Path::new("/proc"), &["--output-format", format]);
        let stderr = String::from_utf8(told.stderr).unwrap();
        assert!(
            stderr.starts_with("towline: the transcript cannot be written: "),
            "{format}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{format}: {stderr}");
        assert_eq!(told.status.code(), Some(0));
    }
}

#[test]
fn what_a_memory_file_imports_from_outside_was_left_out_in_silence() {
    let room = towline_room();
    let project = room.project();
    fs::write(room.home().join("shared.md"), "Say please.").unwrap();
    fs::write(project.join("CLAUDE.md"), "@~/shared.md").unwrap();
    let (_, ended) = have_turn(&room, &[], &introduction());
    let notices_then = notices(&ended);
    assert_eq!(notices_then.len(), 1, "{notices_then:?}");
    assert!(
        notices_then[0].contains("shared.md` is left out: it is outside of the project"),
        "{notices_then:?}"
    );

    let key = project.canonicalize().unwrap();
    let state =
        json!({"projects": {key.to_str().unwrap(): {"hasClaudeMdExternalIncludesApproved": true}}});
    fs::write(room.home().join(".claude.json"), state.to_string()).unwrap();
    block_on(async {
        let api = api(Script::new([Reply::text("Yes.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        agent.ask("hello").await;
        let ended = agent.close_and_end().await;
        assert_eq!(notices(&ended), [] as [&str; 0]);
        let system = api.requests()[0].body()["system"].to_string();
        assert!(system.contains("Say please."), "{system}");
    });
}

#[test]
fn what_is_to_be_shown_of_thoughts_was_not_asked_for() {
    block_on(async {
        let summarized = ["--thinking", "adaptive", "--thinking-display", "summarized"];
        for (arguments, display) in [(&[][..], "updates"), (&summarized, "summarized")] {
            let room = towline_room();
            let thinks = Reply::message()
                .signed_thinking("Well.", "c2ln")
                .and_text("Yes.");
            let api = api(Script::new([thinks])).await;
            let mut agent = Driven::start(&room, &api.url(), arguments);
            agent.say(&prompt("hello")).await;
            let thought = agent.hear_kind("assistant").await;
            assert_eq!(thought["thinking_display"], display);
            agent.hear_kind("result").await;
            let body = api.requests()[0].body();
            let expected = json!({"type": "adaptive", "display": display});
            assert_eq!(body["thinking"], expected);
        }
    });
}

#[test]
fn a_host_that_wants_to_know_is_told_what_the_session_does() {
    block_on(async {
        let room = towline_room();
        let call = Reply::message().tool("Bash", json!({"command": "touch a.txt"}));
        let api = api(Script::new([call, Reply::text("Done.")])).await;
        let arguments = ["--permission-prompt-tool", "stdio"];
        let mut agent = Driven::start_with(&room, &api.url(), &arguments, |command| {
            command.env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
        });
        agent.say(&prompt("go")).await;
        let mut told = Vec::new();
        loop {
            let line = agent.line().await.unwrap();
            match line["type"].as_str().unwrap() {
                "control_request" => {
                    told.push("asked".to_owned());
                    let answer = json!({"behavior": "allow"});
                    let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
                    agent
                        .say(&json!({"type": "control_response", "response": response}))
                        .await;
                }
                "result" => told.push("result".to_owned()),
                "system" if line["subtype"] == "session_state_changed" => {
                    assert_eq!(line["sdk_host_only"], true, "{line}");
                    let state = line["state"].as_str().unwrap().to_owned();
                    told.push(state.clone());
                    if state == "idle" {
                        break;
                    }
                }
                _ => {}
            }
        }
        // Which comes first of the question and the state that goes with it does not matter.
        told.retain(|word| word != "asked");
        assert_eq!(
            told,
            ["running", "requires_action", "running", "result", "idle"]
        );
    });
}
