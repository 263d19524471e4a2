//! The loop around the turn: lines of the host, events of the model, outcomes of calls and signals come in, one at a
//! time; lines for the host go out.
//!
//! [`Engine`] is all state; [`serve`] alone waits. What a line means is decided in `turn`, `permission` and `Peer`.

mod answer_line;
mod asking;
mod carry;
mod clock;
mod control;
mod errands;
mod identity;
mod inbox;
mod init;
mod lines;
mod mention;
mod model_call;
mod notices;
mod outbox;
mod place;
mod planning;
mod result;
mod running;
mod scribe;
mod side;
mod slash;
mod tasks;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    sync::mpsc,
    task::{Id, JoinSet},
};
use towline_files::Lookout;
use towline_protocol::{
    AgentFrame, ControlLine, Event, Line, LineDecoder, Outcome as Answered, Output as PeerOutput,
    Peer, RequestId, SessionState, Ticket, ToAgent, ToHost, ToolUseId, User, Uuid,
};

use crate::{
    Config, Signal,
    agents::Agents,
    commands::{Commands, TaskEvent},
    context::Surroundings,
    lists::Lists,
    memory::Memory,
    model::{Model, ModelEvent},
    resume::{ResumeError, resume},
    session::Session,
    tools::{FilesRead, Outcome, Target},
    turn::Interrupt,
    uploads,
};
use asking::Question;
use errands::Errands;
use inbox::{Inbox, Taken};
use lines::{Lines, new_uuid};
use model_call::ModelCall;
use outbox::Outbox;
use running::Running;
use scribe::Scribe;
use side::SideUsage;

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code that its process should have.
    pub code: u8,
    /// What a person should read, if it could not even begin.
    pub complaint: Option<String>,
}

impl Exit {
    /// With an exit code, and nothing to complain of.
    pub fn with(code: u8) -> Self {
        Self {
            code,
            complaint: None,
        }
    }
}

/// Runs an agent until the host is done with it: its lines come in by `input`, the agent's go out by `output`.
pub async fn serve(
    config: Config,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    mut signals: mpsc::Receiver<Signal>,
) -> Exit {
    let mut decoder = LineDecoder::default();
    let mut engine = match Engine::start(config) {
        Ok(engine) => Box::new(engine),
        Err(refused) => return refuse(*refused, &mut output).await,
    };
    if !engine.config.files.specs.is_empty() {
        let fetched = tokio::select! {
            fetched = engine.fetch_files() => fetched,
            // Nothing runs yet that could be interrupted, and so the process is meant.
            Some(signal) = signals.recv() => return Exit::with(signal.exit_code()),
        };
        if let Err(complaint) = fetched {
            let line = None;
            return refuse(Refused { line, complaint }, &mut output).await;
        }
    }
    loop {
        // What came together is looked at together before a turn begins; but a host that asks and does not read waits.
        while engine.listens()
            && let Some(line) = decoder.cut()
        {
            engine.handle_line(line);
            engine.advance(Start::Later);
        }
        engine.advance(Start::Now);
        if engine.is_done() {
            break;
        }
        let deaf = engine.outbox.is_full();
        let patience = engine.patience();
        let step = tokio::select! {
            read = read(&mut input, &mut decoder), if engine.listens() => Step::Read(read),
            event = engine.model_call.next(), if !deaf => Step::Model(event),
            Some(event) = engine.task_events.recv() => Step::Task(event),
            Some((ticket, answer)) = engine.errands.next(), if !deaf => Step::Errand(ticket, answer),
            Some(ended) = engine.calls.join_next_with_id(), if !deaf => Step::Call(ended),
            written = engine.outbox.write(&mut output), if !engine.outbox.is_empty() => Step::Written(written),
            Some(signal) = signals.recv() => Step::Signal(signal),
            () = until(patience) => Step::Impatient,
        };
        match step {
            Step::Read(0) => {
                if let Some(line) = decoder.finish() {
                    engine.handle_line(line);
                }
                engine.handle_end_of_input();
            }
            Step::Read(_) => {}
            Step::Model(event) => engine.handle_model(event),
            Step::Call(ended) => engine.handle_call(ended),
            Step::Task(event) => engine.handle_task(event),
            Step::Errand(ticket, answer) => engine.reply(ticket, answer),
            Step::Impatient => engine.give_up_waiting(),
            // Nobody reads any more: there is nobody to work for.
            Step::Written(Err(_)) => break,
            Step::Written(Ok(())) => {}
            Step::Signal(Signal::Interrupt) => engine.handle_interrupt_signal(),
            Step::Signal(signal) => return engine.end_with(signal, &mut output).await,
        }
    }
    // What was taken by a pipe's buffer may not have left it: something else may have happened before the flush was over.
    if let Err(signal) = outbox::flushed(&mut output, &mut signals).await {
        return engine.end_with(signal, &mut output).await;
    }
    engine.commands.stop_all().await;
    engine.exit()
}

