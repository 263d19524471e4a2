//! [`Peer`]: one end of the control conversation. Who asked what, and who still waits.
//!
//! The same machine serves host and agent. It does no IO and reads no clock: lines and times are handed in, lines to
//! send and events are polled out. The rule it keeps: **every request ends exactly once**, answered, cancelled, timed
//! out or closed, whichever comes first; whatever comes after that is reported as [`Event::Stray`] and changes nothing.

use std::{collections::VecDeque, time::Instant};

use crate::{
    control::{
        ControlCancelRequest, ControlRequest, ControlResponse, Failure, Reply, request::Request,
    },
    ids::RequestId,
    json::{Json, Text},
    to_agent::ToAgent,
    to_host::ToHost,
    wire::Extra,
};

/// One end of the control conversation.
///
/// ```
/// use towline_protocol::{ControlLine, ControlResponse, Event, Outcome, Output, Peer, Request};
///
/// let mut peer = Peer::new("req_");
/// let id = peer.ask(Request::interrupt(), None);
/// assert!(matches!(peer.poll_output(), Some(Output::Send(ControlLine::Request(_)))));
///
/// peer.handle(ControlLine::Response(ControlResponse::success(Some(id.clone()), None)));
/// let Some(Output::Event(Event::Settled { request_id, outcome })) = peer.poll_output() else { panic!() };
/// assert_eq!((request_id, outcome), (id, Outcome::Answered(None)));
/// ```
#[derive(Debug)]
pub struct Peer {
    prefix: Text,
    asked: u64,
    received: u64,
    /// Our questions that wait for an answer.
    ours: Vec<Ours>,
    /// Their questions that wait for our answer.
    theirs: Vec<Theirs>,
    outputs: VecDeque<Output>,
    closed: bool,
}

/// A question of the other side, until it is answered. Ids may repeat or be missing on the wire; tickets do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// A line of the control conversation, for either direction.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlLine {
    /// A question.
    Request(ControlRequest),
    /// An answer.
    Response(ControlResponse),
    /// A question that needs no answer any more.
    Cancel(ControlCancelRequest),
}

/// What an answer says: the value asked for, if any, or why there is none.
pub type Answer = Result<Option<Json>, Text>;

/// What the machine wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write this line.
    Send(ControlLine),
    /// Know this.
    Event(Event),
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The other side asks; answer with [`Peer::answer`].
    Asked {
        /// Under which to answer.
        ticket: Ticket,
        /// The id on the wire.
        request_id: Option<RequestId>,
        /// The question.
        request: Box<Request>,
    },
    /// A question of the other side is over without our answer.
    Withdrawn {
        /// Which one.
        ticket: Ticket,
        /// Why.
        reason: Withdrawal,
    },
    /// Our question is over.
    Settled {
        /// Which one.
        request_id: RequestId,
        /// How.
        outcome: Outcome,
    },
    /// Something that belongs to no open question. Nothing changes.
    Stray(Stray),
}

/// Why a question of the other side needs no answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// The other side took it back.
    Cancelled,
    /// Nobody answered in time; the answer for that case was sent.
    TimedOut,
    /// The other side is gone.
    Closed,
}

/// How our question ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With an answer; many have no value.
    Answered(Option<Json>),
    /// With a refusal.
    Refused(Box<Failure>),
    /// We took it back.
    Cancelled,
    /// No answer came in time.
    TimedOut,
    /// The other side is gone.
    Closed,
}

/// What belonged to no open question.
#[derive(Clone, Debug, PartialEq)]
pub enum Stray {
    /// An answer to a question that nobody asked, or that is over.
    Response(Box<ControlResponse>),
    /// A cancel of a question that is not open.
    Cancel(RequestId),
    /// A question of a kind that nobody here knows; a refusal was sent.
    UnknownRequest(Box<ControlRequest>),
    /// A question too many; a refusal was sent.
    TooMany(Box<ControlRequest>),
}

#[derive(Debug)]
struct Ours {
    id: RequestId,
    deadline: Option<Instant>,
}

#[derive(Debug)]
struct Theirs {
    ticket: Ticket,
    id: Option<RequestId>,
    deadline: Option<(Instant, Answer)>,
}

impl Peer {
    /// How many questions of the other side may be open at once.
    pub const MAX_OPEN: usize = 1024;

    /// One end of a conversation, whose own requests get the ids `prefix1`, `prefix2`, …
    pub fn new(prefix: impl Into<Text>) -> Self {
        Self {
            prefix: prefix.into(),
            asked: 0,
            received: 0,
            ours: Vec::new(),
            theirs: Vec::new(),
            outputs: VecDeque::new(),
            closed: false,
        }
    }

    /// Asks the other side. The question times out at `deadline`, if there is one.
    pub fn ask(&mut self, request: Request, deadline: Option<Instant>) -> RequestId {
        self.asked += 1;
        let id = RequestId::from(format!("{}{}", self.prefix, self.asked));
        self.ask_as(id.clone(), request, deadline);
        id
    }

