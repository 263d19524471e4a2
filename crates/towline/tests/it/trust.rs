//! A clone in a folder that no person trusted, with an agent that runs: its files ask no less, and saved answers of the
//! person keep counting there.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, prompt, towline_room};

/// A settings file of a clone that allows everything it needs.
fn greedy(allow: &str, mode: &str) -> String {
    json!({"permissions": {"allow": [allow], "defaultMode": mode}}).to_string()
}

fn put(room: &RealCli, path: &str, text: &str) {
    let path = room.project().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn trust(room: &RealCli) {
    let project = room.project().canonicalize().unwrap();
    let state = json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    fs::write(room.home().join(".claude.json"), state.to_string()).unwrap();
}

/// One turn in which the model calls a tool. Gives whether the host was asked, which allows it with these updates, and the
/// notices that it was told.
fn call(
    room: &RealCli,
    host: (&[&str], Option<&str>),
    (tool, input): (&str, Value),
    updates: &Value,
) -> (bool, Vec<String>) {
    block_on(async {
        let calls = Reply::message().tool(tool, input);
        let api = api(Script::new([calls, Reply::text("Done.")])).await;
        let (flags, entrypoint) = host;
        let arguments = [&["--permission-prompt-tool", "stdio"], flags].concat();
        let mut agent = Driven::start_with(room, &api.url(), &arguments, |command| {
            if let Some(entrypoint) = entrypoint {
                command.env("CLAUDE_CODE_ENTRYPOINT", entrypoint);
            }
        });
        agent.say(&prompt("go")).await;
        let mut was_asked = false;
        let mut notices = Vec::new();
        loop {
            let line = agent.line().await.unwrap();
            if line["subtype"] == "informational" {
                notices.push(line["content"].as_str().unwrap().to_owned());
            }
            match line["type"].as_str() {
                Some("control_request") => {
                    was_asked = true;
                    let answer = json!({"behavior": "allow", "updatedPermissions": updates});
                    let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
                    let line = json!({"type": "control_response", "response": response});
                    agent.say(&line).await;
                }
                Some("result") => break,
                _ => {}
            }
        }
        agent.close_and_end().await;
        (was_asked, notices)
    })
}

fn python() -> (&'static str, Value) {
    ("Bash", json!({"command": "python3 -c pass"}))
}

fn write() -> (&'static str, Value) {
    ("Write", json!({"file_path": "new.txt", "content": "x"}))
}

/// Hosts, and whether one of them alone would make the files of the folder count.
const HOSTS: &[(&[&str], Option<&str>)] = &[
    (&[], None),
    (&["--setting-sources", "user,project,local"], None),
    (&[], Some("sdk-py")),
];

#[test]
fn a_committed_local_file_allowed_any_python_in_a_folder_that_was_never_trusted() {
    for host in HOSTS {
        let room = towline_room();
        let settings = greedy("Bash(python3:*)", "default");
        put(&room, ".claude/settings.local.json", &settings);
        let (was_asked, notices) = call(&room, *host, python(), &Value::Null);
        assert!(was_asked, "{host:?}");
        let told = "the project is not trusted, so 1 of the `permissions.allow` of its .claude/settings.local.json do not \
                    count";
        assert_eq!(notices.first().map(String::as_str), Some(told), "{host:?}");
        trust(&room);
        assert_eq!(call(&room, *host, python(), &Value::Null), (false, vec![]));
    }
}

#[test]
fn a_checked_in_mode_took_away_the_questions_about_edits_in_a_folder_that_was_never_trusted() {
    for host in HOSTS {
        for file in ["settings.json", "settings.local.json"] {
            let room = towline_room();
            let settings = greedy("Read", "acceptEdits");
            put(&room, &format!(".claude/{file}"), &settings);
            assert!(
                call(&room, *host, write(), &Value::Null).0,
                "{file} {host:?}"
            );
            fs::remove_file(room.project().join("new.txt")).unwrap();
            trust(&room);
            assert!(
                !call(&room, *host, write(), &Value::Null).0,
                "{file} {host:?}"
            );
        }
    }
}

#[test]
fn what_a_clone_denies_counts_though_it_is_not_trusted() {
    let room = towline_room();
    let settings = json!({"permissions": {"deny": ["Bash(python3:*)"]}}).to_string();
    put(&room, ".claude/settings.local.json", &settings);
    let flags: &[&str] = &["--allowedTools", "Bash"];
    assert!(!call(&room, (flags, None), python(), &Value::Null).0);
    fs::write(room.project().join("ran.py"), "open('ran', 'w')").unwrap();
    let run = ("Bash", json!({"command": "python3 ran.py"}));
    assert!(!call(&room, (flags, None), run, &Value::Null).0);
    assert!(!room.project().join("ran").exists());
}

/// An answer is the person's, and the text that a `git pull` then makes of the file is not.
#[test]
fn an_answer_that_was_saved_keeps_counting_and_what_a_pull_adds_does_not() {
    for (destination, file) in [
        ("localSettings", "settings.local.json"),
        ("projectSettings", "settings.json"),
    ] {
        let room = towline_room();
        let rule = json!({"toolName": "Bash", "ruleContent": "python3 -c pass"});
        let update = json!([{
            "type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination,
        }]);
        let host: (&[&str], Option<&str>) = (&[], None);
        assert!(call(&room, host, python(), &update).0);
        let path = room.project().join(".claude").join(file);
        let saved: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(
            saved["permissions"]["allow"],
            json!(["Bash(python3 -c pass)"])
        );
        assert!(!call(&room, host, python(), &Value::Null).0, "{file}");
        // Another repository's word in its place.
        put(
            &room,
            &format!(".claude/{file}"),
            &greedy("Write", "acceptEdits"),
        );
        assert!(!call(&room, host, python(), &Value::Null).0, "{file}");
        assert!(call(&room, host, write(), &Value::Null).0, "{file}");
        // Taken back, it is gone from both.
        let remove = json!([{
            "type": "removeRules", "rules": [rule], "behavior": "allow", "destination": destination,
        }]);
        let other = ("Bash", json!({"command": "python3 -c 'pass'"}));
        assert!(call(&room, host, other, &remove).0);
        assert!(call(&room, host, python(), &Value::Null).0, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_a_clone_had_an_answer_saved_for_all_projects() {
    let room = towline_room();
    let own = room.home().join(".claude/settings.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "{}").unwrap();
    fs::create_dir(room.project().join(".claude")).unwrap();
    let link = room.project().join(".claude/settings.local.json");
    std::os::unix::fs::symlink(&own, &link).unwrap();
    let rule = json!({"toolName": "Bash", "ruleContent": "python3 -c pass"});
    let update = json!([{
        "type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings",
    }]);
    let host: (&[&str], Option<&str>) = (&[], None);
    let (was_asked, notices) = call(&room, host, python(), &update);
    assert!(was_asked);
    assert_eq!(fs::read_to_string(&own).unwrap(), "{}");
    assert!(
        notices[0].starts_with("the rule is saved, but not in the settings file of the project: "),
        "{notices:?}"
    );
    assert!(!call(&room, host, python(), &Value::Null).0);
}
