//! The part that runs inside of the sandbox: an agent gets command lines from a scripted model, and each is denied that it asks
//! about.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script, ScriptApi},
};

use super::setting::{HOME, PROJECT, SETTINGS, STUBS};
use crate::driven::{Driven, prompt};

/// Lines that one session of each agent gets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// The place of the setting in [`SETTINGS`].
    pub(crate) setting: usize,
    pub(crate) lines: Vec<String>,
}

/// The outcome for a line, in the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Allow,
    Ask,
    Deny,
}

/// Plays a batch to an agent; `None` for a line that never came to a decision.
pub(crate) async fn play(program: &str, batch: &Batch) -> Vec<Option<Outcome>> {
    let setting = &SETTINGS[batch.setting];
    setting.lay_out();
    let calls = batch.lines.iter().map(|line| {
        let input = json!({"command": line, "description": "d", "timeout": 4000});
        Reply::message().tool("Bash", input)
    });
    let script = Script::new(calls).default_reply(Reply::text("Done."));
    let api = ScriptApi::start(script).await.unwrap();
    let room = RealCli::of(PathBuf::from(program)).unwrap();
    let arguments = [
        "--permission-prompt-tool",
        "stdio",
        "--model",
        "claude-sonnet-4-5",
        "--permission-mode",
        setting.mode,
    ];
    let mut agent = Driven::start_with(&room, &api.url(), &arguments, |command| {
        command
            .current_dir(PROJECT)
            .env("HOME", HOME)
            .env(
                "PATH",
                format!("{STUBS}:/usr/local/bin:/usr/bin:/bin:/usr/sbin"),
            )
            .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1");
    });
    agent.say(&prompt("go")).await;
    let mut calls: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Option<Outcome>> = BTreeMap::new();
    while let Some(line) = agent.line().await {
        match line["type"].as_str().unwrap() {
            "control_request" => {
                let id = &line["request"]["tool_use_id"];
                found.insert(id.as_str().unwrap().to_owned(), Some(Outcome::Ask));
                let answer = json!({"behavior": "deny", "message": "no"});
                let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
                agent
                    .say(&json!({"type": "control_response", "response": response}))
                    .await;
            }
            "assistant" => calls.extend(ids(&line, "tool_use", "id")),
            "user" => {
                for block in blocks(&line, "tool_result") {
                    let id = block["tool_use_id"].as_str().unwrap().to_owned();
                    let text = block["content"].as_str().unwrap_or_default();
                    let is_undecided = text.starts_with("<tool_use_error>");
                    let ran = (!is_undecided).then_some(Outcome::Allow);
                    found.entry(id).or_insert(ran);
                }
            }
            "result" => {
                for denied in line["permission_denials"].as_array().into_iter().flatten() {
                    let id = denied["tool_use_id"].as_str().unwrap();
                    if let Some(outcome @ Some(Outcome::Allow)) = found.get_mut(id) {
                        *outcome = Some(Outcome::Deny);
                    }
                }
                break;
            }
            _ => {}
        }
    }
    agent.close_and_end().await;
    assert!(
        program != super::OURS || api.refusals().is_empty(),
        "requests that the API refuses: {:?}",
        api.refusals()
    );
    let outcome = |place: usize| {
        calls
            .get(place)
            .and_then(|id| found.get(id).copied().flatten())
    };
    (0..batch.lines.len()).map(outcome).collect()
}

fn blocks<'l>(line: &'l Value, kind: &'l str) -> impl Iterator<Item = &'l Value> {
    let content = line["message"]["content"].as_array();
    content
        .into_iter()
        .flatten()
        .filter(move |block| block["type"] == kind)
}

fn ids(line: &Value, kind: &str, key: &str) -> Vec<String> {
    blocks(line, kind)
        .map(|block| block[key].as_str().unwrap().to_owned())
        .collect()
}
