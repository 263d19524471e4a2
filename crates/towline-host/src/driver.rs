//! The loop of a session: moves bytes between the agent and the caller, and lets [`Peer`] keep the control conversation.
//!
//! It alone reads and writes the agent's pipes. It does not look into lines, but for finding out which belong to the
//! control conversation. Everything that happens passes through here once, in order.

mod caretaker;
mod outgoing;
mod turns;

use std::{
    collections::HashMap,
    future::poll_fn,
    io, iter, mem,
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use towline_protocol::{
    Answer, ControlLine, Frame, Line, LineDecoder, Outcome, Output, Peer, Request, RequestId,
    Stray, Text, Ticket, ToAgent, ToHost, Withdrawal,
};

use crate::{
    error::Ending,
    event::{Event, Item, Malformed, Problem},
    mcp::{Servers, Starter},
    process::Exit,
    question::{self, QuestionId, Responder},
    queue::{Bound, Sender},
    stderr::Stderr,
    transport::{Keeper, PIPE, Stop, Transport},
};

use outgoing::Outgoing;
pub(crate) use outgoing::ToWrite;
pub(crate) use turns::{Turns, Waiter};

/// What a caller wants done.
#[derive(Debug)]
pub(crate) enum Order {
    /// Write a line.
    Send(ToWrite),
    /// Ask the agent.
    Ask {
        request: Box<Request>,
        timeout: Option<Duration>,
        settled: oneshot::Sender<Outcome>,
    },
    /// Some of those who asked do not wait any more.
    Forget,
    /// Let the agent reach another MCP server.
    Serve(Starter),
    /// Answer the agent.
    Answer { ticket: Ticket, answer: Answer },
    /// Nothing more will be sent: close the agent's input once all is written.
    EndInput,
    /// End the agent.
    Close,
}

/// What a session may take, and how long.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) line: usize,
    pub(crate) queue: usize,
    pub(crate) question_timeout: Option<Duration>,
    pub(crate) mcp_timeout: Option<Duration>,
    pub(crate) close_grace: Duration,
}

impl Limits {
    fn bound(&self) -> Bound {
        Bound {
            waiting: self.queue,
            on_the_way: self.queue.saturating_mul(2),
        }
    }
}

/// What the loop needs from its session.
pub(crate) struct Setup {
    pub(crate) command: String,
    pub(crate) limits: Limits,
    pub(crate) orders: mpsc::UnboundedReceiver<Order>,
    /// For the responders of questions. It is for handles and events alone to keep the session alive.
    pub(crate) sender: mpsc::WeakUnboundedSender<Order>,
    pub(crate) events: Sender<Item>,
    pub(crate) servers: Servers,
    /// Whether there is no use in sending.
    pub(crate) input_closed: Arc<AtomicBool>,
    /// For whoever asks after the end.
    pub(crate) ended: watch::Sender<Option<Ending>>,
}

/// Runs a session to its end.
pub(crate) async fn drive(mut transport: Transport, setup: Setup) {
    let stderr = Stderr::default();
    let complaints = transport
        .stderr
        .take()
        .map(|pipe| Box::pin(stderr.clone().drain(pipe)) as _);
    let mut driver = Driver {
        peer: Peer::new("host_"),
        waiting: HashMap::new(),
        open: HashMap::new(),
        decoder: LineDecoder::with_limit(setup.limits.line),
        line: Text::new(),
        closing: None,
        closed: false,
        outgoing: Outgoing::new(transport.stdin, Arc::clone(&setup.input_closed)),
        stdout: transport.stdout,
        keeper: transport.keeper,
        stderr,
        complaints,
        setup,
    };
    let exit = driver.run().await;
    if driver.complaints.is_some() {
        // Not longer: what the agent started may hold the pipe open for ever.
        let drained = tokio::time::timeout(LAST_WORDS, drained(&mut driver.complaints));
        drained.await.ok();
    }
    driver.end(exit);
}

struct Driver {
    setup: Setup,
    outgoing: Outgoing,
    stdout: Stdout,
    keeper: Option<Keeper>,
    stderr: Stderr,
    /// Takes in what comes on standard error; nothing once that has ended.
    complaints: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    peer: Peer,
    /// Who waits for an answer of the agent.
    waiting: HashMap<RequestId, oneshot::Sender<Outcome>>,
    /// Who is to be told when a question of the agent is over.
    open: HashMap<Ticket, oneshot::Sender<Withdrawal>>,
    decoder: LineDecoder,
    /// The line of the control conversation that is being dealt with.
    line: Text,
    /// Until when the agent may take to end, once it is to.
    closing: Option<Instant>,
    /// Whether it was us who wanted it to end.
    closed: bool,
}

