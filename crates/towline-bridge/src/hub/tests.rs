//! The hub as its users see it: what is written, who is shown what, which answer wins.

mod elsewhere;
mod modes;
mod order;
mod random;
mod scene;
mod start_up;
mod unheard;

use serde_json::json;
use towline_protocol::dialect::pocket::{BridgeId, Status};

use super::{
    AgentEvent, Change, Command, Control, Decision, From, Item, Order, Refusal, Remember, Reply,
    Scope,
};
use crate::{Kind, NoteCode, Outcome};
use scene::{
    Scene, allow, assistant, choices, deny, input, question, result, suggesting, text_delta,
    text_start,
};

#[test]
fn a_session_starts_its_agent_and_says_what_it_does_at_every_moment() {
    let mut scene = Scene::new();
    let session = scene.start();
    assert_eq!(scene.status(&session), Status::Starting);
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(scene.status(&session), Status::Idle);
    scene.say(&session, "hello", "one");
    assert_eq!(
        scene.status(&session),
        Status::Running,
        "from the input on, not from the first answer"
    );
    scene.agent(&session, AgentEvent::Asked(question("q1")));
    assert_eq!(scene.status(&session), Status::WaitingApproval);
    scene.answer(&session, "q1", allow());
    assert_eq!(scene.status(&session), Status::Running);
    scene.line(&session, &result());
    assert_eq!(scene.status(&session), Status::Idle);
    scene.agent(
        &session,
        AgentEvent::Ended {
            how: "killed".into(),
            wanted: false,
        },
    );
    assert_eq!(
        scene.status(&session),
        Status::Dead,
        "also an agent that had nothing to do"
    );
}

#[test]
fn an_agent_that_dies_at_work_is_dead_its_question_is_over_and_the_next_input_resumes() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.agent(&session, AgentEvent::SessionId("s-1".into()));
    scene.say(&session, "hello", "one");
    scene.agent(&session, AgentEvent::Asked(question("q1")));
    scene.agent(
        &session,
        AgentEvent::Ended {
            how: "signal 9".into(),
            wanted: false,
        },
    );
    assert_eq!(scene.status(&session), Status::Dead);
    assert_eq!(
        scene.outcomes(&session),
        [("q1".to_owned(), Outcome::AgentEnded)]
    );
    assert_eq!(scene.notes(&session), [NoteCode::AgentDied]);

    scene.orders.clear();
    scene.say(&session, "again", "two");
    assert_eq!(scene.status(&session), Status::Starting);
    let resumed = scene.orders.iter().any(|(_, _, order)| {
        matches!(order, Order::Start(setup) if matches!(&setup.from, From::Session { id, fork: false, .. } if id == "s-1"))
    });
    assert!(resumed, "{:?}", scene.orders);
    scene.agent(&session, AgentEvent::Started(None));
    assert_eq!(
        scene.sent(),
        ["again"],
        "what was said meanwhile is delivered once the agent is there"
    );
}

#[test]
fn what_an_earlier_run_of_the_agent_says_does_not_count() {
    let mut scene = Scene::new();
    let session = scene.started();
    let earlier = scene.run(&session);
    scene.command(Command::Stop(session.clone()));
    scene.say(&session, "hello", "one");
    let before = scene.frames(&session).len();
    scene
        .hub
        .handle_agent(&session, earlier, AgentEvent::Asked(question("late")), 9);
    scene.drain();
    assert_eq!(scene.frames(&session).len(), before);
}

#[test]
fn nobody_sees_a_frame_before_it_is_written_and_what_follows_waits_behind_it() {
    let mut scene = Scene::new();
    let session = scene.started();
    let viewer = scene.viewer(Scope::Everything);
    scene.line(&session, &text_start());
    scene.take(viewer);
    scene.auto_write = false;
    scene.line(&session, &assistant("done"));
    scene.line(&session, &text_start());
    scene.line(&session, &text_delta("next"));
    assert!(scene.take(viewer).is_empty());
    scene.write_all();
    let kinds: Vec<_> = scene.take(viewer).iter().map(kind).collect();
    assert_eq!(kinds, ["frame", "delta", "other"], "the last is the list's");
}

