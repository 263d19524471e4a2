//! Drives a coding-agent CLI: starts it, talks to it, answers its questions, and never hangs, leaks or loses.
//!
//! An [`AgentCommand`] says which agent to start and how. [`AgentCommand::spawn`] gives a [`Session`]: a stream of
//! [`Event`]s, whose questions carry the way to answer them. [`Control`] says everything else to the agent, from
//! anywhere. For scripts there is [`ask`].
//!
//! ```
//! # towline_testkit::fake_agent::run_example(async {
//! use towline_host::{AgentCommand, Event, ToHost};
//!
//! # let program = towline_testkit::fake_agent::PROGRAM;
//! let mut session = AgentCommand::new(program).model("sonnet").spawn().await?;
//! session.send("Delete what is not needed here").await?;
//! while let Some(event) = session.next().await {
//!     match event {
//!         Event::Message(frame) => match frame.message {
//!             ToHost::Assistant(line) => println!("{:?}", line.message),
//!             ToHost::Result(_) => break,
//!             _ => {}
//!         },
//!         Event::Permission(permission) => permission.deny("look, but do not touch"),
//!         Event::Ended(ending) => eprintln!("{ending}"),
//!         _ => {} // a question that is dropped is denied
//!     }
//! }
//! session.close().await;
//! # Ok(())
//! # });
//! ```
//!
//! [`AgentCommand::claude`] finds `claude`; any program that speaks the protocol will do. The examples here run against
//! an agent without a model, which does what its prompt says: `run ls` has it ask whether it may run `ls`.
#![warn(missing_docs)]

mod answer;
mod command;
mod control;
mod driver;
mod error;
mod event;
mod mcp;
pub mod process;
mod progress;
mod prompt;
mod question;
mod queue;
mod session;
mod slash_commands;
mod stderr;
mod transport;

pub use answer::{TurnAnswer, ask};
pub use command::{AgentCommand, Effort, HookOn, SettingSource, Thinking, Version, VersionReq};
pub use control::Control;
pub use error::{Ending, Error};
pub use event::{Event, Malformed, Problem};
pub use mcp::ToolServer;
pub use progress::Progress;
pub use prompt::Prompt;
pub use question::{
    Answers, Choices, Dialog, DialogAnswer, Hook, Permission, Plan, QuestionId, Withdrawal,
};
pub use rmcp;
pub use session::{Events, Session};
pub use slash_commands::SlashCommands;
/// The sessions on disk: list, read, search, rename, delete.
pub use towline_store as store;
// What events, questions and requests are made of.
pub use towline_protocol::{
    self as protocol, AgentId, Behavior, Block, CallbackId, Content, DecodeError, Destination,
    Frame, HookEvent, HookInput, HookOutput, Json, PermissionAnswer, PermissionMode,
    PermissionUpdate, Request, RuleValue, SessionId, StreamEvent, System, TaskId, Text, ToAgent,
    ToHost, ToolInput, ToolName, ToolUseId, TurnResult, Uuid, Wire,
};
