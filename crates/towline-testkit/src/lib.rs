//! What the tests of the workspace share. Only tests and the binary may depend on it; [`tidy`] holds that line too.
#![warn(missing_docs)]

pub mod fake_agent;
pub mod hostile_repository;
pub mod made_home;
pub mod not_run;
pub mod real_cli;
pub mod replay;
pub mod script_api;
pub mod tidy;
pub mod waiting;
