//! The agent gets what clients want in the order in which they wanted it, however long the log takes.

use super::scene::{Scene, assistant, input};
use crate::{
    NoteCode,
    hub::{AgentEvent, Command, Control, Order, Reply},
};

/// What the agent was given, in order.
fn given(scene: &Scene) -> Vec<&'static str> {
    let orders = scene.orders.iter().map(|(_, _, order)| match order {
        Order::Start(_) => "start",
        Order::Send(_) | Order::SendStored(_) => "input",
        Order::Answer(..) => "answer",
        Order::Control(Control::Interrupt, _) => "interrupt",
        Order::Control(..) => "control",
        Order::Close => "close",
    });
    orders.collect()
}

#[test]
fn a_stop_does_not_overtake_an_input_that_is_still_being_written() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.orders.clear();
    scene.auto_write = false;
    scene.say(&session, "delete everything", "one");
    scene.ask(Command::Control(session.clone(), Control::Interrupt));
    let mode = Control::SetMode("plan".into());
    scene.ask(Command::Control(session.clone(), mode));
    scene.say(&session, "look first", "two");
    scene.ask(Command::Control(session.clone(), Control::Interrupt));
    assert!(given(&scene).is_empty(), "nothing is written yet");
    scene.write_all();
    let wanted = ["input", "interrupt", "control", "input", "interrupt"];
    assert_eq!(given(&scene), wanted);
}

#[test]
fn a_stop_waits_for_no_frame_that_is_not_for_the_agent() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.say(&session, "think", "one");
    scene.orders.clear();
    scene.auto_write = false;
    scene.line(&session, &assistant("I think"));
    scene.ask(Command::Control(session.clone(), Control::Interrupt));
    assert_eq!(given(&scene), ["interrupt"]);
}

#[test]
fn a_stop_does_not_wait_for_a_log_that_cannot_be_written() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.orders.clear();
    scene.auto_write = false;
    scene.say(&session, "look first", "one");
    scene.ask(Command::Control(session.clone(), Control::Interrupt));
    scene.hub.handle_trouble(Some("disk full".into()), 5);
    scene.drain();
    assert_eq!(given(&scene), ["interrupt"]);
    scene.ask(Command::Control(session.clone(), Control::Interrupt));
    assert_eq!(given(&scene), ["interrupt", "interrupt"]);
    scene.hub.handle_trouble(None, 6);
    scene.write_all();
    assert_eq!(given(&scene), ["interrupt", "interrupt", "input"]);
}

#[test]
fn a_stop_waits_with_the_input_before_it_for_what_was_said_elsewhere() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.agent(&session, AgentEvent::SessionId("s-1".into()));
    scene.say(&session, "hello", "one");
    let ended = AgentEvent::Ended {
        how: "gone".into(),
        wanted: true,
    };
    scene.agent(&session, ended);
    scene.orders.clear();
    scene.looks_later = true;
    let said = scene.ask(Command::Input(session.clone(), input("go on", None)));
    let stopped = scene.ask(Command::Control(session.clone(), Control::Interrupt));
    assert!(scene.reply(stopped).is_none(), "it waits");
    scene.look();
    scene.drain();
    let said = scene.reply(said);
    assert!(matches!(said, Some(Reply::Accepted { .. })), "{said:?}");
    let stopped = scene.reply(stopped);
    assert!(matches!(stopped, Some(Reply::Done(None))), "{stopped:?}");
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(given(&scene), ["start"], "what was stopped does not run");
    assert_eq!(scene.notes(&session), [NoteCode::Dropped]);
}
