//! `towline dialect`: other protocols for the same conversation, each in front of any agent. One file a protocol.

mod session;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Speak another protocol in front of an agent.
#[derive(Debug, Args)]
pub(crate) struct Dialect {
    #[command(subcommand)]
    command: DialectCommand,
}

#[derive(Debug, Subcommand)]
enum DialectCommand {
    Session(session::Session),
}

impl Dialect {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            DialectCommand::Session(session) => session.run(),
        }
    }
}