#[test]
fn an_input_sent_twice_runs_once() {
    let mut scene = Scene::new();
    let session = scene.started();
    let first = scene.command(Command::Input(session.clone(), input("hello", Some("one"))));
    let again = scene.command(Command::Input(session.clone(), input("hello", Some("one"))));
    assert!(
        matches!(
            first,
            Reply::Accepted {
                seq: 1,
                repeated: false,
                ..
            }
        ),
        "{first:?}"
    );
    assert!(
        matches!(
            again,
            Reply::Accepted {
                seq: 1,
                repeated: true,
                ..
            }
        ),
        "{again:?}"
    );
    assert_eq!(scene.sent(), ["hello"]);
}

#[test]
fn of_two_answers_to_one_question_the_first_wins_and_the_second_is_told() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.agent(&session, AgentEvent::Asked(question("q1")));
    let first = scene.answer(&session, "q1", allow());
    let second = scene.answer(&session, "q1", deny());
    assert!(matches!(first, Reply::Done(None)));
    assert!(
        matches!(&second, Reply::Refused(Refusal::Over(over)) if over.outcome == Outcome::Allowed),
        "{second:?}"
    );
    let answers = scene
        .orders
        .iter()
        .filter(|(_, _, order)| matches!(order, Order::Answer(..)));
    assert_eq!(answers.count(), 1);
    let unknown = scene.answer(&session, "q2", allow());
    assert!(matches!(unknown, Reply::Refused(Refusal::NoQuestion(_))));
}

#[test]
fn how_a_question_ended_is_written_with_who_answered() {
    let remembered = |remember| Decision::Allow {
        input: None,
        remember,
        mode: None,
        updates: None,
    };
    let cases = [
        (allow(), Outcome::Allowed),
        (remembered(Remember::Session), Outcome::AllowedForSession),
        (remembered(Remember::Saved), Outcome::AllowedAndSaved),
        (deny(), Outcome::Denied),
    ];
    let words = "neither".to_owned();
    let said = (choices("q1"), Decision::Say { words }, Outcome::Answered);
    let cases = cases.map(|(decision, outcome)| (suggesting("q1"), decision, outcome));
    for (question, decision, outcome) in cases.into_iter().chain([said]) {
        let mut scene = Scene::new();
        let session = scene.started();
        scene.agent(&session, AgentEvent::Asked(question));
        scene.answer(&session, "q1", decision);
        let frame = scene.frames(&session).pop().unwrap();
        let body: serde_json::Value = serde_json::from_str(&frame.body).unwrap();
        assert_eq!(frame.kind, Kind::Answer);
        assert_eq!(body["outcome"], json!(outcome));
        assert_eq!(body["by"], "tester");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_the_question_stays_open() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.agent(&session, AgentEvent::Asked(question("q1")));
    let before = scene.frames(&session).len();
    let words = "go on".to_owned();
    let refused = scene.answer(&session, "q1", Decision::Say { words });
    assert!(
        matches!(refused, Reply::Refused(Refusal::Unfit(_))),
        "{refused:?}"
    );
    assert_eq!(scene.frames(&session).len(), before);
    let answered = |scene: &Scene| {
        let orders = scene.orders.iter();
        orders
            .filter(|(_, _, order)| matches!(order, Order::Answer(..)))
            .count()
    };
    assert_eq!(answered(&scene), 0);
    scene.answer(&session, "q1", deny());
    assert_eq!(answered(&scene), 1);
}

#[test]
fn a_viewer_that_has_everything_gets_the_message_in_progress_and_then_live() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.say(&session, "hello", "one");
    scene.line(&session, &text_start());
    scene.line(&session, &text_delta("Grüß "));
    let viewer = scene.viewer(Scope::Chosen);
    scene.attach(viewer, &session, 1);
    scene.line(&session, &text_delta("dich"));
    let items = scene.take(viewer);
    let [
        Item::Live {
            after: 1,
            drafts,
            status,
            ..
        },
        Item::Delta { delta, .. },
    ] = items.as_slice()
    else {
        panic!("{items:?}")
    };
    assert_eq!(*status, Status::Running);
    assert_eq!(drafts[0].1.blocks[0].text, "Grüß ");
    assert_eq!((delta.offset, delta.end), (5, 9), "in UTF-16 code units");
}

