//! [`SqliteLog`]: the log in one SQLite file. Owns writing; reading is in [`Reader`], the search index in [`Indexer`].
//!
//! The file is in WAL mode: a batch that was written survives a killed process, and readers never wait for the writer.

mod derive;
mod failure;
mod indexer;
mod open;
mod reader;
mod schema;
mod search;
mod turn;

pub use indexer::{Indexer, Progress};
pub use reader::{AnswerRecord, QuestionRecord, Reader};
pub use search::{Hit, Piece};
pub use turn::Turn;

use std::{
    collections::HashMap,
    fs::File,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use towline_protocol::dialect::pocket::BridgeId;

use super::{Log, LogError, Page, Write};
use crate::{Frame, SessionRecord};
use derive::derive;
use failure::Failure;
use schema::{frame_row, frame_rows, seq_of};

/// The log in a data folder. One process has it at a time.
///
/// ```
/// use towline_bridge::log::{Log, Page, SqliteLog, Write};
/// use towline_bridge::{Frame, Kind, SessionRecord};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let mut log = SqliteLog::open(folder.path())?;
/// # let record: SessionRecord = serde_json::from_str(r#"{"id":"s1","agent_session_id":null,"agent":"claude",
/// #     "directory":"/app","additional_directories":[],"title":null,"model":null,"permission_mode":null,"created_at":1,
/// #     "active_at":1,"status":"idle","last_seq":0,"last_message":null,"archived":false,"usage":{"cost_usd":0.0,
/// #     "input_tokens":0,"cached_tokens":0,"output_tokens":0,"turns":0}}"#).unwrap();
/// let session = record.id.clone();
/// let frame = Frame { seq: 1, at: 1, kind: Kind::Line, body: r#"{"type":"keep_alive"}"#.into() };
/// log.write(&[
///     Write::Session(Box::new(record)),
///     Write::Frame { session: session.clone(), frame: frame.clone() },
/// ])?;
///
/// let page = Page { frames: 100, bytes: 1 << 20 };
/// assert_eq!(log.reader()?.frames(&session, 0, page)?, [frame]);
/// # Ok::<(), towline_bridge::log::LogError>(())
/// ```
#[derive(Debug)]
pub struct SqliteLog {
    /// The connection that writes; it also reads.
    own: Reader,
    /// The sessions that were written to: what a frame is checked against.
    known: HashMap<BridgeId, Known>,
    pen: Pen,
    /// Held for its lock.
    _lock: File,
}

/// A session as the writer knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: i64,
    last_seq: u64,
}

/// Who writes: SQLite has one writer at a time, and whoever finds another sleeps for longer and longer. A lock wakes up
/// at once.
#[derive(Clone, Debug, Default)]
struct Pen(Arc<Mutex<()>>);

impl Pen {
    fn take(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half done: a transaction ends with nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteLog {
    /// Opens the log in a data folder; both are made if they are not there.
    ///
    /// # Errors
    /// When the folder cannot be made or used, another process has it, or the file in it is no log that this version
    /// can read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LogError> {
        let folder = folder.as_ref();
        open::make_folder(folder)?;
        let lock = open::take(folder)?;
        let (connection, file) = open::open_to_write(folder)?;
        Ok(Self {
            own: Reader::new(connection, file),
            known: HashMap::new(),
            pen: Pen::default(),
            _lock: lock,
        })
    }

    /// Sees whether the log in a data folder could be opened, without making anything; and opens it to read, if there is
    /// one.
    ///
    /// # Errors
    /// As [`SqliteLog::open`].
    pub fn look(folder: impl AsRef<Path>) -> Result<Option<Reader>, LogError> {
        let found = open::look(folder.as_ref())?;
        Ok(found.map(|(connection, file)| Reader::new(connection, file)))
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.own.file()
    }

    /// A connection of its own to read with, for another thread.
    ///
    /// # Errors
    /// When the file cannot be opened again.
    pub fn reader(&self) -> Result<Reader, LogError> {
        Reader::open(self.file())
    }

    /// A connection of its own that fills the search index, for another thread.
    ///
    /// # Errors
    /// When the file cannot be opened again.
    pub fn indexer(&self) -> Result<Indexer, LogError> {
        Indexer::open(self.file(), self.pen.clone())
    }

    /// Bounds the file, so that a full disk can be had without one. In pages of 4 KiB; for tests.
    ///
    /// # Errors
    /// When SQLite does not take it.
    #[doc(hidden)]
    pub fn limit_pages(&mut self, pages: u32) -> Result<(), LogError> {
        let set = self
            .own
            .connection
            .pragma_update(None, "max_page_count", pages);
        set.map_err(|error| Failure::from(error).while_trying_to("bound the log", self.file()))
    }

    /// Deletes a session with all that was written of it. One that is not there is no error.
    ///
    /// Its texts can no longer be found at once; the [`Indexer`] takes them out of the index when it next runs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget(&mut self, session: &BridgeId) -> Result<(), LogError> {
        let pen = self.pen.take();
        let forgotten = forget(&mut self.own.connection, session);
        drop(pen);
        forgotten.map_err(|failure| {
            failure.while_trying_to("delete a session of the log", self.file())
        })?;
        self.known.remove(session);
        Ok(())
    }
}

