//! The hub: sessions, viewers, open questions and sequence numbers. Pure: it does no IO and reads no clock.
//!
//! [`Hub::handle_command`], [`Hub::handle_agent`] and the others take in what happens; [`Hub::poll_output`] gives what
//! is to be done. Every frame is written before anyone sees it. Times are milliseconds since 1970.

mod command;
mod draft;
mod outbox;
mod sequence;
mod session;
#[cfg(test)]
mod tests;
mod verdict;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use towline_protocol::dialect::pocket::{BridgeId, ClientMessageId, Status};

use crate::{Question, SessionRecord, Usage, log::Write};

pub use command::*;
pub use draft::{Delta, Draft, DraftBlock, Part};
pub use outbox::{Item, Outbox};
use session::{Haste, Session};
pub use verdict::{Verdict, suggestions};

/// What the hub may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// So many agents run at once.
    pub agents: usize,
    /// An agent with nothing to do is stopped after so many milliseconds.
    pub idle: u64,
}

/// Everything that the bridge knows while it runs.
#[derive(Debug)]
pub struct Hub {
    limits: Limits,
    sessions: BTreeMap<BridgeId, Session>,
    viewers: HashMap<ViewerId, Scope>,
    /// What is being written, in order.
    in_flight: VecDeque<InFlight>,
    trouble: Option<Arc<str>>,
    outputs: VecDeque<Output>,
    frames_written: u64,
    items_shown: u64,
}

#[derive(Debug)]
enum InFlight {
    Frame(BridgeId),
    Record(Arc<SessionRecord>),
}

