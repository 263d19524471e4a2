//! The control conversation: every request ends exactly once, whatever happens in whichever order.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use towline_protocol::{
    ControlCancelRequest, ControlLine, ControlRequest, ControlResponse, Event, Outcome, Output,
    Peer, Request, RequestId, Stray, Ticket, ToAgent, ToHost, Wire, Withdrawal, trace::Direction,
};

use crate::data;

fn drain(peer: &mut Peer) -> Vec<Output> {
    std::iter::from_fn(|| peer.poll_output()).collect()
}

fn events(peer: &mut Peer) -> Vec<Event> {
    let event = |output| match output {
        Output::Event(event) => Some(event),
        Output::Send(_) => None,
    };
    drain(peer).into_iter().filter_map(event).collect()
}

/// The lines a peer wants to send, as JSON.
fn sent(peer: &mut Peer) -> Vec<String> {
    let line = |output| match output {
        Output::Send(line) => Some(ToAgent::from(line).to_json().to_string()),
        Output::Event(_) => None,
    };
    drain(peer).into_iter().filter_map(line).collect()
}

fn request(json: &str) -> ControlLine {
    ControlLine::try_from(ToHost::from_json(json).unwrap()).unwrap()
}

fn cancel(id: &str) -> ControlLine {
    let ToHost::ControlCancelRequest(line) = ToHost::from_json(format!(
        r#"{{"type":"control_cancel_request","request_id":"{id}"}}"#
    ))
    .unwrap() else {
        panic!("not a cancel")
    };
    ControlLine::Cancel(*line)
}

const CAN_USE: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;

#[test]
fn a_question_of_theirs_is_answered_under_its_id() {
    let mut peer = Peer::new("req_");
    peer.handle(request(CAN_USE));
    let [
        Event::Asked {
            ticket,
            request_id,
            request,
        },
    ] = &events(&mut peer)[..]
    else {
        panic!()
    };
    assert_eq!(request_id, &Some("q1".into()));
    assert_eq!(request.kind(), "can_use_tool");
    assert!(peer.answer(*ticket, Ok(None)));
    assert_eq!(
        sent(&mut peer),
        [r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1"}}"#]
    );
    assert!(
        !peer.answer(*ticket, Ok(None)),
        "a second answer is not sent"
    );
    assert_eq!(drain(&mut peer), []);
}

#[test]
fn a_request_without_an_id_gets_an_answer_without_one_and_a_number_stays_a_number() {
    let mut peer = Peer::new("req_");
    for (id, answered) in [("", ""), (r#""request_id":7,"#, r#","request_id":7"#)] {
        peer.handle(request(&format!(
            r#"{{"type":"control_request",{id}"request":{{"subtype":"interrupt"}}}}"#
        )));
        let [Event::Asked { ticket, .. }] = events(&mut peer)[..] else {
            panic!()
        };
        peer.answer(ticket, Err("no".into()));
        let error = format!(
            r#"{{"type":"control_response","response":{{"subtype":"error"{answered},"error":"no"}}}}"#
        );
        assert_eq!(sent(&mut peer), [error]);
    }
}

#[test]
fn the_same_id_twice_is_asked_twice_and_answered_twice() {
    let mut peer = Peer::new("req_");
    peer.handle(request(CAN_USE));
    peer.handle(request(CAN_USE));
    let tickets: Vec<Ticket> = peer.open().collect();
    assert_eq!(tickets.len(), 2);
    drain(&mut peer);
    for ticket in tickets {
        assert!(peer.answer(ticket, Ok(None)));
    }
    assert_eq!(sent(&mut peer).len(), 2);
}

#[test]
fn an_unknown_question_is_refused_at_once() {
    let mut peer = Peer::new("req_");
    peer.handle(request(
        r#"{"type":"control_request","request_id":"q","request":{"subtype":"no_such_subtype","x":1}}"#,
    ));
    let outputs = drain(&mut peer);
    let Output::Send(line) = &outputs[0] else {
        panic!()
    };
    // What the real CLI answers in trace control-06a_control_requests.
    assert_eq!(
        ToHost::from(line.clone()).to_json().as_str(),
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"q","error":"Unsupported control request subtype: no_such_subtype","error_code":"unsupported_request"}}"#
    );
    let Output::Event(Event::Stray(Stray::UnknownRequest(kept))) = &outputs[1] else {
        panic!()
    };
    assert_eq!(
        kept.request.to_json().as_str(),
        r#"{"subtype":"no_such_subtype","x":1}"#
    );
    assert_eq!(peer.open().count(), 0);
}

