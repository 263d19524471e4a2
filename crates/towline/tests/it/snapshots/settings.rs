//! Settings files as they are written today: each later version reads them in the same way.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use super::check;
use crate::driven::{Driven, api, block_on, prompt, towline_room};

/// A user's and a project's settings with everything that the agent reads.
const USER: &str = include_str!("../../data/settings/user.json");
const PROJECT: &str = include_str!("../../data/settings/project.json");

#[test]
fn settings_files_are_read_as_before() {
    block_on(async {
        let room = towline_room();
        for (folder, text) in [(room.home(), USER), (room.project(), PROJECT)] {
            fs::create_dir_all(folder.join(".claude")).unwrap();
            fs::write(folder.join(".claude/settings.json"), text).unwrap();
        }
        let api = api(Script::new([])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let mut answers = serde_json::Map::new();
        for subtype in ["get_settings", "list_permission_rules"] {
            let request = json!({"type": "control_request", "request_id": subtype, "request": {"subtype": subtype}});
            agent.say(&request).await;
            let answer = agent.hear_kind("control_response").await;
            answers.insert(subtype.to_owned(), answer["response"]["response"].clone());
        }
        agent.close_and_end().await;
        let text = serde_json::to_string_pretty(&Value::Object(answers)).unwrap();
        let root = room.home().parent().unwrap().canonicalize().unwrap();
        check("settings", &text.replace(&root.display().to_string(), ""));
    });
}

#[test]
fn a_rule_is_written_to_the_settings_as_before() {
    block_on(async {
        let room = towline_room();
        fs::create_dir_all(room.project().join(".claude")).unwrap();
        let path = room.project().join(".claude/settings.local.json");
        fs::write(
            &path,
            "{\n  \"model\": \"opus\",\n  \"unknown\": {\"kept\": true}\n}\n",
        )
        .unwrap();
        let api = api(Script::new([
            Reply::message().tool("Bash", json!({"command": "touch a"})),
            Reply::text("Done."),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.say(&prompt("touch it")).await;
        let question = agent.hear_kind("control_request").await;
        let update = json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
            "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}, {"toolName": "WebSearch"}]});
        let directories = json!({"type": "addDirectories", "directories": ["/srv"], "destination": "localSettings"});
        let allow = json!({"behavior": "allow", "updatedInput": {"command": "touch a"},
            "updatedPermissions": [update, directories]});
        let response =
            json!({"subtype": "success", "request_id": question["request_id"], "response": allow});
        agent
            .say(&json!({"type": "control_response", "response": response}))
            .await;
        agent.hear_kind("result").await;
        agent.close_and_end().await;
        check("settings-written", &fs::read_to_string(path).unwrap());
    });
}
