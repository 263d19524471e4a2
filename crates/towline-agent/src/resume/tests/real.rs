//! What the real CLI and the official SDK make of our transcripts, and how long a large one takes. Only with
//! `TOWLINE_SLOW=1`, and then never left out.

use std::{
    fs,
    io::{BufWriter, Write as _},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use towline_protocol::Wire as _;
use towline_store::{Home, TranscriptWriter};
use towline_testkit::{
    real_cli::{RealCli, installed, is_slow_wanted},
    script_api::{Reply, Script, ScriptApi},
};

use super::{ID, by, told, told_messages};
use crate::{
    config::{SessionOptions, SessionStart},
    resume::{copy_history, resume},
    transcript::tests::Story,
};

const FORK: &str = "77777777-2222-4333-8444-555555555555";

/// The texts, calls and results that a request holds, in its order but for results of the same message: the real CLI
/// has them in the order in which they came.
fn substance(messages: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    for message in messages
        .iter()
        .filter(|message| message["role"] != "system")
    {
        let blocks = match &message["content"] {
            Value::String(words) => vec![json!({"type": "text", "text": words})],
            Value::Array(blocks) => blocks.clone(),
            other => panic!("{other}"),
        };
        let blocks = blocks
            .iter()
            .filter(|block| !block.to_string().contains("<system-reminder>"));
        let mut blocks: Vec<String> = blocks
            .map(|block| match block["type"].as_str() {
                Some("text") => format!("text {}", block["text"].as_str().unwrap()),
                Some("thinking") => format!("thinking {}", block["thinking"].as_str().unwrap()),
                Some("tool_use") => format!("call {} {}", block["id"], block["input"]),
                Some("tool_result") => {
                    format!("result {} {}", block["tool_use_id"], block["content"])
                }
                other => format!("{other:?}"),
            })
            .collect();
        if message["role"] == "user" {
            blocks.sort();
        }
        found.extend(blocks);
    }
    found
}

#[tokio::test]
async fn the_real_cli_goes_on_with_our_session_and_our_fork_and_we_with_what_it_wrote() {
    if !is_slow_wanted("the_real_cli_goes_on_with_our_session") {
        return;
    }
    let cli = RealCli::find().unwrap();
    let project = cli.project().canonicalize().unwrap();
    let home = Home::new(cli.home().join(".claude"));
    let session = home.session_in(&project, ID.parse().unwrap());
    let mut story = told(ID);
    story.records.extend(story.transcript.title("Ours"));
    let mut writer = TranscriptWriter::create(session).unwrap();
    writer.append(&story.records).unwrap();

    let options = |which: &str, fork| SessionOptions {
        start: SessionStart::Resume {
            which: which.to_owned(),
            fork,
            at: None,
            drops_turn: None,
        },
        ..SessionOptions::default()
    };
    let resumed = resume(&home, &project, &options(ID, true))
        .unwrap()
        .unwrap();
    let fork = home.session_in(&project, FORK.parse().unwrap());
    copy_history(&resumed, &mut TranscriptWriter::create(fork).unwrap()).unwrap();

    for (which, id) in [("Ours", ID), (FORK, FORK)] {
        let replies = [Reply::text("The real one answers.")];
        let api = ScriptApi::start(Script::new(replies)).await.unwrap();
        let mut command = cli.command(&api.url());
        command
            .args(["-p", "--output-format", "json", "--resume", which, "go on"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, output)
            .await
            .unwrap()
            .unwrap();
        let result: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(result["session_id"], id);
        assert_eq!(result["result"], "The real one answers.");
        let request = api.requests()[0].body();
        let sent = substance(request["messages"].as_array().unwrap());
        let mut expected = substance(&told_messages());
        expected.push("text go on".to_owned());
        assert_eq!(sent, expected, "{which}");

        let back = resume(&home, &project, &options(id, false))
            .unwrap()
            .unwrap();
        let mut expected = told_messages();
        expected.push(json!({"role": "user", "content": [{"type": "text", "text": "go on"}]}));
        expected.push(json!({
            "role": "assistant", "content": [{"type": "text", "text": "The real one answers."}],
        }));
        assert_eq!(
            substance(&super::values(&back.history.messages())),
            substance(&expected)
        );
        assert_eq!(back.past.turns, 3);
    }
}

const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn the_python_sdk_reads_our_session() {
    if !is_slow_wanted("the_python_sdk_reads_our_session") {
        return;
    }
    let disk = super::Disk::new();
    let mut story = told(ID);
    story.records.extend(story.transcript.title("Ours"));
    disk.keep(ID, &story.records);
    let output = std::process::Command::new(installed("python-sdk").unwrap())
        .args(["-c", ASK_PYTHON])
        .env("CLAUDE_CONFIG_DIR", disk.home.folder())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    assert_eq!(seen["id"], ID);
    assert_eq!(seen["title"], "Ours");
    assert_eq!(seen["first"], "look around");
    assert_eq!(seen["cwd"], "/project");
    let uuids = story
        .records
        .iter()
        .filter(|record| matches!(record.kind(), "user" | "assistant"));
    let mut uuids: Vec<&str> = uuids
        .map(|record| record.link().unwrap().0.as_str())
        .collect();
    let mut messages: Vec<&str> = seen["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|uuid| uuid.as_str().unwrap())
        .collect();
    uuids.sort_unstable();
    messages.sort_unstable();
    assert_eq!(messages, uuids);
}

const ASK_PYTHON: &str = r#"
import json, claude_agent_sdk as sdk
[session] = sdk.list_sessions()
print(json.dumps({
    "id": session.session_id, "title": session.summary, "first": session.first_prompt, "cwd": session.cwd,
    "messages": [message.uuid for message in sdk.get_session_messages(session.session_id)],
}))
"#;

/// A hundred when it is optimised: for the figure run it with `--release --nocapture`.
#[test]
fn a_hundred_megabytes_are_resumed_in_little_time() {
    if !is_slow_wanted("a_hundred_megabytes_are_resumed_in_little_time") {
        return;
    }
    let disk = super::Disk::new();
    let session = disk.session(ID);
    fs::create_dir_all(session.project_folder()).unwrap();
    let mut out = BufWriter::new(fs::File::create(session.path()).unwrap());
    let mut story = Story::new(ID, crate::transcript::Past::default());
    let words = "some line of a file with \\\"quotes\\\"\n".repeat(250);
    let wanted = if cfg!(debug_assertions) {
        5_000_000
    } else {
        100_000_000
    };
    let mut size = 0;
    for turn in 0.. {
        story.prompt(&format!("prompt {turn}"));
        let call = format!("toolu_{turn}");
        let block =
            json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat"}}]);
        let calls = story.answer(&format!("msg_{turn}"), &block);
        story.result(&calls[0], &call, &words);
        story.answer(
            &format!("msg_{turn}b"),
            &json!([{"type": "text", "text": "Done."}]),
        );
        for record in story.records.drain(..) {
            let line = record.to_standard_json();
            size += line.as_str().len() + 1;
            writeln!(out, "{line}").unwrap();
        }
        if size > wanted {
            break;
        }
    }
    out.into_inner().unwrap().sync_all().unwrap();
    let start = Instant::now();
    let resumed = disk.resume(by(ID)).unwrap().unwrap();
    let took = start.elapsed();
    assert!(resumed.history.messages().len() > 500);
    writeln!(
        std::io::stderr(),
        "{size} bytes, {} messages: {took:?}",
        resumed.history.messages().len()
    )
    .unwrap();
    // Far more than it takes when it is optimised, also on a loaded machine.
    assert!(took < Duration::from_secs(60), "{took:?}");
}
