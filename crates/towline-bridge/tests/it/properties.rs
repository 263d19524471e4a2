//! Whatever is written in whichever batches: after a copy of the files at any moment, or the end of the process without
//! a word, every batch that was written is there, and the numbers have no gap.

use std::{fs, path::Path};

use proptest::prelude::*;
use tempfile::TempDir;
use towline_bridge::{
    Frame,
    log::{Log, SqliteLog, Write},
};

use crate::made::{all_frames, line, of, session};

/// The next frame of a session, with so many bytes and more.
#[derive(Clone, Debug)]
struct Next {
    session: usize,
    bytes: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Next>),
    /// A batch with a mistake at its end.
    Fail(Vec<Next>),
    /// The files as they are, opened elsewhere: what a killed process leaves.
    Copy,
    Reopen,
    Index,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let next =
        (0..SESSIONS.len(), 0..20_000usize).prop_map(|(session, bytes)| Next { session, bytes });
    let batch = prop::collection::vec(next, 0..8);
    let step = prop_oneof![
        6 => batch.clone().prop_map(Step::Write),
        1 => batch.prop_map(Step::Fail),
        2 => Just(Step::Copy),
        1 => Just(Step::Reopen),
        2 => Just(Step::Index),
    ];
    prop::collection::vec(step, 1..25)
}

/// What should be in the log.
type Expected = [Vec<Frame>; SESSIONS.len()];

fn batch_of(expected: &mut Expected, batch: &[Next]) -> Vec<Write> {
    batch
        .iter()
        .map(|next| {
            let frames = &mut expected[next.session];
            let frame = line(frames.len() as u64 + 1, next.bytes);
            frames.push(frame.clone());
            of(SESSIONS[next.session], frame)
        })
        .collect()
}

fn check(log: &SqliteLog, expected: &Expected) {
    for (name, frames) in SESSIONS.iter().zip(expected) {
        assert!(all_frames(log, name) == *frames, "session {name}");
    }
}

fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        // The index of the journal is memory that processes share; a dead one leaves it unreadable at worst.
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
        }
    }
    to
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_batch_that_was_written_is_there(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = SqliteLog::open(folder.path()).unwrap();
        log.write(&SESSIONS.map(|name| session(name, 1))).unwrap();
        let mut expected = Expected::default();
        for step in steps {
            match step {
                Step::Write(batch) => log.write(&batch_of(&mut expected, &batch)).unwrap(),
                Step::Fail(batch) => {
                    let mut batch = batch_of(&mut expected.clone(), &batch);
                    batch.push(of("nobody", line(1, 1)));
                    prop_assert!(log.write(&batch).is_err());
                }
                Step::Copy => {
                    let copied = copy(folder.path());
                    check(&SqliteLog::open(copied.path()).unwrap(), &expected);
                }
                Step::Reopen => {
                    drop(log);
                    log = SqliteLog::open(folder.path()).unwrap();
                }
                Step::Index => {
                    log.indexer().unwrap().step().unwrap();
                }
            }
        }
        check(&log, &expected);
    }
}

const SESSIONS: [&str; 3] = ["a", "b", "c"];
