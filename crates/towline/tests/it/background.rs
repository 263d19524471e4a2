//! Commands in the background: the model is told of their end, in a turn of its own or with the results of calls, also
//! when nobody will say more. What never ends is not waited for.

use std::{fs, path::Path};

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
    waiting::eventually,
};

use crate::driven::{Driven, api, block_on, marked, prompt, said, towline_room};

const ALLOWED: [&str; 2] = ["--allowedTools", "Bash"];

/// A call that runs in the background until a file is there.
fn waits_for(file: &Path) -> Reply {
    let command = format!(
        "until [ -e {} ]; do sleep 0.02; done; echo over",
        file.display()
    );
    let input = json!({"command": command, "run_in_background": true, "description": "waits"});
    Reply::message().tool("Bash", input)
}

fn flag_in(room: &RealCli) -> std::path::PathBuf {
    room.project().join("go")
}

/// What the model was told of the end of a command, in the last thing said to it.
fn notification(request: &Value) -> String {
    let said = said(request);
    let last = said.last().unwrap();
    assert!(last.contains("<task-notification>"), "{said:#?}");
    last.clone()
}

fn results(lines: &[Value]) -> Vec<&Value> {
    lines
        .iter()
        .filter(|line| line["type"] == "result")
        .collect()
}

#[test]
fn the_end_of_a_background_command_was_never_told_to_the_model() {
    block_on(async {
        let room = towline_room();
        let flag = flag_in(&room);
        let replies = [
            waits_for(&flag),
            Reply::text("It runs."),
            Reply::text("It is over."),
        ];
        let api = api(Script::new(replies)).await;
        let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
        agent.say(&prompt("go")).await;
        let started = agent.hear(|line| line["subtype"] == "task_started").await;
        let first = agent.hear_kind("result").await;
        assert_eq!(
            (&first["result"], &first["origin"]),
            (&json!("It runs."), &Value::Null)
        );

        fs::write(&flag, "").unwrap();
        agent
            .hear(|line| line["subtype"] == "task_notification")
            .await;
        let changed = agent.hear_kind("system").await;
        assert_eq!(changed["subtype"], "background_tasks_changed");
        assert_eq!(agent.hear_kind("system").await["subtype"], "init");
        let second = agent.hear_kind("result").await;
        let origin = json!({
            "kind": "task-notification",
            "producer": "session-task",
            "runId": started["run_id"],
        });
        assert_eq!(
            (&second["result"], &second["origin"]),
            (&json!("It is over."), &origin)
        );

        let told = notification(&api.requests()[2].body());
        for (name, value) in [
            ("task-id", started["task_id"].as_str().unwrap()),
            ("tool-use-id", started["tool_use_id"].as_str().unwrap()),
            ("status", "completed"),
            (
                "summary",
                "Background command \"waits\" completed (exit code 0)",
            ),
        ] {
            assert!(
                told.contains(&format!("<{name}>{value}</{name}>")),
                "{told}"
            );
        }
        // A session that goes on holds it too, and is still known by what the person said.
        agent.close_and_end().await;
        api.push(Reply::text("Yes."));
        let mut agent = Driven::start(&room, &api.url(), &["--continue"]);
        agent.ask("and?").await;
        let heard = said(&api.requests()[3].body());
        assert!(heard.contains(&told), "{heard:#?}");
    });
}

#[test]
fn while_a_turn_runs_the_end_of_a_command_comes_with_the_results_of_calls() {
    block_on(async {
        let room = towline_room();
        let flag = flag_in(&room);
        let look = Reply::message().tool("Bash", json!({"command": "echo looked"}));
        let replies = [
            waits_for(&flag),
            look.hold_after_events(2, "speaks"),
            Reply::text("All done."),
        ];
        let api = api(Script::new(replies)).await;
        let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
        agent.say(&prompt("go")).await;
        api.wait_until_held("speaks").await.unwrap();
        fs::write(&flag, "").unwrap();
        agent
            .hear(|line| line["subtype"] == "task_notification")
            .await;
        api.release("speaks");
        let result = agent.hear_kind("result").await;
        assert_eq!(
            (&result["result"], &result["origin"]),
            (&json!("All done."), &Value::Null)
        );
        let ended = agent.close_and_end().await;
        assert_eq!(results(&ended.lines), Vec::<&Value>::new());
        notification(&api.requests()[2].body());
    });
}

#[test]
fn what_the_host_stopped_is_no_news() {
    block_on(async {
        let room = towline_room();
        let replies = [
            waits_for(&flag_in(&room)),
            Reply::text("It runs."),
            Reply::text("Yes."),
        ];
        let api = api(Script::new(replies)).await;
        let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
        agent.say(&prompt("go")).await;
        let started = agent.hear(|line| line["subtype"] == "task_started").await;
        agent.hear_kind("result").await;
        let request = json!({"subtype": "stop_task", "task_id": started["task_id"]});
        agent
            .say(&json!({"type": "control_request", "request_id": "1", "request": request}))
            .await;
        agent.hear_kind("control_response").await;
        let result = agent.ask("and?").await;
        assert_eq!(
            (&result["result"], &result["origin"]),
            (&json!("Yes."), &Value::Null)
        );
    });
}

#[test]
fn a_command_in_the_background_was_ended_with_the_first_answer() {
    block_on(async {
        for is_text in [false, true] {
            let room = towline_room();
            let command = json!({"command": "sleep 0.3; echo over", "run_in_background": true});
            let replies = [
                Reply::message().tool("Bash", command),
                Reply::text("It runs."),
                Reply::text("It is over."),
            ];
            let api = api(Script::new(replies)).await;
            if is_text {
                let mut command = room.command(&api.url());
                command.args(["-p", "go"]).args(ALLOWED);
                let command = tokio::process::Command::from(command).output();
                let output = command.await.unwrap();
                assert_eq!(String::from_utf8(output.stdout).unwrap(), "It is over.\n");
                assert_eq!(output.status.code(), Some(0));
            } else {
                let mut agent = Driven::start(&room, &api.url(), &ALLOWED);
                agent.say(&prompt("go")).await;
                let ended = agent.close_and_end().await;
                assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
                let results = results(&ended.lines);
                let words: Vec<_> = results.iter().map(|line| &line["result"]).collect();
                assert_eq!(words, ["It runs.", "It is over."]);
            }
            notification(&api.requests()[2].body());
        }
    });
}

#[test]
fn a_command_that_never_ends_is_not_waited_for_and_that_is_told() {
    block_on(async {
        let room = towline_room();
        let command =
            json!({"command": "sleep 1004", "run_in_background": true, "description": "sleeps"});
        let replies = [
            Reply::message().tool("Bash", command),
            Reply::text("It runs."),
        ];
        let api = api(Script::new(replies)).await;
        let mark = format!("TOWLINE_BACKGROUND_TEST={}", std::process::id());
        let mut agent = Driven::start_with(&room, &api.url(), &ALLOWED, |command| {
            let (name, value) = mark.split_once('=').unwrap();
            command.env(name, value);
            command.env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "100");
        });
        agent.say(&prompt("go")).await;
        let ended = agent.close_and_end().await;
        assert_eq!(ended.code, Some(0));
        assert_eq!(
            ended.stderr,
            "towline: still running in the background, and ended with the session: \"sleeps\"\n"
        );
        assert_eq!(results(&ended.lines).len(), 1);
        eventually("the end of the command", || marked(&mark).is_empty()).await;
    });
}
