//! [`Event`]: everything that can happen in a session, in the order it happens.

use towline_protocol::{DecodeError, Frame, Line, Text, ToHost, TurnResult};

use crate::{
    error::Ending,
    question::{Choices, Dialog, Hook, Permission, Plan, QuestionId, Withdrawal},
};

/// Something that happened in a session.
///
/// ```
/// # towline_testkit::in_session!(|session| {
/// session.send("run ls").await?;
/// while let Some(event) = session.next().await {
///     match event {
///         Event::Message(frame) => match frame.message {
///             ToHost::Assistant(line) => println!("{:?}", line.message),
///             ToHost::Result(_) => break,
///             _ => {}
///         },
///         Event::Permission(permission) => permission.allow(),
///         Event::Ended(ending) => eprintln!("{ending}"),
///         _ => {} // a question that is dropped is denied
///     }
/// }
/// # });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A line of the agent: what the model says, what tools give, how a turn ended.
    Message(Frame<ToHost>),
    /// A tool call wants to run.
    Permission(Box<Permission>),
    /// The agent asks the person, with choices (`AskUserQuestion`).
    Choices(Box<Choices>),
    /// The agent has a plan and wants to begin (`ExitPlanMode`).
    Plan(Box<Plan>),
    /// A hook of ours is due.
    Hook(Box<Hook>),
    /// Another question, such as the form of an MCP server.
    Dialog(Box<Dialog>),
    /// A question needs no answer any more.
    Withdrawn {
        /// Which one.
        question: QuestionId,
        /// Why.
        reason: Withdrawal,
    },
    /// The agent wrote something that cannot be read. The session goes on.
    Malformed(Malformed),
    /// What the agent wrote to standard error, gathered over two seconds.
    Stderr(String),
    /// The agent is gone. The last event.
    Ended(Ending),
}

/// A line of the agent that cannot be read.
///
/// ```
/// # towline_testkit::in_session!(|session, "garble" => Event::Malformed(malformed)| {
/// eprintln!("{}: {}", malformed.problem, malformed.line);
/// # assert_eq!(malformed.line, "this is no JSON");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Malformed {
    /// The line, or how it begins if it is too long.
    pub line: Text,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
///
/// ```
/// # towline_testkit::in_session!(|session, "garble" => Event::Malformed(malformed)| {
/// assert!(matches!(malformed.problem, Problem::Decode(_)));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No JSON, or not the message it says it is.
    #[error("{0}")]
    Decode(DecodeError),
    /// Not UTF-8.
    #[error("not UTF-8 from byte {0} on")]
    Utf8(usize),
    /// Longer than the bound.
    #[error("longer than {0} bytes")]
    TooLong(usize),
    /// An answer to no question of ours, or to one that is over; the same for a cancel.
    #[error("belongs to no open question")]
    Stray,
    /// A question of a kind that is not known here, or one too many; it was refused.
    #[error("a question that had to be refused")]
    Refused,
}

impl Event {
    /// How a turn ended, if that is what happened.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say hello").await?;
    /// while let Some(event) = session.next().await {
    ///     if let Some(result) = event.result() {
    ///         assert_eq!(result.text().unwrap(), "hello");
    ///         break;
    ///     }
    /// }
    /// # });
    /// ```
    pub fn result(&self) -> Option<&TurnResult> {
        match self {
            Self::Message(frame) => match &frame.message {
                ToHost::Result(result) => Some(result),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What is in the queue: lines are read only when somebody looks at them, off the loop that moves bytes.
#[derive(Debug)]
pub(crate) enum Item {
    Line(Text),
    /// In a box, so that the many lines beside it stay small.
    Event(Box<Event>),
}

impl Item {
    /// What it holds, for the bound of the queue.
    pub(crate) fn size(&self) -> usize {
        let held = match self {
            Self::Line(line) => line.len(),
            Self::Event(event) => match &**event {
                Event::Malformed(malformed) => malformed.line.len(),
                _ => 0,
            },
        };
        size_of::<Self>() + held
    }
}

impl From<Line> for Item {
    fn from(line: Line) -> Self {
        let (line, problem) = match line {
            Line::Text(text) => return Self::Line(text),
            Line::InvalidUtf8 { text, offset, .. } => (text, Problem::Utf8(offset)),
            Line::TooLong { limit, start } => (start, Problem::TooLong(limit)),
        };
        Self::Event(Box::new(Event::Malformed(Malformed { line, problem })))
    }
}
