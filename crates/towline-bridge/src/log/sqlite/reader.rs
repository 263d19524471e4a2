//! [`Reader`]: everything that can be asked of the log. Each has a connection of its own and never waits for the writer.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Row, params};
use serde::de::DeserializeOwned;
use towline_protocol::{
    Text,
    dialect::pocket::{BridgeId, ClientMessageId},
};

use super::{
    failure::Failure,
    frame_row, frame_rows, key_of, last_seq, number,
    open::connect,
    search::{self, Hit},
    seq_of,
    turn::Turn,
    unsigned,
};
use crate::{Frame, Kind, Outcome, SessionRecord, Usage, log::LogError, log::Page};

/// Reads the log, on any one thread. What it knows nothing of is empty: a session that is not there has no frames.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    file: PathBuf,
}

/// A question, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRecord {
    /// Its name in the session.
    pub id: String,
    /// The tool that wanted to run.
    pub tool: String,
    /// The number of the frame that asked.
    pub asked_seq: u64,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: u64,
    /// How it ended; nothing while it is open.
    pub answer: Option<AnswerRecord>,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRecord {
    /// The number of the frame that says so.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// How; nothing if this version does not know the word.
    pub outcome: Option<Outcome>,
    /// Who answered.
    pub by: Option<String>,
    /// What was said with it.
    pub message: Option<String>,
}

impl Reader {
    pub(super) fn new(connection: Connection, file: PathBuf) -> Self {
        Self { connection, file }
    }

