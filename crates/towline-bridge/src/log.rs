//! The log: what lasts. A small synchronous trait, so that the hub's shell can run any kind of it on a thread of its own.
//!
//! Nobody sees a frame before [`Log::write`] has returned: what a viewer has seen is never gone after a crash.

mod sqlite;

pub use sqlite::{
    AnswerRecord, Hit, Indexer, Piece, Progress, QuestionRecord, Reader, SqliteLog, Turn,
};

use thiserror::Error;
use towline_protocol::dialect::pocket::BridgeId;

use crate::{Frame, SessionRecord};

/// Where sessions and their frames are kept.
pub trait Log: Send + 'static {
    /// Writes all of it or nothing.
    ///
    /// # Errors
    /// When it cannot be written, such as on a full disk. It can be tried again.
    fn write(&mut self, batch: &[Write]) -> Result<(), LogError>;

    /// All sessions, the latest first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn sessions(&self) -> Result<Vec<SessionRecord>, LogError>;

    /// Frames of a session with a number greater than `after`, in order, as many as the page holds.
    ///
    /// # Errors
    /// When they cannot be read.
    fn frames(&self, session: &BridgeId, after: u64, page: Page) -> Result<Vec<Frame>, LogError>;
}

/// Something to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// What is known of a session, new or changed.
    Session(Box<SessionRecord>),
    /// Something happened in a session.
    Frame {
        /// The session.
        session: BridgeId,
        /// What happened.
        frame: Frame,
    },
}

/// How much to read at once. At least one frame is read, however long it is.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// At most so many frames.
    pub frames: usize,
    /// About so many bytes.
    pub bytes: usize,
}

/// Why the log could not be read or written.
#[derive(Debug, Error)]
#[error("{what}: {why}")]
pub struct LogError {
    /// What was to be done, and where.
    pub what: String,
    /// What came of it.
    pub why: String,
}
