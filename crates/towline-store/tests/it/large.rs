//! A large transcript: memory stays small, whatever is done with it.

#![cfg(target_os = "linux")]

use std::{
    env, fs,
    io::{BufWriter, Write},
    path::Path,
    process::Command,
};

use towline_store::{Home, ListQuery, Pattern, SearchQuery, Session};

use crate::made::{Made, record};

/// The test runs itself again in a process of its own, where no other test uses memory.
#[test]
fn a_large_transcript_is_listed_read_and_searched_in_little_memory() {
    if let Some(folder) = env::var_os(CHILD) {
        let grown = use_it(&Home::new(&folder));
        fs::write(Path::new(&folder).join(GROWN), grown.to_string()).unwrap();
        return;
    }
    let made = Made::new();
    write(&made.session(1));
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(CHILD, made.folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{stderr}");
    let grown = fs::read_to_string(made.folder.path().join(GROWN)).unwrap();
    let grown: u64 = grown.parse().unwrap();
    assert!(grown < MOST_GROWTH, "grew by {grown} KiB");
}

/// Does all there is to do, and gives by how many KiB the process grew.
fn use_it(home: &Home) -> u64 {
    let before = most_memory();
    let sessions = home.list(&ListQuery::default()).unwrap().sessions;
    assert_eq!(sessions[0].title, "the first");

    let mut transcript = sessions[0].session.transcript().unwrap();
    assert_eq!(transcript.tree().len(), RECORDS as usize);
    assert_eq!(transcript.tree().conversation().len(), RECORDS as usize);
    let last = RECORDS as usize - 1;
    assert_eq!(transcript.messages(last..last + 1).count(), 1);

    let query = SearchQuery::new(Pattern::words("needle in it").unwrap());
    let hits: Vec<_> = home.search(query).unwrap().map(Result::unwrap).collect();
    assert_eq!(hits.len(), 1);
    most_memory() - before
}

/// Some 48 MB: a first prompt, then long answers in one chain, the last but one with something to find.
fn write(session: &Session) {
    let mut out = BufWriter::new(fs::File::create(session.path()).unwrap());
    writeln!(out, "{}", record("user", 1, 0, "the first", 1)).unwrap();
    let long = "many words without end ".repeat(700);
    for number in 2..=RECORDS {
        let text = if number == RECORDS - 1 {
            "a needle in it"
        } else {
            &long
        };
        writeln!(out, "{}", record("assistant", number, number - 1, text, 2)).unwrap();
    }
}

/// The most memory that this process ever held, in KiB.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const CHILD: &str = "TOWLINE_STORE_LARGE_HOME";
const NAME: &str = "large::a_large_transcript_is_listed_read_and_searched_in_little_memory";
/// The file in which the child says by how much it grew.
const GROWN: &str = "grown";
const RECORDS: u32 = 3000;
/// A sixth of the file.
const MOST_GROWTH: u64 = 8 << 10;
