//! One session in the hub: its numbering, its status, its open questions, and who is shown what in which order.
//!
//! A frame is shown once it is written. What comes after it waits behind it, so that the order is the same for all.

mod elsewhere;
mod inputs;
mod mode;
mod waiting;

use std::collections::{HashMap, VecDeque};

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use towline_protocol::{
    Assistant, Frame as LineFrame, Number, PermissionMode, SessionId, SessionState, System, Text,
    ToHost, TurnResult, Uuid, Wire as _,
    dialect::pocket::{BridgeId, ClientMessageId, Status},
};

use crate::{Answered, Kind, Note, NoteCode, Outcome, Question, SessionRecord, log::Write};

use super::{
    AgentEvent, Decision, Description, From, Item, Order, Output, Refusal, Reply, Setup, Ticket,
    Verdict, ViewerId,
    sequence::{Ends, Sequence},
};
use elsewhere::Elsewhere;
pub(super) use elsewhere::Haste;
use inputs::Inputs;
use waiting::Waiting;

/// A session that the bridge knows.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) record: SessionRecord,
    pub(super) sequence: Sequence,
    setup: Setup,
    agent: Agent,
    /// Which run of the agent it is; what an earlier one says does not count.
    run: u64,
    is_running: bool,
    is_compacting: bool,
    /// How much the agent has running in the background.
    in_background: usize,
    questions: Vec<Question>,
    /// How the latest questions ended.
    over: VecDeque<Answered>,
    about: Option<Box<RawValue>>,
    /// What waits for the agent to start.
    waiting: VecDeque<Waiting>,
    /// The permission modes that the agent was asked for and has not confirmed.
    modes_asked: Vec<PermissionMode>,
    elsewhere: Elsewhere,
    inputs: Inputs,
    /// Whether the record has changed since it was last written.
    is_changed: bool,
    /// What the agent says that this run of it has cost.
    cost_of_run: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// It does not run, and nobody minds.
    Asleep,
    Starting,
    Up,
    /// It ended when nobody wanted it to.
    Dead,
}

impl Session {
    pub(super) fn new(record: SessionRecord, setup: Setup) -> Self {
        Self {
            sequence: Sequence::new(record.id.clone(), record.last_seq),
            is_changed: true,
            cost_of_run: 0.0,
            record,
            setup,
            agent: Agent::Asleep,
            run: 0,
            is_running: false,
            is_compacting: false,
            in_background: 0,
            questions: Vec::new(),
            over: VecDeque::new(),
            about: None,
            waiting: VecDeque::new(),
            modes_asked: Vec::new(),
            elsewhere: Elsewhere::default(),
            inputs: Inputs::default(),
        }
    }

    /// A session that was there before the bridge was started: what was open is not any more.
    pub(super) fn restored(
        record: SessionRecord,
        open: Vec<Question>,
        taken: HashMap<ClientMessageId, u64>,
        now: u64,
    ) -> Self {
        let setup = Setup {
            agent: record.agent.clone(),
            directory: record.directory.clone(),
            additional_directories: record.additional_directories.clone(),
            model: record.model.clone(),
            permission_mode: record.permission_mode.clone(),
            options: record.options.clone(),
            ..Setup::default()
        };
        let was_at_work = !matches!(record.status, Status::Idle | Status::Dead);
        let was_dead = record.status == Status::Dead;
        let mut session = Self::new(record, setup);
        session.questions = open;
        session.end_questions(Outcome::Cancelled, now);
        if was_at_work {
            let text = "The bridge was restarted, and what the agent was doing is cut off. \
                        The next message goes on from there.";
            session.note(NoteCode::CutOff, text, now);
        }
        session.restore_inputs(taken, now);
        if was_at_work || was_dead {
            session.agent = Agent::Dead;
        }
        session.settle();
        session
    }

    pub(super) fn id(&self) -> &BridgeId {
        &self.record.id
    }

    pub(super) fn status(&self) -> Status {
        match self.agent {
            Agent::Dead => Status::Dead,
            _ if !self.questions.is_empty() => Status::WaitingApproval,
            Agent::Starting => Status::Starting,
            Agent::Up if self.is_compacting => Status::Compacting,
            Agent::Up if self.is_running => Status::Running,
            _ => Status::Idle,
        }
    }

    /// Whether an agent runs for it.
    pub(super) fn has_agent(&self) -> bool {
        matches!(self.agent, Agent::Starting | Agent::Up)
    }

