//! Plan mode, told to the model: once when it begins, once when it is over, and to a session that goes on as it was.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script, ScriptApi},
};

use crate::driven::{Api, Driven, api, block_on, prompt, towline_room};

const BEGINS: &str = "Plan mode is on";
const IS_OVER: &str = "Planning is over";
const STDIO: [&str; 2] = ["--permission-prompt-tool", "stdio"];

/// An API that says the same again and again.
async fn patient_api() -> Api {
    api(Script::new([]).default_reply(Reply::text("Yes."))).await
}

/// How often the last request says that planning begins, and that it is over.
fn told(api: &ScriptApi) -> (usize, usize) {
    let request = last(api);
    let text = request["messages"].to_string();
    (text.matches(BEGINS).count(), text.matches(IS_OVER).count())
}

fn last(api: &ScriptApi) -> Value {
    api.requests().last().unwrap().body()
}

/// The messages of the last request, without the marks for the API's cache.
fn messages(api: &ScriptApi) -> Vec<Value> {
    let mut request = last(api);
    for message in request["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    request["messages"].as_array().unwrap().clone()
}

async fn control(agent: &mut Driven, request: &Value) {
    agent
        .say(&json!({"type": "control_request", "request_id": "1", "request": request}))
        .await;
    let answer = agent.hear_kind("control_response").await;
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
}

async fn set_mode(agent: &mut Driven, mode: &str) {
    let request = json!({"subtype": "set_permission_mode", "mode": mode});
    control(agent, &request).await;
}

/// The records of the only session of a room.
fn records(room: &RealCli) -> Vec<Value> {
    let folder = room.home().join(".claude/projects");
    let project = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let files = fs::read_dir(project.path()).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    let file = files
        .find(|file| file.extension().is_some_and(|end| end == "jsonl"))
        .unwrap();
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_model_was_never_told_that_it_is_to_plan() {
    block_on(async {
        for way in ["flag", "request", "settings"] {
            let (room, api) = (towline_room(), patient_api().await);
            let mut arguments = STDIO.to_vec();
            match way {
                "flag" => arguments.extend(["--permission-mode", "plan"]),
                "settings" => {
                    let settings = r#"{"permissions":{"defaultMode":"plan"}}"#;
                    arguments.extend(["--settings", settings]);
                }
                _ => {}
            }
            let mut agent = Driven::start(&room, &api.url(), &arguments);
            if way == "request" {
                agent.ask("hello").await;
                assert_eq!(told(&api), (0, 0));
                set_mode(&mut agent, "plan").await;
            }
            agent.ask("how would you do it?").await;
            assert_eq!(told(&api), (1, 0), "{way}");
            assert!(last(&api).to_string().contains("ExitPlanMode with it"));
            agent.ask("go on").await;
            assert_eq!(told(&api), (1, 0), "{way}: told again");
            set_mode(&mut agent, "default").await;
            agent.ask("do it").await;
            assert_eq!(told(&api), (1, 1), "{way}");
            agent.ask("go on").await;
            assert_eq!(told(&api), (1, 1), "{way}");
        }
    });
}

#[test]
fn a_mode_that_an_answer_sets_is_told_with_the_next_request() {
    block_on(async {
        let room = towline_room();
        let call = Reply::message().tool("Bash", json!({"command": "touch a.txt"}));
        let api = api(Script::new([call, Reply::text("Done.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &STDIO);
        agent.say(&prompt("go")).await;
        let question = agent.hear_kind("control_request").await;
        let update = json!({"type": "setMode", "mode": "plan", "destination": "session"});
        let answer = json!({"behavior": "allow", "updatedPermissions": [update]});
        let response =
            json!({"subtype": "success", "request_id": question["request_id"], "response": answer});
        agent
            .say(&json!({"type": "control_response", "response": response}))
            .await;
        agent.hear_kind("result").await;
        assert_eq!(told(&api), (1, 0));
    });
}

#[test]
fn what_the_host_wants_of_a_plan_was_dropped() {
    block_on(async {
        let (room, api) = (towline_room(), patient_api().await);
        let mut arguments = STDIO.to_vec();
        arguments.extend(["--permission-mode", "plan"]);
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        let wishes = "Number the steps in Roman numerals.";
        let request = json!({"subtype": "initialize", "planModeInstructions": wishes});
        control(&mut agent, &request).await;
        agent.ask("how would you do it?").await;
        assert_eq!(told(&api), (1, 0));
        assert!(last(&api)["messages"].to_string().contains(wishes));
    });
}

#[test]
fn a_plan_is_shown_with_the_question_and_its_approval_ends_the_planning() {
    block_on(async {
        let room = towline_room();
        let plan = "1. Look.\n2. Leap.";
        let shows = Reply::message().tool("ExitPlanMode", json!({"plan": plan}));
        let api = api(Script::new([shows, Reply::text("Leaping.")])).await;
        let arguments = [STDIO[0], STDIO[1], "--permission-mode", "plan"];
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        agent.say(&prompt("how would you do it?")).await;
        let question = agent.hear_kind("control_request").await;
        assert_eq!(question["request"]["tool_name"], "ExitPlanMode");
        assert_eq!(question["request"]["input"]["plan"], plan);
        let response = json!({
            "subtype": "success", "request_id": question["request_id"],
            "response": {"behavior": "allow"},
        });
        agent
            .say(&json!({"type": "control_response", "response": response}))
            .await;
        let told_now = agent.hear_kind("user").await;
        let text = told_now["message"]["content"][0]["content"]
            .as_str()
            .unwrap();
        assert!(
            text.ends_with(&format!("## Approved plan:\n{plan}")),
            "{text}"
        );
        assert_eq!(agent.hear_kind("result").await["result"], "Leaping.");
        assert_eq!(told(&api), (1, 1));
    });
}

#[test]
fn where_nobody_can_approve_a_plan_it_is_the_answer() {
    block_on(async {
        let (room, api) = (towline_room(), patient_api().await);
        let mut agent = Driven::start(&room, &api.url(), &["--permission-mode", "plan"]);
        agent.ask("how would you do it?").await;
        let text = last(&api)["messages"].to_string();
        assert!(text.contains("give it as your answer"), "{text}");
        assert!(!text.contains("ExitPlanMode"), "{text}");
    });
}

#[test]
fn a_session_that_goes_on_holds_what_was_said_of_planning() {
    block_on(async {
        let (room, api) = (towline_room(), patient_api().await);
        let mut arguments = STDIO.to_vec();
        arguments.extend(["--permission-mode", "plan"]);
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        agent.ask("how would you do it?").await;
        let before = messages(&api);
        agent.close_and_end().await;
        let added: Vec<Value> = records(&room)
            .into_iter()
            .filter(|record| record["type"] == "attachment")
            .collect();
        let [added] = &added[..] else {
            panic!("{added:#?}");
        };
        assert_eq!(added["attachment"]["type"], "plan_mode");
        assert_eq!(added["renderedRole"], "user");
        let told_then = added["rendered"][0]["content"].as_str().unwrap();
        assert!(told_then.contains(BEGINS), "{added}");

        // In the same mode nothing is new; in another one that is told.
        arguments.push("--continue");
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        agent.ask("go on").await;
        assert_eq!(messages(&api)[..before.len()], before);
        assert_eq!(told(&api), (1, 0));
        agent.close_and_end().await;
        let mut agent = Driven::start(&room, &api.url(), &[STDIO[0], STDIO[1], "--continue"]);
        agent.ask("do it").await;
        assert_eq!(told(&api), (1, 1));
        let then = messages(&api);
        agent.close_and_end().await;
        let mut agent = Driven::start(&room, &api.url(), &[STDIO[0], STDIO[1], "--continue"]);
        agent.ask("go on").await;
        assert_eq!(messages(&api)[..then.len()], then);
        assert_eq!(told(&api), (1, 1));
    });
}
