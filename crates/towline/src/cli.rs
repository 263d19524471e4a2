//! The subcommands and the flags they share. Each subcommand has a file of its own; adding one is a line here.

use std::{ffi::OsStr, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};

use crate::{
    dialect::Dialect, doctor::Doctor, permission::Permission, script_api::ScriptApi, serve::Serve,
    sessions::Sessions, trace::Trace,
};

/// Drives coding-agent CLIs, is one, and carries their sessions anywhere.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dialect(Dialect),
    Doctor(Doctor),
    Permission(Permission),
    ScriptApi(ScriptApi),
    Serve(Serve),
    Sessions(Sessions),
    Trace(Trace),
}

impl Cli {
    /// Whether a first argument is a subcommand; otherwise the words are the agent's. Nothing is built to tell.
    pub(crate) fn has_command(name: &OsStr) -> bool {
        let name = name.to_str();
        name.is_some_and(|name| name == "help" || Command::has_subcommand(name))
    }

    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Dialect(dialect) => dialect.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Permission(permission) => permission.run(),
            Command::ScriptApi(api) => api.run(),
            Command::Serve(serve) => serve.run(),
            Command::Sessions(sessions) => sessions.run(),
            Command::Trace(trace) => trace.run(),
        }
    }
}

/// When to colour what is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}
