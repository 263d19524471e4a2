//! What happens around the start of an agent: stopped inputs, limits that last, agents that remember nothing.

use towline_protocol::dialect::pocket::Status;

use super::scene::{Scene, input, result};
use crate::{
    NoteCode,
    hub::{AgentEvent, Command, Control, From, Refusal, Reply, Setup, SetupOptions},
};

#[test]
fn a_stop_while_the_agent_starts_drops_what_waits_for_it_and_says_so() {
    let mut scene = Scene::new();
    let session = scene.start();
    scene.say(&session, "delete everything", "one");
    let stopped = scene.command(Command::Control(session.clone(), Control::Interrupt));
    assert!(matches!(stopped, Reply::Done(None)), "{stopped:?}");
    assert_eq!(scene.notes(&session), [NoteCode::Dropped]);
    scene.agent(&session, AgentEvent::Started(None));
    assert!(scene.sent().is_empty(), "{:?}", scene.orders);
    assert_eq!(scene.status(&session), Status::Idle);
    scene.say(&session, "look first", "two");
    assert_eq!(scene.sent(), ["look first"]);
}

#[test]
fn a_session_stopped_while_its_agent_starts_does_not_run_what_waited_when_it_is_opened_again() {
    let mut scene = Scene::new();
    let session = scene.start();
    scene.say(&session, "delete everything", "one");
    scene.command(Command::Stop(session.clone()));
    scene.say(&session, "look first", "two");
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(scene.sent(), ["look first"]);
}

#[test]
fn the_limits_of_a_session_are_those_it_was_started_with_after_a_restart_too() {
    let mut scene = Scene::new();
    let options = SetupOptions {
        effort: Some("low".into()),
        max_turns: Some(3),
        max_budget_usd: Some(0.5),
        fallback_model: Some("small".into()),
        forget: false,
    };
    let session = scene.start_with(options.clone());
    scene.agent(&session, AgentEvent::Started(None));
    let mut scene = scene.restarted(&[]);
    scene.say(&session, "go on", "one");
    assert_eq!(scene.last_setup().options, options);
}

#[test]
fn an_agent_that_keeps_no_transcript_never_sleeps_and_begins_anew_if_it_ends() {
    let mut scene = Scene::new();
    let forget = SetupOptions {
        forget: true,
        ..SetupOptions::default()
    };
    let session = scene.start_with(forget);
    scene.agent(&session, AgentEvent::Started(None));
    scene.agent(&session, AgentEvent::SessionId("s-1".into()));
    scene.say(&session, "hello", "one");
    scene.line(&session, &result());
    scene.hub.handle_timeout(u64::MAX);
    scene.drain();
    assert!(scene.closed().is_empty(), "it would forget everything");
    let refused = scene.command(Command::Rewind(session.clone(), "u1".into()));
    assert!(
        matches!(refused, Reply::Refused(Refusal::Unfit(_))),
        "{refused:?}"
    );

    let ended = AgentEvent::Ended {
        how: "signal 9".into(),
        wanted: false,
    };
    scene.agent(&session, ended);
    assert_eq!(scene.status(&session), Status::Dead);
    scene.say(&session, "again", "two");
    assert_eq!(scene.last_setup().from, From::Nothing, "nothing to resume");
    let notes = scene.notes(&session);
    assert_eq!(notes, [NoteCode::AgentDied, NoteCode::Forgotten]);
}

#[test]
fn two_clients_that_go_on_with_one_session_get_the_same_and_one_agent() {
    let mut scene = Scene::new();
    let resume = |id: u32, fork| {
        let setup = Setup {
            agent: "fake".into(),
            directory: "/project".into(),
            from: From::Session {
                id: "s-1".into(),
                fork,
                at: None,
            },
            ..Setup::default()
        };
        Command::Start(
            towline_protocol::dialect::pocket::BridgeId::from_bits(id),
            Box::new(setup),
        )
    };
    let id = |reply: Reply| match reply {
        Reply::Session(description) => description.record.id,
        other => panic!("{other:?}"),
    };
    let first = id(scene.command(resume(7, false)));
    scene.command(Command::Stop(first.clone()));
    let second = scene.command(resume(8, false));
    assert!(matches!(&second, Reply::Session(found) if !found.record.archived));
    assert_eq!(id(second), first);
    let copy = id(scene.command(resume(9, true)));
    assert_ne!(copy, first, "a copy is another session");
    let refused = scene.command(Command::Input(first.clone(), input("hello", None)));
    assert!(matches!(refused, Reply::Accepted { .. }), "{refused:?}");
}