#[test]
fn a_viewer_that_has_not_everything_is_sent_to_the_log() {
    let mut scene = Scene::new();
    let session = scene.started();
    for number in 0..5 {
        scene.say(&session, "hello", &number.to_string());
    }
    let viewer = scene.viewer(Scope::Chosen);
    scene.attach(viewer, &session, 2);
    assert!(matches!(
        scene.take(viewer)[..],
        [Item::Behind {
            after: 2,
            gap: false,
            ..
        }]
    ));
    scene.attach(viewer, &session, 99);
    let items = scene.take(viewer);
    assert!(
        matches!(
            items[..],
            [Item::Behind {
                after: 0,
                gap: true,
                ..
            }]
        ),
        "a number that was never given means that all is to be shown anew: {items:?}"
    );
}

#[test]
fn a_slow_viewer_gets_merged_deltas_then_falls_behind_and_the_others_lose_nothing() {
    let mut scene = Scene::new();
    let session = scene.started();
    let slow = scene.viewer_with(Scope::Everything, 64 << 10);
    let quick = scene.viewer_with(Scope::Everything, 64 << 10);
    scene.line(&session, &text_start());
    let mut seen = String::new();
    for number in 0..5_000 {
        scene.line(&session, &text_delta(&format!("word {number} ")));
        seen.extend(scene.take(quick).iter().map(delta_text));
        if number == 10 {
            let items = scene.take(slow);
            assert_eq!(
                items.iter().filter(|item| kind(item) == "delta").count(),
                1,
                "merged"
            );
        }
    }
    assert!(seen.ends_with("word 4999 ") && seen.starts_with("word 0 "));
    scene.line(&session, &assistant("all of it"));
    let items = scene.take(slow);
    assert!(
        matches!(
            items[..],
            [
                Item::Session(_),
                Item::Behind {
                    after: 0,
                    gap: true,
                    ..
                }
            ]
        ),
        "{items:?}"
    );
    scene.line(&session, &result());
    assert!(
        scene.take(slow).iter().all(|item| kind(item) == "other"),
        "nothing until it attaches again"
    );
    scene.attach(slow, &session, 2);
    assert_eq!(kind(&scene.take(slow)[0]), "live");
}

#[test]
fn what_is_told_of_sessions_counts_in_the_queue_of_a_viewer() {
    let mut scene = Scene::new();
    let session = scene.started();
    let slow = scene.viewer_with(Scope::Chosen, 64 << 10);
    for number in 0..2_000 {
        let title = Some(format!("{number} {}", "x".repeat(150)));
        scene.command(Command::Rename(session.clone(), title));
    }
    let items = scene.take(slow);
    assert!(items.len() < 200, "{} items wait", items.len());
    let titles = items.iter().filter_map(|item| match item {
        Item::Session(record) => record.title.clone(),
        _ => None,
    });
    assert!(titles.last().unwrap().starts_with("1999 "));
}

#[test]
fn after_a_restart_numbers_go_on_and_what_was_open_is_cancelled() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.say(&session, "hello", "one");
    scene.agent(&session, AgentEvent::Asked(question("q1")));
    let last = scene.frames(&session).last().unwrap().seq;

    let mut scene = scene.restarted(&[question("q1")]);
    assert_eq!(scene.status(&session), Status::Dead);
    let frames = scene.frames(&session);
    assert_eq!(frames[0].seq, last + 1);
    assert_eq!(
        scene.outcomes(&session),
        [("q1".to_owned(), Outcome::Cancelled)]
    );
    assert_eq!(scene.notes(&session), [NoteCode::CutOff]);
    let again = scene.command(Command::Input(session.clone(), input("hello", Some("one"))));
    assert!(
        matches!(again, Reply::Accepted { repeated: true, .. }),
        "{again:?}"
    );
}