impl Driver {
    /// The loop. Gives the exit of the process, if there is one and it could be known.
    async fn run(&mut self) -> Option<Exit> {
        let mut orders_open = true;
        let mut stdout_open = true;
        let mut exit = None;
        // What can be in the pipe when the agent has ended; all beyond that is somebody else's.
        let mut last_words = 2 * PIPE;
        while stdout_open || (self.keeper.is_some() && exit.is_none()) {
            self.carry_out();

            let bound = self.bound(exit.is_some());
            let peer_due = self.peer.poll_timeout().map(Instant::from_std);
            let closing_due = self.closing.filter(|_| stdout_open);
            let due = peer_due.into_iter().chain(closing_due).min();
            let is_writing = self.outgoing.has_work();
            let events = &self.setup.events;
            let has_keeper = self.keeper.is_some();
            let may_complain = self.complaints.is_some();
            // What an agent started may hold its output open after its end, and write on.
            let patience = exit.is_some().then_some(LAST_WORDS);
            // An agent that asks and does not read the answers has to wait.
            let may_read = stdout_open && self.outgoing.has_room_for_replies();
            tokio::select! {
                biased;
                order = self.setup.orders.recv(), if orders_open => match order {
                    Some(order) => self.obey(order),
                    None => {
                        // Nobody looks at the events and nobody can send: there is no session any more.
                        orders_open = false;
                        self.closed = true;
                        self.stop(Duration::ZERO);
                    }
                },
                () = self.outgoing.write_some(), if is_writing => {}
                () = until(due) => {
                    let now = Instant::now();
                    self.peer.handle_timeout(now.into_std());
                    if stdout_open && self.closing.is_some_and(|due| due <= now) {
                        stdout_open = false;
                        self.finish_reading();
                    }
                }
                ended = exit_of(&mut self.keeper), if has_keeper && exit.is_none() => {
                    exit = Some(ended.ok());
                }
                () = due_when_there_is_room(&self.stderr, events, self.setup.limits.bound()) => self.pass_on_stderr(),
                read = read_when_there_is_room(&mut self.stdout, &mut self.decoder, events, bound, patience),
                    if may_read =>
                {
                    let read = read.unwrap_or_default();
                    if exit.is_some() {
                        last_words = last_words.saturating_sub(read);
                    }
                    match read {
                        1.. if last_words > 0 => {
                            self.take_in();
                            // Who turns the loop to see an event need not wait for the next.
                            break_off().await;
                        }
                        _ => {
                            stdout_open = false;
                            self.finish_reading();
                            // An agent that writes no more has nothing left to do.
                            self.stop(self.setup.limits.close_grace);
                        }
                    }
                }
                // Last: an agent that only complains must not keep us from reading what it says.
                () = drained(&mut self.complaints), if may_complain => self.complaints = None,
            }
        }
        exit.flatten()
    }

    /// Cuts what was read into lines, keeps those of the control conversation and passes on the others.
    fn take_in(&mut self) {
        while let Some(line) = self.pass_on_lines(LineDecoder::cut) {
            self.control_line(line);
        }
    }

    fn finish_reading(&mut self) {
        if let Some(line) = self.pass_on_lines(LineDecoder::finish) {
            self.control_line(line);
        }
    }

    /// Passes on lines up to the next one of the control conversation, which stays behind what came before it.
    fn pass_on_lines(&mut self, cut: impl Fn(&mut LineDecoder) -> Option<Line>) -> Option<Text> {
        let mut control = None;
        self.setup.events.push(iter::from_fn(|| {
            let item = Item::from(cut(&mut self.decoder)?);
            if let Item::Line(line) = &item {
                tracing::trace!(line = line.as_str(), "the agent says");
                if towline_protocol::is_control(line) {
                    control = Some(line.clone());
                    return None;
                }
            }
            let bytes = item.size();
            Some((item, bytes))
        }));
        control
    }