/// Reads some of what the host writes; nothing at its end.
async fn read(input: &mut (impl AsyncRead + Unpin), decoder: &mut LineDecoder) -> usize {
    let mut room = decoder.room();
    input.read_buf(&mut room).await.unwrap_or(0)
}

/// A session that cannot begin as it was asked to.
fn never_began(error: &ResumeError) -> Box<Refused> {
    let complaint = error.to_string();
    let session = match error.session() {
        Some(key) => key.to_id(),
        None => uuid::Uuid::new_v4().to_string().into(),
    };
    let line = match error {
        ResumeError::InUse { .. } => None,
        _ => Some(result::never_began(session, &complaint)),
    };
    Box::new(Refused { line, complaint })
}

enum Step {
    Read(usize),
    Model(ModelEvent),
    Call(Result<(Id, Outcome), tokio::task::JoinError>),
    Task(TaskEvent),
    Errand(Ticket, control::Answered),
    Written(std::io::Result<()>),
    Signal(Signal),
    Impatient,
}

/// Waits until then; for ever, if nothing.
async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Why the agent could not begin.
#[derive(Debug)]
struct Refused {
    /// For the host; nothing where the real CLI says nothing to it.
    line: Option<ToHost>,
    /// For a person.
    complaint: String,
}

/// The agent could not begin: it says so and ends.
async fn refuse(refused: Refused, output: &mut (impl AsyncWrite + Unpin)) -> Exit {
    let mut outbox = Outbox::default();
    if let Some(line) = refused.line {
        outbox.push(line);
    }
    outbox.write_all(output).await;
    Exit {
        code: 1,
        complaint: Some(refused.complaint),
    }
}

/// All that an agent knows while it runs.
#[derive(Debug)]
struct Engine {
    config: Config,
    session: Session,
    model: Arc<Model>,
    started: Instant,
    commands: Commands,
    task_events: mpsc::Receiver<TaskEvent>,
    lists: Lists,
    files: FilesRead,
    surroundings: Surroundings,
    memory: Memory,
    agents: Agents,
    scribe: Scribe,
    peer: Peer,
    inbox: Inbox,
    outbox: Outbox,
    running: Option<Running>,
    model_call: ModelCall,
    calls: JoinSet<Outcome>,
    side_usage: SideUsage,
    /// Answers to the host that take a while.
    errands: Errands,
    call_ids: HashMap<Id, ToolUseId>,
    /// Where the paths of calls led when these were decided about; until they run.
    targets: HashMap<ToolUseId, Target>,
    /// Links that command lines would follow.
    lookout: Lookout,
    questions: HashMap<RequestId, Question>,
    /// What the host was told last.
    state: SessionState,
    phase: Phase,
    results: u64,
    failed: bool,
    /// Whether the host has introduced itself.
    was_initialized: bool,
    /// What makes it impossible to go on, for a person.
    fatal: Option<String>,
    /// Whether the host is to be told what runs in the background.
    tasks_to_tell: bool,
    /// The commands in the background whose end is not known yet.
    background: HashSet<String>,
    /// Until when they are waited for.
    waits_until: Option<tokio::time::Instant>,
    /// What was not waited for any longer, for a person.
    left_behind: Option<String>,
    /// What the host is to be told with the next turn.
    notices: Vec<String>,
}

