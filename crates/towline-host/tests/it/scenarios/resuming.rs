//! Sessions that are continued, forked and cut.

use std::sync::Mutex;

use towline_host::{SessionId, ToHost, Uuid};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn two_replies() -> towline_testkit::script_api::Script {
    script([Reply::text("First."), Reply::text("Second.")])
}

/// What the API was sent last.
fn last_request(stage: &Stage, check: impl FnOnce(&str)) {
    stage.if_real(|_, api| check(&api.requests().last().unwrap().body()["messages"].to_string()));
}

#[tokio::test]
async fn a_session_gets_its_id_and_is_resumed() {
    Stage::play(
        "a_session_gets_its_id_and_is_resumed",
        two_replies(),
        async |stage| {
            let id = SessionId::from(ID);
            let mut session = stage.start(|command| command.session_id(&id)).await;
            stage.turn(&mut session, "one", drop).await;
            assert_eq!(session.id(), Some(&id));
            stage.close(session).await;
            let mut session = stage.start(|command| command.resume(ID)).await;
            stage.turn(&mut session, "two", drop).await;
            assert_eq!(session.id(), Some(&id));
            last_request(stage, |messages| assert!(messages.contains("First.")));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn the_latest_session_is_continued() {
    Stage::play(
        "the_latest_session_is_continued",
        two_replies(),
        async |stage| {
            let id = SessionId::from(ID);
            let mut session = stage.start(|command| command.session_id(&id)).await;
            stage.turn(&mut session, "one", drop).await;
            stage.close(session).await;
            let mut session = stage
                .start(towline_host::AgentCommand::continue_latest)
                .await;
            stage.turn(&mut session, "two", drop).await;
            assert_eq!(session.id(), Some(&id));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_fork_has_an_id_of_its_own() {
    Stage::play(
        "a_fork_has_an_id_of_its_own",
        two_replies(),
        async |stage| {
            let id = SessionId::from(ID);
            let mut session = stage.start(|command| command.session_id(&id)).await;
            stage.turn(&mut session, "one", drop).await;
            stage.close(session).await;
            let mut session = stage.start(|command| command.resume(ID).fork()).await;
            assert_eq!(session.id(), None);
            stage.turn(&mut session, "two", drop).await;
            assert_ne!(session.id().unwrap(), &id);
            last_request(stage, |messages| assert!(messages.contains("First.")));
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_session_is_resumed_at_a_message() {
    let replies = script([
        Reply::text("First."),
        Reply::text("Second."),
        Reply::text("Another second."),
    ]);
    Stage::play(
        "a_session_is_resumed_at_a_message",
        replies,
        async |stage| {
            let id = SessionId::from(ID);
            let mut session = stage.start(|command| command.session_id(&id)).await;
            let place: Mutex<Option<Uuid>> = Mutex::default();
            stage
                .turn(&mut session, "one", |event| {
                    if let towline_host::Event::Message(frame) = event
                        && let ToHost::Assistant(line) = &frame.message
                    {
                        *place.lock().unwrap() = line.uuid.clone();
                    }
                })
                .await;
            stage.turn(&mut session, "two", drop).await;
            stage.close(session).await;
            let place = place.lock().unwrap().clone().unwrap();
            let mut session = stage
                .start(|command| command.resume(ID).resume_at(&place))
                .await;
            stage.turn(&mut session, "two again", drop).await;
            last_request(stage, |messages| {
                assert!(
                    messages.contains("First.") && !messages.contains("Second."),
                    "{messages}"
                );
            });
            stage.close(session).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_session_that_is_not_there() {
    Stage::play("a_session_that_is_not_there", script([]), async |stage| {
        let started = stage.try_start(|command| command.resume(ID)).await;
        let error = match started {
            Err(error) => error,
            Ok(mut session) => session.ask("hello").await.unwrap_err(),
        };
        stage.note(match error {
            towline_host::Error::Ended(_) => "the agent ended",
            towline_host::Error::Turn(_) => "the turn failed",
            _ => "something else",
        });
    })
    .await;
}
