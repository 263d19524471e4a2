//! A hub with everything around it in memory: a log, agents that do what the test says, viewers with their outboxes.

use std::collections::{HashMap, VecDeque};

use serde_json::{json, value::to_raw_value};
use towline_protocol::{
    Frame as LineFrame, Text,
    dialect::pocket::{BridgeId, Status},
};

use crate::{
    Answered, Ask, Content, Frame, Input, NoteCode, Outcome, Question,
    hub::{
        AgentEvent, Command, Decision, Elsewhere, Hub, Item, Limits, Order, Outbox, Output,
        Remember, Reply, Scope, Setup, SetupOptions, Ticket, ViewerId,
    },
    log::Write,
};

pub(super) struct Scene {
    pub(super) hub: Hub,
    /// What is in the log since the hub was started,
    pub(super) written: Vec<Write>,
    /// and what was there before.
    earlier: Vec<Write>,
    /// What is to be written, if that does not happen at once.
    pending: Vec<Write>,
    pub(super) auto_write: bool,
    pub(super) orders: Vec<(BridgeId, u64, Order)>,
    /// What was said elsewhere; whoever looks finds it, page by page.
    pub(super) elsewhere: VecDeque<Vec<Text>>,
    /// Whether somebody looks who is not done yet.
    pub(super) looks_later: bool,
    pub(super) looking: Vec<BridgeId>,
    replies: HashMap<Ticket, Reply>,
    outboxes: HashMap<ViewerId, Outbox>,
    next: u64,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self {
            hub: Hub::new(Limits {
                agents: 2,
                idle: 60_000,
            }),
            written: Vec::new(),
            earlier: Vec::new(),
            pending: Vec::new(),
            auto_write: true,
            orders: Vec::new(),
            elsewhere: VecDeque::new(),
            looks_later: false,
            looking: Vec::new(),
            replies: HashMap::new(),
            outboxes: HashMap::new(),
            next: 1,
        }
    }

    /// The same sessions in a new hub, as after a crash.
    pub(super) fn restarted(self, open: &[Question]) -> Self {
        let mut records = HashMap::new();
        let mut taken: HashMap<BridgeId, HashMap<_, _>> = HashMap::new();
        let log: Vec<Write> = self.earlier.into_iter().chain(self.written).collect();
        for write in &log {
            match write {
                Write::Session(record) => {
                    records.insert(record.id.clone(), (**record).clone());
                }
                Write::Frame { session, frame } => {
                    if let Content::Input(input) = frame.content() {
                        let ids = taken.entry(session.clone()).or_default();
                        ids.extend(input.client_message_id.map(|id| (id, frame.seq)));
                    }
                    // The log knows the last number of a session from its frames.
                    if let Some(record) = records.get_mut(session) {
                        record.last_seq = frame.seq;
                    }
                }
            }
        }
        let mut scene = Self::new();
        scene.earlier = log;
        for (id, record) in records {
            let taken = taken.remove(&id).unwrap_or_default();
            scene.hub.restore(record, open.to_vec(), taken, 5);
        }
        scene.drain();
        scene
    }

    pub(super) fn drain(&mut self) {
        loop {
            while let Some(output) = self.hub.poll_output() {
                match output {
                    Output::Write(write) => self.pending.push(write),
                    Output::Show(viewer, item) => {
                        if let Some(outbox) = self.outboxes.get_mut(&viewer) {
                            outbox.push(item);
                        }
                    }
                    Output::Agent(session, run, order) => self.orders.push((session, run, order)),
                    Output::Look { session, .. } => {
                        self.looking.push(session);
                        if !self.looks_later {
                            self.look();
                        }
                    }
                    Output::Reply(ticket, reply) => {
                        let again = self.replies.insert(ticket, reply);
                        assert!(again.is_none(), "two replies to one command");
                    }
                }
            }
            if !self.auto_write || self.pending.is_empty() {
                break;
            }
            self.write_pending();
        }
    }

    /// Whoever looks for what was said elsewhere finds it.
    pub(super) fn look(&mut self) {
        for session in std::mem::take(&mut self.looking) {
            for lines in std::mem::take(&mut self.elsewhere) {
                let found = Elsewhere::Lines(lines);
                self.hub.handle_elsewhere(&session, found, self.next);
            }
            self.hub
                .handle_elsewhere(&session, Elsewhere::Done, self.next);
        }
    }

    fn write_pending(&mut self) {
        let count = self.pending.len();
        self.written.append(&mut self.pending);
        self.hub.handle_written(count);
    }

    pub(super) fn write_all(&mut self) {
        while !self.pending.is_empty() {
            self.write_pending();
            self.drain();
        }
    }

    pub(super) fn command(&mut self, command: Command) -> Reply {
        let ticket = self.ask(command);
        self.replies.remove(&ticket).expect("a reply")
    }

    pub(super) fn ask(&mut self, command: Command) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.hub.handle_command(command, ticket, self.next);
        self.drain();
        ticket
    }

    pub(super) fn start(&mut self) -> BridgeId {
        self.start_with(SetupOptions::default())
    }

    pub(super) fn start_with(&mut self, options: SetupOptions) -> BridgeId {
        let id = BridgeId::from_bits(u32::try_from(self.next).unwrap());
        let setup = Setup {
            agent: "fake".into(),
            directory: "/project".into(),
            options,
            ..Setup::default()
        };
        let reply = self.command(Command::Start(id.clone(), Box::new(setup)));
        assert!(matches!(reply, Reply::Session(_)), "{reply:?}");
        id
    }

    pub(super) fn started(&mut self) -> BridgeId {
        let session = self.start();
        self.agent(&session, AgentEvent::Started(None));
        session
    }

    /// The latest run of the agent.
    pub(super) fn run(&self, session: &BridgeId) -> u64 {
        let runs = self.orders.iter().filter(|(id, _, _)| id == session);
        runs.map(|(_, run, _)| *run).max().unwrap_or(1)
    }

    pub(super) fn agent(&mut self, session: &BridgeId, event: AgentEvent) {
        self.next += 1;
        // Tests forget the orders they have looked at; the first run is 1.
        let run = self.run(session);
        self.hub.handle_agent(session, run, event, self.next);
        self.drain();
    }

    pub(super) fn line(&mut self, session: &BridgeId, line: &serde_json::Value) {
        let frame = LineFrame::decode(line.to_string()).unwrap();
        self.agent(session, AgentEvent::Line(Box::new(frame)));
    }

    pub(super) fn say(&mut self, session: &BridgeId, words: &str, id: &str) {
        self.ask(Command::Input(session.clone(), input(words, Some(id))));
    }

    pub(super) fn answer(&mut self, session: &BridgeId, id: &str, decision: Decision) -> Reply {
        self.command(Command::Answer {
            session: session.clone(),
            question: id.into(),
            decision,
            by: "tester".into(),
        })
    }

    pub(super) fn mode(&mut self, session: &BridgeId) -> Option<String> {
        match self.command(Command::Describe(session.clone())) {
            Reply::Session(description) => description
                .record
                .permission_mode
                .map(|mode| mode.to_string()),
            other => panic!("{other:?}"),
        }
    }

    /// How the agent was started last.
    pub(super) fn last_setup(&self) -> Setup {
        let mut orders = self.orders.iter().rev();
        let setup = orders.find_map(|(_, _, order)| match order {
            Order::Start(setup) => Some((**setup).clone()),
            _ => None,
        });
        setup.expect("a start")
    }

    /// The reply to a command that was waited for.
    pub(super) fn reply(&mut self, ticket: Ticket) -> Option<Reply> {
        self.replies.remove(&ticket)
    }

    pub(super) fn status(&mut self, session: &BridgeId) -> Status {
        match self.command(Command::Describe(session.clone())) {
            Reply::Session(description) => description.record.status,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn frames(&self, session: &BridgeId) -> Vec<Frame> {
        let frames = self.written.iter().filter_map(|write| match write {
            Write::Frame { session: id, frame } if id == session => Some(frame.clone()),
            _ => None,
        });
        frames.collect()
    }

    pub(super) fn outcomes(&self, session: &BridgeId) -> Vec<(String, Outcome)> {
        let answers = self
            .frames(session)
            .into_iter()
            .filter_map(|frame| match frame.content() {
                Content::Answer(Answered { id, outcome, .. }) => Some((id, outcome)),
                _ => None,
            });
        answers.collect()
    }

    pub(super) fn notes(&self, session: &BridgeId) -> Vec<NoteCode> {
        let notes = self
            .frames(session)
            .into_iter()
            .filter_map(|frame| match frame.content() {
                Content::Note(note) => Some(note.code),
                _ => None,
            });
        notes.collect()
    }

    /// What agents were sent.
    pub(super) fn sent(&self) -> Vec<String> {
        let sent = self.orders.iter().filter_map(|(_, _, order)| match order {
            Order::Send(input) => Some(input.clone()),
            Order::SendStored(seq) => self.stored(*seq),
            _ => None,
        });
        sent.map(|input| serde_json::from_str(input.content.get()).unwrap())
            .collect()
    }

    /// The input of a number, as the log has it.
    fn stored(&self, seq: u64) -> Option<Input> {
        let mut log = self.earlier.iter().chain(&self.written);
        log.find_map(|write| match write {
            Write::Frame { frame, .. } if frame.seq == seq => match frame.content() {
                Content::Input(input) => Some(input),
                _ => None,
            },
            _ => None,
        })
    }

    pub(super) fn closed(&self) -> Vec<BridgeId> {
        let closed = self
            .orders
            .iter()
            .filter(|(_, _, order)| matches!(order, Order::Close));
        closed.map(|(id, _, _)| id.clone()).collect()
    }

    pub(super) fn viewer(&mut self, scope: Scope) -> ViewerId {
        self.viewer_with(scope, 1 << 20)
    }

    pub(super) fn viewer_with(&mut self, scope: Scope, bytes: usize) -> ViewerId {
        let viewer = ViewerId(self.next);
        self.next += 1;
        self.outboxes.insert(viewer, Outbox::new(bytes));
        self.hub.handle_viewer(viewer, scope);
        self.drain();
        viewer
    }

    pub(super) fn attach(&mut self, viewer: ViewerId, session: &BridgeId, after: u64) {
        self.hub.handle_attach(viewer, session, after, self.next);
        self.drain();
    }

    /// Everything that waits for a viewer.
    pub(super) fn take(&mut self, viewer: ViewerId) -> Vec<Item> {
        let outbox = self.outboxes.get_mut(&viewer).unwrap();
        std::iter::from_fn(|| outbox.take()).collect()
    }
}

pub(super) fn input(words: &str, id: Option<&str>) -> Input {
    Input {
        content: to_raw_value(words).unwrap(),
        client_message_id: id.map(Into::into),
        uuid: None,
        by: "tester".into(),
    }
}

pub(super) fn question(id: &str) -> Question {
    Question {
        id: id.into(),
        ask: Ask::Permission,
        tool_name: "Bash".into(),
        tool_use_id: Some(id.into()),
        input: to_raw_value(&json!({"command": "ls"})).unwrap(),
        request: to_raw_value(&json!({})).unwrap(),
    }
}

/// A question with a rule that could be saved.
pub(super) fn suggesting(id: &str) -> Question {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}], "behavior": "allow",
        "destination": "localSettings"});
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
        "permission_suggestions": [rule]});
    Question {
        request: to_raw_value(&request).unwrap(),
        ..question(id)
    }
}

