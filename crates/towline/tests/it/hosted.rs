//! Our SDK drives our agent, as it drives the real CLI: a question, an interrupt, sessions that go on and branch, and
//! nothing left behind. In slow runs the real CLI is driven through the same.

use std::{fs, path::Path, time::Duration};

use serde_json::json;
use towline_host::{AgentCommand, Event, Session};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script, ScriptApi},
};

use crate::driven::{PATIENCE, api, block_on, rooms};

/// The agent of a room, as a program that uses the SDK starts it.
fn command(room: &RealCli, api: &ScriptApi) -> AgentCommand {
    let clean = room.command(&api.url());
    let mut command = AgentCommand::new(clean.get_program())
        .env_clear()
        .current_dir(room.project());
    for (name, value) in clean.get_envs() {
        command = command.env(name, value.unwrap_or_default());
    }
    command
}

/// Goes on to the result; gives what the questions were about, and the words of the result.
async fn to_the_result(session: &mut Session) -> (Vec<String>, Option<String>) {
    let mut asked = Vec::new();
    loop {
        match session.next().await.expect("a result before the end") {
            Event::Permission(question) => {
                asked.push(question.tool_name().to_string());
                question.allow();
            }
            Event::Ended(ending) => panic!("{ending}"),
            event => {
                if let Some(result) = event.result() {
                    return (asked, result.text().map(ToString::to_string));
                }
            }
        }
    }
}

#[test]
fn the_sdk_answers_a_question_of_the_agent() {
    for room in rooms("the_sdk_answers_a_question_of_the_agent") {
        block_on(async {
            let script = Script::new([
                Reply::message().tool(
                    "Bash",
                    json!({"command": "touch made.txt", "description": "Make it"}),
                ),
                Reply::text("It is made."),
            ]);
            let api = api(script).await;
            let mut session = command(&room, &api).spawn().await.unwrap();
            assert!(session.agent().unwrap().models.is_some());
            session.send("make it").await.unwrap();
            let (asked, answer) = to_the_result(&mut session).await;
            assert_eq!(asked, ["Bash"]);
            assert_eq!(answer.as_deref(), Some("It is made."));
            assert!(room.project().join("made.txt").exists());
            let usages = session.progress().usages();
            assert!(usages.main().output > 2 && usages.cost_usd() > Some(0.0));
            let ending = session.close().await;
            assert!(
                ending
                    .exit
                    .is_some_and(towline_host::process::Exit::success),
                "{ending}"
            );
        });
    }
}

#[test]
fn the_sdk_interrupts_the_agent_and_goes_on() {
    for room in rooms("the_sdk_interrupts_the_agent_and_goes_on") {
        block_on(async {
            let script = Script::new([
                Reply::text("one two three four").hold_after_events(4, "streams"),
                Reply::text("Here I am."),
            ]);
            let api = api(script).await;
            let mut session = command(&room, &api).spawn().await.unwrap();
            session.send("count").await.unwrap();
            api.wait_until_held("streams").await.unwrap();
            session.interrupt().await.unwrap();
            let (_, answer) = to_the_result(&mut session).await;
            assert_eq!(answer, None);
            let answer = session.ask("are you there?").await.unwrap();
            assert_eq!(answer.text, "Here I am.");
            session.close().await;
        });
    }
}

#[test]
fn the_sdk_resumes_and_forks_a_session_of_the_agent() {
    for room in rooms("the_sdk_resumes_and_forks_a_session_of_the_agent") {
        block_on(async {
            let api = api(Script::new([]).default_reply(Reply::text("Noted."))).await;
            let first = command(&room, &api).ask("my number is 4711").await.unwrap();
            let id = first.session_id.unwrap();
            let resumed = command(&room, &api).resume(id.as_str());
            let resumed = resumed.ask("which number?").await.unwrap();
            assert_eq!(resumed.session_id.as_ref(), Some(&id));
            let fork = command(&room, &api).resume(id.as_str()).fork();
            let fork = fork.ask("and now?").await.unwrap();
            assert_ne!(fork.session_id.as_ref(), Some(&id));
            let sent = api.requests().last().unwrap().body().to_string();
            for words in ["4711", "which number?", "and now?"] {
                assert!(sent.contains(words), "{words} is missing in {sent}");
            }
        });
    }
}

#[test]
fn the_sdk_leaves_nothing_of_the_agent_behind() {
    for room in rooms("the_sdk_leaves_nothing_of_the_agent_behind") {
        block_on(async {
            let script = Script::new([Reply::message().tool(
                "Bash",
                json!({"command": "echo $$ > id.txt; sleep 1000", "description": "Wait"}),
            )]);
            let api = api(script).await;
            let mut session = command(&room, &api).spawn().await.unwrap();
            session.send("wait").await.unwrap();
            while let Some(event) = session.next().await {
                if let Event::Permission(question) = event {
                    question.allow();
                    break;
                }
            }
            let id = id_in(&room.project().join("id.txt")).await;
            drop(session);
            let gone = async {
                while Path::new(&format!("/proc/{id}")).exists() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            let gone = tokio::time::timeout(PATIENCE, gone).await;
            assert!(gone.is_ok(), "{id} still runs");
        });
    }
}

/// The process id that a command wrote to a file, once it has.
async fn id_in(file: &Path) -> u32 {
    let written = async {
        loop {
            let text = fs::read_to_string(file).unwrap_or_default();
            if let Ok(id) = text.trim().parse() {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let written = tokio::time::timeout(PATIENCE, written).await;
    written.expect("the command writes its id")
}
