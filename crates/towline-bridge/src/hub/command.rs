//! What the hub is told, and what it wants done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use towline_protocol::{
    Frame as LineFrame, Json, PermissionMode, PermissionUpdate, Request, SessionId, Text, ToHost,
    Uuid, dialect::pocket::BridgeId,
};
use utoipa::ToSchema;

use crate::{Answered, Input, Outcome, Question, SessionRecord, log::Write};

use super::Item;

/// Whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewerId(pub u64);

/// Whoever waits for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// What a viewer watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every session as it is now, without what was before, and the list of them.
    Everything,
    /// The list of sessions, and those sessions that it attaches to.
    Chosen,
    /// Only those sessions that it attaches to.
    Attached,
}

/// What a client wants.
#[derive(Debug)]
pub enum Command {
    /// Begin a session, under an id that was thought up for it. If another one goes on with the same already, that one is
    /// opened.
    Start(BridgeId, Box<Setup>),
    /// Say something.
    Input(BridgeId, Input),
    /// Answer a question.
    Answer {
        /// The session.
        session: BridgeId,
        /// The question.
        question: String,
        /// The answer.
        decision: Decision,
        /// Whose answer it is.
        by: String,
    },
    /// Have the agent do something.
    Control(BridgeId, Control),
    /// Give a session a title; nothing takes it away.
    Rename(BridgeId, Option<String>),
    /// Go back to a message, as if what came after it had not been said.
    Rewind(BridgeId, Uuid),
    /// Stop a session's agent, and take the session out of the list.
    Stop(BridgeId),
    /// Put a session that was stopped back into the list; its agent wakes on input.
    Reopen(BridgeId),
    /// Which sessions are there?
    List,
    /// What is known of a session?
    Describe(BridgeId),
    /// What is asked in a session under this name?
    Question(BridgeId, String),
    /// How much is there, and how much was done?
    Figures,
}

/// How to begin a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// Which agent, by its name in the configuration.
    pub agent: String,
    /// Where it works.
    pub directory: String,
    /// Where else it may work.
    pub additional_directories: Vec<String>,
    /// The model, if not the agent's own choice.
    pub model: Option<String>,
    /// How much may be done without asking.
    pub permission_mode: Option<PermissionMode>,
    /// What to go on with.
    pub from: From,
    /// What the agent is to call a session that is new; its own choice if there is nothing.
    pub session_id: Option<SessionId>,
    /// More that only the agent's command line knows.
    pub options: SetupOptions,
}

/// What a session goes on with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum From {
    /// Nothing: it is new.
    #[default]
    Nothing,
    /// The latest session in the directory.
    Latest,
    /// A session of the agent.
    Session {
        /// What the agent calls it.
        id: SessionId,
        /// Go on in a copy of it.
        fork: bool,
        /// Go on from this message, and forget what came after it.
        at: Option<Uuid>,
    },
}

/// What only the agent's command line knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SetupOptions {
    /// How hard the model tries.
    pub effort: Option<String>,
    /// The most turns it may take.
    pub max_turns: Option<u64>,
    /// The most it may cost, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// The model to use when the other is overloaded.
    pub fallback_model: Option<String>,
    /// Keep no transcript.
    pub forget: bool,
}

/// An answer to a question.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// Let it run.
    Allow {
        /// With another input than was asked for.
        #[serde(default)]
        #[schema(value_type = Option<Object>)]
        input: Option<serde_json::Value>,
        /// For how long.
        #[serde(default)]
        remember: Remember,
        /// Of a plan: go on in this permission mode.
        #[serde(default)]
        #[schema(value_type = Option<String>)]
        mode: Option<PermissionMode>,
        /// Exactly these changes of permissions, instead of what goes with `remember`.
        #[serde(skip)]
        updates: Option<Vec<PermissionUpdate>>,
    },
    /// Do not let it run.
    Deny {
        /// Why, for the model.
        #[serde(default)]
        message: Option<String>,
        /// Stop the turn as well.
        #[serde(default)]
        interrupt: bool,
    },
    /// What the person chose, by question.
    Choose {
        /// For each question what was chosen or written.
        answers: BTreeMap<String, Vec<String>>,
    },
    /// What the person says instead of choosing.
    Say {
        /// The words.
        words: String,
    },
}

/// How long something stays allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remember {
    /// This once.
    #[default]
    Once,
    /// And its like for the rest of the session, as the agent suggests; this once if it suggests nothing.
    Session,
    /// And its like from now on: the rule that the agent suggests is saved where it suggests; this once if it suggests
    /// nothing.
    Saved,
}

/// What an agent can be told to do.
#[derive(Clone, Debug)]
pub enum Control {
    /// Stop the turn.
    Interrupt,
    /// Change the permission mode.
    SetMode(PermissionMode),
    /// Change the model; nothing for its own choice.
    SetModel(Option<String>),
    /// Put files back as they were at a message.
    RewindFiles {
        /// The message.
        to: Uuid,
        /// Only say what would change.
        dry_run: bool,
    },
    /// Any other request of the protocol.
    Other(Box<Request>),
}

