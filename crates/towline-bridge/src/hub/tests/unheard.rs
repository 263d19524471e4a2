//! What an agent has not begun with, or has not ended: it is not lost with the agent, and never runs twice.

use serde_json::json;
use towline_protocol::dialect::pocket::{BridgeId, Status};

use super::scene::{Scene, input, result, text_delta};
use crate::{
    Input, NoteCode,
    hub::{AgentEvent, Command, Control, Reply},
};

/// Says something under a name that the agent can speak of.
fn say(scene: &mut Scene, session: &BridgeId, name: &str) -> Reply {
    let input = Input {
        uuid: Some(name.into()),
        ..input(name, Some(name))
    };
    scene.command(Command::Input(session.clone(), input))
}

fn lifecycle(scene: &mut Scene, session: &BridgeId, name: &str, state: &str) {
    let line = json!({"type": "command_lifecycle", "command_uuid": name, "state": state});
    scene.line(session, &line);
}

fn unheard(scene: &mut Scene, session: &BridgeId) -> Vec<u64> {
    match scene.command(Command::Describe(session.clone())) {
        Reply::Session(description) => description.record.unheard,
        other => panic!("{other:?}"),
    }
}

fn died() -> AgentEvent {
    AgentEvent::Ended {
        how: "signal 9".into(),
        wanted: false,
    }
}

/// A session whose agent is at work on `one` and has not begun with `two`.
fn busy(scene: &mut Scene) -> BridgeId {
    let session = scene.started();
    for name in ["one", "two"] {
        say(scene, &session, name);
        lifecycle(scene, &session, name, "queued");
    }
    lifecycle(scene, &session, "one", "started");
    scene.line(&session, &text_delta("a"));
    assert_eq!(unheard(scene, &session), [2]);
    session
}

#[test]
fn what_an_agent_had_not_begun_with_when_it_died_goes_to_the_next() {
    let mut scene = Scene::new();
    let session = busy(&mut scene);
    scene.agent(&session, died());
    assert_eq!(
        scene.notes(&session),
        [NoteCode::AgentDied, NoteCode::Unheard]
    );
    assert_eq!(scene.status(&session), Status::Dead);
    scene.orders.clear();
    say(&mut scene, &session, "three");
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(
        scene.sent(),
        ["two", "three"],
        "in their order, and not one"
    );
    for name in ["two", "three"] {
        lifecycle(&mut scene, &session, name, "started");
    }
    assert!(unheard(&mut scene, &session).is_empty());
}

#[test]
fn whoever_sends_again_what_was_not_heard_starts_the_agent_and_it_runs_once() {
    let mut scene = Scene::new();
    let session = busy(&mut scene);
    scene.agent(&session, died());
    scene.orders.clear();
    let again = say(&mut scene, &session, "two");
    assert!(
        matches!(
            again,
            Reply::Accepted {
                seq: 2,
                repeated: true,
                ..
            }
        ),
        "{again:?}"
    );
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(scene.sent(), ["two"]);
    let run = say(&mut scene, &session, "one");
    assert!(matches!(run, Reply::Accepted { repeated: true, .. }));
    assert_eq!(scene.sent(), ["two"], "the agent had begun with that one");
}

#[test]
fn after_a_restart_what_was_not_heard_is_told_of_and_may_be_sent_again() {
    let mut scene = Scene::new();
    let session = busy(&mut scene);
    let mut scene = scene.restarted(&[]);
    assert_eq!(scene.notes(&session), [NoteCode::CutOff, NoteCode::Dropped]);
    assert!(unheard(&mut scene, &session).is_empty());
    let mut scene = scene.restarted(&[]);
    assert!(scene.notes(&session).is_empty(), "it is told once");
    let again = say(&mut scene, &session, "two");
    assert!(matches!(
        again,
        Reply::Accepted {
            repeated: false,
            ..
        }
    ));
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(scene.sent(), ["two"]);
    let run = say(&mut scene, &session, "one");
    assert!(matches!(run, Reply::Accepted { repeated: true, .. }));
}

#[test]
fn an_agent_that_cannot_be_started_takes_nothing_along_through_a_restart() {
    let mut scene = Scene::new();
    let session = scene.start();
    say(&mut scene, &session, "one");
    scene.agent(&session, AgentEvent::StartFailed("no such file".into()));
    let scene = scene.restarted(&[]);
    assert_eq!(scene.notes(&session), [NoteCode::Dropped]);
}

#[test]
fn what_was_stopped_before_it_began_runs_if_it_is_sent_again() {
    for is_stop in [true, false] {
        let mut scene = Scene::new();
        let session = if is_stop {
            busy(&mut scene)
        } else {
            let session = scene.start();
            say(&mut scene, &session, "two");
            session
        };
        scene.command(match is_stop {
            true => Command::Stop(session.clone()),
            false => Command::Control(session.clone(), Control::Interrupt),
        });
        assert!(scene.notes(&session).contains(&NoteCode::Dropped));
        assert!(unheard(&mut scene, &session).is_empty());
        scene
            .orders
            .retain(|(_, _, order)| matches!(order, crate::hub::Order::Start(_)));
        let again = say(&mut scene, &session, "two");
        assert!(matches!(
            again,
            Reply::Accepted {
                repeated: false,
                ..
            }
        ));
        scene.agent(&session, AgentEvent::Started(None));
        assert_eq!(scene.sent(), ["two"]);
    }
}

#[test]
fn an_agent_that_does_not_say_with_what_it_begins_has_begun_once_it_speaks() {
    let mut scene = Scene::new();
    let session = scene.started();
    say(&mut scene, &session, "one");
    assert_eq!(unheard(&mut scene, &session), [1]);
    scene.line(&session, &result());
    assert!(unheard(&mut scene, &session).is_empty());
    scene.agent(&session, died());
    assert_eq!(scene.notes(&session), [NoteCode::AgentDied]);
}

#[test]
fn an_agent_with_something_to_do_is_not_put_to_sleep() {
    let mut scene = Scene::new();
    let session = busy(&mut scene);
    scene.line(&session, &result());
    assert_eq!(scene.status(&session), Status::Idle, "between two turns");
    scene.hub.handle_timeout(u64::MAX);
    scene.drain();
    assert!(scene.closed().is_empty());
}

#[test]
fn an_agent_with_something_in_the_background_is_not_put_to_sleep() {
    let mut scene = Scene::new();
    let session = scene.started();
    for (tasks, is_kept) in [(json!([{"task_id": "b1"}]), true), (json!([]), false)] {
        let line = json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks});
        scene.line(&session, &line);
        scene.line(&session, &result());
        scene.hub.handle_timeout(u64::MAX);
        scene.drain();
        assert_eq!(scene.closed().is_empty(), is_kept);
    }
}

#[test]
fn only_the_latest_inputs_are_remembered() {
    let mut scene = Scene::new();
    let session = scene.started();
    for number in 0..1100 {
        let name = format!("m{number}");
        say(&mut scene, &session, &name);
        scene.line(&session, &result());
    }
    let repeated = |reply: Reply| matches!(reply, Reply::Accepted { repeated: true, .. });
    assert!(repeated(say(&mut scene, &session, "m1099")));
    assert!(repeated(say(&mut scene, &session, "m100")));
    assert!(!repeated(say(&mut scene, &session, "m0")));
}
