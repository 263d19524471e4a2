//! [`Error`]: why a call could not go on, with the file it was about.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why the store could not do what it was asked.
///
/// What is wrong *inside* a transcript is no error: such a line is [`Skipped`](crate::Skipped), and reading goes on.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// let error = home.find("/app", "no such title").unwrap_err();
/// assert!(matches!(error, Error::BadId { .. }));
/// assert_eq!(error.to_string(), "`no such title` is no session id: it has to be a UUID");
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing says where the configuration is.
    #[error("no home folder: set CLAUDE_CONFIG_DIR or HOME")]
    NoHome,
    /// An id that cannot be the name of a session's file.
    #[error("`{id}` is no session id: it has to be a UUID")]
    BadId {
        /// What was given.
        id: String,
    },
    /// No session of that id.
    #[error("no session {id} in `{}`", folder.display())]
    NotFound {
        /// The session.
        id: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// There is a session of that id already.
    #[error("session {id} is already in use: `{}` is there", path.display())]
    InUse {
        /// The session.
        id: String,
        /// What is there.
        path: PathBuf,
    },
    /// No record of that id.
    #[error("no message {uuid} in `{}`", path.display())]
    NoMessage {
        /// The record.
        uuid: String,
        /// The transcript.
        path: PathBuf,
    },
    /// A link, device, pipe or folder where a plain file must be.
    #[error("`{}` is not a plain file (links are not followed)", path.display())]
    NotPlain {
        /// What is there.
        path: PathBuf,
    },
    /// Settings that cannot be used as they are.
    #[error("cannot use `{}`: {problem}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line that was there is there no more: somebody cut or rewrote the file.
    #[error("`{}` line {line} changed while it was read", path.display())]
    Changed {
        /// The transcript.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// A transcript without a message that could be copied.
    #[error("`{}` has no message to fork", path.display())]
    NothingToFork {
        /// The transcript.
        path: PathBuf,
    },
    /// A title or tag with nothing to see in it.
    #[error("a {what} needs at least one visible character")]
    Blank {
        /// `title` or `tag`.
        what: &'static str,
    },
    /// A search pattern that is no regular expression, or too large a one.
    #[error("cannot search for `{pattern}`: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