#[test]
fn an_answer_says_what_was_accepted_with_it_and_nothing_else() {
    let mut scene = Scene::new();
    let session = scene.started();
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}], "behavior": "allow",
        "destination": "session"});
    for (id, remember, accepted) in [
        ("q1", Remember::Once, json!([])),
        ("q2", Remember::Session, json!([rule])),
    ] {
        scene.agent(&session, AgentEvent::Asked(suggesting(id)));
        let decision = Decision::Allow {
            input: None,
            remember,
            mode: None,
            updates: None,
        };
        scene.answer(&session, id, decision);
        let frames = scene.frames(&session);
        let last = frames.iter().rfind(|frame| frame.kind == Kind::Answer);
        let body: serde_json::Value = serde_json::from_str(&last.unwrap().body).unwrap();
        let said = body.get("accepted").cloned().unwrap_or(json!([]));
        assert_eq!(said, accepted, "{id}");
    }
}

#[test]
fn while_the_log_cannot_be_written_nothing_new_is_taken_in_and_everyone_is_told() {
    let mut scene = Scene::new();
    let session = scene.started();
    let viewer = scene.viewer(Scope::Chosen);
    scene.hub.handle_trouble(Some("disk full".into()), 5);
    scene.drain();
    let refused = scene.command(Command::Input(session.clone(), input("hello", None)));
    assert!(matches!(&refused, Reply::Refused(Refusal::Busy(why)) if why.contains("disk full")));
    assert!(matches!(&scene.take(viewer)[..], [Item::Trouble(Some(_))]));
    let late = scene.viewer(Scope::Chosen);
    assert!(matches!(&scene.take(late)[..], [Item::Trouble(Some(_))]));
    scene.hub.handle_trouble(None, 5);
    scene.drain();
    let taken = scene.command(Command::Input(session, input("hello", None)));
    assert!(matches!(taken, Reply::Accepted { .. }));
}

#[test]
fn an_idle_agent_sleeps_and_wakes_on_input_and_makes_room_for_another() {
    let mut scene = Scene::new();
    let first = scene.started();
    let second = scene.started();
    let full = scene.command(Command::Input(first.clone(), input("work", None)));
    assert!(matches!(full, Reply::Accepted { .. }));
    let third = scene.started();
    assert_eq!(
        scene.closed(),
        std::slice::from_ref(&second),
        "the idle one had to sleep"
    );
    scene.say(&third, "work", "x");
    let refused = scene.command(Command::Input(second.clone(), input("work", None)));
    assert!(
        matches!(refused, Reply::Refused(Refusal::TooMany(2))),
        "{refused:?}"
    );
    scene.line(&first, &result());
    scene.hub.handle_timeout(1_000_000);
    scene.drain();
    assert_eq!(scene.closed(), [second.clone(), first.clone()]);
    assert_eq!(
        scene.status(&first),
        Status::Idle,
        "a sleeping agent is as good as an idle one"
    );
}

#[test]
fn what_cannot_be_asked_of_a_sleeping_agent_is_refused_and_what_can_is_kept_for_its_start() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.command(Command::Stop(session.clone()));
    let mode = scene.command(Command::Control(
        session.clone(),
        Control::SetMode("plan".into()),
    ));
    assert!(matches!(mode, Reply::Done(None)));
    let rewind = Control::RewindFiles {
        to: "u".into(),
        dry_run: true,
    };
    let refused = scene.command(Command::Control(session.clone(), rewind));
    assert!(matches!(refused, Reply::Refused(Refusal::Agent(_))));
    scene.orders.clear();
    scene.say(&session, "go on", "one");
    let (_, _, order) = &scene.orders[0];
    assert!(matches!(order, Order::Start(setup) if setup.permission_mode == Some("plan".into())));
    let model = Change::Model(Some("opus".into()));
    scene.agent(&session, AgentEvent::Changed(model));
    assert!(scene.notes(&session).contains(&NoteCode::ModelChanged));
}

