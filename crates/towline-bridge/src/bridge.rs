//! [`Bridge`]: the hub at work. One task owns the hub; everything that happens passes through it, in one order.
//!
//! It never waits for anyone: what goes to viewers and agents is put into their queues, what goes to the log is written
//! by a thread. While too much waits to be written, agents are not read, so that they wait instead.

mod agent;
mod elsewhere;
mod queue;
mod viewer;
mod writer;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::sync::{mpsc, oneshot};
use towline_host::AgentCommand;
use towline_protocol::dialect::pocket::{BridgeId, ClientMessageId};

use crate::{
    Library, Outcome, Question, SessionRecord,
    hub::{
        AgentEvent, Command, Elsewhere, Hub, Item, Limits, Order, Output, Refusal, Reply, Scope,
        Setup, Ticket, ViewerId,
    },
    log::Log,
};

use queue::{Gate, Queue};
pub use viewer::{Shown, Viewer};

/// A running bridge. Clones are the same bridge; it ends with the last of them.
#[derive(Clone, Debug)]
pub struct Bridge {
    requests: mpsc::Sender<Request>,
    library: Library,
    next_id: Arc<AtomicU64>,
}

/// What a bridge is made of.
pub struct Parts<L> {
    /// What lasts.
    pub log: L,
    /// Reads the log while it is being written, and what was said elsewhere.
    pub library: Library,
    /// The sessions of the log.
    pub sessions: Vec<Restored>,
    /// Makes the command that starts an agent, or says why it cannot be started.
    pub launch: Launch,
    /// What the hub may take.
    pub limits: Limits,
    /// Hears of questions that nobody answered in time.
    pub unanswered: Unanswered,
}

/// Makes the command that starts an agent, or says why it cannot be started.
pub type Launch = Arc<dyn Fn(&Setup) -> Result<AgentCommand, String> + Send + Sync>;

/// Hears of questions that nobody answered in time.
pub type Unanswered = Arc<dyn Fn(&BridgeId, &Question) + Send + Sync>;

/// A session as the log has it.
#[derive(Debug)]
pub struct Restored {
    /// What is known of it.
    pub record: SessionRecord,
    /// The questions that nobody answered.
    pub open: Vec<Question>,
    /// The latest inputs by what their clients call them.
    pub taken: HashMap<ClientMessageId, u64>,
}

/// What clients and viewers want of the task that owns the hub.
#[derive(Debug)]
enum Request {
    Command(Command, oneshot::Sender<Reply>),
    Watch(ViewerId, Scope, Arc<Queue>),
    Attach(ViewerId, BridgeId, u64),
    Detach(ViewerId, BridgeId),
    Leave(ViewerId),
    /// End all agents, write what is to be written, and say so.
    Close(oneshot::Sender<()>),
}

/// What comes from an agent's tasks, and from whoever looks at what was said elsewhere.
#[derive(Debug)]
enum FromAgent {
    Event(BridgeId, u64, AgentEvent),
    Elsewhere(BridgeId, Elsewhere),
    Reply(Ticket, Reply),
    /// There will be no more from this run.
    Gone(BridgeId, u64),
}

impl Bridge {
    /// Starts one; needs a tokio runtime.
    pub fn start<L: Log>(parts: Parts<L>) -> Self {
        let (requests, from_clients) = mpsc::channel(QUEUE);
        let (agent_events, from_agents) = mpsc::channel(QUEUE);
        let (writes, written) = writer::start(parts.log);
        let mut hub = Hub::new(parts.limits);
        for Restored {
            record,
            open,
            taken,
        } in parts.sessions
        {
            hub.restore(record, open, taken, now());
        }
        let switchboard = Switchboard {
            hub,
            writes,
            agent_events,
            launch: parts.launch,
            unanswered: parts.unanswered,
            library: parts.library.clone(),
            agents: HashMap::new(),
            gates: HashMap::new(),
            viewers: HashMap::new(),
            waiting: HashMap::new(),
            next_ticket: 0,
            closing: Vec::new(),
        };
        tokio::spawn(switchboard.run(from_clients, from_agents, written));
        Self {
            requests,
            library: parts.library,
            next_id: Arc::new(AtomicU64::new(1)),
        }
    }