    /// Asks the other side under an id that is given in; it must be one that was never used.
    pub fn ask_as(&mut self, id: RequestId, request: Request, deadline: Option<Instant>) {
        if self.closed {
            self.settle(id, Outcome::Closed);
        } else {
            self.ours.push(Ours {
                id: id.clone(),
                deadline,
            });
            self.send(ControlLine::Request(ControlRequest::new(id, request)));
        }
    }

    /// Takes our question back, and tells the other side so. Whether it was still open.
    pub fn cancel(&mut self, id: &RequestId) -> bool {
        let Some(place) = self.ours.iter().position(|ours| ours.id == *id) else {
            return false;
        };
        self.withdraw(place, Outcome::Cancelled);
        true
    }

    /// Answers a question of the other side. Whether it was still open; if not, nothing is sent.
    pub fn answer(&mut self, ticket: Ticket, answer: Answer) -> bool {
        let Some(theirs) = self.take(ticket) else {
            return false;
        };
        self.respond(theirs.id, answer);
        true
    }

    /// Answers a question of the other side with more than a value or a text. Whether it was still open; if not,
    /// nothing is sent. The id of the answer is that of the question.
    ///
    /// ```
    /// use towline_protocol::{ControlLine, ControlRequest, Event, Failure, Output, Peer, Reply, Request};
    ///
    /// let mut peer = Peer::new("req_");
    /// peer.handle(ControlLine::Request(ControlRequest::new("a", Request::interrupt())));
    /// let Some(Output::Event(Event::Asked { ticket, .. })) = peer.poll_output() else { panic!() };
    /// let failure = Failure { error: "not now".into(), error_code: Some("busy".into()), ..Failure::default() };
    /// assert!(peer.reply(ticket, Reply::Error(Box::new(failure))));
    /// let Some(Output::Send(ControlLine::Response(line))) = peer.poll_output() else { panic!() };
    /// assert_eq!(line.request_id(), Some(&"a".into()));
    /// ```
    pub fn reply(&mut self, ticket: Ticket, mut reply: Reply) -> bool {
        let Some(Theirs { id, .. }) = self.take(ticket) else {
            return false;
        };
        match &mut reply {
            Reply::Success(success) => success.request_id = id,
            Reply::Error(failure) => failure.request_id = id,
            Reply::Flat { request_id, .. } => *request_id = id,
            Reply::Unknown(_) => {}
        }
        self.send(ControlLine::Response(ControlResponse {
            reply,
            extra: Extra::default(),
        }));
        true
    }

    /// Sets when a question of the other side is answered by itself, and with what. Whether it was still open.
    pub fn answer_at(&mut self, ticket: Ticket, deadline: Instant, answer: Answer) -> bool {
        let open = self
            .theirs
            .iter_mut()
            .find(|theirs| theirs.ticket == ticket);
        open.map(|theirs| theirs.deadline = Some((deadline, answer)))
            .is_some()
    }

    /// Takes in a line of the other side.
    pub fn handle(&mut self, line: ControlLine) {
        match line {
            ControlLine::Request(request) => self.handle_request(request),
            ControlLine::Response(response) => self.handle_response(response),
            ControlLine::Cancel(cancel) => self.handle_cancel(cancel),
        }
    }

