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

#[test]
fn the_engine_decides_as_the_real_cli_or_is_stricter() {
    let mut all = Tally::new(env::var("TOWLINE_PERMISSION_SHOW").ok());
    let mut tools = Tally::new(Some("none of them".to_owned()));
    let (rows, is_own_table) = table();
    for row in rows {
        let Some(expected) = row.expected() else {
            all.outside += 1;
            continue;
        };
        let decision = row.play();
        all.compare(&row, expected, &decision);
        // Until command lines are decided, the rows without one are held to it.
        if !row.is_about_commands() {
            tools.compare(&row, expected, &decision);
        }
    }
    all.report();
    tools.hold(is_own_table);
}

#[test]
fn answers_are_kept_in_the_files_that_the_real_cli_keeps_them_in() {
    let (rows, is_own_table) = table();
    // The files were looked at when a session had ended, so its last row alone knows all answers.
    let mut last: BTreeMap<String, Row> = BTreeMap::new();
    for row in rows.into_iter().filter(Row::tells_files) {
        let session = row.text("id").rsplit_once('-').unwrap().0.to_owned();
        last.insert(session, row);
    }
    let changed: usize = last.values().map(written::check).sum();
    assert!(
        !is_own_table || changed > 10,
        "only {changed} files changed"
    );
}

/// The rows of the table, and whether it is the one of this repository.
fn table() -> (Vec<Row>, bool) {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases.jsonl");
    let path = env::var("TOWLINE_PERMISSION_CASES").unwrap_or_else(|_| own.to_owned());
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    (lines.map(Row::read).collect(), path == own)
}