    /// Has something done.
    pub async fn command(&self, command: Command) -> Reply {
        let (reply, replied) = oneshot::channel();
        // If the task is gone, so is the receiver's other end, and that is the reply.
        self.requests
            .send(Request::Command(command, reply))
            .await
            .ok();
        let gone = || Reply::Refused(Refusal::Busy("the bridge is ending".to_owned()));
        replied.await.unwrap_or_else(|_| gone())
    }

    /// Begins to watch, with a queue of so many bytes.
    pub async fn watch(&self, scope: Scope, bytes: usize) -> Viewer {
        let id = ViewerId(self.next_id.fetch_add(1, Ordering::Relaxed));
        let queue = Arc::new(Queue::new(bytes));
        let request = Request::Watch(id, scope, Arc::clone(&queue));
        self.requests.send(request).await.ok();
        Viewer::new(id, queue, self.clone())
    }

    /// What can be read.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Ends all agents and waits until everything is written.
    pub async fn close(&self) {
        let (done, is_done) = oneshot::channel();
        self.requests.send(Request::Close(done)).await.ok();
        is_done.await.ok();
    }
}

impl<L: std::fmt::Debug> std::fmt::Debug for Parts<L> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sessions = self.sessions.len();
        formatter
            .debug_struct("Parts")
            .field("log", &self.log)
            .field("sessions", &sessions)
            .finish_non_exhaustive()
    }
}

/// The task that owns the hub, and the ends of everybody's queues.
struct Switchboard {
    hub: Hub,
    writes: writer::Writes,
    agent_events: mpsc::Sender<FromAgent>,
    launch: Launch,
    unanswered: Unanswered,
    library: Library,
    agents: HashMap<(BridgeId, u64), mpsc::UnboundedSender<Order>>,
    /// What lets the agent of a session wait.
    gates: HashMap<BridgeId, Arc<Gate>>,
    viewers: HashMap<ViewerId, Arc<Queue>>,
    waiting: HashMap<Ticket, oneshot::Sender<Reply>>,
    next_ticket: u64,
    /// Who waits for the end.
    closing: Vec<oneshot::Sender<()>>,
}