impl Hub {
    /// A hub without sessions.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            sessions: BTreeMap::new(),
            viewers: HashMap::new(),
            in_flight: VecDeque::new(),
            trouble: None,
            outputs: VecDeque::new(),
            frames_written: 0,
            items_shown: 0,
        }
    }

    /// Takes in a session that is in the log, with the questions that nobody answered and the latest inputs by what
    /// their clients call them.
    pub fn restore(
        &mut self,
        record: SessionRecord,
        open: Vec<Question>,
        taken: HashMap<ClientMessageId, u64>,
        now: u64,
    ) {
        let id = record.id.clone();
        let session = Session::restored(record, open, taken, now);
        self.sessions.insert(id.clone(), session);
        self.collect(&id);
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<Output> {
        let output = self.outputs.pop_front();
        if let Some(Output::Show(..)) = output {
            self.items_shown += 1;
        }
        output
    }

    /// Time has passed. To be called about once a second.
    pub fn handle_timeout(&mut self, now: u64) {
        let due = |session: &&mut Session| {
            session.could_sleep()
                && session.record.active_at.saturating_add(self.limits.idle) <= now
        };
        let mut dozed = Vec::new();
        for session in self.sessions.values_mut().filter(due) {
            session.doze(now);
            dozed.push(session.id().clone());
        }
        for id in dozed {
            self.collect(&id);
        }
    }

    /// So many writes are done, in the order they were asked for.
    pub fn handle_written(&mut self, count: usize) {
        for _ in 0..count {
            match self.in_flight.pop_front() {
                Some(InFlight::Frame(id)) => {
                    self.frames_written += 1;
                    if let Some(session) = self.sessions.get_mut(&id) {
                        session.sequence.written();
                    }
                    self.collect(&id);
                }
                Some(InFlight::Record(record)) => self.tell_of(&Item::Session(record)),
                None => {}
            }
        }
    }

    /// The log cannot be written, and why; or it can be again.
    pub fn handle_trouble(&mut self, why: Option<String>, now: u64) {
        self.trouble = why.map(Into::into);
        let sessions: Vec<BridgeId> = self.sessions.keys().cloned().collect();
        for id in sessions {
            self.collect(&id);
            // What was said elsewhere cannot be taken in now: nobody waits for that.
            let held = self.sessions.get_mut(&id).map(Session::held);
            if self.trouble.is_some() {
                self.resume(held.unwrap_or_default(), now);
            }
        }
        let item = Item::Trouble(self.trouble.clone());
        for viewer in self.viewers.keys() {
            self.outputs.push_back(Output::Show(*viewer, item.clone()));
        }
    }

    /// How much waits to be written. Whoever reads agents waits while it is too much.
    pub fn backlog(&self) -> usize {
        self.in_flight.len()
    }

    /// Somebody watches.
    pub fn handle_viewer(&mut self, viewer: ViewerId, scope: Scope) {
        if scope == Scope::Everything {
            for session in self.sessions.values_mut() {
                session.sequence.add_viewer(viewer);
            }
        }
        if self.trouble.is_some() {
            let item = Item::Trouble(self.trouble.clone());
            self.outputs.push_back(Output::Show(viewer, item));
        }
        self.viewers.insert(viewer, scope);
    }

    /// An open question of a session.
    pub fn question(&self, session: &BridgeId, id: &str) -> Option<&Question> {
        self.sessions.get(session)?.question(id).ok()
    }

    /// A viewer wants to see a session from after a frame on.
    pub fn handle_attach(&mut self, viewer: ViewerId, session: &BridgeId, after: u64, now: u64) {
        if self.viewers.contains_key(&viewer)
            && let Some(found) = self.sessions.get_mut(session)
        {
            found.attach(viewer, after);
            if self.trouble.is_none() {
                found.look_elsewhere(Haste::Lately, now);
            }
            self.collect(session);
        }
    }

    /// A viewer does not want to see a session any more.
    pub fn handle_detach(&mut self, viewer: ViewerId, session: &BridgeId) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.sequence.remove_viewer(viewer);
        }
    }

    /// A viewer is gone.
    pub fn handle_leave(&mut self, viewer: ViewerId) {
        self.viewers.remove(&viewer);
        for session in self.sessions.values_mut() {
            session.sequence.remove_viewer(viewer);
        }
    }

    /// An agent did something.
    pub fn handle_agent(&mut self, session: &BridgeId, run: u64, event: AgentEvent, now: u64) {
        if let Some(found) = self.sessions.get_mut(session) {
            found.agent_event(run, event, now);
            self.collect(session);
        }
    }

    /// Somebody has looked for what was said elsewhere.
    pub fn handle_elsewhere(&mut self, session: &BridgeId, found: Elsewhere, now: u64) {
        let Some(there) = self.sessions.get_mut(session) else {
            return;
        };
        match found {
            Elsewhere::Lines(lines) => {
                there.take_in(lines, now);
                self.collect(session);
            }
            Elsewhere::Done => {
                let held = there.looked();
                self.resume(held, now);
            }
        }
    }

    /// A client wants something.
    pub fn handle_command(&mut self, command: Command, ticket: Ticket, now: u64) {
        match self.looks_first(&command, now) {
            Some(session) => {
                let held = self
                    .session(&session)
                    .and_then(|session| session.hold(command, ticket));
                if let Err(refusal) = held {
                    self.reply(ticket, Reply::Refused(refusal));
                }
                self.collect(&session);
            }
            None => self.resume(vec![(command, ticket)], now),
        }
    }

    /// The session in which somebody has to look first for what was said elsewhere.
    fn looks_first(&mut self, command: &Command, now: u64) -> Option<BridgeId> {
        let (id, haste) = match command {
            Command::Input(id, _) | Command::Rewind(id, _) => (id, Haste::Now),
            Command::Describe(id) => (id, Haste::Lately),
            // It waits behind what was said before it.
            Command::Control(id, _) => {
                let session = self.sessions.get(id)?;
                return session.holds().then(|| id.clone());
            }
            _ => return None,
        };
        let session = self.sessions.get_mut(id)?;
        let has_to = self.trouble.is_none() && session.look_elsewhere(haste, now);
        has_to.then(|| id.clone())
    }

    fn resume(&mut self, commands: Vec<(Command, Ticket)>, now: u64) {
        for (command, ticket) in commands {
            if let Err(refusal) = self.obey(command, ticket, now) {
                self.reply(ticket, Reply::Refused(refusal));
            }
        }
    }

    fn obey(&mut self, command: Command, ticket: Ticket, now: u64) -> Result<(), Refusal> {
        match command {
            Command::Start(id, setup) => return self.start(id, *setup, ticket, now),
            Command::List => {
                let sessions = self.sessions.values().map(Session::describe).collect();
                self.reply(ticket, Reply::Sessions(sessions));
            }
            Command::Describe(id) => {
                let description = self.session(&id)?.describe();
                self.reply(ticket, Reply::Session(Box::new(description)));
            }
            Command::Question(id, name) => {
                let question = self.session(&id)?.question(&name)?.clone();
                self.reply(ticket, Reply::Question(Box::new(question)));
            }
            Command::Figures => {
                let figures = self.figures();
                self.reply(ticket, Reply::Figures(Box::new(figures)));
            }
            Command::Input(id, input) => {
                self.check_log()?;
                if !self.session(&id)?.has_agent() {
                    self.make_room(now)?;
                }
                self.session(&id)?.input(&input, ticket, now);
                self.collect(&id);
            }
            Command::Answer {
                session,
                question,
                decision,
                by,
            } => {
                self.session(&session)?
                    .answer(&question, (decision, by), ticket, now);
                self.collect(&session);
            }
            Command::Control(id, control) => {
                self.session(&id)?.control(control, ticket, now);
                self.collect(&id);
            }
            Command::Rename(id, title) => {
                self.session(&id)?.rename(title.as_deref());
                self.collect(&id);
                self.reply(ticket, Reply::Done(None));
            }
            Command::Rewind(id, to) => {
                self.check_log()?;
                if !self.session(&id)?.has_agent() {
                    self.make_room(now)?;
                }
                self.session(&id)?.rewind(to, now)?;
                self.collect(&id);
                self.reply(ticket, Reply::Done(None));
            }
            Command::Reopen(id) => {
                self.session(&id)?.reopen();
                self.collect(&id);
                self.reply(ticket, Reply::Done(None));
            }
            Command::Stop(id) => {
                self.session(&id)?.stop(now);
                self.collect(&id);
                self.reply(ticket, Reply::Done(None));
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        id: BridgeId,
        setup: Setup,
        ticket: Ticket,
        now: u64,
    ) -> Result<(), Refusal> {
        self.check_log()?;
        if self.sessions.contains_key(&id) {
            return Err(Refusal::Taken(id));
        }
        if let Some(held) = self.holder(&setup.from) {
            let session = self.session(&held)?;
            session.reopen();
            let description = session.describe();
            self.collect(&held);
            self.reply(ticket, Reply::Session(Box::new(description)));
            return Ok(());
        }
        self.make_room(now)?;
        let record = SessionRecord {
            id: id.clone(),
            agent_session_id: match &setup.from {
                From::Session {
                    id, fork: false, ..
                } => Some(id.clone()),
                _ => None,
            },
            agent: setup.agent.clone(),
            directory: setup.directory.clone(),
            additional_directories: setup.additional_directories.clone(),
            title: None,
            model: setup.model.clone(),
            permission_mode: setup.permission_mode.clone(),
            options: setup.options.clone(),
            created_at: now,
            active_at: now,
            status: Status::Starting,
            last_seq: 0,
            last_message: None,
            unheard: Vec::new(),
            dropped: Vec::new(),
            usage: Usage::default(),
            archived: false,
        };
        let mut session = Session::new(record, setup);
        let everything = self
            .viewers
            .iter()
            .filter(|(_, scope)| **scope == Scope::Everything);
        for (viewer, _) in everything {
            session.sequence.add_viewer(*viewer);
        }
        session.wake();
        let description = session.describe();
        self.sessions.insert(id.clone(), session);
        self.collect(&id);
        self.reply(ticket, Reply::Session(Box::new(description)));
        Ok(())
    }

    /// The session that goes on with this already: two agents must not write one transcript. The latest, if there are
    /// several.
    fn holder(&self, from: &From) -> Option<BridgeId> {
        let From::Session {
            id, fork: false, ..
        } = from
        else {
            return None;
        };
        let sessions = self.sessions.values();
        let holders =
            sessions.filter(|session| session.record.agent_session_id.as_ref() == Some(id));
        let latest = holders.max_by_key(|session| session.record.active_at);
        latest.map(|session| session.id().clone())
    }

    fn figures(&self) -> Figures {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        // All of them, so that none is missing where there are none.
        let mut sessions: BTreeMap<String, u64> = STATUSES
            .iter()
            .map(|status| (status.to_string(), 0))
            .collect();
        for session in self.sessions.values() {
            if !session.record.archived {
                *sessions.entry(session.status().to_string()).or_default() += 1;
            }
        }
        let running = self.sessions.values().filter(|session| session.has_agent());
        Figures {
            sessions,
            agents: count(running.count()),
            viewers: count(self.viewers.len()),
            frames_written: self.frames_written,
            items_shown: self.items_shown,
            backlog: count(self.in_flight.len()),
            trouble: self.trouble.as_deref().map(str::to_owned),
        }
    }

    fn session(&mut self, id: &BridgeId) -> Result<&mut Session, Refusal> {
        let found = self.sessions.get_mut(id);
        found.ok_or_else(|| Refusal::NoSession(id.to_string()))
    }

    fn check_log(&self) -> Result<(), Refusal> {
        match &self.trouble {
            Some(why) => Err(Refusal::Busy(format!(
                "nothing new is taken in while the log cannot be written: {why}"
            ))),
            None => Ok(()),
        }
    }

    /// Lets the agent sleep that has had nothing to do for the longest time, if no more may run.
    fn make_room(&mut self, now: u64) -> Result<(), Refusal> {
        let running = self
            .sessions
            .values()
            .filter(|session| session.has_agent())
            .count();
        if running < self.limits.agents {
            return Ok(());
        }
        let idle = self
            .sessions
            .values_mut()
            .filter(|session| session.could_sleep());
        let longest = idle.min_by_key(|session| session.record.active_at);
        let Some(session) = longest else {
            return Err(Refusal::TooMany(self.limits.agents));
        };
        session.doze(now);
        let id = session.id().clone();
        self.collect(&id);
        Ok(())
    }

    fn reply(&mut self, ticket: Ticket, reply: Reply) {
        self.outputs.push_back(Output::Reply(ticket, reply));
    }

    /// Shows something to everyone who watches the list of sessions.
    fn tell_of(&mut self, item: &Item) {
        for (viewer, scope) in &self.viewers {
            if *scope != Scope::Attached {
                self.outputs.push_back(Output::Show(*viewer, item.clone()));
            }
        }
    }

    /// Takes over what a session wants done.
    fn collect(&mut self, id: &BridgeId) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if let Some(why) = &self.trouble {
            session.sequence.excuse(why);
        }
        for output in session.sequence.take_outputs() {
            match &output {
                Output::Write(Write::Frame { session, .. }) => {
                    self.in_flight.push_back(InFlight::Frame(session.clone()));
                }
                Output::Write(Write::Session(record)) => {
                    self.in_flight
                        .push_back(InFlight::Record(Arc::new((**record).clone())));
                }
                _ => {}
            }
            self.outputs.push_back(output);
        }
    }
}

/// Everything that a session can be doing.
const STATUSES: [Status; 6] = [
    Status::Idle,
    Status::Running,
    Status::WaitingApproval,
    Status::Starting,
    Status::Compacting,
    Status::Dead,
];
