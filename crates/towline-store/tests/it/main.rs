//! The tests of the store, one binary: on real transcripts, on made ones, and beside the official SDK and CLI.

#![expect(
    clippy::unwrap_used,
    reason = "the lint lets tests off, but not what several tests share"
)]

mod appending;
mod editing;
mod finding;
mod forking;
mod hostile;
mod large;
mod listing;
mod made;
mod official;
mod paths;
mod reading;
mod searching;
mod settings;
mod state;
mod tree;
