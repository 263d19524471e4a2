//! A coding agent that speaks the stream-json protocol: what is on the other end of the wire.
//!
//! [`serve`] takes the host's lines and gives the agent's. Inside, `turn` is a pure machine from one prompt to
//! one result; `engine` is the loop around it that carries out what it asks for: `model` calls, `tools`, questions
//! to the host, records of the transcript.
//!
//! Nothing here reads the environment, the command line, `$HOME` or standard input: whoever starts the agent gives
//! these in.

mod agents;
mod commands;
mod config;
mod context;
mod engine;
mod history;
mod lists;
mod memory;
mod model;
mod proxy;
mod pull_request;
mod repository;
mod resume;
mod session;
mod tools;
mod transcript;
mod turn;
mod uploads;

pub use agents::AgentDefinition;
pub use config::*;
pub use engine::{Exit, serve};
pub use model::knows_model;
pub use pull_request::PullRequest;
pub use tools::{AnswerForm, BadSchema};