/// What a client is told in return.
#[derive(Debug)]
pub enum Reply {
    /// The session has begun, or is described.
    Session(Box<Description>),
    /// The input will run.
    Accepted {
        /// Its number in the session.
        seq: u64,
        /// Whether the agent is busy with something else.
        queued: bool,
        /// Whether it had been sent before, and does not run again.
        repeated: bool,
    },
    /// It is done; with what the agent said, if it said something.
    Done(Option<Json>),
    /// The question, which is open.
    Question(Box<Question>),
    /// The sessions.
    Sessions(Vec<Description>),
    /// How much is there.
    Figures(Box<Figures>),
    /// It is not done.
    Refused(Refusal),
}

/// How much is there, and how much was done since the start; for whoever watches the bridge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The sessions that were not stopped, by what they do.
    pub sessions: BTreeMap<String, u64>,
    /// The agents that run.
    pub agents: u64,
    /// Whoever watches.
    pub viewers: u64,
    /// The frames that were written.
    pub frames_written: u64,
    /// The items that were put into viewers' queues.
    pub items_shown: u64,
    /// What waits to be written.
    pub backlog: u64,
    /// Why the log cannot be written, if it cannot.
    pub trouble: Option<String>,
}

/// What is known of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Description {
    /// What is kept of it.
    pub record: SessionRecord,
    /// The questions that are open, the oldest first.
    pub questions: Vec<Question>,
    /// What the agent says of itself: commands, models, account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub about: Option<Box<RawValue>>,
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Refusal {
    /// There is no such session.
    #[error("there is no session {0} here")]
    NoSession(String),
    /// There is no such question.
    #[error("there is no question {0} in this session")]
    NoQuestion(String),
    /// Somebody was faster, or it is over.
    #[error("{}", over(.0))]
    Over(Answered),
    /// The answer does not fit the question.
    #[error("{0}")]
    Unfit(String),
    /// The id is taken.
    #[error("there is a session {0} already")]
    Taken(BridgeId),
    /// No more agents may run.
    #[error("{0} agents are at work and no more may be; stop one, or wait until one is idle")]
    TooMany(usize),
    /// Too much is waiting to be written or delivered.
    #[error("{0}")]
    Busy(String),
    /// It is taken in, but cannot be written yet.
    #[error("this waits until the log can be written, and happens then; do not send it again: {0}")]
    Waits(String),
    /// The agent refused, or is not there.
    #[error("{0}")]
    Agent(String),
}

/// How a question ended, for who comes too late.
fn over(answered: &Answered) -> String {
    let how = match answered.outcome {
        Outcome::Allowed => "allowed it",
        Outcome::AllowedForSession => "allowed it for the session",
        Outcome::AllowedAndSaved => "allowed it from now on",
        Outcome::Denied => "denied it",
        Outcome::Answered => "answered it",
        Outcome::Cancelled => return "too late: this question was taken back".to_owned(),
        Outcome::TimedOut => return "too late: nobody answered this question in time".to_owned(),
        Outcome::AgentEnded => return "too late: the agent that asked has ended".to_owned(),
    };
    let who = answered.by.as_deref().unwrap_or("somebody");
    format!("too late: {who} was faster and {how}")
}

/// What an agent does.
#[derive(Debug)]
pub enum AgentEvent {
    /// It runs; with what it says of itself.
    Started(Option<Box<RawValue>>),
    /// It could not be started.
    StartFailed(String),
    /// What it calls the session.
    SessionId(SessionId),
    /// It wrote a line.
    Line(Box<LineFrame<ToHost>>),
    /// It wants to know something.
    Asked(Question),
    /// A question needs no answer any more.
    Withdrawn(String, Outcome),
    /// It wrote what cannot be used, or complained on its standard error.
    Note(crate::NoteCode, String),
    /// Its permission mode or model was changed.
    Changed(Change),
    /// It has ended.
    Ended {
        /// How, for people.
        how: String,
        /// Whether that was wanted.
        wanted: bool,
    },
}

/// What was found in a session that was continued elsewhere.
#[derive(Debug)]
pub enum Elsewhere {
    /// These lines were said there, after those that were found before.
    Lines(Vec<Text>),
    /// There is no more.
    Done,
}

/// Something that an agent was told to do and has done.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Its permission mode.
    Mode(PermissionMode),
    /// Its model.
    Model(Option<String>),
}

/// What is to be done with an agent.
#[derive(Debug)]
pub enum Order {
    /// Start it.
    Start(Box<Setup>),
    /// Give it the input.
    Send(Input),
    /// Say what is in the log under this number.
    SendStored(u64),
    /// Answer its question.
    Answer(String, Decision),
    /// Have it do something, and tell whoever waits.
    Control(Control, Ticket),
    /// End it.
    Close,
}

/// What the hub wants done.
#[derive(Debug)]
pub enum Output {
    /// Write this to the log; say so with [`Hub::handle_written`](super::Hub::handle_written), in the same order.
    Write(Write),
    /// Show this to a viewer.
    Show(ViewerId, Item),
    /// Tell an agent. The number tells one run of an agent from the next.
    Agent(BridgeId, u64, Order),
    /// Look for what was said elsewhere, and say so with
    /// [`Hub::handle_elsewhere`](super::Hub::handle_elsewhere), to the end.
    Look {
        /// The session.
        session: BridgeId,
        /// What its agent calls it.
        agent_session_id: SessionId,
        /// It has frames up to this one.
        last_seq: u64,
    },
    /// Reply to whoever waits.
    Reply(Ticket, Reply),
}
