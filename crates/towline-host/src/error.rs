//! What can go wrong for a caller. A denial, a failed turn and an agent's bad line are no errors but events.

use std::{fmt, io, path::PathBuf, time::Duration};

use towline_protocol::{DecodeError, Failure, Text};

use crate::process::Exit;

/// Why a call could not be done.
///
/// ```
/// # towline_testkit::in_session!(|session| {
/// match session.ask("fail the disk is full").await {
///     Err(Error::Turn(why)) => assert_eq!(why, "the disk is full"),
///     other => panic!("{other:?}"),
/// }
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no agent to be found.
    #[error(
        "no agent found: {looked_for} is neither on the PATH nor in {}; install it, or say where it is with \
         `AgentCommand::new`",
        places(.searched)
    )]
    NotFound {
        /// The program.
        looked_for: String,
        /// Where else it was looked for.
        searched: Vec<PathBuf>,
    },
    /// The agent could not be started.
    #[error("cannot start `{command}`: {problem}{}", hint(.problem))]
    Start {
        /// The command line.
        command: String,
        /// Why.
        problem: io::Error,
    },
    /// An option that cannot be passed on.
    #[error("{option}: {problem}")]
    Option {
        /// Which one.
        option: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The agent is not, or no longer, running.
    #[error("{0}")]
    Ended(Box<Ending>),
    /// The agent does not read any more: its input was ended, by us or by itself.
    #[error("the agent's input is closed")]
    InputClosed,
    /// The agent was started and said nothing.
    #[error("the agent did not answer `initialize` within {after:?}: {ending}")]
    Silent {
        /// How long it was waited for.
        after: Duration,
        /// What it was started with, how it was ended, and what it said on standard error.
        ending: Box<Ending>,
    },
    /// No answer came in time.
    #[error("the agent did not answer `{request}` within {after:?}")]
    TimedOut {
        /// What was asked.
        request: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The agent did not read what was to be said to it.
    #[error("the agent has not read what it was sent before, and took no more within {after:?}")]
    NotRead {
        /// How long it was waited for.
        after: Duration,
    },
    /// The agent said no.
    #[error("the agent refused `{request}`: {}", .failure.error)]
    Refused {
        /// What was asked.
        request: String,
        /// What it said.
        failure: Box<Failure>,
    },
    /// The answer is not of the form it should have.
    #[error("the agent's answer to `{request}` cannot be read")]
    Answer {
        /// What was asked.
        request: String,
        /// Where it goes wrong.
        source: DecodeError,
    },
    /// A file could not be read.
    #[error("cannot read {}", .path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Bytes that are no image an agent takes.
    #[error("{what} is no PNG, JPEG, GIF or WebP image")]
    Image {
        /// Where they come from.
        what: String,
    },
    /// The agent's version cannot be used.
    #[error("{0}")]
    Version(String),
    /// The turn failed; asked for with [`ask`](crate::ask).
    #[error("the turn failed: {0}")]
    Turn(Text),
}

/// How an agent ended, with what a person needs to see why.
///
/// ```
/// # towline_testkit::fake_agent::run_example(async {
/// # use towline_host::*;
/// # let program = towline_testkit::fake_agent::PROGRAM;
/// let session = AgentCommand::new(program).spawn().await?;
/// session.control().end_input().await?;
/// let ending = session.control().wait().await;
/// assert!(ending.exit.unwrap().success() && !ending.closed);
/// assert!(ending.to_string().ends_with("ended by itself with exit code 0"));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The command line it was started with.
    pub command: String,
    /// Its exit, if it was a process of ours.
    pub exit: Option<Exit>,
    /// Whether we ended it, by [`Session::close`](crate::Session::close) or by dropping the session.
    pub closed: bool,
    /// The last words on standard error.
    pub stderr: String,
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` ", self.command)?;
        match (self.exit, self.closed) {
            (Some(exit), false) => write!(formatter, "ended by itself with {exit}")?,
            (Some(exit), true) => write!(formatter, "was closed and ended with {exit}")?,
            (None, false) => write!(formatter, "closed the connection")?,
            (None, true) => write!(formatter, "was closed")?,
        }
        if !self.stderr.is_empty() {
            write!(formatter, "; its last words:\n{}", self.stderr)?;
        }
        Ok(())
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; is it installed, and is its path right?",
        io::ErrorKind::PermissionDenied => "; may it be executed?",
        _ => "",
    }
}

fn places(searched: &[PathBuf]) -> String {
    let places: Vec<_> = searched
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    places.join(", ")
}
