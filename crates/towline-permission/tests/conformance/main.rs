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
mod row;
mod tally;

use std::{env, fs};

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
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases.jsonl");
    let path = env::var("TOWLINE_PERMISSION_CASES").unwrap_or_else(|_| own.to_owned());
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut all = Tally::new(env::var("TOWLINE_PERMISSION_SHOW").ok());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row = Row::read(line);
        let Some(expected) = row.expected() else {
            all.outside += 1;
            continue;
        };
        all.compare(&row, expected, &row.play());
    }
    all.report();
    all.hold(path == own);
}