    /// Whether its agent could be stopped without anyone noticing: nothing would end with it, and one that keeps no transcript
    /// would forget everything.
    pub(super) fn could_sleep(&self) -> bool {
        self.agent == Agent::Up
            && self.status() == Status::Idle
            && self.sequence.is_caught_up()
            && self.record.unheard.is_empty()
            && self.in_background == 0
            && !self.setup.options.forget
    }

    pub(super) fn describe(&self) -> Description {
        Description {
            record: self.record.clone(),
            questions: self.questions.clone(),
            about: self.about.clone(),
        }
    }

    pub(super) fn question(&self, id: &str) -> Result<&Question, Refusal> {
        let open = self.questions.iter().find(|question| question.id == id);
        open.ok_or_else(|| match self.over.iter().find(|over| over.id == id) {
            Some(over) => Refusal::Over(over.clone()),
            None => Refusal::NoQuestion(id.to_owned()),
        })
    }

    /// Starts the agent, if it does not run.
    pub(super) fn wake(&mut self) {
        if self.has_agent() {
            return;
        }
        self.agent = Agent::Starting;
        self.run += 1;
        let mut setup = self.setup.clone();
        if let Some(id) = &self.record.agent_session_id
            && setup.from == From::Nothing
            && !setup.options.forget
        {
            setup.from = From::Session {
                id: id.clone(),
                fork: false,
                at: None,
            };
        }
        self.tell(Order::Start(Box::new(setup)));
        self.settle();
    }

    /// An agent that keeps no transcript and has ended is started anew: whoever talks to it has to know.
    fn warn_of_forgetting(&mut self, now: u64) {
        let has_begun = self.record.agent_session_id.is_some();
        if self.setup.options.forget && has_begun && !self.has_agent() {
            let text = "The agent keeps no transcript: it begins anew, and knows nothing of what was said before.";
            self.note(NoteCode::Forgotten, text, now);
            self.record.agent_session_id = None;
            self.is_changed = true;
        }
    }

    pub(super) fn answer(
        &mut self,
        id: &str,
        (decision, by): (Decision, String),
        ticket: Ticket,
        now: u64,
    ) {
        let question = self.question(id);
        let verdict = match question.and_then(|question| Verdict::on(question, decision)) {
            Ok(verdict) => verdict,
            Err(refusal) => return self.reply(ticket, Reply::Refused(refusal)),
        };
        let answered = Answered {
            id: id.to_owned(),
            outcome: verdict.outcome,
            by: Some(by),
            accepted: accepted(&verdict),
            message: verdict.message,
        };
        let then = vec![
            Output::Agent(
                self.id().clone(),
                self.run,
                Order::Answer(id.to_owned(), verdict.decision),
            ),
            Output::Reply(ticket, Reply::Done(None)),
        ];
        self.close_question(answered, then, now);
        self.settle();
    }

    pub(super) fn rename(&mut self, title: Option<&str>) {
        self.record.set_title(title);
        self.is_changed = true;
        self.settle();
    }

    /// Has the agent go back to a message: it is started again from there.
    pub(super) fn rewind(&mut self, to: Uuid, now: u64) -> Result<(), Refusal> {
        let Some(id) = self.record.agent_session_id.clone() else {
            let why = "nothing was said yet: there is nothing to go back to".to_owned();
            return Err(Refusal::Unfit(why));
        };
        if self.setup.options.forget {
            let why = "the agent keeps no transcript: there is nothing to go back to".to_owned();
            return Err(Refusal::Unfit(why));
        }
        if self.agent == Agent::Starting
            || (self.agent == Agent::Up && self.status() != Status::Idle)
        {
            let why = "the agent is at work: interrupt it first, or wait".to_owned();
            return Err(Refusal::Busy(why));
        }
        if self.has_agent() {
            self.doze(now);
        }
        self.note(NoteCode::Rewound, to.as_str(), now);
        self.setup.from = From::Session {
            id,
            fork: false,
            at: Some(to),
        };
        self.wake();
        Ok(())
    }

    /// Ends the agent; the session stays in the log.
    pub(super) fn stop(&mut self, now: u64) {
        self.take_back();
        self.drop_inputs(now);
        if self.has_agent() {
            self.tell(Order::Close);
            self.note(NoteCode::Stopped, "The session was stopped.", now);
        }
        self.refuse_orders("the session was stopped");
        self.sleep(now);
        self.record.archived = true;
        self.is_changed = true;
        self.settle();
    }

    /// Puts it back into the lists.
    pub(super) fn reopen(&mut self) {
        self.is_changed |= std::mem::take(&mut self.record.archived);
        self.settle();
    }

