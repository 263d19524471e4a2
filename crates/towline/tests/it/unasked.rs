//! What is told before anybody is asked: an edit that cannot be made, a host's tool for permissions that is not there, a
//! model that nobody knows. The real CLI must do the same (`TOWLINE_SLOW=1`).

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, prompt, rooms, towline_room};

/// The results of calls, and how often the host was asked. Questions are answered with yes.
async fn play(room: &RealCli, calls: &[(&str, Value)]) -> (Vec<String>, usize) {
    let replies = calls
        .iter()
        .map(|(tool, input)| Reply::message().tool(*tool, input.clone()));
    let api = api(Script::new(replies).default_reply(Reply::text("Done."))).await;
    // A model of those that must read a file first.
    let arguments = [
        "--permission-prompt-tool",
        "stdio",
        "--model",
        "claude-sonnet-4-5",
    ];
    let mut agent = Driven::start(room, &api.url(), &arguments);
    agent.say(&prompt("go")).await;
    let (mut results, mut questions) = (Vec::new(), 0);
    loop {
        let line = agent.line().await.unwrap();
        match line["type"].as_str().unwrap() {
            "control_request" => {
                questions += 1;
                let answer = json!({"behavior": "allow"});
                let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
                agent
                    .say(&json!({"type": "control_response", "response": response}))
                    .await;
            }
            "user" => {
                let content = &line["message"]["content"][0]["content"];
                results.push(content.as_str().unwrap_or_default().to_owned());
            }
            "result" => return (results, questions),
            _ => {}
        }
    }
}

#[test]
fn an_edit_that_cannot_be_made_is_told_without_asking() {
    for room in rooms("an edit that cannot be made") {
        let path = |name: &str| room.project().join(name).to_str().unwrap().to_owned();
        fs::write(path("a.txt"), "x\nx\ny\n").unwrap();
        fs::write(
            path("n.ipynb"),
            r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#,
        )
        .unwrap();
        let edit = |name: &str, old: &str, new: &str| {
            (
                "Edit",
                json!({"file_path": path(name), "old_string": old, "new_string": new}),
            )
        };
        let table = [
            (edit("missing.txt", "a", "b"), "File does not exist."),
            (edit("a.txt", "y", "b"), "File has not been read yet."),
            (edit("a.txt", "x", "x"), "No changes to make"),
            (
                edit("a.txt", "", "x"),
                "Cannot create new file - file already exists.",
            ),
            (edit("n.ipynb", "a", "b"), "File is a Jupyter Notebook."),
            (
                ("Write", json!({"file_path": path("a.txt"), "content": "z"})),
                "File has not been read yet.",
            ),
            (
                (
                    "NotebookEdit",
                    json!({"notebook_path": path("n.ipynb"), "cell_id": "c", "new_source": "z"}),
                ),
                "File has not been read yet.",
            ),
            (("Read", json!({"file_path": path("a.txt")})), "1\tx"),
            (
                edit("a.txt", "z", "b"),
                "String to replace not found in file.",
            ),
            (
                edit("a.txt", "x", "b"),
                "Found 2 matches of the string to replace, but replace_all is false.",
            ),
        ];
        let calls: Vec<_> = table.iter().map(|(call, _)| call.clone()).collect();
        let (results, questions) = block_on(play(&room, &calls));
        assert_eq!((results.len(), questions), (table.len(), 0), "{results:#?}");
        for (result, (call, words)) in results.iter().zip(&table) {
            assert!(result.contains(words), "{call:?}: {result}");
        }
        // One that can be made is asked about.
        let calls = [
            ("Read", json!({"file_path": path("a.txt")})),
            edit("a.txt", "y", "z"),
        ];
        let (results, questions) = block_on(play(&room, &calls));
        assert_eq!(questions, 1, "{results:?}");
        assert_eq!(fs::read_to_string(path("a.txt")).unwrap(), "x\nx\nz\n");
    }
}

#[test]
fn of_a_forbidden_file_not_even_its_absence_is_told() {
    block_on(async {
        let room = towline_room();
        let path = room
            .project()
            .join("secret.txt")
            .to_str()
            .unwrap()
            .to_owned();
        let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        let replies = [Reply::message().tool("Edit", edit), Reply::text("Done.")];
        let api = api(Script::new(replies)).await;
        let mut agent = Driven::start(
            &room,
            &api.url(),
            &["--disallowedTools", "Edit(secret.txt)"],
        );
        agent.say(&prompt("go")).await;
        let result = agent.hear_kind("user").await.to_string();
        assert!(
            result.contains("denied by your permission settings"),
            "{result}"
        );
        assert!(!result.contains("does not exist"), "{result}");
    });
}

#[test]
fn a_tool_for_permissions_that_is_not_there_ends_the_agent_at_the_first_call() {
    for room in rooms("a tool for permissions that is not there") {
        for (tool, command) in [("mcp__a__b", "touch made.txt"), ("banana", "ls")] {
            block_on(async {
                let call = Reply::message().tool("Bash", json!({ "command": command }));
                let api = api(Script::new([call]).default_reply(Reply::text("Done."))).await;
                let arguments = ["--permission-prompt-tool", tool];
                let mut agent = Driven::start(&room, &api.url(), &arguments);
                agent.say(&prompt("go")).await;
                let ended = agent.end().await;
                let complaint = format!(
                    "Error: MCP tool {tool} (passed via --permission-prompt-tool) not found. Available MCP tools: none"
                );
                assert_eq!(
                    (ended.code, ended.stderr.trim_end()),
                    (Some(1), &*complaint)
                );
                let results = ended.lines.iter().filter(|line| line["type"] == "user");
                let results: Vec<&Value> = results
                    .map(|line| &line["message"]["content"][0]["content"])
                    .collect();
                let told = format!(
                    "<tool_use_error>Error calling tool (Bash): {complaint}</tool_use_error>"
                );
                assert_eq!(results, [&json!(told)]);
                assert!(ended.lines.iter().all(|line| line["type"] != "result"));
                assert!(!room.project().join("made.txt").exists());
            });
        }
    }
}

#[test]
fn a_tool_for_permissions_that_is_not_needed_is_not_missed() {
    for room in rooms("a tool for permissions that is not needed") {
        block_on(async {
            let api = api(Script::new([Reply::text("Done.")])).await;
            let arguments = ["--permission-prompt-tool", "mcp__a__b"];
            let mut agent = Driven::start(&room, &api.url(), &arguments);
            assert_eq!(agent.ask("go").await["result"], "Done.");
            let ended = agent.close_and_end().await;
            assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        });
    }
}

#[test]
fn a_model_that_nobody_knows_is_told_and_tried() {
    for room in rooms("a model that nobody knows") {
        for (model, is_known) in [
            ("banana-9", false),
            ("claude-opus-9-9", false),
            ("sonnet", true),
        ] {
            block_on(async {
                let api = api(Script::new([Reply::text("Done.")])).await;
                let mut agent = Driven::start(&room, &api.url(), &["--model", model]);
                assert_eq!(agent.ask("go").await["result"], "Done.");
                let ended = agent.close_and_end().await;
                assert_eq!(ended.code, Some(0));
                let last = ended.stderr.lines().last().unwrap_or_default();
                let expected = match is_known {
                    true => String::new(),
                    false => {
                        let fact = json!({"model": model, "query_source": "sdk"});
                        format!("[claude-code:unrecognized_model] {fact}")
                    }
                };
                assert_eq!(last, expected, "{}", ended.stderr);
            });
        }
    }
}
