//! What SQLite and the system complain of, in words that say what to do.

use std::{fmt, io, path::Path};

use rusqlite::ErrorCode;

use crate::log::LogError;

/// Why a statement, or what was asked of it, came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite's word.
    Sqlite(rusqlite::Error),
    /// Ours: what was asked for does not fit what is there.
    Refused(String),
}

impl Failure {
    /// The same for a reader of messages: what was to be done with which file.
    pub(super) fn while_trying_to(&self, doing: &str, file: &Path) -> LogError {
        let why = match self {
            Self::Sqlite(error) => words(error),
            Self::Refused(why) => why.clone(),
        };
        LogError {
            what: format!("cannot {doing} `{}`", file.display()),
            why,
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What the system refused, and what to do about it.
pub(super) fn refused(
    doing: &str,
    path: &Path,
    error: &io::Error,
    remedy: impl fmt::Display,
) -> LogError {
    LogError {
        what: format!("cannot {doing} `{}`", path.display()),
        why: format!("{error}; {remedy}"),
    }
}

fn words(error: &rusqlite::Error) -> String {
    let remedy = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            return "the disk is full; nothing of this was written: free some space and it can be tried again"
                .to_owned();
        }
        Some(ErrorCode::SystemIoFailure) => {
            "the disk is full or fails; nothing of this was written, and it can be tried again"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "the file is damaged or is no log: move it away, and a new one is begun"
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "see that the file and its folder can be read and written by this user"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds the file: end it, and it can be tried again"
        }
        _ => return error.to_string(),
    };
    format!("{error}; {remedy}")
}