impl Switchboard {
    async fn run(
        mut self,
        mut from_clients: mpsc::Receiver<Request>,
        mut from_agents: mpsc::Receiver<FromAgent>,
        mut written: mpsc::UnboundedReceiver<writer::Progress>,
    ) {
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.carry_out();
            if !self.closing.is_empty() && self.agents.is_empty() && self.hub.backlog() == 0 {
                break;
            }
            let may_read = self.hub.backlog() < BACKLOG;
            tokio::select! {
                biased;
                progress = written.recv() => match progress {
                    Some(writer::Progress::Written(count)) => self.hub.handle_written(count),
                    Some(writer::Progress::Trouble(why)) => self.hub.handle_trouble(why, now()),
                    None => break,
                },
                request = from_clients.recv() => match request {
                    Some(request) => self.request(request),
                    // Nobody is left who could want something.
                    None => break,
                },
                event = from_agents.recv(), if may_read => {
                    if let Some(event) = event {
                        self.heard(event);
                    }
                }
                _ = tick.tick() => self.hub.handle_timeout(now()),
            }
        }
        for done in self.closing.drain(..) {
            done.send(()).ok();
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Command(command, reply) => {
                let ticket = Ticket(self.next_ticket);
                self.next_ticket += 1;
                self.waiting.insert(ticket, reply);
                self.hub.handle_command(command, ticket, now());
            }
            Request::Watch(viewer, scope, queue) => {
                self.viewers.insert(viewer, queue);
                self.hub.handle_viewer(viewer, scope);
            }
            Request::Attach(viewer, session, after) => {
                self.hub.handle_attach(viewer, &session, after, now());
            }
            Request::Detach(viewer, session) => self.hub.handle_detach(viewer, &session),
            Request::Leave(viewer) => {
                self.viewers.remove(&viewer);
                self.hub.handle_leave(viewer);
            }
            Request::Close(done) => {
                for orders in self.agents.values() {
                    orders.send(Order::Close).ok();
                }
                self.closing.push(done);
            }
        }
    }

    fn heard(&mut self, event: FromAgent) {
        match event {
            FromAgent::Event(session, run, event) => {
                if let AgentEvent::Withdrawn(id, Outcome::TimedOut) = &event
                    && let Some(question) = self.hub.question(&session, id)
                {
                    (self.unanswered)(&session, question);
                }
                self.hub.handle_agent(&session, run, event, now());
            }
            FromAgent::Elsewhere(session, found) => {
                self.hub.handle_elsewhere(&session, found, now());
            }
            FromAgent::Reply(ticket, reply) => self.reply(ticket, reply),
            FromAgent::Gone(session, run) => {
                self.agents.remove(&(session, run));
            }
        }
    }

    /// Does what the hub wants done.
    fn carry_out(&mut self) {
        while let Some(output) = self.hub.poll_output() {
            match output {
                Output::Write(write) => self.writes.push(write),
                Output::Show(viewer, item) => self.show(viewer, item),
                Output::Agent(session, run, Order::Start(setup)) => {
                    self.start_agent(session, run, *setup);
                }
                Output::Look {
                    session,
                    agent_session_id,
                    last_seq,
                } => {
                    let (library, events) = (self.library.clone(), self.agent_events.clone());
                    let look =
                        elsewhere::look(library, session, last_seq, agent_session_id, events);
                    tokio::spawn(look);
                }
                Output::Agent(session, run, order) => self.order(&(session, run), order),
                Output::Reply(ticket, reply) => self.reply(ticket, reply),
            }
        }
        self.writes.flush();
    }

    /// Has an agent do something. One that is gone has said so, or will; whoever waits for what it does is told.
    fn order(&mut self, agent: &(BridgeId, u64), order: Order) {
        let not_sent = match self.agents.get(agent) {
            Some(orders) => orders.send(order).err().map(|unsent| unsent.0),
            None => Some(order),
        };
        if let Some(Order::Control(_, ticket)) = not_sent {
            let why = "the agent has ended".to_owned();
            self.reply(ticket, Reply::Refused(Refusal::Agent(why)));
        }
    }

    fn show(&self, viewer: ViewerId, item: Item) {
        let Some(queue) = self.viewers.get(&viewer) else {
            return;
        };
        let gate = item.session().and_then(|session| self.gates.get(session));
        if queue.push(item)
            && let Some(gate) = gate
        {
            gate.close(queue);
        }
    }

    fn reply(&mut self, ticket: Ticket, reply: Reply) {
        if let Some(waiting) = self.waiting.remove(&ticket) {
            // Whoever asked may be gone.
            waiting.send(reply).ok();
        }
    }

    fn start_agent(&mut self, session: BridgeId, run: u64, setup: Setup) {
        let (orders, obeyed) = mpsc::unbounded_channel();
        self.agents.insert((session.clone(), run), orders);
        let gate = Arc::<Gate>::default();
        self.gates.insert(session.clone(), Arc::clone(&gate));
        let outlet = agent::Outlet::new(
            session,
            run,
            self.agent_events.clone(),
            gate,
            self.library.clone(),
        );
        let launch = Arc::clone(&self.launch);
        tokio::spawn(agent::run(launch, setup, obeyed, outlet));
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How many requests and events may wait.
const QUEUE: usize = 256;
/// How many writes may wait before agents have to.
const BACKLOG: usize = 4096;
/// How often the hub looks for agents with nothing to do.
const TICK: Duration = Duration::from_secs(1);
