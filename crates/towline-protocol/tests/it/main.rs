//! The tests of the protocol crate, one binary: a module a subject.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where and stop"
)]

mod accumulator;
mod answers;
mod codec;
mod data;
mod json;
mod peer;
mod pocket;
mod seeds;
mod session_dialect;
mod spellings;
mod statements;
mod trace_rows;
mod traces;
mod transcripts;