pub(super) fn choices(id: &str) -> Question {
    Question {
        ask: Ask::Choices,
        tool_name: "AskUserQuestion".into(),
        ..question(id)
    }
}

pub(super) fn allow() -> Decision {
    Decision::Allow {
        input: None,
        remember: Remember::Once,
        mode: None,
        updates: None,
    }
}

pub(super) fn deny() -> Decision {
    Decision::Deny {
        message: Some("no".into()),
        interrupt: false,
    }
}

pub(super) fn text_start() -> serde_json::Value {
    let block = json!({"type": "text", "text": ""});
    let event = json!({"type": "content_block_start", "index": 0, "content_block": block});
    stream(&event)
}

pub(super) fn message_start() -> serde_json::Value {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    stream(&json!({"type": "message_start", "message": message}))
}

pub(super) fn text_delta(text: &str) -> serde_json::Value {
    let delta = json!({"type": "text_delta", "text": text});
    stream(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn stream(event: &serde_json::Value) -> serde_json::Value {
    json!({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": null, "uuid": "u"})
}

pub(super) fn assistant(words: &str) -> serde_json::Value {
    let content = json!([{"type": "text", "text": words}]);
    let message =
        json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content});
    json!({"type": "assistant", "message": message, "session_id": "s", "parent_tool_use_id": null, "uuid": "u"})
}

pub(super) fn result() -> serde_json::Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok", "session_id": "s"})
}
