//! Beside the official SDK and the real CLI, which are installed for it. Only with `TOWLINE_SLOW=1`, and then never
//! left out.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use towline_store::{ForkOptions, Home, ListQuery, Reason, Session, Transcript};
use towline_testkit::real_cli::{installed, is_slow_wanted};

use crate::made::{Made, data, key, record, texts};

/// What the Python SDK says about the sessions of a home.
fn python(home: &Path) -> Value {
    let output = Command::new(installed("python-sdk").unwrap())
        .args(["-c", ASK_PYTHON])
        .env("CLAUDE_CONFIG_DIR", home)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

const ASK_PYTHON: &str = r#"
import json, claude_agent_sdk as sdk
found = {}
for session in sdk.list_sessions():
    key = session.session_id
    ids = lambda messages: [message.uuid for message in messages]
    found[key] = {
        "title": session.summary, "custom_title": session.custom_title, "first_prompt": session.first_prompt,
        "cwd": session.cwd, "git_branch": session.git_branch, "tag": session.tag, "created": session.created_at,
        "size": session.file_size, "messages": ids(sdk.get_session_messages(key)),
        "page": ids(sdk.get_session_messages(key, limit=2, offset=1)),
        "subagents": {agent: ids(sdk.get_subagent_messages(key, agent)) for agent in sdk.list_subagents(key)},
    }
print(json.dumps(found))
"#;

/// The same as we say it.
fn ours(home: &Home) -> Value {
    let sessions = home.list(&ListQuery::default()).unwrap().sessions;
    let found: BTreeMap<String, Value> = sessions
        .into_iter()
        .map(|summary| {
            let messages = messages(&summary.session.transcript().unwrap());
            let subagents = summary
                .session
                .subagents()
                .unwrap()
                .into_iter()
                .map(|subagent| {
                    let transcript = Transcript::open(subagent.path).unwrap();
                    (subagent.id, self::messages(&transcript))
                });
            let row = json!({
                "title": summary.title,
                "custom_title": summary.custom_title,
                "first_prompt": summary.first_prompt,
                "cwd": summary.cwd,
                "git_branch": summary.git_branch,
                "tag": summary.tag,
                "created": summary.created.map(jiff::Timestamp::as_millisecond),
                "size": summary.size,
                "page": messages.iter().skip(1).take(2).collect::<Vec<_>>(),
                "messages": messages,
                "subagents": subagents.collect::<BTreeMap<_, _>>(),
            });
            (summary.session.key().to_string(), row)
        })
        .collect();
    json!(found)
}

/// The messages, but for those that a compaction kept: the Python SDK forgets them, the TypeScript SDK and the CLI do
/// not.
fn messages(transcript: &Transcript) -> Vec<String> {
    let tree = transcript.tree();
    let steps = tree.conversation().into_iter();
    steps
        .filter(|step| tree.is_message(step.id) && step.reason != Reason::Kept)
        .map(|step| tree.uuid(step.id))
        .collect()
}

#[test]
fn the_python_sdk_sees_the_same_sessions_and_messages() {
    if !is_slow_wanted("the Python SDK beside the store") {
        return;
    }
    let made = Made::new();
    let names = [
        "compact",
        "forked",
        "hook_all",
        "parallel",
        "resumed_5x",
        "slash_cost",
        "subagent_main",
        "subagent_side",
    ];
    for (number, name) in (1..).zip(names) {
        let session = made.real(number, name);
        // Also what we write is seen the same way.
        if name == "forked" {
            session.rename("a title of ours é").unwrap();
            session.tag("red").unwrap();
        }
        if name == "subagent_main" {
            let folder = session.folder().join("subagents/deep");
            fs::create_dir_all(&folder).unwrap();
            fs::copy(data("subagent_side"), folder.join("agent-a1.jsonl")).unwrap();
        }
        if name != "subagent_side" {
            session.fork(&ForkOptions::default()).unwrap();
        }
    }
    made.with(
        20,
        &format!("{}\n{{\"type\":\"us", record("user", 1, 0, "torn", 1)),
    );
    made.with(21, "nonsense\n");
    made.with(
        22,
        &format!("nonsense\n{}\n", record("user", 1, 0, &"é".repeat(300), 1)),
    );
    let theirs = python(made.folder.path());
    assert!(theirs.as_object().unwrap().len() > 14);
    assert_eq!(ours(&made.home), theirs);
}

/// Runs the real CLI once, with an API that nobody answers: the turn fails, but the session is found and written to.
fn claude(home: &Path, project: &Path, arguments: &[&str]) -> Value {
    let output = Command::new("timeout")
        .arg("60")
        .arg(installed("fetch-real-cli").unwrap())
        .args(["-p", "--output-format", "json"])
        .args(arguments)
        .current_dir(project)
        .env_clear()
        .envs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("IS_SANDBOX", "1"),
            ("ANTHROPIC_API_KEY", "made-up"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
            ("NO_PROXY", "127.0.0.1"),
            ("CLAUDE_CODE_MAX_RETRIES", "0"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
        ])
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The parent of the record with this prompt.
fn parent_of(session: &Session, prompt: &str) -> String {
    let mut transcript = session.transcript().unwrap();
    let leaf = transcript.tree().live_leaf().unwrap();
    for id in transcript.tree().chain(leaf) {
        if transcript
            .read(id)
            .unwrap()
            .line
            .contains(&format!(r#""content":"{prompt}""#))
        {
            let tree = transcript.tree();
            return tree.uuid(tree.parent(id).unwrap());
        }
    }
    panic!("{prompt} is not on the live branch");
}

#[test]
fn the_real_cli_finds_a_session_by_our_title_and_goes_on_from_our_leaf() {
    if !is_slow_wanted("the real CLI beside the store") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let project = folder.join("project_é");
    fs::create_dir(&project).unwrap();
    let home = Home::new(folder.join(".claude"));
    claude(
        &folder,
        &project,
        &["--session-id", &key(1), "the first prompt"],
    );

    let session = home.session_in(&project, key(1).parse().unwrap());
    session.rename("Renamed by us").unwrap();
    let tree = session.transcript().unwrap();
    let leaf = tree.tree().uuid(tree.tree().live_leaf().unwrap());
    let result = claude(
        &folder,
        &project,
        &["--resume", "renamed by US", "the second prompt"],
    );
    assert_eq!(result["session_id"], key(1));
    assert_eq!(parent_of(&session, "the second prompt"), leaf);

    // And a fork of ours is a session of its own.
    let fork = session
        .fork(&ForkOptions {
            title: Some("Forked".to_owned()),
            ..ForkOptions::default()
        })
        .unwrap();
    let tree = fork.transcript().unwrap();
    let leaf = tree.tree().uuid(tree.tree().live_leaf().unwrap());
    let result = claude(
        &folder,
        &project,
        &["--resume", "Forked", "the third prompt"],
    );
    assert_eq!(result["session_id"], fork.key().as_str());
    assert_eq!(parent_of(&fork, "the third prompt"), leaf);
    let said = texts(&mut fork.transcript().unwrap());
    assert!(said.contains(&"the first prompt".to_owned()), "{said:?}");
}
