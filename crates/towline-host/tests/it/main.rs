//! How the host behaves towards agents, good and bad.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, also in the functions that tests share"
)]

mod agents;
mod backpressure;
mod command_line;
mod control;
mod examples;
mod hostile;
mod hygiene;
mod logging;
mod mcp;
mod packages;
mod questions;
mod real;
mod scenarios;
mod sessions;
mod stderr;
