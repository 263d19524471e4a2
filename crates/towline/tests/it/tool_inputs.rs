//! Inputs of tools as the documents show them, in calls of a model through the whole agent: what the model is told of each
//! call, what is then in the files, and calls that are refused.

use std::fs;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use crate::{
    driven::{Driven, api, block_on, prompt, towline_room},
    pocket::PIXEL,
    statements::{bodies, last_block},
};

const ALLOWED: [&str; 2] = [
    "--allowedTools",
    "Read,Write,Edit,MultiEdit,Glob,Grep,LS,Bash(echo:*),Bash(sleep:*)",
];

const TEXT: &str = "one\ntwo\nthree\ntwo\n";

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a call")]
fn every_tool_takes_the_inputs_that_the_documents_show() {
    block_on(async {
        let room = towline_room();
        let project = room.project().canonicalize().unwrap();
        fs::write(project.join("a.txt"), TEXT).unwrap();
        fs::create_dir(project.join("sub")).unwrap();
        for name in ["x.txt", "y.txt"] {
            fs::write(project.join("sub").join(name), "").unwrap();
        }
        let file = project.join("a.txt");
        let edits = json!([
            {"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"},
        ]);
        let edited = "one\n2\nthree\n2\n";
        let edited_twice = "1\n2\n3\n2\n";
        let state = "(file state is current in your context — no need to Read it back)";
        let p = project.to_str().unwrap();
        // A call, what the model is told, and what is then in the file.
        let table = [
            (
                "Read",
                json!({"file_path": file, "offset": 2, "limit": 1}),
                "2\ttwo".to_owned(),
                TEXT,
            ),
            (
                "Edit",
                json!({"file_path": file, "old_string": "two", "new_string": "2", "replace_all": true}),
                format!("The file {p}/a.txt has been updated. All occurrences were successfully replaced."),
                edited,
            ),
            (
                "MultiEdit",
                json!({"file_path": file, "edits": edits}),
                format!("Applied 2 edits to {p}/a.txt"),
                edited_twice,
            ),
            (
                "Glob",
                json!({"pattern": "*.txt", "path": project.join("sub"), "limit": 1}),
                "sub/x.txt\n(Showing 1 of 2 matching files; 1 more are not listed. Narrow the pattern or path to see the \
                 rest.)"
                .to_owned(),
                edited_twice,
            ),
            (
                "Grep",
                json!({"pattern": "2", "path": file, "output_mode": "count"}),
                "a.txt:2\n\nFound 2 total occurrences across 1 file.".to_owned(),
                edited_twice,
            ),
            (
                "LS",
                json!({"path": project}),
                "a.txt\nsub/".to_owned(),
                edited_twice,
            ),
            (
                "Bash",
                json!({"command": "echo begun; sleep 1000", "description": "Wait", "timeout": 1000}),
                "Exit code 143\nCommand timed out after 1s\nbegun".to_owned(),
                edited_twice,
            ),
            (
                "Write",
                json!({"file_path": file, "content": "anew\n"}),
                format!("The file {p}/a.txt has been updated successfully. {state}"),
                "anew\n",
            ),
        ];
        // Each call waits until the file was looked at after the one before it.
        let calls = table
            .iter()
            .map(|(tool, input, ..)| Reply::message().tool(*tool, input.clone()).hold(*tool));
        let api = api(Script::new(calls.chain([Reply::text("Done.")]))).await;
        let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
        agent.say(&prompt("do it all")).await;
        for (tool, _, told, content) in &table {
            api.release(tool);
            let line = agent.hear_kind("user").await;
            let block = &line["message"]["content"][0];
            assert_eq!(block["content"], *told, "{tool}");
            assert_eq!(fs::read_to_string(&file).unwrap(), *content, "{tool}");
        }
        assert_eq!(agent.hear_kind("result").await["result"], "Done.");
        for ((tool, _, told, _), body) in table.iter().zip(&bodies(&api)[1..]) {
            assert_eq!(last_block(body)["content"], *told, "{tool}");
        }
    });
}

