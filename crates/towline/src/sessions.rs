//! `towline sessions`: what to do with the sessions on disk. One file a command; here is what they share.

mod delete;
mod export;
mod find;
mod list;
mod output;
mod rename;
mod search;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// List, show, search, export, rename and delete the sessions on disk.
///
/// They are looked for in `CLAUDE_CONFIG_DIR`, or in `~/.claude`.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    List(list::List),
    Show(show::Show),
    Search(search::Search),
    Export(export::Export),
    Rename(rename::Rename),
    Delete(delete::Delete),
}

impl Sessions {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            SessionsCommand::List(list) => list.run(),
            SessionsCommand::Show(show) => show.run(),
            SessionsCommand::Search(search) => search.run(),
            SessionsCommand::Export(export) => export.run(),
            SessionsCommand::Rename(rename) => rename.run(),
            SessionsCommand::Delete(delete) => delete.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
