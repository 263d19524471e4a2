//! From a reply and a request to what goes over the wire, step by step. Pure: the same reply to the same request is
//! the same program; carrying it out is the business of `play`.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};

use super::{
    Act, Cut, Json, Place, Reply,
    api_error::ApiError,
    events::{Event, frame, message_events},
    message::{Context, body, echo},
    reply::{Answer, RawEvent},
};

/// One response.
#[derive(Debug)]
pub(super) struct Program {
    /// What happens before the status line.
    pub(super) before: VecDeque<Step>,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// How long the body is, where that is promised.
    pub(super) length: Option<usize>,
    pub(super) body: VecDeque<Step>,
}

/// One step of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Send(Bytes),
    Wait(Duration),
    Hold(String),
    Cut(Cut),
}

impl Program {
    /// The response to a request.
    pub(super) fn of(reply: &Reply, context: &Context<'_>) -> Self {
        let mut program = match &reply.answer {
            Answer::Message(message) if context.seen.streams => {
                Self::stream(reply, message_events(message, reply.pieces, context))
            }
            Answer::Message(message) => Self::whole(reply, &body(message, context), context),
            Answer::Echo if context.seen.streams => {
                Self::stream(reply, message_events(&echo(context), reply.pieces, context))
            }
            Answer::Echo => Self::whole(reply, &body(&echo(context), context), context),
            Answer::Events(events) => Self::stream(reply, raw_events(events)),
            Answer::Error(error) => Self::error(error, context),
            Answer::Http { status, body } => {
                let mut program = Self::plain(*status, "application/json", body.clone());
                // The headers of the reply say what it is, if anything does.
                program.headers.clear();
                program
            }
        };
        program
            .headers
            .push(("request-id".to_owned(), context.request_id()));
        program.set_headers(&reply.headers);
        if reply.answers_without_stream(context) {
            program.add_acts_to_whole(reply);
        }
        for (place, act) in &reply.acts {
            if *place == Place::Head {
                program.before.extend(steps(act));
            }
        }
        program.add_acts_by_bytes(reply);
        program
    }

    /// Whether it can be sent: what Rust code builds is not checked before.
    pub(super) fn check(&self, reply: &str) -> Result<(), ApiError> {
        let unfit = |what: String| {
            Err(ApiError::of_status(500)
                .with_message(format!("script: {what} of {reply} cannot be sent")))
        };
        if !is_status(self.status) {
            return unfit(format!("the status {}", self.status));
        }
        match self
            .headers
            .iter()
            .find(|(name, value)| !is_header(name, value))
        {
            Some((name, _)) => unfit(format!("the header `{name}`")),
            None => Ok(()),
        }
    }

    /// An error that is not in the script, or is the script's reply as a whole.
    pub(super) fn error(error: &ApiError, context: &Context<'_>) -> Self {
        let body = error.body(&context.request_id());
        Self::plain(error.status, "application/json", body.as_str().to_owned())
    }

    /// A whole body of a message, or the error that breaks it.
    fn whole(reply: &Reply, body: &Json, context: &Context<'_>) -> Self {
        let error = reply.acts.iter().find_map(|(_, act)| match act {
            Act::Error { kind, message } => Some(ApiError::of_kind(kind).with_message(message)),
            _ => None,
        });
        match error {
            Some(error) => Self::error(&error, context),
            None => Self::plain(200, "application/json", body.as_str().to_owned()),
        }
    }

    fn plain(status: u16, content_type: &str, body: String) -> Self {
        let length = Some(body.len());
        let mut steps = VecDeque::new();
        if !body.is_empty() {
            steps.push_back(Step::Send(body.into()));
        }
        Self {
            before: VecDeque::new(),
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            length,
            body: steps,
        }
    }

