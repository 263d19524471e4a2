//! `towline permission`: what an agent would decide here, and which rules do not do what they seem to. One file a
//! command; here is what they share.

mod check;
mod lint;
pub(crate) mod settings;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Tell what the permission rules would decide, and which of them do nothing.
///
/// Settings are found as an agent finds them: the policy of the machine, `settings.json` in `CLAUDE_CONFIG_DIR` or
/// `~/.claude`, and `.claude/settings.json` and `.claude/settings.local.json` of the project.
#[derive(Debug, Args)]
pub(crate) struct Permission {
    #[command(subcommand)]
    command: PermissionCommand,
}

#[derive(Debug, Subcommand)]
enum PermissionCommand {
    Check(check::Check),
    Lint(lint::Lint),
}

impl Permission {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            PermissionCommand::Check(check) => check.run(),
            PermissionCommand::Lint(lint) => lint.run(),
        }
    }
}