/// Whether a turn may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Now,
    Later,
}

/// How far the conversation with the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It may say more.
    Open,
    /// It will say no more; what it said is worked off.
    Closing,
    /// It is over as soon as everything is written.
    Over,
}

/// The prompts that a turn answers, as far as the host gave them ids.
#[derive(Clone, Debug, Default)]
struct Prompts(Vec<Uuid>);

impl Prompts {
    fn last(&self) -> Option<Uuid> {
        self.0.last().cloned()
    }

    fn all(&self) -> Option<Vec<Uuid>> {
        (!self.0.is_empty()).then(|| self.0.clone())
    }
}

impl Engine {
    fn start(config: Config) -> Result<Self, Box<Refused>> {
        let resumed = resume(&config.home, &config.cwd, &config.session)
            .map_err(|error| never_began(&error))?;
        let earlier = resumed.as_ref().and_then(|resumed| resumed.agent.clone());
        let agents = identity::agents(&config, earlier)?;
        let (session, notices) = Session::new(&config, resumed.as_ref());
        let scribe =
            Scribe::start(&config, &session, resumed).map_err(|error| never_began(&error))?;
        let memory = place::memory(&config);
        for notice in notices.iter().chain(&memory.left_out) {
            tracing::warn!("{notice}");
        }
        let notices = notices::of_start(&config, &memory);
        let (commands, task_events) = Commands::new(place::command_options(&config, &session.id));
        let mut engine = Self {
            model: Arc::new(Model::new(&config.provider, &config.model)),
            started: Instant::now(),
            commands,
            task_events,
            lists: Lists::default(),
            files: FilesRead::default(),
            surroundings: Surroundings::of(&config.cwd),
            memory,
            agents,
            scribe,
            session,
            config,
            peer: Peer::new(format!("{}-", new_uuid())),
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            running: None,
            model_call: ModelCall::default(),
            calls: JoinSet::new(),
            side_usage: SideUsage::default(),
            errands: Errands::default(),
            call_ids: HashMap::new(),
            targets: HashMap::new(),
            lookout: Lookout::default(),
            questions: HashMap::new(),
            state: SessionState::Idle,
            phase: Phase::Open,
            results: 0,
            failed: false,
            was_initialized: false,
            fatal: None,
            tasks_to_tell: false,
            background: HashSet::new(),
            waits_until: None,
            left_behind: None,
            notices,
        };
        engine.take_on();
        Ok(engine)
    }

    /// Fetches what is to be there before anything else.
    async fn fetch_files(&self) -> Result<(), String> {
        let Config {
            files,
            provider,
            cwd,
            ..
        } = &self.config;
        let folder = cwd.join(self.session.id.as_str()).join("uploads");
        uploads::fetch(files, provider, cwd, &folder).await
    }

    /// Whether more lines are wanted.
    fn listens(&self) -> bool {
        self.phase == Phase::Open && !self.outbox.is_full() && !self.errands.is_full()
    }

    fn is_done(&self) -> bool {
        let no_tasks = self.background.is_empty() && self.task_events.is_empty();
        self.outbox.is_empty()
            && match self.phase {
                Phase::Open => false,
                Phase::Closing => self.is_idle() && no_tasks,
                Phase::Over => true,
            }
    }

    /// Whether there is nothing to be done for anybody.
    fn is_idle(&self) -> bool {
        self.running.is_none() && self.inbox.is_empty() && self.errands.is_empty()
    }