    /// A stream of events, with the acts that stand between them.
    fn stream(reply: &Reply, events: Vec<Event>) -> Self {
        let mut body = VecDeque::new();
        let mut sent = 0;
        'events: for event in events {
            let due = reply.acts.iter().filter(|(place, _)| match place {
                Place::Events(count) => *count == sent,
                // With several events for one block, only the first begins it.
                Place::Block(index) => event.begins_block == Some(*index),
                Place::Head | Place::Bytes(_) => false,
            });
            for (_, act) in due {
                body.extend(steps(act));
                if ends(act) {
                    break 'events;
                }
            }
            if event.is_delta && !reply.piece_delay.is_zero() {
                body.push_back(Step::Wait(reply.piece_delay));
            }
            body.push_back(Step::Send(event.bytes));
            sent += 1;
        }
        // Whatever stands behind the last event.
        let is_over = body.back().is_some_and(|step| matches!(step, Step::Cut(_)));
        for (place, act) in &reply.acts {
            if !is_over && matches!(place, Place::Events(count) if *count == sent) {
                body.extend(steps(act));
            }
        }
        let headers = [
            ("content-type", "text/event-stream; charset=utf-8"),
            ("cache-control", "no-cache"),
        ];
        Self {
            before: VecDeque::new(),
            status: 200,
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            length: None,
            body,
        }
    }

    /// A header of the reply replaces ours of the same name; an empty one only takes it away.
    fn set_headers(&mut self, headers: &[(String, String)]) {
        for (name, value) in headers {
            self.headers
                .retain(|(ours, _)| !ours.eq_ignore_ascii_case(name));
            if value.is_empty() {
                continue;
            }
            self.headers
                .push((name.to_ascii_lowercase(), value.clone()));
        }
    }

    /// A body without events: what stands between events happens before it.
    fn add_acts_to_whole(&mut self, reply: &Reply) {
        let acts = reply.acts.iter().filter(|(place, act)| {
            let between = matches!(place, Place::Events(_) | Place::Block(_));
            between && !matches!(act, Act::Error { .. })
        });
        let mut body: VecDeque<Step> = acts.flat_map(|(_, act)| steps(act)).collect();
        if body
            .iter()
            .any(|step| matches!(step, Step::Send(_) | Step::Cut(Cut::End)))
        {
            self.length = None;
        }
        body.append(&mut self.body);
        self.body = body;
    }

    fn add_acts_by_bytes(&mut self, reply: &Reply) {
        for (place, act) in &reply.acts {
            if let Place::Bytes(bytes) = place {
                if matches!(act, Act::Send(_) | Act::Error { .. } | Act::Cut(Cut::End)) {
                    self.length = None;
                }
                insert_at(&mut self.body, *bytes, steps(act));
            }
        }
    }
}

impl Reply {
    fn answers_without_stream(&self, context: &Context<'_>) -> bool {
        match self.answer {
            Answer::Message(_) | Answer::Echo => !context.seen.streams,
            Answer::Events(_) => false,
            Answer::Error(_) | Answer::Http { .. } => true,
        }
    }
}

/// Statuses below announce another response, which none of ours does.
pub(super) fn is_status(status: u16) -> bool {
    (200..600).contains(&status)
}

pub(super) fn is_header(name: &str, value: &str) -> bool {
    HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok()
}

/// What an act is, in steps.
fn steps(act: &Act) -> Vec<Step> {
    match act {
        Act::Hold(gate) => vec![Step::Hold(gate.clone())],
        Act::Delay(time) => vec![Step::Wait(*time)],
        Act::Cut(how) => vec![Step::Cut(*how)],
        Act::Send(text) => vec![Step::Send(text.clone().into())],
        Act::Error { kind, message } => {
            let error = ApiError::of_kind(kind).with_message(message);
            vec![
                Step::Send(frame("error", &error.event())),
                Step::Cut(Cut::End),
            ]
        }
    }
}

fn ends(act: &Act) -> bool {
    matches!(act, Act::Cut(_) | Act::Error { .. })
}

/// Puts steps behind so many bytes of a body, in the middle of a chunk where need be; behind everything if the body is
/// shorter. What stands at that byte already stays in front.
fn insert_at(body: &mut VecDeque<Step>, bytes: usize, steps: Vec<Step>) {
    let mut left = bytes;
    let mut at = body.len();
    for (index, step) in body.iter_mut().enumerate() {
        let Step::Send(chunk) = step else { continue };
        if chunk.len() > left {
            at = index;
            if left > 0 {
                let front = chunk.split_to(left);
                body.insert(index, Step::Send(front));
                at = index + 1;
            }
            break;
        }
        left -= chunk.len();
    }
    let behind = body.split_off(at);
    body.extend(steps);
    body.extend(behind);
}

fn raw_events(events: &[RawEvent]) -> Vec<Event> {
    let events = events.iter().map(|event| {
        let bytes = match event {
            RawEvent::Text(text) => Bytes::from(text.clone()),
            RawEvent::Json(json) => {
                let value: serde_json::Value =
                    serde_json::from_str(json.as_str()).unwrap_or_default();
                frame(value["type"].as_str().unwrap_or("message"), json)
            }
        };
        Event {
            bytes,
            is_delta: true,
            begins_block: None,
        }
    });
    events.collect()
}
