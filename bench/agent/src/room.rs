//! One agent in its clean room: the same environment, home and project for both, and nothing to talk to but loopback.

use std::path::PathBuf;

use towline_testkit::{real_cli::RealCli, script_api::ScriptApi};

use crate::{Result, process::Agent};

/// An agent that can be started again and again.
pub struct Room {
    pub name: &'static str,
    cli: RealCli,
}

impl Room {
    pub fn of_the_real_cli() -> Result<Self> {
        let (name, cli) = ("the real CLI", RealCli::find()?);
        Ok(Self { name, cli })
    }

    pub fn of(towline: PathBuf) -> Result<Self> {
        let (name, cli) = ("towline", RealCli::of(towline.canonicalize()?)?);
        Ok(Self { name, cli })
    }

    /// Starts the agent, speaking lines.
    pub fn start(&self, api: &ScriptApi, flags: &[&str]) -> Result<Agent> {
        let mut command = self.cli.stream_command(&api.url());
        command.args(flags);
        Agent::spawn(self.name, command, self.cli.home().join("stderr.txt"))
    }

    /// Where it works, as it sees it itself.
    pub fn project(&self) -> Result<PathBuf> {
        Ok(self.cli.project().canonicalize()?)
    }

    /// Where its sessions are.
    pub fn config(&self) -> PathBuf {
        self.cli.home().join(".claude")
    }
}
