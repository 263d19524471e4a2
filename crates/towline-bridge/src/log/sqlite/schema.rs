//! The tables, and how an older file becomes one of today.
//!
//! A frame's row number is its session's number and its own in one ([`frame_row`]): the frames of a session lie side by
//! side in order, without a second tree for a primary key, and the search index names a frame by the same number.

use rusqlite::{Connection, TransactionBehavior};

/// Says of a file that it is a log of ours: `towl`.
pub(super) const APPLICATION: i32 = 0x746f_776c;

/// Brings a file to a version, each step whole or not at all.
pub(super) fn migrate(connection: &mut Connection, to: u32) -> rusqlite::Result<()> {
    let from: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (version, tables) in (1..=to).zip(MIGRATIONS) {
        if version <= from {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(tables)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

/// The row of a frame; nothing for a number that no frame has.
pub(super) fn frame_row(session: i64, seq: u64) -> Option<i64> {
    let seq = i64::try_from(seq).ok().filter(|seq| *seq < SPAN)?;
    session.checked_mul(SPAN)?.checked_add(seq)
}

/// The rows that the frames of a session can have.
pub(super) fn frame_rows(session: i64) -> std::ops::RangeInclusive<i64> {
    let first = session.saturating_mul(SPAN);
    first..=first.saturating_add(SPAN - 1)
}

/// The number of the frame in a row.
pub(super) fn seq_of(row: i64) -> u64 {
    row.rem_euclid(SPAN).unsigned_abs()
}

/// How many frames a session can have: 4 billion.
pub(super) const SPAN: i64 = 1 << 32;

/// The version of a file that this program writes.
pub(super) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// One after the other; what was once released is never changed.
const MIGRATIONS: &[&str] = &[
    // Numbers of sessions are not used again, so that what is left of a forgotten one is never taken for another's.
    "CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        active_at INTEGER NOT NULL,
        record TEXT NOT NULL
    );
    CREATE TABLE frames (
        row INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE TABLE questions (
        session INTEGER NOT NULL,
        asked_seq INTEGER NOT NULL,
        asked_at INTEGER NOT NULL,
        id TEXT NOT NULL,
        tool TEXT NOT NULL,
        answered_seq INTEGER,
        answered_at INTEGER,
        outcome TEXT,
        answered_by TEXT,
        message TEXT,
        PRIMARY KEY (session, asked_seq)
    ) WITHOUT ROWID;
    CREATE TABLE turns (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        model TEXT,
        cost_usd REAL NOT NULL,
        total_cost_usd REAL NOT NULL,
        input_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        cache_written_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;
    CREATE TABLE inputs (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        client_id TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;",
    // The search index, how far each session is in it, and the sessions whose texts are still to be taken out.
    "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
    CREATE TABLE indexed (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
    CREATE TABLE forgotten (session INTEGER PRIMARY KEY);",
    // Records say what their agents are started with. Nothing changes in an older file, but a program that does not know
    // of it would write records without: limits of sessions would be lost.
    "",
    // The same with the inputs that the agent has not begun with.
    "",
];

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::{SessionRecord, hub::SetupOptions};

    use super::{NEWEST, SPAN, frame_row, frame_rows, migrate, seq_of};

    #[test]
    fn a_row_tells_session_and_number_apart() {
        for (session, seq) in [(1, 0), (1, 1), (7, 12), (7, u64::from(u32::MAX))] {
            let row = frame_row(session, seq).unwrap();
            assert_eq!(seq_of(row), seq);
            assert!(frame_rows(session).contains(&row));
            assert!(!frame_rows(session + 1).contains(&row));
        }
        for (session, seq) in [(1, SPAN.unsigned_abs()), (1, u64::MAX), (i64::MAX, 1)] {
            assert_eq!(frame_row(session, seq), None);
        }
    }

    #[test]
    fn the_record_of_an_older_version_is_read() {
        let record = r#"{"id":"0000000a","agent_session_id":null,"agent":"claude","directory":"/app",
            "additional_directories":[],"title":null,"model":null,"permission_mode":"plan","created_at":1,"active_at":2,
            "status":"idle","last_seq":3,"last_message":null,"usage":{"cost_usd":0.5,"input_tokens":1,"cached_tokens":0,
            "output_tokens":2,"turns":1},"archived":false}"#;
        let record: SessionRecord = serde_json::from_str(record).unwrap();
        assert_eq!(record.options, SetupOptions::default());
        assert!(record.unheard.is_empty() && record.dropped.is_empty());
        assert_eq!(record.last_seq, 3);
    }

    #[test]
    fn every_older_version_becomes_the_newest_and_keeps_its_rows() {
        for version in 1..=NEWEST {
            let mut connection = Connection::open_in_memory().unwrap();
            migrate(&mut connection, version).unwrap();
            connection
                .execute(
                    "INSERT INTO frames VALUES (?1, 5, 'note', '{}')",
                    [frame_row(1, 1)],
                )
                .unwrap();
            migrate(&mut connection, NEWEST).unwrap();
            migrate(&mut connection, NEWEST).unwrap();
            let count: i64 = connection
                .query_row("SELECT count(*) FROM frames", [], |row| row.get(0))
                .unwrap();
            assert_eq!(count, 1, "from version {version}");
            connection.execute("DELETE FROM texts", []).unwrap();
        }
    }
}