    fn control_line(&mut self, line: Text) {
        let frame = match Frame::<ToHost>::decode(line.clone()) {
            Ok(frame) => frame,
            Err(error) => return self.malformed(line, Problem::Decode(error)),
        };
        match ControlLine::try_from(frame.message) {
            Ok(control) => {
                self.line = line;
                self.peer.handle(control);
                self.carry_out();
                // A share of it would keep all that was read with it.
                self.line = Text::new();
            }
            Err(_) => {
                let bytes = line.len();
                self.setup.events.push([(Item::Line(line), bytes)]);
            }
        }
    }

    fn malformed(&mut self, line: Text, problem: Problem) {
        let start = &line[..line.floor_char_boundary(SHOWN)];
        tracing::warn!(line = start, %problem, "the agent wrote what cannot be used");
        let bytes = line.len();
        self.push_event(Event::Malformed(Malformed { line, problem }), bytes);
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Send(line) => self.outgoing.push(line),
            Order::Ask {
                request,
                timeout,
                settled,
            } => {
                // Nobody would read it; whoever waits is told by the end of his channel.
                if !self.outgoing.is_closed() {
                    let deadline = timeout.and_then(deadline);
                    let id = self.peer.ask(*request, deadline);
                    self.waiting.insert(id, settled);
                }
            }
            Order::Answer { ticket, answer } => {
                self.open.remove(&ticket);
                // Too late, if it is over; the caller has been told.
                self.peer.answer(ticket, answer);
            }
            Order::Forget => {
                let gone = self.waiting.iter().filter(|(_, asker)| asker.is_closed());
                for id in gone.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
                    self.peer.cancel(&id);
                }
            }
            Order::Serve(starter) => self.setup.servers.add(&starter, &self.setup.sender),
            Order::EndInput => self.outgoing.end(),
            Order::Close => self.close(),
        }
    }

    /// Does what the peer wants done.
    fn carry_out(&mut self) {
        while let Some(output) = self.peer.poll_output() {
            match output {
                Output::Send(line) => {
                    let line = Frame::encode(ToAgent::from(line)).line().clone();
                    self.outgoing.push(ToWrite {
                        bytes: with_line_end(&line),
                        room: None,
                    });
                }
                Output::Event(event) => self.peer_event(event),
            }
        }
    }

    fn peer_event(&mut self, event: towline_protocol::Event) {
        use towline_protocol::Event as Peer;
        match event {
            Peer::Asked {
                ticket, request, ..
            } => self.asked(ticket, request),
            Peer::Withdrawn { ticket, reason } => {
                self.setup.servers.withdrawn(ticket);
                if let Some(told) = self.open.remove(&ticket) {
                    // The question may have been dropped.
                    told.send(reason).ok();
                    let question = QuestionId(ticket);
                    self.push_event(Event::Withdrawn { question, reason }, SMALL);
                }
            }
            Peer::Settled {
                request_id,
                outcome,
            } => {
                if let Some(settled) = self.waiting.remove(&request_id) {
                    // Whoever asked may have stopped waiting.
                    settled.send(outcome).ok();
                }
            }
            Peer::Stray(stray) => {
                let problem = match stray {
                    Stray::Response(_) | Stray::Cancel(_) => Problem::Stray,
                    Stray::UnknownRequest(_) | Stray::TooMany(_) => Problem::Refused,
                };
                self.malformed(self.line.clone(), problem);
            }
        }
    }

    fn asked(&mut self, ticket: Ticket, request: Box<Request>) {
        let request = match self.setup.servers.take(ticket, request) {
            Ok(answers) => {
                // It may end without an answer, or never end.
                if let Some(timeout) = self.setup.limits.mcp_timeout
                    && let Some(deadline) = deadline(timeout)
                {
                    let why = format!(
                        "The MCP server did not answer within {}.",
                        in_words(timeout)
                    );
                    self.peer.answer_at(ticket, deadline, Err(why.into()));
                }
                for (ticket, answer) in answers {
                    self.peer.answer(ticket, answer);
                }
                return;
            }
            Err(request) => *request,
        };
        if let Some(timeout) = self.setup.limits.question_timeout
            && let Some(deadline) = deadline(timeout)
        {
            let answer = question::nobody_answered(&request, &in_words(timeout));
            self.peer.answer_at(ticket, deadline, answer);
        }
        let unanswered = question::refusal(&request, "The host did not answer this question.");
        let orders = self.setup.sender.clone();
        let (told, withdrawn) = oneshot::channel();
        self.open.insert(ticket, told);
        let responder = Responder::new(ticket, orders, withdrawn, unanswered);
        self.push_event(question::event(request, responder), SMALL + self.line.len());
    }

    /// Interrupt, end of input, and then what [`Keeper`](crate::transport::Keeper) does to a process that stays.
    fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let grace = self.setup.limits.close_grace;
        self.peer.ask(Request::interrupt(), deadline(grace));
        self.stop(grace);
    }

    fn stop(&mut self, patience: Duration) {
        let grace = self.setup.limits.close_grace;
        self.outgoing.end();
        if self.closing.is_none() {
            // A process is killed before this; anything else is left to itself then.
            let time = patience.saturating_add(grace).saturating_add(LAST_WORDS);
            self.closing = Instant::now().checked_add(time);
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.stop(Stop { patience, grace });
        }
    }

    /// Tells everybody that it is over.
    fn end(mut self, exit: Option<Exit>) {
        self.peer.handle_close();
        self.carry_out();
        self.pass_on_stderr();
        let ending = Ending {
            command: mem::take(&mut self.setup.command),
            exit,
            closed: self.closed,
            stderr: self.stderr.tail(),
        };
        tracing::debug!(%ending, "the agent has ended");
        self.setup.ended.send_replace(Some(ending.clone()));
        self.push_event(Event::Ended(ending), SMALL);
    }

    fn pass_on_stderr(&mut self) {
        if let Some(words) = self.stderr.take() {
            tracing::debug!(stderr = words, "the agent complains");
            let bytes = words.len();
            self.push_event(Event::Stderr(words), bytes);
        }
    }

    fn push_event(&self, event: Event, bytes: usize) {
        let item = Item::Event(Box::new(event));
        self.setup.events.push([(item, bytes)]);
    }

    /// How much may be in the queue. While we wait for the agent to answer or to read it may be more: the answer stands
    /// behind what is not read yet, and an agent may not read before it has written. What an agent that has ended left in
    /// the pipe is little, and nobody is to wait for its end until that is looked at.
    fn bound(&self, has_ended: bool) -> Bound {
        let waits = self.peer.waiting().next().is_some() || self.outgoing.has_lines();
        if waits || has_ended {
            Bound {
                waiting: self.setup.limits.queue.max(OVERDRAFT),
                on_the_way: usize::MAX,
            }
        } else {
            self.setup.limits.bound()
        }
    }
}

