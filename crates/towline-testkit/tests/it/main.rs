//! The tests of the test kit, one binary: a module a subject.

#![expect(
    clippy::unwrap_used,
    reason = "the lint lets tests off, but not what several tests share"
)]

mod checklist;
#[cfg(target_os = "linux")]
mod ci;
mod client;
mod documents;
mod fake_agent;
mod real_cli;
mod replay;
mod script_api;
mod tidy;
mod witnesses;
