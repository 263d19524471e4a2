//! `towline dialect`: other protocols for the same conversation, each in front of any agent. One file a protocol.

mod session;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use tokio::{io::AsyncRead, sync::mpsc};
use towline_agent::{Config, Exit, Signal};

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

/// Runs an agent in this process for a host that speaks the protocol of document 003.
pub(crate) async fn serve_session(
    config: Config,
    host: impl AsyncRead + Unpin,
    signals: mpsc::Receiver<Signal>,
) -> anyhow::Result<Exit> {
    Ok(session::serve(config, host, signals).await?)
}