    /// Ends an agent that has nothing to do.
    pub(super) fn doze(&mut self, now: u64) {
        self.tell(Order::Close);
        self.sleep(now);
        self.settle();
    }

    fn sleep(&mut self, now: u64) {
        self.agent = Agent::Asleep;
        self.run += 1;
        self.is_running = false;
        self.is_compacting = false;
        self.in_background = 0;
        self.modes_asked.clear();
        self.take_back();
        self.end_questions(Outcome::AgentEnded, now);
    }

    pub(super) fn agent_event(&mut self, run: u64, event: AgentEvent, now: u64) {
        if run != self.run {
            return;
        }
        match event {
            AgentEvent::Started(about) => {
                self.agent = Agent::Up;
                self.about = about;
                self.cost_of_run = 0.0;
                self.inputs.begin_run();
                // What was to be gone on with has been; the next start goes on with what is now.
                self.setup.from = From::Nothing;
                self.deliver();
            }
            AgentEvent::StartFailed(why) => {
                self.note(NoteCode::StartFailed, &why, now);
                self.refuse_orders(&why);
                self.agent = Agent::Dead;
                self.run += 1;
            }
            AgentEvent::SessionId(id) => {
                // It has begun: from now on it is resumed by that name.
                self.setup.session_id = None;
                self.record.agent_session_id = Some(id.detached());
                self.is_changed = true;
            }
            AgentEvent::Line(line) => self.line(&line, now),
            AgentEvent::Asked(question) => {
                self.note_speech();
                self.append(Kind::Question, &question, Vec::new(), now);
                self.questions.push(question);
            }
            AgentEvent::Withdrawn(id, outcome) => {
                if self.question(&id).is_ok() {
                    let answered = Answered::by_itself(id, outcome);
                    self.close_question(answered, Vec::new(), now);
                }
            }
            AgentEvent::Note(code, text) => self.note(code, &text, now),
            AgentEvent::Changed(change) => self.changed(change, now),
            AgentEvent::Ended { how, wanted } => {
                self.sleep(now);
                if !wanted {
                    self.note(NoteCode::AgentDied, &how, now);
                    self.tell_of_unheard(now);
                    self.agent = Agent::Dead;
                }
            }
        }
        self.settle();
    }

    fn line(&mut self, line: &LineFrame<ToHost>, now: u64) {
        self.note_begun(&line.message);
        let mut ends = Ends::None;
        match &line.message {
            ToHost::StreamEvent(event) => {
                self.is_running = true;
                return self.sequence.stream(event);
            }
            ToHost::ToolProgress(_)
            | ToHost::KeepAlive(_)
            | ToHost::CommandLifecycle(_)
            | ToHost::TranscriptMirror(_)
            | ToHost::System(
                System::TaskProgress(_)
                | System::ThinkingTokens(_)
                | System::HookProgress(_)
                | System::ControlRequestProgress(_),
            ) => return self.pass(line.line()),
            ToHost::System(System::SessionStateChanged(change)) => {
                self.is_running = change.state != SessionState::Idle;
                return self.pass(line.line());
            }
            ToHost::System(System::Status(status)) => {
                let doing = status.status.as_option().map(Text::as_str);
                self.is_compacting = doing == Some("compacting");
                self.pass(line.line());
                if let Some(mode) = &status.permission_mode {
                    self.says_mode(mode, now);
                }
                return;
            }
            ToHost::System(System::Init(init)) => {
                // Until something better is known: an agent that dies in its first turn can be resumed, too.
                if self.record.agent_session_id.is_none() {
                    let id = init.session_id.as_ref();
                    self.record.agent_session_id = id.map(SessionId::detached);
                    self.is_changed = true;
                }
                if let Some(mode) = &init.permission_mode {
                    self.begins_in_mode(mode, now);
                }
            }
            ToHost::System(System::BackgroundTasksChanged(change)) => {
                self.in_background = change.tasks.as_ref().map_or(0, Vec::len);
            }
            ToHost::System(System::SessionTitleChanged(change)) => {
                let title = change.title.as_option().map(Text::as_str);
                self.record.set_title(title);
                self.is_changed = true;
            }
            ToHost::Assistant(assistant) => {
                self.is_running = true;
                ends = self.said(assistant);
            }
            ToHost::User(_) => self.is_running = true,
            ToHost::Result(result) => {
                self.is_running = false;
                self.is_compacting = false;
                ends = Ends::All;
                self.count(result);
            }
            _ => {}
        }
        self.append_body(Kind::Line, line.line().clone(), ends, now);
    }

