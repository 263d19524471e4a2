//! Drives a coding-agent CLI: starts it, talks to it, answers its questions, and never hangs, leaks or loses.
#![warn(missing_docs)]

pub mod process;
