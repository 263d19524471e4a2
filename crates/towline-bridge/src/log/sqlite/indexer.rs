//! [`Indexer`]: fills the search index behind the writer's back, a little at a time.
//!
//! How far it is stands in the log and is written with the texts, so that a killed one goes on where it was. Texts are
//! cut out of frames before its transaction begins: the writer waits only while some lines of text are stored.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::{
    Pen, failure::Failure, frame_row, frame_rows, number, open::connect, reader::frames_of,
    schema::SPAN, unsigned,
};
use crate::{
    log::{LogError, Page},
    text::text_of,
};

/// Fills the search index, when told to.
///
/// ```
/// use towline_bridge::log::{Log, Progress, SqliteLog};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let log = SqliteLog::open(folder.path())?;
/// let mut indexer = log.indexer()?;
/// while indexer.step()? == Progress::More {}
/// assert_eq!(log.reader()?.search("what a person types", 10)?, []);
/// # Ok::<(), towline_bridge::log::LogError>(())
/// ```
#[derive(Debug)]
pub struct Indexer {
    connection: Connection,
    file: PathBuf,
    pen: Pen,
    /// The session that was dealt with last: the search for the next goes on behind it, so that one round looks at each
    /// session once, however many there are. 0 at the beginning of a round.
    at: i64,
    /// Bytes that went by since the journal was last taken into the file.
    in_journal: usize,
}

/// How far an [`Indexer`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There may be more to do.
    More,
    /// Everything that was written is in the index.
    Done,
}

impl Indexer {
    pub(super) fn open(file: &Path, pen: Pen) -> Result<Self, LogError> {
        let opened = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
            // As the writer's; a connection does not inherit it.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            // Not at the end of a transaction, while the writer waits.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            Ok(connection)
        });
        let connection =
            opened.map_err(|error| Failure::from(error).while_trying_to("open the log", file))?;
        Ok(Self {
            connection,
            file: file.to_owned(),
            pen,
            at: 0,
            in_journal: 0,
        })
    }

    /// Does a little: some texts into the index, or some of a forgotten session out of it.
    ///
    /// # Errors
    /// When it cannot be read or written. It can be tried again, and goes on where it was.
    pub fn step(&mut self) -> Result<Progress, LogError> {
        let stepped = self.step_once();
        stepped.map_err(|failure| failure.while_trying_to("index the log", &self.file))
    }

    fn step_once(&mut self) -> Result<Progress, Failure> {
        let (connection, pen) = (&mut self.connection, &self.pen);
        if let Some(session) = next_forgotten(connection)? {
            take_out(connection, pen, session)?;
            return Ok(Progress::More);
        }
        let began_at = self.at;
        let mut batch = Batch::default();
        while batch.bytes < WRITTEN_AT_ONCE {
            let next = next_session(connection, self.at)?;
            self.at = next.map_or(0, |(session, _)| session);
            match next {
                Some((session, after)) => batch.read(connection, session, after)?,
                None => break,
            }
        }
        if batch.ends.is_empty() {
            return Ok(match began_at {
                0 => Progress::Done,
                // That was the rest of a round.
                _ => Progress::More,
            });
        }
        batch.put_in(connection, pen)?;
        self.in_journal += batch.seen + batch.bytes;
        if self.in_journal >= MOST_IN_JOURNAL {
            // The disk is waited for here and not in the writer, which goes on meanwhile.
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
            self.in_journal = 0;
        }
        Ok(Progress::More)
    }
}

/// The first session behind another that has frames which are not in the index, and the number of the last one that is.
fn next_session(connection: &Connection, behind: i64) -> rusqlite::Result<Option<(i64, u64)>> {
    let mut select = connection.prepare_cached(
        "SELECT sessions.key, coalesce(indexed.seq, 0) AS done
         FROM sessions LEFT JOIN indexed ON indexed.session = sessions.key
         WHERE sessions.key > ?2 AND EXISTS (
             SELECT 1 FROM frames WHERE row > sessions.key * ?1 + done AND row < (sessions.key + 1) * ?1
         ) ORDER BY sessions.key LIMIT 1",
    )?;
    let found = select.query_row([SPAN, behind], |row| {
        Ok((row.get(0)?, unsigned(row.get(1)?)))
    });
    found.optional()
}

/// Texts that go into the index in one transaction.
#[derive(Debug, Default)]
struct Batch {
    /// The session, the row, the text.
    texts: Vec<(i64, i64, String)>,
    /// Up to which frame each session has been read.
    ends: Vec<(i64, u64)>,
    /// Of text.
    bytes: usize,
    /// Of frames.
    seen: usize,
}

impl Batch {
    /// Takes some texts of a session.
    fn read(&mut self, connection: &Connection, session: i64, after: u64) -> Result<(), Failure> {
        let mut last = after;
        for frame in frames_of(connection, session, after, READ_AT_ONCE)? {
            last = frame.seq;
            self.seen += frame.body.len();
            let text = text_of(&frame);
            if !text.is_empty()
                && let Some(row) = frame_row(session, frame.seq)
            {
                self.bytes += text.len();
                self.texts.push((session, row, text));
            }
            if self.bytes >= WRITTEN_AT_ONCE {
                break;
            }
        }
        self.ends.push((session, last));
        Ok(())
    }

    fn put_in(&self, connection: &mut Connection, pen: &Pen) -> Result<(), Failure> {
        let _pen = pen.take();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (session, last) in &self.ends {
            let mut select = transaction.prepare_cached("SELECT 1 FROM sessions WHERE key = ?1")?;
            if !select.exists([session])? {
                // It was forgotten in the meantime.
                continue;
            }
            let mut insert =
                transaction.prepare_cached("INSERT INTO texts (rowid, text) VALUES (?1, ?2)")?;
            for (_, row, text) in self.texts.iter().filter(|(of, ..)| of == session) {
                insert.execute(params![row, text])?;
            }
            let mut upsert = transaction.prepare_cached(
                "INSERT INTO indexed (session, seq) VALUES (?1, ?2)
                 ON CONFLICT (session) DO UPDATE SET seq = excluded.seq",
            )?;
            upsert.execute([*session, number(*last)])?;
        }
        transaction.commit()?;
        Ok(())
    }
}

fn next_forgotten(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT session FROM forgotten LIMIT 1")?;
    select.query_row([], |row| row.get(0)).optional()
}

fn take_out(connection: &mut Connection, pen: &Pen, session: i64) -> Result<(), Failure> {
    let rows = frame_rows(session);
    let _pen = pen.take();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let deleted = transaction.execute(
        "DELETE FROM texts WHERE rowid IN (SELECT rowid FROM texts WHERE rowid BETWEEN ?1 AND ?2 LIMIT ?3)",
        [*rows.start(), *rows.end(), REMOVED_AT_ONCE],
    )?;
    if deleted == 0 {
        transaction.execute("DELETE FROM indexed WHERE session = ?1", [session])?;
        transaction.execute("DELETE FROM forgotten WHERE session = ?1", [session])?;
    }
    transaction.commit()?;
    Ok(())
}

const READ_AT_ONCE: Page = Page {
    frames: 64,
    bytes: 1 << 20,
};
/// Bytes of text; what is stored in one transaction is at most this and one text more.
const WRITTEN_AT_ONCE: usize = 16 << 10;
const REMOVED_AT_ONCE: i64 = 16;
/// Bytes; well below what makes the writer do it itself.
const MOST_IN_JOURNAL: usize = 2 << 20;
