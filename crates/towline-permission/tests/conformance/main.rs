//! Recorded decisions of the real CLI, each played through the engine.
//!
//! It is a test binary of its own because it is called by name, with another table if there is one:
//! `TOWLINE_PERMISSION_CASES=FILE cargo test -p towline-permission --test conformance -- --nocapture`.
//! `TOWLINE_PERMISSION_SHOW` limits the differences that are printed to a category or an id.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken table ends the test, and the figures are what it is run for"
)]

mod differences;
mod fixture;
mod hooks;
mod row;
mod tally;
mod written;

use std::{collections::BTreeMap, env, fs};

use row::Row;
use tally::Tally;

/// Other command lines than those of the table, some of them run one after the other in one session of the real CLI, so
/// that a `cd` shows in later ones: what counts is that none of them is decided more loosely.
#[test]
fn more_command_lines_are_never_decided_more_loosely() {
    let text = include_str!("../data/more_commands.jsonl");
    let mut tally = Tally::new(None);
    for line in text.lines() {
        let row = Row::read(line);
        if let Some(expected) = row.expected() {
            tally.compare(&row, expected, &row.play());
        }
    }
    assert_eq!(tally.looser(), Vec::<String>::new());
}

#[test]
fn the_engine_decides_as_the_real_cli_or_is_stricter() {
    let mut all = Tally::new(env::var("TOWLINE_PERMISSION_SHOW").ok());
    let (rows, is_own_table) = table();
    for row in rows {
        let Some(expected) = row.expected() else {
            all.outside += 1;
            continue;
        };
        all.compare(&row, expected, &row.play());
    }
    all.report();
    all.hold(is_own_table);
}

#[test]
fn answers_are_kept_in_the_files_that_the_real_cli_keeps_them_in() {
    let rows = rows(OWN_TABLE);
    // The files were looked at when a session had ended, so its last row alone knows all answers.
    let mut last: BTreeMap<String, Row> = BTreeMap::new();
    for row in rows.into_iter().filter(Row::tells_files) {
        let session = row.text("id").rsplit_once('-').unwrap().0.to_owned();
        last.insert(session, row);
    }
    let changed: usize = last.values().map(written::check).sum();
    assert!(changed > 10, "only {changed} files changed");
}

/// The rows of the table, and whether it is the one of this repository.
fn table() -> (Vec<Row>, bool) {
    let path = env::var("TOWLINE_PERMISSION_CASES").unwrap_or_else(|_| OWN_TABLE.to_owned());
    (rows(&path), path == OWN_TABLE)
}

fn rows(path: &str) -> Vec<Row> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(Row::read).collect()
}

const OWN_TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases.jsonl");