#[test]
fn unknown_ids_change_nothing_and_are_reported() {
    let mut peer = Peer::new("req_");
    let ours = peer.ask(Request::interrupt(), None);
    drain(&mut peer);
    let nobody = ControlResponse::success(Some("nobody".into()), None);
    peer.handle(ControlLine::Response(nobody.clone()));
    peer.handle(ControlLine::Response(ControlResponse::success(None, None)));
    peer.handle(cancel("nobody"));
    let strays = events(&mut peer);
    assert_eq!(strays[0], Event::Stray(Stray::Response(Box::new(nobody))));
    assert_eq!(strays[2], Event::Stray(Stray::Cancel("nobody".into())));
    assert_eq!(peer.waiting().collect::<Vec<_>>(), [&ours]);
}

#[test]
fn a_flat_answer_of_document_003_counts() {
    let mut peer = Peer::new("req_");
    let id = peer.ask(Request::interrupt(), None);
    drain(&mut peer);
    peer.handle(request(&format!(
        r#"{{"type":"control_response","request_id":"{id}","response":{{"x":1}}}}"#
    )));
    let [
        Event::Settled {
            outcome: Outcome::Answered(Some(answer)),
            ..
        },
    ] = &events(&mut peer)[..]
    else {
        panic!()
    };
    assert_eq!(answer.as_str(), r#"{"x":1}"#);
}

#[test]
fn time_ends_what_is_due_and_nothing_else() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut peer = Peer::new("req_");
    let due = peer.ask(Request::interrupt(), Some(at(60)));
    let patient = peer.ask(Request::interrupt(), None);
    peer.handle(request(CAN_USE));
    let ticket = peer.open().next().unwrap();
    assert!(peer.answer_at(ticket, at(30), Err("nobody answered for 30 s".into())));
    drain(&mut peer);
    assert_eq!(peer.poll_timeout(), Some(at(30)));

    peer.handle_timeout(at(29));
    assert_eq!(drain(&mut peer), []);

    peer.handle_timeout(at(30));
    let outputs = drain(&mut peer);
    assert!(matches!(
        &outputs[0],
        Output::Send(ControlLine::Response(_))
    ));
    assert_eq!(
        outputs[1],
        Output::Event(Event::Withdrawn {
            ticket,
            reason: Withdrawal::TimedOut
        })
    );

    assert_eq!(peer.poll_timeout(), Some(at(60)));
    peer.handle_timeout(at(61));
    let outputs = drain(&mut peer);
    assert!(
        matches!(&outputs[0], Output::Send(ControlLine::Cancel(line)) if line.request_id == due)
    );
    assert_eq!(
        outputs[1],
        Output::Event(Event::Settled {
            request_id: due,
            outcome: Outcome::TimedOut
        })
    );
    assert_eq!(peer.waiting().collect::<Vec<_>>(), [&patient]);
    assert_eq!(peer.poll_timeout(), None);
}

#[test]
fn a_closed_conversation_ends_everything_and_what_is_asked_later_at_once() {
    let mut peer = Peer::new("req_");
    let ours = peer.ask(Request::interrupt(), None);
    peer.handle(request(CAN_USE));
    let ticket = peer.open().next().unwrap();
    drain(&mut peer);
    peer.handle_close();
    let later = peer.ask(Request::interrupt(), None);
    assert_eq!(
        drain(&mut peer),
        [
            Output::Event(Event::Settled {
                request_id: ours,
                outcome: Outcome::Closed
            }),
            Output::Event(Event::Withdrawn {
                ticket,
                reason: Withdrawal::Closed
            }),
            Output::Event(Event::Settled {
                request_id: later,
                outcome: Outcome::Closed
            }),
        ]
    );
    assert!(!peer.answer(ticket, Ok(None)));
}

