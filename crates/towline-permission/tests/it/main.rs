//! The engine as a caller sees it. What the real CLI decided is compared in the binary `conformance`.
#![expect(
    clippy::unwrap_used,
    reason = "functions that tests share fail the test where something is not as it must be"
)]

mod commands;
mod hooks;
mod lint;
mod modes;
mod paths;
mod properties;
mod rules;
mod seeds;
mod session;
mod settings;
mod startup;
mod tools;
mod trust;
mod updates;