impl Log for SqliteLog {
    fn write(&mut self, batch: &[Write]) -> Result<(), LogError> {
        let pen = self.pen.take();
        let written = write_all(&mut self.own.connection, &self.known, batch);
        drop(pen);
        // Only what is written for good is known: after a failure the same batch is checked against what is there.
        let changed =
            written.map_err(|failure| failure.while_trying_to("write to the log", self.file()))?;
        self.known.extend(changed);
        Ok(())
    }

    fn sessions(&self) -> Result<Vec<SessionRecord>, LogError> {
        self.own.sessions()
    }

    fn frames(&self, session: &BridgeId, after: u64, page: Page) -> Result<Vec<Frame>, LogError> {
        self.own.frames(session, after, page)
    }
}

/// Writes a batch in one transaction, which ends with nothing if it is dropped. Gives the sessions as they are then.
fn write_all(
    connection: &mut Connection,
    known: &HashMap<BridgeId, Known>,
    batch: &[Write],
) -> Result<HashMap<BridgeId, Known>, Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut changed: HashMap<BridgeId, Known> = HashMap::new();
    for write in batch {
        match write {
            Write::Session(record) => write_session(&transaction, record)?,
            Write::Frame { session, frame } => {
                let before = changed.get(session).or_else(|| known.get(session)).copied();
                let before = match before {
                    Some(before) => before,
                    None => look_up(&transaction, session)?,
                };
                let after = write_frame(&transaction, session, before, frame)?;
                changed.insert(session.clone(), after);
            }
        }
    }
    transaction.commit()?;
    Ok(changed)
}

fn write_session(connection: &Connection, record: &SessionRecord) -> Result<(), Failure> {
    let text = serde_json::to_string(record).map_err(|error| {
        Failure::Refused(format!("session {} cannot be told: {error}", record.id))
    })?;
    let mut upsert = connection.prepare_cached(
        "INSERT INTO sessions (id, active_at, record) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET active_at = excluded.active_at, record = excluded.record",
    )?;
    upsert.execute(params![record.id.as_str(), number(record.active_at), text])?;
    Ok(())
}

fn look_up(connection: &Connection, session: &BridgeId) -> Result<Known, Failure> {
    let key = key_of(connection, session)?;
    let key = key.ok_or_else(|| {
        Failure::Refused(format!(
            "there is no session {session}: its record comes first"
        ))
    })?;
    let last_seq = last_seq(connection, key)?;
    Ok(Known { key, last_seq })
}

/// Writes the frame that is next. One that is there already is left alone: the batch was written, and the word of it
/// did not arrive.
fn write_frame(
    connection: &Connection,
    session: &BridgeId,
    before: Known,
    frame: &Frame,
) -> Result<Known, Failure> {
    let Known { key, last_seq } = before;
    let seq = frame.seq;
    let expected = last_seq + 1;
    let row = frame_row(key, seq).filter(|_| seq > 0 && seq <= expected);
    let Some(row) = row else {
        return Err(Failure::Refused(format!(
            "frame {seq} of session {session} does not follow the last one, {last_seq}"
        )));
    };
    let (at, kind, body) = (number(frame.at), frame.kind.name(), frame.body.as_str());
    if seq < expected {
        let mut select = connection.prepare_cached(
            "SELECT at = ?2 AND kind = ?3 AND body = ?4 FROM frames WHERE row = ?1",
        )?;
        let is_same = select.query_row(params![row, at, kind, body], |row| row.get(0));
        return match is_same.optional()? {
            Some(true) => Ok(before),
            Some(false) | None => Err(Failure::Refused(format!(
                "frame {seq} of session {session} is written already, and says something else"
            ))),
        };
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO frames (row, at, kind, body) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![row, at, kind, body])?;
    derive(connection, key, frame)?;
    Ok(Known { key, last_seq: seq })
}

fn forget(connection: &mut Connection, session: &BridgeId) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(key) = key_of(&transaction, session)? else {
        return Ok(());
    };
    let rows = frame_rows(key);
    transaction.execute(
        "DELETE FROM frames WHERE row BETWEEN ?1 AND ?2",
        [rows.start(), rows.end()],
    )?;
    for table in ["questions", "turns", "inputs"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [key])?;
    }
    transaction.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    transaction.execute("INSERT INTO forgotten (session) VALUES (?1)", [key])?;
    transaction.commit()?;
    // Gives the room back to the disk, as much as is quick.
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({FREED_AT_ONCE})"))?;
    let mut pages = vacuum.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

fn key_of(connection: &Connection, session: &BridgeId) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT key FROM sessions WHERE id = ?1")?;
    select
        .query_row([session.as_str()], |row| row.get(0))
        .optional()
}

/// The number of a session's last frame; 0 if it has none.
fn last_seq(connection: &Connection, key: i64) -> rusqlite::Result<u64> {
    let rows = frame_rows(key);
    let mut select =
        connection.prepare_cached("SELECT max(row) FROM frames WHERE row BETWEEN ?1 AND ?2")?;
    let last = select.query_row([rows.start(), rows.end()], |row| {
        row.get::<_, Option<i64>>(0)
    })?;
    Ok(last.map_or(0, seq_of))
}

/// A number as SQLite has it.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as it was given to [`number`].
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// In pages of 4 KiB.
const FREED_AT_ONCE: u32 = 4096;