#[test]
fn a_flood_of_questions_is_refused_past_the_bound() {
    let mut peer = Peer::new("req_");
    for _ in 0..Peer::MAX_OPEN + 5 {
        peer.handle(request(CAN_USE));
    }
    assert_eq!(peer.open().count(), Peer::MAX_OPEN);
    let refused = events(&mut peer)
        .iter()
        .filter(|event| matches!(event, Event::Stray(Stray::TooMany(_))))
        .count();
    assert_eq!(refused, 5);
}

/// The recorded conversation in which an interrupt meets an open question: cancel, answer, and a late answer ignored.
#[test]
fn the_recorded_interrupt_of_a_pending_question_ends_it() {
    let mut peer = Peer::new("unused_");
    let mut seen = Vec::new();
    for row in data::trace("control-03j_interrupt_pending") {
        if row.direction == Direction::Out
            && let Ok(line) = ControlLine::try_from(ToHost::from_json(row.text()).unwrap())
        {
            peer.handle(line);
            seen.extend(events(&mut peer));
        }
    }
    let asked = seen
        .iter()
        .filter(|event| matches!(event, Event::Asked { .. }))
        .count();
    let cancelled = seen
        .iter()
        .filter(|event| {
            matches!(
                event,
                Event::Withdrawn {
                    reason: Withdrawal::Cancelled,
                    ..
                }
            )
        })
        .count();
    assert_eq!((asked, cancelled), (1, 1), "{seen:?}");
    assert_eq!(peer.open().count(), 0);
}

/// What may happen on a line between two peers, in any order.
#[derive(Clone, Debug)]
enum Step {
    Ask {
        side: usize,
        deadline: Option<u8>,
    },
    Answer {
        side: usize,
        which: prop::sample::Index,
        refuse: bool,
    },
    AnswerAt {
        side: usize,
        which: prop::sample::Index,
        deadline: u8,
    },
    Cancel {
        side: usize,
        which: prop::sample::Index,
    },
    Deliver {
        side: usize,
    },
    Lose {
        side: usize,
    },
    Repeat {
        side: usize,
    },
    Time(u8),
    Close {
        side: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let side = 0..2usize;
    let which = any::<prop::sample::Index>();
    prop_oneof![
        4 => (side.clone(), prop::option::of(0..20u8)).prop_map(|(side, deadline)| Step::Ask { side, deadline }),
        4 => (side.clone(), which.clone(), any::<bool>())
            .prop_map(|(side, which, refuse)| Step::Answer { side, which, refuse }),
        1 => (side.clone(), which.clone(), 0..20u8)
            .prop_map(|(side, which, deadline)| Step::AnswerAt { side, which, deadline }),
        2 => (side.clone(), which).prop_map(|(side, which)| Step::Cancel { side, which }),
        8 => side.clone().prop_map(|side| Step::Deliver { side }),
        1 => side.clone().prop_map(|side| Step::Lose { side }),
        1 => side.clone().prop_map(|side| Step::Repeat { side }),
        2 => (0..5u8).prop_map(Step::Time),
        1 => side.prop_map(|side| Step::Close { side }),
    ]
}

/// Two peers back to back with virtual time, lost lines and repeated lines; counts how each question ended.
struct Pair {
    peers: [Peer; 2],
    /// Lines on their way to each side.
    wires: [Vec<ControlLine>; 2],
    asked: [Vec<RequestId>; 2],
    settled: [HashMap<RequestId, usize>; 2],
    received: [Vec<Ticket>; 2],
    ended: [HashMap<Ticket, usize>; 2],
    start: Instant,
    now: u64,
}

impl Pair {
    fn new() -> Self {
        Self {
            peers: [Peer::new("a"), Peer::new("b")],
            wires: Default::default(),
            asked: Default::default(),
            settled: Default::default(),
            received: Default::default(),
            ended: Default::default(),
            start: Instant::now(),
            now: 0,
        }
    }