    /// Lets time pass: ends what was due by `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(place) = self
            .ours
            .iter()
            .position(|ours| ours.deadline.is_some_and(|due| due <= now))
        {
            self.withdraw(place, Outcome::TimedOut);
        }
        let is_due = |theirs: &Theirs| theirs.deadline.as_ref().is_some_and(|(due, _)| *due <= now);
        while let Some(place) = self.theirs.iter().position(is_due) {
            let theirs = self.theirs.remove(place);
            if let Some((_, answer)) = theirs.deadline {
                self.respond(theirs.id, answer);
            }
            self.event(Event::Withdrawn {
                ticket: theirs.ticket,
                reason: Withdrawal::TimedOut,
            });
        }
    }

    /// The other side is gone: ends everything. What is asked from now on ends at once.
    pub fn handle_close(&mut self) {
        self.closed = true;
        for ours in std::mem::take(&mut self.ours) {
            self.settle(ours.id, Outcome::Closed);
        }
        for theirs in std::mem::take(&mut self.theirs) {
            self.event(Event::Withdrawn {
                ticket: theirs.ticket,
                reason: Withdrawal::Closed,
            });
        }
    }

    /// What to do next; nothing when all is done.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`Peer::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let ours = self.ours.iter().filter_map(|ours| ours.deadline);
        let theirs = self
            .theirs
            .iter()
            .filter_map(|theirs| theirs.deadline.as_ref().map(|(due, _)| *due));
        ours.chain(theirs).min()
    }

    /// Our questions that are open.
    pub fn waiting(&self) -> impl Iterator<Item = &RequestId> {
        self.ours.iter().map(|ours| &ours.id)
    }

    /// Questions of the other side that are open.
    pub fn open(&self) -> impl Iterator<Item = Ticket> {
        self.theirs.iter().map(|theirs| theirs.ticket)
    }

    fn handle_request(&mut self, line: ControlRequest) {
        if let Request::Unknown(unknown) = &line.request {
            // The other side waits for an answer, so silence is no option.
            let refusal = ControlResponse::unsupported(line.request_id.clone(), unknown.kind());
            self.send(ControlLine::Response(refusal));
            return self.event(Event::Stray(Stray::UnknownRequest(Box::new(line))));
        }
        if self.theirs.len() >= Self::MAX_OPEN {
            let refusal = format!("more than {} requests are open", Self::MAX_OPEN);
            self.send(ControlLine::Response(ControlResponse::error(
                line.request_id.clone(),
                refusal,
            )));
            return self.event(Event::Stray(Stray::TooMany(Box::new(line))));
        }
        self.received += 1;
        let ticket = Ticket(self.received);
        self.theirs.push(Theirs {
            ticket,
            id: line.request_id.clone(),
            deadline: None,
        });
        let request = Box::new(line.request);
        self.event(Event::Asked {
            ticket,
            request_id: line.request_id,
            request,
        });
    }

    fn handle_response(&mut self, line: ControlResponse) {
        let place = line
            .request_id()
            .and_then(|id| self.ours.iter().position(|ours| ours.id == *id));
        let Some(place) = place else {
            return self.event(Event::Stray(Stray::Response(Box::new(line))));
        };
        let ours = self.ours.remove(place);
        let outcome = match line.outcome() {
            Ok(value) => Outcome::Answered(value.cloned()),
            Err(failure) => Outcome::Refused(Box::new(failure.clone())),
        };
        self.settle(ours.id, outcome);
    }

    fn handle_cancel(&mut self, line: ControlCancelRequest) {
        let place = self
            .theirs
            .iter()
            .position(|theirs| theirs.id.as_ref() == Some(&line.request_id));
        let Some(place) = place else {
            return self.event(Event::Stray(Stray::Cancel(line.request_id)));
        };
        let ticket = self.theirs.remove(place).ticket;
        self.event(Event::Withdrawn {
            ticket,
            reason: Withdrawal::Cancelled,
        });
    }

    /// Ends our question before its answer came, so that the other side can stop working on it.
    fn withdraw(&mut self, place: usize, outcome: Outcome) {
        let id = self.ours.remove(place).id;
        let cancel = ControlCancelRequest {
            request_id: id.clone(),
            extra: Extra::default(),
        };
        self.send(ControlLine::Cancel(cancel));
        self.settle(id, outcome);
    }

    /// A question that is open; it is not open any more.
    fn take(&mut self, ticket: Ticket) -> Option<Theirs> {
        let place = self
            .theirs
            .iter()
            .position(|theirs| theirs.ticket == ticket)?;
        Some(self.theirs.remove(place))
    }

    fn respond(&mut self, id: Option<RequestId>, answer: Answer) {
        self.send(ControlLine::Response(match answer {
            Ok(value) => ControlResponse::success(id, value),
            Err(error) => ControlResponse::error(id, error),
        }));
    }

    fn settle(&mut self, request_id: RequestId, outcome: Outcome) {
        self.event(Event::Settled {
            request_id,
            outcome,
        });
    }

    fn send(&mut self, line: ControlLine) {
        self.outputs.push_back(Output::Send(line));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
}

impl From<ControlLine> for ToAgent {
    fn from(line: ControlLine) -> Self {
        match line {
            ControlLine::Request(request) => Self::ControlRequest(Box::new(request)),
            ControlLine::Response(response) => Self::ControlResponse(Box::new(response)),
            ControlLine::Cancel(cancel) => Self::ControlCancelRequest(Box::new(cancel)),
        }
    }
}

impl From<ControlLine> for ToHost {
    fn from(line: ControlLine) -> Self {
        match line {
            ControlLine::Request(request) => Self::ControlRequest(Box::new(request)),
            ControlLine::Response(response) => Self::ControlResponse(Box::new(response)),
            ControlLine::Cancel(cancel) => Self::ControlCancelRequest(Box::new(cancel)),
        }
    }
}

impl TryFrom<ToAgent> for ControlLine {
    type Error = ToAgent;

    /// Takes the line if it belongs to the control conversation, and gives it back if not.
    fn try_from(line: ToAgent) -> Result<Self, ToAgent> {
        match line {
            ToAgent::ControlRequest(request) => Ok(Self::Request(*request)),
            ToAgent::ControlResponse(response) | ToAgent::CallbackResponse(response) => {
                Ok(Self::Response(*response))
            }
            ToAgent::ControlCancelRequest(cancel) => Ok(Self::Cancel(*cancel)),
            other => Err(other),
        }
    }
}

impl TryFrom<ToHost> for ControlLine {
    type Error = ToHost;

    /// Takes the line if it belongs to the control conversation, and gives it back if not.
    fn try_from(line: ToHost) -> Result<Self, ToHost> {
        match line {
            ToHost::ControlRequest(request) | ToHost::CallbackRequest(request) => {
                Ok(Self::Request(*request))
            }
            ToHost::ControlResponse(response) => Ok(Self::Response(*response)),
            ToHost::ControlCancelRequest(cancel) => Ok(Self::Cancel(*cancel)),
            other => Err(other),
        }
    }
}