#[test]
fn a_viewer_that_has_read_what_is_not_shown_yet_is_not_sent_back_to_the_start() {
    let mut scene = Scene::new();
    let session = scene.started();
    let viewer = scene.viewer(Scope::Attached);
    scene.auto_write = false;
    scene.say(&session, "hello", "one");
    scene.attach(viewer, &session, 1);
    let items = scene.take(viewer);
    assert!(
        matches!(
            items[..],
            [Item::Behind {
                after: 1,
                gap: false,
                ..
            }]
        ),
        "{items:?}"
    );
    scene.attach(viewer, &session, 2);
    let items = scene.take(viewer);
    assert!(
        matches!(
            items[..],
            [Item::Behind {
                after: 0,
                gap: true,
                ..
            }]
        ),
        "a number that was never given: {items:?}"
    );
}

#[test]
fn a_stopped_session_is_out_of_the_lists_until_it_is_opened_again() {
    let mut scene = Scene::new();
    let session = scene.started();
    scene.command(Command::Stop(session.clone()));
    let archived = |scene: &mut Scene| match scene.command(Command::Describe(session.clone())) {
        Reply::Session(description) => description.record.archived,
        other => panic!("{other:?}"),
    };
    assert!(archived(&mut scene));
    scene.command(Command::Reopen(session.clone()));
    assert!(!archived(&mut scene));
    assert_eq!(scene.status(&session), Status::Idle, "it wakes on input");
}

#[test]
fn going_back_to_a_message_starts_the_agent_again_from_there_and_not_while_it_works() {
    let mut scene = Scene::new();
    let session = scene.started();
    let rewind = |session: &BridgeId| Command::Rewind(session.clone(), "u1".into());
    let reply = scene.command(rewind(&session));
    assert!(
        matches!(reply, Reply::Refused(Refusal::Unfit(_))),
        "nothing was said yet: {reply:?}"
    );
    scene.agent(&session, AgentEvent::SessionId("agent-1".into()));
    scene.command(Command::Input(session.clone(), input("go", None)));
    let reply = scene.command(rewind(&session));
    assert!(
        matches!(reply, Reply::Refused(Refusal::Busy(_))),
        "at work: {reply:?}"
    );
    scene.line(&session, &result());
    let reply = scene.command(rewind(&session));
    assert!(matches!(reply, Reply::Done(None)), "{reply:?}");
    let Some((_, _, Order::Start(setup))) = scene.orders.last() else {
        panic!("the agent is not started: {:?}", scene.orders.last());
    };
    let from = From::Session {
        id: "agent-1".into(),
        fork: false,
        at: Some("u1".into()),
    };
    assert_eq!(setup.from, from);
    // What was gone back to counts once.
    scene.agent(&session, AgentEvent::Started(None));
    scene.agent(
        &session,
        AgentEvent::Ended {
            how: "gone".into(),
            wanted: false,
        },
    );
    scene.command(Command::Input(session.clone(), input("again", None)));
    let starts = scene
        .orders
        .iter()
        .rev()
        .find_map(|(_, _, order)| match order {
            Order::Start(setup) => Some(setup.from.clone()),
            _ => None,
        });
    let resumed = From::Session {
        id: "agent-1".into(),
        fork: false,
        at: None,
    };
    assert_eq!(starts, Some(resumed));
}

#[test]
fn what_is_not_there_is_refused_and_changes_nothing() {
    let mut scene = Scene::new();
    let nowhere = "ffffffff";
    let commands = [
        Command::Input(nowhere.into(), input("hello", None)),
        Command::Describe(nowhere.into()),
        Command::Stop(nowhere.into()),
        Command::Rename(nowhere.into(), None),
        Command::Control(nowhere.into(), Control::Interrupt),
    ];
    for command in commands {
        let reply = scene.command(command);
        assert!(
            matches!(reply, Reply::Refused(Refusal::NoSession(_))),
            "{reply:?}"
        );
    }
    assert!(scene.orders.is_empty() && scene.written.is_empty());
}

fn kind(item: &Item) -> &'static str {
    match item {
        Item::Frame { .. } => "frame",
        Item::Delta { .. } => "delta",
        Item::Live { .. } => "live",
        Item::Behind { .. } => "behind",
        _ => "other",
    }
}

fn delta_text(item: &Item) -> String {
    match item {
        Item::Delta { delta, .. } => delta.text(),
        _ => String::new(),
    }
}
