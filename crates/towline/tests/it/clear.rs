//! `/clear`: a new session in place of the old one. The real CLI must do the same (`TOWLINE_SLOW=1`).

use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use crate::driven::{Driven, api, block_on, rooms, said, towline_room};

const ID: &str = "11111111-1111-4111-8111-111111111112";

#[test]
fn the_conversation_begins_anew_under_another_id() {
    for room in rooms("a conversation begins anew") {
        block_on(async {
            let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            let before = agent.ask("the first words").await;
            let clear = json!({"type": "user", "uuid": ID, "message": {"role": "user", "content": "/clear"}});
            agent.say(&clear).await;
            let mut lines: Vec<Value> = Vec::new();
            while lines.last().is_none_or(|line| line["state"] != "completed") {
                lines.push(agent.line().await.unwrap());
            }
            let kinds: Vec<&str> = lines
                .iter()
                .map(|line| match line["type"].as_str().unwrap() {
                    "system" => line["subtype"].as_str().unwrap(),
                    "command_lifecycle" => line["state"].as_str().unwrap(),
                    kind => kind,
                })
                .collect();
            let expected = [
                "queued",
                "started",
                "conversation_reset",
                "background_tasks_changed",
                "init",
                "result",
                "completed",
            ];
            assert_eq!(kinds, expected);
            let (reset, result) = (&lines[2], &lines[5]);
            assert_eq!(
                [
                    &reset["session_id"],
                    &reset["trigger"],
                    &reset["user_message_uuid"]
                ],
                [&before["session_id"], &json!("clear"), &json!(ID)]
            );
            assert_ne!(result["session_id"], before["session_id"]);
            assert_eq!(lines[4]["session_id"], result["session_id"]);
            assert_eq!(
                [
                    &result["subtype"],
                    &result["num_turns"],
                    &result["result"],
                    &result["total_cost_usd"],
                    &result["modelUsage"],
                    &result["local_command"],
                ],
                [
                    &json!("success"),
                    &json!(0),
                    &json!(""),
                    &json!(0),
                    &json!({}),
                    &json!("clear")
                ]
            );
            for field in ["terminal_reason", "api_error_status", "structured_output"] {
                assert_eq!(result.get(field), None, "{result}");
            }
            let after = agent.ask("the second words").await;
            assert_eq!(after["session_id"], result["session_id"]);
            let request = api.requests().last().unwrap().body();
            let words = said(&request).join("\n");
            assert!(
                words.contains("the second words") && !words.contains("the first words"),
                "{words}"
            );
            assert_eq!(agent.close_and_end().await.code, Some(0));
            // Both are kept, and the old one can be gone on with.
            let old = before["session_id"].as_str().unwrap();
            let mut agent = Driven::start(&room, &api.url(), &["--resume", old]);
            agent.ask("the third words").await;
            let words = said(&api.requests().last().unwrap().body()).join("\n");
            assert!(
                words.contains("the first words") && !words.contains("the second words"),
                "{words}"
            );
        });
    }
}

#[test]
fn the_command_is_told_and_can_be_switched_off() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
        let initialize = json!({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"}});
        for (arguments, expected) in [
            (&[][..], json!(["clear"])),
            (&["--disable-slash-commands"], json!([])),
        ] {
            let mut agent = Driven::start(&room, &api.url(), arguments);
            agent.say(&initialize).await;
            let answer = agent.hear_kind("control_response").await;
            let commands = answer["response"]["response"]["commands"]
                .as_array()
                .unwrap();
            let names: Value = commands
                .iter()
                .map(|command| command["name"].clone())
                .collect();
            assert_eq!(names, expected);
            for command in commands {
                assert!(command["description"].is_string() && command["argumentHint"].is_string());
            }
            agent.say(&crate::driven::prompt("/clear")).await;
            let init = agent.hear(|line| line["subtype"] == "init").await;
            assert_eq!(init["slash_commands"], expected);
            let result = agent.hear_kind("result").await;
            let is_command = expected != json!([]);
            assert_eq!(result["result"] == "", is_command, "{result}");
        }
    });
}

#[test]
fn a_prompt_behind_it_belongs_to_the_new_session() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([]).default_reply(Reply::text("Done."))).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let prompts =
            ["one", "/new My title", "two"].map(|text| crate::driven::prompt(text).to_string());
        agent
            .write(format!("{}\n", prompts.join("\n")).as_bytes())
            .await
            .unwrap();
        let ended = agent.close_and_end().await;
        let results = ended.lines.iter().filter(|line| line["type"] == "result");
        let ids: Vec<&Value> = results.map(|line| &line["session_id"]).collect();
        assert!(
            ids.len() == 3 && ids[0] != ids[1] && ids[1] == ids[2],
            "{ids:?}"
        );
        let mut titles = ended
            .lines
            .iter()
            .filter(|line| line["subtype"] == "session_title_changed");
        let title = titles.next().unwrap();
        assert_eq!(
            (&title["title"], &title["session_id"]),
            (&json!("My title"), ids[1])
        );
    });
}
