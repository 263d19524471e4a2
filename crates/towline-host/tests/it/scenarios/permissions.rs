//! Tool calls that want permission.

use serde_json::json;
use towline_host::{Destination, Event, Json, PermissionMode, PermissionUpdate, Withdrawal};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

fn touch(file: &str) -> Reply {
    Reply::message().tool(
        "Bash",
        json!({"command": format!("touch {file}"), "description": "Make a file"}),
    )
}

#[tokio::test]
async fn a_call_is_allowed() {
    let replies = script([touch("made"), Reply::text("Made.")]);
    Stage::play("a_call_is_allowed", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage
            .turn(&mut session, "make it", |event| {
                if let Event::Permission(permission) = event {
                    assert!(permission.typed_input().is_some());
                    assert!(permission.tool_use_id().is_some());
                    permission.allow();
                }
            })
            .await;
        stage.if_real(|cli, _| assert!(cli.project().join("made").exists()));
        assert_eq!(session.progress().calls().iter().count(), 1);
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_call_is_allowed_with_another_input() {
    let replies = script([touch("wrong"), Reply::text("Made.")]);
    Stage::play(
        "a_call_is_allowed_with_another_input",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            stage
                .turn(&mut session, "make it", |event| {
                    if let Event::Permission(permission) = event {
                        permission.allow_with(Json::new(r#"{"command":"touch right"}"#).unwrap());
                    }
                })
                .await;
            stage.if_real(|cli, _| {
                assert!(cli.project().join("right").exists());
                assert!(!cli.project().join("wrong").exists());
            });
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_suggestion_is_accepted_and_not_asked_about_again() {
    let replies = script([touch("one"), touch("one"), Reply::text("Made.")]);
    Stage::play("a_suggestion_is_accepted", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        let mut asked = 0;
        stage
            .turn(&mut session, "make it twice", |event| {
                if let Event::Permission(permission) = event {
                    asked += 1;
                    assert!(!permission.suggestions().is_empty());
                    permission.accept_suggestions();
                }
            })
            .await;
        assert_eq!(asked, 1);
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_change_of_mode_comes_with_an_answer() {
    let write =
        |name: &str| Reply::message().tool("Write", json!({"file_path": name, "content": "x"}));
    // The CLI wants absolute paths; what is written where does not matter here.
    let replies = script([write("a.txt"), write("b.txt"), Reply::text("Written.")]);
    Stage::play(
        "a_change_of_mode_comes_with_an_answer",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            let mut asked = 0;
            stage
                .turn(&mut session, "write two files", |event| {
                    if let Event::Permission(permission) = event {
                        asked += 1;
                        permission.allow_and([PermissionUpdate::set_mode(
                            PermissionMode::AcceptEdits,
                            Destination::Session,
                        )]);
                    }
                })
                .await;
            assert_eq!(asked, 1);
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_call_is_denied() {
    let replies = script([touch("made"), Reply::text("Understood.")]);
    Stage::play("a_call_is_denied", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage
            .turn(&mut session, "make it", |event| {
                if let Event::Permission(permission) = event {
                    permission.deny("not today");
                }
            })
            .await;
        stage.if_real(|cli, api| {
            assert!(!cli.project().join("made").exists());
            assert!(
                api.requests()
                    .last()
                    .unwrap()
                    .body()
                    .to_string()
                    .contains("not today")
            );
        });
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_call_is_denied_and_the_turn_ends() {
    let replies = script([touch("made"), Reply::text("Still here.")]);
    Stage::play(
        "a_call_is_denied_and_the_turn_ends",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            stage
                .turn(&mut session, "make it", |event| {
                    if let Event::Permission(permission) = event {
                        permission.deny_and_interrupt("stop it");
                    }
                })
                .await;
            stage.turn(&mut session, "are you there?", drop).await;
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_question_that_is_dropped() {
    let replies = script([touch("made"), Reply::text("Understood.")]);
    Stage::play("a_question_that_is_dropped", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage.turn(&mut session, "make it", drop).await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_takes_a_question_back() {
    let replies = script([touch("made"), Reply::text("Still here.")]);
    Stage::play(
        "an_interrupt_takes_a_question_back",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            session.send("make it").await.unwrap();
            let Event::Permission(mut permission) =
                stage.until_event(&mut session, "may Bash run?").await
            else {
                panic!()
            };
            session.interrupt().await.unwrap();
            assert_eq!(permission.withdrawn().await, Withdrawal::Cancelled);
            stage.until_result(&mut session, drop).await;
            permission.allow();
            stage.turn(&mut session, "are you there?", drop).await;
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn two_questions_at_once() {
    let reads = Reply::message()
        .tool(
            "WebFetch",
            json!({"url": "http://127.0.0.1:9/a", "prompt": "read"}),
        )
        .tool(
            "WebFetch",
            json!({"url": "http://127.0.0.1:9/b", "prompt": "read"}),
        );
    let replies = script([reads, Reply::text("Understood.")]);
    Stage::play("two_questions_at_once", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        session.send("read both").await.unwrap();
        let Event::Permission(first) = stage.until_event(&mut session, "may WebFetch run?").await
        else {
            panic!()
        };
        let Event::Permission(second) = stage.until_event(&mut session, "may WebFetch run?").await
        else {
            panic!()
        };
        second.deny("not the second");
        stage.until_event(&mut session, "user").await;
        first.deny("not the first");
        stage.until_result(&mut session, drop).await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn without_questions_the_agent_denies_by_itself() {
    let replies = script([touch("made"), Reply::text("Understood.")]);
    Stage::play(
        "without_questions_the_agent_denies_by_itself",
        replies,
        async |stage| {
            let mut session = stage
                .start(towline_host::AgentCommand::without_questions)
                .await;
            stage.turn(&mut session, "make it", drop).await;
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_question_nobody_answers_in_time() {
    let replies = script([touch("made"), Reply::text("Understood.")]);
    Stage::play(
        "a_question_nobody_answers_in_time",
        replies,
        async |stage| {
            let timeout = std::time::Duration::from_millis(300);
            let mut session = stage
                .start(|command| command.question_timeout(Some(timeout)))
                .await;
            session.send("make it").await.unwrap();
            let open = stage.until_event(&mut session, "may Bash run?").await;
            stage.until_event(&mut session, "withdrawn: TimedOut").await;
            stage.until_result(&mut session, drop).await;
            drop(open);
            stage.close(session).await;
        },
    )
    .await;
}