#[test]
fn a_picture_that_is_read_is_shown_to_the_host_and_to_the_model() {
    block_on(async {
        let room = towline_room();
        let file = room.project().join("pixel.png");
        fs::write(&file, BASE64_STANDARD.decode(PIXEL).unwrap()).unwrap();
        let call = Reply::message().tool("Read", json!({"file_path": file}));
        let api = api(Script::new([call, Reply::text("A pixel.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
        agent.say(&prompt("what is it?")).await;
        let line = agent.hear_kind("user").await;
        agent.hear_kind("result").await;
        let source = json!({"type": "base64", "media_type": "image/png", "data": PIXEL});
        let picture = json!([{"type": "image", "source": source}]);
        assert_eq!(line["message"]["content"][0]["content"], picture);
        assert_eq!(last_block(&bodies(&api)[1])["content"], picture);
    });
}

/// A question with so many choices.
fn question(text: &str, choices: usize) -> Value {
    let choices = (0..choices).map(|number| json!({"label": format!("a label of more than {number} words"), "description": ""}));
    let choices: Vec<Value> = choices.collect();
    json!({"question": text, "header": "a long header of its own", "multiSelect": false, "options": choices})
}

#[test]
fn the_schema_of_a_question_is_sent_and_its_counts_are_checked() {
    block_on(async {
        let room = towline_room();
        let five: Vec<Value> = (0..5)
            .map(|number| question(&format!("{number}?"), 2))
            .collect();
        // The last one has words of any length, and is asked.
        let table = [
            (json!([]), "there are 0 questions"),
            (json!(five), "there are 5 questions"),
            (json!([question("Which?", 1)]), "has 1 options"),
            (json!([question("Which?", 5)]), "has 5 options"),
            (json!(five[..4]), ""),
        ];
        let calls = table.iter().map(|(questions, _)| {
            Reply::message().tool("AskUserQuestion", json!({"questions": questions}))
        });
        let api = api(Script::new(calls)).await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.say(&prompt("ask me")).await;
        for (questions, refusal) in table {
            let is_next =
                |line: &Value| line["type"] == "user" || line["type"] == "control_request";
            let line = agent.hear(is_next).await;
            if refusal.is_empty() {
                assert_eq!(line["request"]["input"]["questions"], questions);
            } else {
                let text = line["message"]["content"][0]["content"].as_str();
                assert!(text.is_some_and(|text| text.contains(refusal)), "{line}");
            }
        }
        let body = &bodies(&api)[0];
        let mut tools = body["tools"].as_array().unwrap().iter();
        let tool = tools
            .find(|tool| tool["name"] == "AskUserQuestion")
            .unwrap();
        let questions = &tool["input_schema"]["properties"]["questions"];
        let one = &questions["items"]["properties"];
        let label = &one["options"]["items"]["properties"]["label"];
        assert_eq!([&questions["minItems"], &questions["maxItems"]], [1, 4]);
        assert_eq!(
            [&one["options"]["minItems"], &one["options"]["maxItems"]],
            [2, 4]
        );
        assert!(
            one["header"]["description"]
                .as_str()
                .unwrap()
                .contains("at most 12 characters")
        );
        assert_eq!(label["description"], "One to five words.");
    });
}

#[test]
fn tools_that_are_not_there_are_not_offered_and_a_call_of_one_is_an_error() {
    block_on(async {
        let room = towline_room();
        let names = [
            "UndoEdit",
            "CodebaseSearchAgent",
            "Oracle",
            "Mermaid",
            "Task",
            "Agent",
            "Skill",
            "SendMessage",
        ];
        let calls = names.map(|name| Reply::message().tool(name, json!({})));
        let api = api(Script::new(calls.into_iter().chain([Reply::text("Done.")]))).await;
        let mut agent = Driven::start(&room, &api.url(), &["--tools", "default"]);
        agent.say(&prompt("use them")).await;
        let init = agent.hear_kind("system").await;
        for name in names {
            let line = agent.hear_kind("user").await;
            let block = &line["message"]["content"][0];
            let told =
                format!("<tool_use_error>Error: No such tool available: {name}</tool_use_error>");
            assert_eq!(
                (&block["content"], &block["is_error"]),
                (&json!(told), &json!(true))
            );
            assert!(
                !init["tools"].as_array().unwrap().contains(&json!(name)),
                "{name}"
            );
        }
        assert_eq!(agent.hear_kind("result").await["result"], "Done.");
    });
}