    /// Which blocks of the message in progress a whole one ends.
    fn said(&mut self, line: &Assistant) -> Ends {
        let message = line.message.as_ref();
        let Some(content) = message.and_then(|message| message.content.as_option()) else {
            return Ends::None;
        };
        let parent = line.parent_tool_use_id.as_option();
        let words = content.text();
        if parent.is_none() && !words.is_empty() {
            self.record.last_message = Some(words.chars().take(EXCERPT).collect());
            self.is_changed = true;
        }
        Ends::Blocks(parent.cloned(), content.blocks().len())
    }

    fn count(&mut self, result: &TurnResult) {
        self.is_changed = true;
        let usage = &mut self.record.usage;
        usage.turns += 1;
        // The agent counts from its start on.
        if let Some(cost) = result.total_cost_usd.as_ref().map(Number::as_f64) {
            usage.cost_usd += (cost - self.cost_of_run).max(0.0);
            self.cost_of_run = cost;
        }
        if let Some(spent) = result.usage.as_option() {
            usage.input_tokens += spent.input_tokens.unwrap_or(0);
            usage.output_tokens += spent.output_tokens.unwrap_or(0);
            usage.cached_tokens += spent
                .cache_read_input_tokens
                .as_option()
                .copied()
                .unwrap_or(0);
        }
    }

    /// Shows a viewer what it needs to go on from a frame that it has.
    pub(super) fn attach(&mut self, viewer: ViewerId, after: u64) {
        let status = self.status();
        self.sequence.attach(viewer, after, status);
    }

    fn note(&mut self, code: NoteCode, text: &str, now: u64) {
        let ends = match code {
            NoteCode::AgentDied | NoteCode::Stopped => Ends::All,
            _ => Ends::None,
        };
        let text = text.to_owned();
        self.append_ending(Kind::Note, &Note { code, text }, ends, now);
    }

    fn end_questions(&mut self, outcome: Outcome, now: u64) {
        for question in std::mem::take(&mut self.questions) {
            let answered = Answered::by_itself(question.id, outcome);
            self.close_question(answered, Vec::new(), now);
        }
    }

    fn close_question(&mut self, answered: Answered, then: Vec<Output>, now: u64) {
        self.questions.retain(|question| question.id != answered.id);
        self.append(Kind::Answer, &answered, then, now);
        self.over.push_back(answered);
        if self.over.len() > MOST_OVER {
            self.over.pop_front();
        }
    }

    fn append(&mut self, kind: Kind, body: &impl Serialize, then: Vec<Output>, now: u64) {
        self.append_ending(kind, body, Ends::None, now);
        self.sequence.then(then);
    }

    fn append_ending(&mut self, kind: Kind, body: &impl Serialize, ends: Ends, now: u64) {
        // Our own types have no maps with keys that are not strings, so there is nothing that cannot be written.
        let body = serde_json::to_string(body).unwrap_or_else(|_| "{}".to_owned());
        self.append_body(kind, body.into(), ends, now);
    }

    fn append_body(&mut self, kind: Kind, body: Text, ends: Ends, now: u64) {
        self.record.active_at = now;
        self.record.last_seq = self.sequence.append(kind, body, ends, now);
    }

    fn pass(&mut self, line: &Text) {
        let session = self.id().clone();
        self.sequence.show(Item::Passing {
            session,
            line: line.clone(),
        });
    }

    fn reply(&mut self, ticket: Ticket, reply: Reply) {
        self.sequence.put_out(Output::Reply(ticket, reply));
    }

    fn tell(&mut self, order: Order) {
        self.sequence
            .put_out(Output::Agent(self.record.id.clone(), self.run, order));
    }

    /// Shows and writes down what has changed of the record. Numbers that change with every frame are no reason to.
    pub(super) fn settle(&mut self) {
        let status = self.status();
        if status != self.record.status {
            self.is_changed = true;
            self.record.status = status.clone();
            let session = self.id().clone();
            self.sequence.show(Item::Status { session, status });
        }
        if std::mem::take(&mut self.is_changed) {
            self.sequence
                .put_out(Output::Write(Write::Session(Box::new(self.record.clone()))));
        }
    }
}

/// What changes with an answer besides, for whoever looks at it later.
fn accepted(verdict: &Verdict) -> Vec<Value> {
    let updates = verdict.updates().iter();
    let updates = updates.map(|update| update.to_json().parse());
    // Our own types can be read by anybody.
    updates.filter_map(Result::ok).collect()
}

/// How many questions that are over are remembered.
const MOST_OVER: usize = 100;
/// How much of a message is shown in the list.
const EXCERPT: usize = 200;
