//! Prompts and answers.

use towline_host::{Event, Json, Prompt};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

#[tokio::test]
async fn a_text() {
    let replies = script([Reply::text("Hello.")]);
    Stage::play("a_text", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        let told = session.agent().unwrap();
        assert!(
            told.commands
                .as_ref()
                .unwrap()
                .iter()
                .any(|command| command.name == "compact")
        );
        assert!(told.models.as_ref().unwrap().len() > 1);
        assert!(told.account.is_some() && told.output_style.is_some());
        stage.turn(&mut session, "Say hello", drop).await;
        assert!(session.id().is_some());
        assert!(session.progress().usages().cost_usd().is_some());
        assert!(session.progress().usages().context_tokens() > 0);
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_text_as_it_is_written() {
    let replies = script([Reply::message().thinking("hm").and_text("one two three")]);
    Stage::play("a_text_as_it_is_written", replies, async |stage| {
        let mut session = stage
            .start(towline_host::AgentCommand::partial_messages)
            .await;
        session.send("Count").await.unwrap();
        stage
            .until_event(&mut session, "stream_event/content_block_delta")
            .await;
        assert!(session.progress().draft(None).is_some());
        stage.until_result(&mut session, drop).await;
        assert!(session.progress().draft(None).is_none());
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn two_turns() {
    let replies = script([Reply::text("First."), Reply::text("Second.")]);
    Stage::play("two_turns", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage.turn(&mut session, "one", drop).await;
        let id = session.id().cloned();
        stage.turn(&mut session, "two", drop).await;
        assert_eq!(session.id().cloned(), id);
        stage.if_real(|_, api| {
            let requests = api.requests();
            let body = requests.last().unwrap().body().to_string();
            assert!(body.contains("First.") && body.contains("two"));
        });
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_message_while_a_turn_runs() {
    let replies = script([
        Reply::message()
            .and_text("Working")
            .then_hold("work")
            .and_text(" done."),
        Reply::text("Next."),
    ]);
    Stage::play("a_message_while_a_turn_runs", replies, async |stage| {
        let mut session = stage
            .start(towline_host::AgentCommand::partial_messages)
            .await;
        session.send("work").await.unwrap();
        stage
            .until_event(&mut session, "stream_event/content_block_delta")
            .await;
        session
            .send(Prompt::from("and then?").uuid("22222222-2222-4222-8222-222222222222"))
            .await
            .unwrap();
        stage.until_event(&mut session, "command_lifecycle").await;
        if let Some(api) = stage.api() {
            api.release("work");
        }
        stage.until_result(&mut session, drop).await;
        stage.until_result(&mut session, drop).await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_in_the_middle_of_a_text() {
    let replies = script([
        Reply::message()
            .and_text("A long")
            .then_hold("never")
            .and_text(" story."),
        Reply::text("Still here."),
    ]);
    Stage::play(
        "an_interrupt_in_the_middle_of_a_text",
        replies,
        async |stage| {
            let mut session = stage
                .start(towline_host::AgentCommand::partial_messages)
                .await;
            session.send("tell").await.unwrap();
            stage
                .until_event(&mut session, "stream_event/content_block_delta")
                .await;
            session.interrupt().await.unwrap();
            stage.until_result(&mut session, drop).await;
            stage.turn(&mut session, "are you there?", drop).await;
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_picture() {
    let replies = script([Reply::text("A dot.")]);
    Stage::play("a_picture", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        // One white pixel.
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";
        session.send(Prompt::new().text("What is this?").image(png).unwrap()).await.unwrap();
        stage.until_result(&mut session, drop).await;
        stage.if_real(|_, api| {
            assert!(api.requests()[0].body().to_string().contains("image/png"));
        });
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_script_asks_and_gets_an_answer() {
    let replies = script([Reply::text("Four.")]);
    Stage::play("a_script_asks_and_gets_an_answer", replies, async |stage| {
        let mut session = stage
            .start(towline_host::AgentCommand::without_questions)
            .await;
        let answer = session.ask("two and two?").await.unwrap();
        assert_eq!(answer.text, "Four.");
        assert!(answer.session_id.is_some() && answer.cost_usd.is_some());
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_belongs_to_its_question() {
    let replies = script([Reply::text("One."), Reply::text("Two.")]);
    Stage::play(
        "an_answer_belongs_to_its_question",
        replies,
        async |stage| {
            let mut session = stage
                .start(towline_host::AgentCommand::without_questions)
                .await;
            session.send("one?").await.unwrap();
            assert_eq!(session.ask("two?").await.unwrap().text, "Two.");
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn an_answer_of_a_given_form() {
    let replies = script([
        Reply::message().tool("StructuredOutput", serde_json::json!({"n": 4})),
        Reply::text("Done."),
    ]);
    Stage::play("an_answer_of_a_given_form", replies, async |stage| {
        let schema = Json::new(
            r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#,
        )
        .unwrap();
        let mut session = stage
            .start(|command| command.without_questions().json_schema(&schema))
            .await;
        let answer = session.ask("two and two?").await.unwrap();
        assert_eq!(answer.structured.unwrap().as_str(), r#"{"n":4}"#);
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn an_error_of_the_api() {
    let replies = script([Reply::error(400).error_message("no").forever()]);
    Stage::play("an_error_of_the_api", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        let error = session.ask("anything").await.unwrap_err();
        assert!(
            matches!(&error, towline_host::Error::Turn(why) if why.contains("no")),
            "{error}"
        );
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn too_many_steps() {
    let call = || Reply::message().tool("Bash", serde_json::json!({"command": "echo again"}));
    let replies = script([call(), call(), call()]);
    Stage::play("too_many_steps", replies, async |stage| {
        let mut session = stage.start(|command| command.max_turns(2)).await;
        stage.turn(&mut session, "go on for ever", drop).await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_slash_command() {
    Stage::play("a_slash_command", script([]), async |stage| {
        let mut session = stage.start(|command| command).await;
        stage.turn(&mut session, "/cost", drop).await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_conversation_that_starts_over() {
    let replies = script([Reply::text("First."), Reply::text("Second.")]);
    Stage::play("a_conversation_that_starts_over", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage.turn(&mut session, "one", drop).await;
        let before = session.id().cloned().unwrap();
        stage.turn(&mut session, "/clear", drop).await;
        stage.turn(&mut session, "two", drop).await;
        assert_ne!(session.id().unwrap(), &before);
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn the_end_of_input_in_the_middle_of_a_turn() {
    let replies = script([Reply::text("Finished.")]);
    Stage::play(
        "the_end_of_input_in_the_middle_of_a_turn",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            session.send("finish").await.unwrap();
            session.control().end_input().await.unwrap();
            stage.until_result(&mut session, drop).await;
            let mut last = None;
            while let Some(event) = session.next().await {
                last = Some(event);
            }
            let Some(Event::Ended(ending)) = last else {
                panic!("{last:?}")
            };
            assert!(!ending.closed);
        },
    )
    .await;
}

#[tokio::test]
async fn words_for_the_system_prompt() {
    let replies = script([Reply::text("Aye.")]);
    Stage::play("words_for_the_system_prompt", replies, async |stage| {
        let mut session = stage
            .start(|command| {
                command
                    .system_prompt("You are a pirate.")
                    .append_system_prompt("Be brief.")
            })
            .await;
        stage.turn(&mut session, "hello", drop).await;
        stage.if_real(|_, api| {
            let system = api.requests()[0].body()["system"].to_string();
            assert!(
                system.contains("You are a pirate.") && system.contains("Be brief."),
                "{system}"
            );
        });
        stage.close(session).await;
    })
    .await;
}