    fn at(&self, later: u8) -> Instant {
        self.start + Duration::from_secs(self.now + u64::from(later))
    }

    fn run(&mut self, step: &Step) {
        match step.clone() {
            Step::Ask { side, deadline } => {
                let deadline = deadline.map(|later| self.at(later));
                let id = self.peers[side].ask(Request::interrupt(), deadline);
                self.asked[side].push(id);
            }
            Step::Answer {
                side,
                which,
                refuse,
            } => {
                if let Some(ticket) = self.pick(side, which) {
                    let answer = if refuse { Err("no".into()) } else { Ok(None) };
                    if self.peers[side].answer(ticket, answer) {
                        *self.ended[side].entry(ticket).or_default() += 1;
                    }
                }
            }
            Step::AnswerAt {
                side,
                which,
                deadline,
            } => {
                let due = self.at(deadline);
                if let Some(ticket) = self.pick(side, which) {
                    self.peers[side].answer_at(ticket, due, Ok(None));
                }
            }
            Step::Cancel { side, which } => {
                if !self.asked[side].is_empty() {
                    let id = self.asked[side][which.index(self.asked[side].len())].clone();
                    self.peers[side].cancel(&id);
                }
            }
            Step::Deliver { side } => {
                if !self.wires[side].is_empty() {
                    let line = self.wires[side].remove(0);
                    self.peers[side].handle(line);
                }
            }
            Step::Lose { side } => drop(self.wires[side].pop()),
            Step::Repeat { side } => {
                self.wires[side].extend_from_within(..self.wires[side].len().min(1));
            }
            Step::Time(later) => {
                self.now += u64::from(later);
                let now = self.at(0);
                self.peers
                    .iter_mut()
                    .for_each(|peer| peer.handle_timeout(now));
            }
            Step::Close { side } => self.peers[side].handle_close(),
        }
        self.collect();
    }

    fn pick(&self, side: usize, which: prop::sample::Index) -> Option<Ticket> {
        let received = &self.received[side];
        (!received.is_empty()).then(|| received[which.index(received.len())])
    }

    fn collect(&mut self) {
        for side in 0..2 {
            while let Some(output) = self.peers[side].poll_output() {
                match output {
                    Output::Send(line) => self.wires[1 - side].push(line),
                    Output::Event(Event::Settled { request_id, .. }) => {
                        *self.settled[side].entry(request_id).or_default() += 1;
                    }
                    Output::Event(Event::Asked { ticket, .. }) => self.received[side].push(ticket),
                    Output::Event(Event::Withdrawn { ticket, .. }) => {
                        *self.ended[side].entry(ticket).or_default() += 1;
                    }
                    Output::Event(Event::Stray(_)) => {}
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_request_ends_exactly_once(steps in prop::collection::vec(step(), 0..120)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.run(&step);
            for side in 0..2 {
                prop_assert!(pair.settled[side].values().all(|times| *times == 1));
                prop_assert!(pair.ended[side].values().all(|times| *times == 1));
            }
        }
        // In the end both sides are gone; then nothing may be left open.
        pair.run(&Step::Close { side: 0 });
        pair.run(&Step::Close { side: 1 });
        for side in 0..2 {
            for id in &pair.asked[side] {
                prop_assert_eq!(pair.settled[side].get(id), Some(&1), "{} of {}", id, side);
            }
            for ticket in &pair.received[side] {
                prop_assert_eq!(pair.ended[side].get(ticket), Some(&1));
            }
            prop_assert_eq!(pair.peers[side].waiting().count(), 0);
            prop_assert_eq!(pair.peers[side].open().count(), 0);
        }
    }
}

#[test]
fn control_lines_keep_their_form_in_both_directions() {
    let line = ControlLine::Request(ControlRequest::new("r1", Request::interrupt()));
    let json = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#;
    assert_eq!(ToAgent::from(line.clone()).to_json().as_str(), json);
    assert_eq!(ToHost::from(line).to_json().as_str(), json);
    let cancel: ControlCancelRequest = Wire::from_json(r#"{"request_id":"r1"}"#).unwrap();
    assert_eq!(cancel.request_id, "r1".into());
}
