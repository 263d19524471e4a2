//! Whatever happens in whatever order: each viewer that attaches, reads the log and takes its outbox has every frame
//! once and in order, and the text of the message in progress; each question ends once.

use proptest::prelude::*;
use towline_protocol::dialect::pocket::BridgeId;

use super::scene::{
    Scene, allow, assistant, deny, message_start, question, result, text_delta, text_start,
};
use crate::{
    Content, Frame, Kind, NoteCode,
    hub::{AgentEvent, Command, Item, Scope, ViewerId},
};

#[derive(Clone, Debug)]
enum Step {
    Say(u8),
    Delta(u8),
    Message,
    Result,
    Ask(u8),
    Answer(u8, bool),
    Withdraw(u8),
    Die,
    Take,
    Drop,
    WriteLater(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..20_u8).prop_map(Step::Say),
        8 => (1..200_u8).prop_map(Step::Delta),
        3 => Just(Step::Message),
        1 => Just(Step::Result),
        2 => (0..5_u8).prop_map(Step::Ask),
        2 => (0..5_u8, any::<bool>()).prop_map(|(id, yes)| Step::Answer(id, yes)),
        1 => (0..5_u8).prop_map(Step::Withdraw),
        1 => Just(Step::Die),
        4 => Just(Step::Take),
        1 => Just(Step::Drop),
        1 => any::<bool>().prop_map(Step::WriteLater),
    ]
}

/// A client: what it has of the session.
#[derive(Default)]
struct Client {
    seqs: Vec<u64>,
    text: String,
}

impl Client {
    fn last(&self) -> u64 {
        self.seqs.last().copied().unwrap_or(0)
    }

    /// Takes in what a viewer is shown, reads the log where it is told to.
    fn look(&mut self, scene: &mut Scene, viewer: ViewerId, session: &BridgeId) {
        loop {
            let items = scene.take(viewer);
            if items.is_empty() {
                return;
            }
            for item in items {
                match item {
                    Item::Frame { frame, .. } => self.frame(&frame),
                    Item::Delta { delta, .. } => {
                        // What it has already is left out; there is never a hole.
                        let have = self.text.encode_utf16().count() as u64;
                        assert!(delta.offset <= have, "a hole at {have}: {delta:?}");
                        let new = delta
                            .text()
                            .chars()
                            .skip(usize::try_from(have - delta.offset).unwrap())
                            .collect::<String>();
                        self.text.push_str(&new);
                    }
                    Item::Live { after, drafts, .. } => {
                        assert_eq!(after, self.last());
                        let blocks = drafts.first().map(|(_, draft)| &draft.blocks);
                        self.text = blocks
                            .and_then(|blocks| blocks.first())
                            .map(|block| block.text.clone())
                            .unwrap_or_default();
                    }
                    Item::Behind { after, .. } => {
                        assert!(after <= self.last());
                        // Only what is written can be read.
                        for frame in scene.frames(session) {
                            if frame.seq > self.last() {
                                self.frame(&frame);
                            }
                        }
                        scene.attach(viewer, session, self.last());
                    }
                    _ => {}
                }
            }
        }
    }

    fn frame(&mut self, frame: &Frame) {
        assert_eq!(frame.seq, self.last() + 1, "each once and in order");
        self.seqs.push(frame.seq);
        let died =
            matches!(frame.content(), Content::Note(note) if note.code == NoteCode::AgentDied);
        if frame.kind == Kind::Line || died {
            self.text.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_viewer_ends_with_the_same(steps in prop::collection::vec(step(), 1..120)) {
        let mut scene = Scene::new();
        let session = scene.started();
        let mut client = Client::default();
        let mut viewer = scene.viewer_with(Scope::Attached, 4_000);
        scene.attach(viewer, &session, 0);
        let mut is_streaming = false;
        let (mut wakes, mut asked) = (0, 0);
        let mut text = String::new();
        for step in steps {
            match step {
                Step::Say(id) => scene.say(&session, "words", &id.to_string()),
                Step::Delta(length) => {
                    if !is_streaming {
                        scene.line(&session, &message_start());
                        scene.line(&session, &text_start());
                        is_streaming = true;
                    }
                    let piece = "x".repeat(usize::from(length));
                    text.push_str(&piece);
                    scene.line(&session, &text_delta(&piece));
                }
                Step::Message => {
                    scene.line(&session, &assistant(&text));
                    (is_streaming, text) = (false, String::new());
                }
                Step::Result => {
                    scene.line(&session, &result());
                    (is_streaming, text) = (false, String::new());
                }
                Step::Ask(id) => {
                    asked += 1;
                    scene.agent(&session, AgentEvent::Asked(question(&format!("q{id}-{asked}"))));
                },
                Step::Answer(id, yes) => {
                    let open = open_question(&mut scene, &session, id);
                    if let Some(open) = open {
                        let decision = if yes { allow() } else { deny() };
                        scene.ask(Command::Answer { session: session.clone(), question: open, decision, by: "x".into() });
                    }
                }
                Step::Withdraw(id) => {
                    if let Some(open) = open_question(&mut scene, &session, id) {
                        scene.agent(&session, AgentEvent::Withdrawn(open, crate::Outcome::Cancelled));
                    }
                }
                Step::Die => {
                    scene.agent(&session, AgentEvent::Ended { how: "gone".into(), wanted: false });
                    wakes += 1;
                    scene.say(&session, "wake", &format!("wake-{wakes}"));
                    scene.agent(&session, AgentEvent::Started(None));
                    (is_streaming, text) = (false, String::new());
                }
                Step::Take => client.look(&mut scene, viewer, &session),
                Step::Drop => {
                    scene.hub.handle_leave(viewer);
                    viewer = scene.viewer_with(Scope::Attached, 4_000);
                    client.text.clear();
                    scene.attach(viewer, &session, client.last());
                }
                Step::WriteLater(later) => {
                    scene.auto_write = !later;
                    if !later {
                        scene.write_all();
                    }
                }
            }
        }
        scene.auto_write = true;
        scene.write_all();
        client.look(&mut scene, viewer, &session);
        let all: Vec<u64> = scene.frames(&session).iter().map(|frame| frame.seq).collect();
        prop_assert_eq!(&client.seqs, &all);
        if is_streaming {
            prop_assert_eq!(&client.text, &text);
        }
        let outcomes = scene.outcomes(&session);
        let mut ended: Vec<_> = outcomes.iter().map(|(id, _)| id).collect();
        ended.sort();
        ended.dedup();
        prop_assert_eq!(ended.len(), outcomes.len(), "a question that ended twice");
    }
}

fn open_question(scene: &mut Scene, session: &BridgeId, number: u8) -> Option<String> {
    let crate::hub::Reply::Session(description) = scene.command(Command::Describe(session.clone()))
    else {
        return None;
    };
    let open = description.questions;
    open.get(usize::from(number) % open.len().max(1))
        .map(|question| question.id.clone())
}
