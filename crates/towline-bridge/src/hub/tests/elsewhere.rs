//! What was said elsewhere is taken in before something new is said, and when somebody opens the session.

use towline_protocol::{Text, dialect::pocket::BridgeId};

use super::scene::{Scene, assistant, input};
use crate::{
    Kind, NoteCode,
    hub::{AgentEvent, Command, Item, Reply, Scope},
};

/// A session whose agent sleeps, and what was said in it elsewhere.
fn continued(scene: &mut Scene, lines: usize) -> BridgeId {
    let session = scene.started();
    scene.agent(&session, AgentEvent::SessionId("s-1".into()));
    scene.say(&session, "hello", "one");
    scene.line(&session, &assistant("done"));
    let ended = AgentEvent::Ended {
        how: "gone".into(),
        wanted: true,
    };
    scene.agent(&session, ended);
    let said = |number: usize| Text::from(assistant(&format!("turn {number}")).to_string());
    let lines: Vec<Text> = (0..lines).map(said).collect();
    scene.elsewhere = lines.chunks(200).map(<[Text]>::to_vec).collect();
    session
}

#[test]
fn all_that_was_said_elsewhere_is_there_before_the_next_input_is_numbered() {
    let mut scene = Scene::new();
    let session = continued(&mut scene, 1_000);
    let before = scene.frames(&session).len();
    let reply = scene.command(Command::Input(session.clone(), input("go on", None)));
    let frames = scene.frames(&session);
    assert_eq!(
        frames.len(),
        before + 1 + 1_000 + 1,
        "a note, all, the input"
    );
    assert_eq!(frames[before].kind, Kind::Note);
    assert_eq!(scene.notes(&session), [NoteCode::TakenIn], "once");
    let last = frames.last().unwrap();
    assert_eq!(last.kind, Kind::Input);
    assert!(matches!(reply, Reply::Accepted { seq, .. } if seq == last.seq));
}

#[test]
fn who_opens_a_session_sees_what_was_said_elsewhere() {
    let mut scene = Scene::new();
    let session = continued(&mut scene, 3);
    let viewer = scene.viewer(Scope::Chosen);
    scene.attach(viewer, &session, 2);
    let shown = scene.take(viewer);
    let frames = shown
        .iter()
        .filter(|item| matches!(item, Item::Frame { .. }));
    assert_eq!(frames.count(), 4, "{shown:?}");

    let mut scene = Scene::new();
    let session = continued(&mut scene, 3);
    let described = scene.command(Command::Describe(session.clone()));
    assert!(
        matches!(&described, Reply::Session(found) if found.record.last_seq == 2 + 4),
        "{described:?}"
    );
}

#[test]
fn what_is_wanted_while_somebody_looks_waits_in_order_and_once() {
    let mut scene = Scene::new();
    let session = continued(&mut scene, 1);
    scene.looks_later = true;
    let first = scene.ask(Command::Input(session.clone(), input("go on", Some("a"))));
    let again = scene.ask(Command::Input(session.clone(), input("go on", Some("a"))));
    let described = scene.ask(Command::Describe(session.clone()));
    assert_eq!(scene.looking.len(), 1, "one looks for all");
    assert!(scene.reply(described).is_none() && scene.reply(first).is_none());
    scene.look();
    scene.drain();
    let seq = match scene.reply(first) {
        Some(Reply::Accepted { seq, .. }) => seq,
        other => panic!("{other:?}"),
    };
    assert_eq!(seq, 5);
    let again = scene.reply(again);
    assert!(
        matches!(
            again,
            Some(Reply::Accepted {
                seq: 5,
                repeated: true,
                ..
            })
        ),
        "{again:?}"
    );
    assert!(scene.reply(described).is_some());
}

#[test]
fn nobody_waits_for_what_cannot_be_taken_in_while_the_log_cannot_be_written() {
    let mut scene = Scene::new();
    let session = continued(&mut scene, 1);
    scene.looks_later = true;
    let described = scene.ask(Command::Describe(session.clone()));
    scene.hub.handle_trouble(Some("disk full".into()), 5);
    scene.drain();
    assert!(matches!(scene.reply(described), Some(Reply::Session(_))));
    let again = scene.command(Command::Describe(session.clone()));
    assert!(matches!(again, Reply::Session(_)));
}
