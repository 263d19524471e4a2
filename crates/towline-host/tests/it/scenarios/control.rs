//! What can be asked and changed while a session runs.

use serde_json::json;
use towline_host::{Event, Json, PermissionMode, Prompt, Uuid};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

#[tokio::test]
async fn mode_model_and_thinking_are_changed() {
    let replies = script([Reply::text("Hello.")]);
    Stage::play(
        "mode_model_and_thinking_are_changed",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            let control = session.control().clone();
            control
                .set_permission_mode(PermissionMode::AcceptEdits)
                .await
                .unwrap();
            control.set_model(Some("haiku")).await.unwrap();
            control.set_max_thinking_tokens(Some(2000)).await.unwrap();
            stage.turn(&mut session, "hello", drop).await;
            stage.if_real(|_, api| {
                let model = api.requests()[0].body()["model"].to_string();
                assert!(model.contains("haiku"), "{model}");
            });
            let error = control
                .set_permission_mode(PermissionMode::BypassPermissions)
                .await
                .unwrap_err();
            assert!(
                matches!(error, towline_host::Error::Refused { .. }),
                "{error}"
            );
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn the_agent_is_asked_about_itself() {
    Stage::play(
        "the_agent_is_asked_about_itself",
        script([]),
        async |stage| {
            let session = stage.start(|command| command).await;
            let control = session.control();
            assert!(control.context_usage().await.unwrap().max_tokens.is_some());
            assert!(control.session_cost().await.unwrap().text.contains("cost"));
            assert!(control.usage().await.is_ok());
            assert!(control.settings().await.unwrap().effective.is_some());
            assert_eq!(control.binary_version().await.unwrap().version, "2.1.325");
            assert!(control.hooks_listing().await.is_ok());
            assert!(control.models().await.unwrap().models.is_some());
            assert!(control.permission_rules().await.unwrap().state.is_some());
            assert!(
                control
                    .file_suggestions("notes")
                    .await
                    .unwrap()
                    .suggestions
                    .is_some()
            );
            assert!(control.reload_skills().await.is_ok());
            assert!(control.reload_output_styles().await.is_ok());
            assert!(control.reload_plugins().await.is_ok());
            control.rename("A title").await.unwrap();
            control
                .apply_flag_settings(Json::new("{}").unwrap())
                .await
                .unwrap();
            control.set_has_subscribers(Some(true)).await.unwrap();
            assert_eq!(
                control
                    .cancel_message(&Uuid::from("33333333-3333-4333-8333-333333333333"))
                    .await
                    .unwrap()
                    .cancelled,
                Some(false)
            );
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_file_is_read_where_the_agent_is() {
    Stage::play(
        "a_file_is_read_where_the_agent_is",
        script([]),
        async |stage| {
            let session = stage.start(|command| command).await;
            let read = session.control().read_file("notes.txt").await.unwrap();
            stage.note(format!("{:?}", read.contents));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn what_the_agent_does_not_know_it_refuses() {
    Stage::play(
        "what_the_agent_does_not_know_it_refuses",
        script([]),
        async |stage| {
            let session = stage.start(|command| command).await;
            let fields = Json::new(r#"{"volume":11}"#).unwrap();
            let error = session
                .control()
                .control("turn_up", &fields)
                .await
                .unwrap_err();
            let towline_host::Error::Refused { failure, .. } = &error else {
                panic!("{error}")
            };
            stage.note(format!("refused: {:?}", failure.error_code));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn files_are_put_back() {
    let edit = Reply::message().tool(
        "Edit",
        json!({"file_path": "notes.txt", "old_string": "two", "new_string": "2"}),
    );
    let replies = script([edit, Reply::text("Changed.")]);
    Stage::play("files_are_put_back", replies, async |stage| {
        let mut session = stage
            .start(|command| {
                command
                    .file_checkpointing()
                    .permission_mode(&PermissionMode::AcceptEdits)
            })
            .await;
        let uuid = Uuid::from("44444444-4444-4444-8444-444444444444");
        session
            .send(Prompt::from("change the notes").uuid(uuid.clone()))
            .await
            .unwrap();
        stage
            .until_result(&mut session, |event| {
                if let Event::Permission(permission) = event {
                    permission.allow();
                }
            })
            .await;
        let preview = session.control().preview_rewind(&uuid).await.unwrap();
        stage.note(format!(
            "can be put back: {:?}, {:?} files",
            preview.can_rewind,
            preview.files_changed.map(|files| files.len())
        ));
        let done = session.control().rewind_files(&uuid).await.unwrap();
        stage.note(format!("put back: {:?}", done.can_rewind));
        stage.if_real(|cli, _| {
            assert_eq!(
                std::fs::read_to_string(cli.project().join("notes.txt")).unwrap(),
                "one\ntwo\n"
            );
        });
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_question_beside_the_conversation() {
    let replies = script([Reply::text("Hello."), Reply::text("Beside.")]);
    Stage::play(
        "a_question_beside_the_conversation",
        replies,
        async |stage| {
            let mut session = stage.start(|command| command).await;
            stage.turn(&mut session, "hello", drop).await;
            let answer = session
                .control()
                .side_question("by the way?")
                .await
                .unwrap();
            stage.note(format!("{:?}", answer.response));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn the_session_is_ended_by_request() {
    let replies = script([Reply::text("Hello.")]);
    Stage::play("the_session_is_ended_by_request", replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage.turn(&mut session, "hello", drop).await;
        session.control().end_session().await.unwrap();
        stage.until_event(&mut session, "ended").await;
    })
    .await;
}