    /// Opens a log to read it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(file: &Path) -> Result<Self, LogError> {
        let connection = connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| Failure::from(error).while_trying_to("open the log", file))?;
        Ok(Self::new(connection, file.to_owned()))
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// All sessions, the latest first, each with the number of its last frame as it is.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionRecord>, LogError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT key, id, record FROM sessions ORDER BY active_at DESC, key DESC",
            )?;
            let mut rows = select.query([])?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                let (key, id, text): (i64, String, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let mut record: SessionRecord = serde_json::from_str(&text).map_err(|error| {
                    Failure::Refused(format!("the record of session {id} is damaged: {error}"))
                })?;
                record.last_seq = last_seq(connection, key)?;
                sessions.push(record);
            }
            Ok(sessions)
        })
    }

    /// Frames of a session with a number greater than `after`, in order, as many as the page holds.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn frames(
        &self,
        session: &BridgeId,
        after: u64,
        page: Page,
    ) -> Result<Vec<Frame>, LogError> {
        self.read(|connection| match key_of(connection, session)? {
            Some(key) => frames_of(connection, key, after, page),
            None => Ok(Vec::new()),
        })
    }

    /// What clients called the newest inputs of a session, with the numbers of their frames, the newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn client_ids(
        &self,
        session: &BridgeId,
        newest: usize,
    ) -> Result<Vec<(ClientMessageId, u64)>, LogError> {
        let sql = "SELECT client_id, seq FROM inputs WHERE session = ?1 ORDER BY seq DESC LIMIT ?2";
        self.rows_of(session, newest, sql, |row| {
            Ok((row.get::<_, String>(0)?.into(), unsigned(row.get(1)?)))
        })
    }

    /// The newest questions of a session, the newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn questions(
        &self,
        session: &BridgeId,
        newest: usize,
    ) -> Result<Vec<QuestionRecord>, LogError> {
        let sql = "SELECT id, tool, asked_seq, asked_at, answered_seq, answered_at, outcome, answered_by, message
                   FROM questions WHERE session = ?1 ORDER BY asked_seq DESC LIMIT ?2";
        self.rows_of(session, newest, sql, question)
    }

    /// The newest turns of a session, the newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn turns(&self, session: &BridgeId, newest: usize) -> Result<Vec<Turn>, LogError> {
        let sql = "SELECT seq, at, model, cost_usd, input_tokens, cached_tokens, cache_written_tokens, output_tokens
                   FROM turns WHERE session = ?1 ORDER BY seq DESC LIMIT ?2";
        self.rows_of(session, newest, sql, |row| {
            Ok(Turn {
                seq: unsigned(row.get(0)?),
                at: unsigned(row.get(1)?),
                model: row.get(2)?,
                cost_usd: row.get(3)?,
                input_tokens: unsigned(row.get(4)?),
                cached_tokens: unsigned(row.get(5)?),
                cache_written_tokens: unsigned(row.get(6)?),
                output_tokens: unsigned(row.get(7)?),
            })
        })
    }

    /// What all turns of a session took together.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn usage(&self, session: &BridgeId) -> Result<Usage, LogError> {
        let sql = "SELECT total(cost_usd), total(input_tokens), total(cached_tokens), total(output_tokens), count(*)
                   FROM turns WHERE session = ?1 LIMIT ?2";
        let sums = self.rows_of(session, 1, sql, |row| {
            // Counts are far below 2^53, up to which these numbers are exact.
            let count = |column| row.get::<_, f64>(column).map(|count| count as u64);
            Ok(Usage {
                cost_usd: row.get(0)?,
                input_tokens: count(1)?,
                cached_tokens: count(2)?,
                output_tokens: count(3)?,
                turns: unsigned(row.get(4)?),
            })
        })?;
        Ok(sums.into_iter().next().unwrap_or_default())
    }

    /// Frames whose texts have all these words, the newest sessions first and the newest frames of each first. The last
    /// word may be the beginning of one. Nothing a person types is an error; without a word nothing is found.
    ///
    /// What the [`Indexer`](super::Indexer) has not come to yet is not found yet.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>, LogError> {
        self.read(|connection| Ok(search::search(connection, words, limit, None)?))
    }

    /// The same in some sessions alone.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn search_among(
        &self,
        sessions: &[BridgeId],
        words: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, LogError> {
        self.read(|connection| Ok(search::search(connection, words, limit, Some(sessions))?))
    }

    /// The rows that a statement finds for a session, at most so many.
    fn rows_of<T>(
        &self,
        session: &BridgeId,
        limit: usize,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LogError> {
        self.read(|connection| {
            let Some(key) = key_of(connection, session)? else {
                return Ok(Vec::new());
            };
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut select = connection.prepare_cached(sql)?;
            let rows = select.query_map(params![key, limit], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn read<T>(&self, ask: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, LogError> {
        ask(&self.connection).map_err(|failure| failure.while_trying_to("read the log", &self.file))
    }
}

/// Frames after a number, as many as the page holds and at least one.
pub(super) fn frames_of(
    connection: &Connection,
    key: i64,
    after: u64,
    page: Page,
) -> Result<Vec<Frame>, Failure> {
    let (Some(after), last) = (frame_row(key, after), *frame_rows(key).end()) else {
        return Ok(Vec::new());
    };
    let mut select = connection.prepare_cached(
        "SELECT row, at, kind, body FROM frames WHERE row > ?1 AND row <= ?2 ORDER BY row LIMIT ?3",
    )?;
    let most = number(page.frames.max(1) as u64);
    let mut rows = select.query([after, last, most])?;
    let mut frames = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        bytes += body.len();
        if bytes > page.bytes && !frames.is_empty() {
            break;
        }
        frames.push(frame(row, body)?);
    }
    Ok(frames)
}

fn frame(row: &Row<'_>, body: &str) -> Result<Frame, Failure> {
    let seq = seq_of(row.get(0)?);
    let kind: String = row.get(2)?;
    let kind = Kind::from_name(&kind).ok_or_else(|| {
        Failure::Refused(format!("frame {seq} is of a kind unknown here: {kind}"))
    })?;
    Ok(Frame {
        seq,
        at: unsigned(row.get(1)?),
        kind,
        body: Text::from(body),
    })
}

fn question(row: &Row<'_>) -> rusqlite::Result<QuestionRecord> {
    let answered: Option<i64> = row.get(4)?;
    let answer = match answered {
        None => None,
        Some(seq) => Some(AnswerRecord {
            seq: unsigned(seq),
            at: unsigned(row.get(5)?),
            outcome: row.get::<_, Option<String>>(6)?.and_then(named),
            by: row.get(7)?,
            message: row.get(8)?,
        }),
    };
    Ok(QuestionRecord {
        id: row.get(0)?,
        tool: row.get(1)?,
        asked_seq: unsigned(row.get(2)?),
        asked_at: unsigned(row.get(3)?),
        answer,
    })
}

/// The value of that name in JSON.
fn named<T: DeserializeOwned>(name: String) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(name)).ok()
}
