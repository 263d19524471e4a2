//! The permission mode is the one that the agent is in, whoever changed it.

use serde_json::json;
use towline_protocol::dialect::pocket::BridgeId;

use super::scene::Scene;
use crate::{
    NoteCode,
    hub::{AgentEvent, Change, Command, Control, Order, Reply},
};

fn status(mode: &str) -> serde_json::Value {
    json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode, "session_id": "s"})
}

fn init(mode: &str) -> serde_json::Value {
    json!({"type": "system", "subtype": "init", "permissionMode": mode, "session_id": "s", "cwd": "/", "tools": []})
}

fn set_mode(session: &BridgeId, mode: &str) -> Command {
    Command::Control(session.clone(), Control::SetMode(mode.into()))
}

fn mode_orders(scene: &Scene) -> Vec<String> {
    let orders = scene.orders.iter().filter_map(|(_, _, order)| match order {
        Order::Control(Control::SetMode(mode), _) => Some(mode.to_string()),
        _ => None,
    });
    orders.collect()
}

#[test]
fn a_mode_that_an_approved_plan_leads_to_is_shown_and_kept_for_the_next_start() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.line(&session, &init("plan"));
    assert_eq!(scene.mode(&session).as_deref(), Some("plan"));
    assert_eq!(scene.notes(&session), [], "nothing has changed");
    scene.line(&session, &status("acceptEdits"));
    assert_eq!(scene.mode(&session).as_deref(), Some("acceptEdits"));
    assert_eq!(scene.notes(&session), [NoteCode::ModeChanged]);
    scene.line(&session, &init("acceptEdits"));
    assert_eq!(scene.notes(&session), [NoteCode::ModeChanged], "once");

    let mut scene = scene.restarted(&[]);
    scene.say(&session, "go on", "one");
    let mode = scene.last_setup().permission_mode;
    assert_eq!(mode, Some("acceptEdits".into()));
}

#[test]
fn one_name_of_a_mode_for_another_is_no_change() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.line(&session, &status("manual"));
    scene.line(&session, &init("default"));
    assert_eq!(scene.notes(&session), [NoteCode::ModeChanged]);
}

#[test]
fn what_an_agent_says_since_it_was_asked_for_a_mode_counts() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.ask(set_mode(&session, "plan"));
    scene.line(&session, &status("plan"));
    scene.line(&session, &status("acceptEdits"));
    // That it has done what it was asked for comes by another way, and may come late.
    let late = AgentEvent::Changed(Change::Mode("plan".into()));
    scene.agent(&session, late);
    assert_eq!(scene.mode(&session).as_deref(), Some("acceptEdits"));
    // An agent that says nothing has done it all the same.
    scene.ask(set_mode(&session, "plan"));
    let done = AgentEvent::Changed(Change::Mode("plan".into()));
    scene.agent(&session, done);
    assert_eq!(scene.mode(&session).as_deref(), Some("plan"));
}

#[test]
fn a_mode_set_while_the_agent_starts_reaches_it_before_the_next_message_and_is_told_when_it_is_so()
{
    let mut scene = Scene::new();
    let session = scene.start();
    let ticket = scene.ask(set_mode(&session, "plan"));
    scene.say(&session, "hello", "one");
    assert!(scene.reply(ticket).is_none(), "nothing is done yet");
    assert_eq!(scene.mode(&session), None);
    scene.agent(&session, AgentEvent::Started(None));
    let last = scene.orders.iter().rev().take(2).map(|(_, _, order)| order);
    let [Order::Send(_), Order::Control(Control::SetMode(mode), told)] =
        last.collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", scene.orders);
    };
    assert_eq!((mode.as_str(), *told), ("plan", ticket));
    assert_eq!(mode_orders(&scene), ["plan"]);
}

#[test]
fn who_set_a_mode_of_an_agent_that_could_not_be_started_is_told() {
    let mut scene = Scene::new();
    let session = scene.start();
    let ticket = scene.ask(set_mode(&session, "plan"));
    scene.agent(&session, AgentEvent::StartFailed("no such program".into()));
    let reply = scene.reply(ticket);
    assert!(
        matches!(&reply, Some(Reply::Refused(why)) if why.to_string().contains("no such program")),
        "{reply:?}"
    );
}