type Stdout = Box<dyn AsyncRead + Send + Unpin>;

/// Waits for room in the queue, then for bytes; not longer than `patience` for those, if there is one.
async fn read_when_there_is_room(
    stdout: &mut Stdout,
    decoder: &mut LineDecoder,
    events: &Sender<Item>,
    bound: Bound,
    patience: Option<Duration>,
) -> io::Result<usize> {
    let unfinished = decoder.unfinished();
    poll_fn(|context| events.poll_room(context, bound, unfinished)).await;
    let mut room = decoder.room();
    match patience {
        None => stdout.read_buf(&mut room).await,
        Some(patience) => tokio::time::timeout(patience, stdout.read_buf(&mut room))
            .await
            .unwrap_or(Ok(0)),
    }
}

/// Waits for complaints that are due, then for room in the queue.
async fn due_when_there_is_room(stderr: &Stderr, events: &Sender<Item>, bound: Bound) {
    stderr.due().await;
    poll_fn(|context| events.poll_room(context, bound, 0)).await;
}

/// Ends this turn of the loop. The next one goes on.
async fn break_off() {
    let mut is_over = false;
    poll_fn(|context| {
        if mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn drained(complaints: &mut Option<Pin<Box<dyn Future<Output = ()> + Send>>>) {
    match complaints {
        Some(complaints) => complaints.await,
        None => std::future::pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn exit_of(keeper: &mut Option<Keeper>) -> io::Result<Exit> {
    match keeper {
        Some(keeper) => keeper.exit().await,
        None => std::future::pending().await,
    }
}

pub(crate) fn with_line_end(line: &str) -> Bytes {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    bytes.into()
}

/// When a time from now is over; nothing if that is beyond all time.
fn deadline(time: Duration) -> Option<std::time::Instant> {
    Instant::now().checked_add(time).map(Instant::into_std)
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// How much of a line is logged.
const SHOWN: usize = 200;
/// What an event without a line counts in the queue.
const SMALL: usize = 256;
/// How much may wait in the queue while we wait for an answer of the agent.
const OVERDRAFT: usize = 16 << 20;
/// How long to go on reading after the end of an agent, without anything coming.
const LAST_WORDS: Duration = Duration::from_millis(500);
