//! Subagents: their calls in the tree, their tokens apart.

use serde_json::json;
use towline_host::Event;
use towline_testkit::script_api::Reply;

use super::{Stage, script};

#[tokio::test]
async fn a_subagent_is_waited_for() {
    let replies = script([
        Reply::message().tool("Agent", json!({
            "description": "Look", "prompt": "look at the notes", "subagent_type": "general-purpose", "run_in_background": false,
        })),
        Reply::message().tool("Bash", json!({"command": "cat notes.txt", "description": "Look"})).when_subagent(),
        Reply::text("Two lines.").when_subagent(),
        Reply::text("There are two lines."),
    ]);
    Stage::play("a_subagent_is_waited_for", replies, async |stage| {
        let mut session = stage
            .start(towline_host::AgentCommand::forward_subagent_text)
            .await;
        stage.turn(&mut session, "how many lines?", drop).await;
        let progress = session.progress();
        let calls = progress.calls();
        let task = &calls.children(None).next().unwrap().id;
        let inner: Vec<_> = calls
            .children(Some(task))
            .map(|call| call.name.to_string())
            .collect();
        stage.note(format!("inside: {inner:?}"));
        let (main, sub) = (progress.usages().main(), progress.usages().subagent(task));
        stage.note(format!(
            "model calls: {} and {}",
            main.messages, sub.messages
        ));
        let all = progress.usages().all_subagents();
        stage.note(format!("written: {} and {}", main.output, all.output));
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_subagent_works_in_the_background() {
    let replies = script([
        Reply::message().tool("Agent", json!({
            "description": "Look", "prompt": "look at the notes", "subagent_type": "general-purpose", "run_in_background": true,
        })),
        Reply::text("Two lines.").when_subagent().hold("subagent"),
        Reply::text("I wait."),
        Reply::text("There are two lines."),
    ]);
    Stage::play(
        "a_subagent_works_in_the_background",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            stage.turn(&mut session, "how many lines?", drop).await;
            assert_eq!(session.progress().background_tasks(), 1);
            if let Some(api) = stage.api() {
                api.release("subagent");
            }
            stage.until_result(&mut session, drop).await;
            assert_eq!(session.progress().background_tasks(), 0);
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_subagent_asks_for_permission() {
    let replies = script([
        Reply::message().tool("Agent", json!({
            "description": "Make", "prompt": "make a file", "subagent_type": "general-purpose", "run_in_background": false,
        })),
        Reply::message().tool("Bash", json!({"command": "touch made", "description": "Make"})).when_subagent(),
        Reply::text("Made.").when_subagent(),
        Reply::text("It is made."),
    ]);
    Stage::play("a_subagent_asks_for_permission", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage
            .turn(&mut session, "make it", |event| {
                if let Event::Permission(permission) = event {
                    assert!(permission.agent_id().is_some());
                    permission.allow();
                }
            })
            .await;
        stage.close(session).await;
    })
    .await;
}