    fn exit(&self) -> Exit {
        match &self.fatal {
            None => Exit {
                code: u8::from(self.failed),
                complaint: self.left_behind.clone(),
            },
            complaint => Exit {
                code: 1,
                complaint: complaint.clone(),
            },
        }
    }

    /// Ends at once: what runs is stopped. Of commands that were cut off the host and the transcript are told, and
    /// nothing else.
    async fn end_with(&mut self, signal: Signal, output: &mut (impl AsyncWrite + Unpin)) -> Exit {
        self.model_call.stop();
        self.calls.shutdown().await;
        self.commands.stop_all().await;
        let cut_off = self
            .running
            .as_mut()
            .map(|running| running.turn.handle_end());
        for ended in cut_off.into_iter().flatten() {
            self.show_result(&ended);
        }
        // Whoever does not read is not waited for.
        let last_words = self.outbox.write_all(output);
        tokio::time::timeout(LAST_WORDS, last_words).await.ok();
        Exit::with(signal.exit_code())
    }

    /// Lines about the turn that runs, or about none.
    fn lines(&self) -> Lines<'_> {
        static NONE: Prompts = Prompts(Vec::new());
        Lines {
            session: &self.session.id,
            prompts: self
                .running
                .as_ref()
                .map_or(&NONE, |running| &running.prompts),
        }
    }

    fn send(&mut self, line: ToHost) {
        self.outbox.push(line);
    }

    /// Does all that can be done without waiting.
    fn advance(&mut self, start: Start) {
        loop {
            if let Some(output) = self.peer.poll_output() {
                self.carry_out_peer(output);
            } else if std::mem::take(&mut self.tasks_to_tell) {
                self.tell_tasks();
            } else if let Some(output) = self.running.as_mut().and_then(Running::poll_output) {
                self.carry_out(output);
            } else if start == Start::Now
                && self.running.is_none()
                && !self.inbox.is_empty()
                && self.phase != Phase::Over
            {
                self.start_turn();
            } else {
                return self.note_state();
            }
        }
    }

    fn handle_line(&mut self, line: Line) {
        if self.phase == Phase::Over {
            return;
        }
        let text = match line {
            Line::Text(text) | Line::InvalidUtf8 { text, .. } => text,
            Line::TooLong { limit, start } => {
                let problem = format!(
                    "a line of more than {limit} bytes was left out; it begins with {start:?}"
                );
                return self.send(lines::error(problem, &self.session.id));
            }
        };
        match AgentFrame::decode_or_give_back(text) {
            Ok(frame) => self.handle_message(frame),
            Err((text, error)) => self.handle_unreadable(&text, &error),
        }
    }

    fn handle_message(&mut self, frame: AgentFrame) {
        if self.config.output.replay_user_messages
            && matches!(frame.message, ToAgent::ControlResponse(_))
        {
            self.outbox.push_raw(frame.bytes().clone());
        }
        let size = frame.bytes().len();
        match ControlLine::try_from(frame.message) {
            Ok(line) => self.peer.handle(line),
            Err(ToAgent::User(user)) => self.handle_prompt(&user, size),
            Err(ToAgent::UpdateEnvironment(update)) => {
                for (name, value) in update.variables.iter() {
                    self.set_variable(name, value);
                }
            }
            // Signs of life, and what was said elsewhere.
            Err(_) => {}
        }
    }

    fn handle_prompt(&mut self, line: &User, size: usize) {
        if line
            .message
            .role
            .as_ref()
            .is_some_and(|role| role.as_str() != "user")
        {
            let problem = "the message of a `user` line must have the role `user`";
            return self.send(lines::error(problem, &self.session.id));
        }
        if self.take_as_answer(line) {
            return;
        }
        let taken = self.inbox.take(line, size);
        if let (Some(uuid), Taken::Queued | Taken::Urgent) = (&line.uuid, taken) {
            let queued = self.lines().lifecycle(uuid, "queued");
            self.send(queued);
        }
        if matches!(taken, Taken::Queued | Taken::Urgent) {
            self.record_queued(line.message.content.as_option(), line.uuid.clone());
        }
        if self.config.output.replay_user_messages && taken == Taken::Again {
            let echo = self
                .lines()
                .replay(line.message.content.as_option(), line.uuid.clone());
            self.send(ToHost::User(Box::new(echo)));
        }
        match taken {
            Taken::Urgent => {
                if let Some(running) = &mut self.running {
                    running.turn.handle_interrupt(Interrupt::GiveWay);
                }
            }
            Taken::Full => {
                let problem = "too many messages wait already; this one was left out: send it again after the next result";
                self.send(lines::error(problem, &self.session.id));
            }
            Taken::Queued | Taken::Again => {}
        }
    }

    fn handle_end_of_input(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
            self.peer.handle_close();
        }
    }

    /// `SIGINT`: what runs ends with a result, and then the session.
    fn handle_interrupt_signal(&mut self) {
        if let Some(running) = &mut self.running {
            running.turn.handle_interrupt(Interrupt::Stop);
        }
        self.inbox.cancel_all();
        self.advance(Start::Later);
        self.failed = false;
        self.phase = Phase::Over;
    }

    fn handle_model(&mut self, event: ModelEvent) {
        if matches!(event, ModelEvent::Stream { .. } | ModelEvent::Failed(_)) {
            self.send_echo();
        }
        if let Some(running) = &mut self.running {
            running.note_event(&event);
            running.turn.handle_model(event);
        }
    }

    fn handle_call(&mut self, ended: Result<(Id, Outcome), tokio::task::JoinError>) {
        // What a call began is told before its result.
        self.handle_tasks();
        self.count_side_calls();
        let (id, outcome) = match ended {
            Ok(ended) => ended,
            Err(error) if error.is_panic() => (
                error.id(),
                Outcome::error("the tool broke down; this is a mistake in towline"),
            ),
            Err(error) => return drop(self.call_ids.remove(&error.id())),
        };
        let Some(call) = self.call_ids.remove(&id) else {
            return;
        };
        if let Some(running) = &mut self.running {
            running.turn.handle_outcome(&call, outcome);
        }
    }

    /// The prompt is echoed once the model answers it.
    fn send_echo(&mut self) {
        let echo = self
            .running
            .as_mut()
            .and_then(|running| running.echo.take());
        if let Some(echo) = echo {
            self.send(ToHost::User(Box::new(echo)));
        }
    }

    pub(super) fn carry_out_peer(&mut self, output: PeerOutput) {
        match output {
            PeerOutput::Send(line) => self.send(line.into()),
            PeerOutput::Event(Event::Asked {
                ticket,
                request_id,
                request,
            }) => self.answer(ticket, request_id, *request),
            PeerOutput::Event(Event::Settled {
                request_id,
                outcome,
            }) => {
                self.handle_answer(&request_id, outcome);
            }
            PeerOutput::Event(Event::Withdrawn { .. } | Event::Stray(_)) => {}
        }
    }

    fn handle_answer(&mut self, request: &RequestId, outcome: Answered) {
        if let Some(question) = self.questions.remove(request) {
            self.settle_question(question, outcome);
        }
    }

    /// Tells the host what the session does, if it wants to know and that has changed.
    fn note_state(&mut self) {
        let state = match &self.running {
            None => SessionState::Idle,
            Some(_) if !self.questions.is_empty() => SessionState::RequiresAction,
            Some(_) => SessionState::Running,
        };
        if state != self.state {
            self.state = state.clone();
            if self.config.output.session_state {
                let line = self.lines().state(state);
                self.send(line);
            }
        }
    }
}

/// How long a host has to read what is said at the end; the process has little more.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(500);
