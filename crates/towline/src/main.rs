//! The `towline` command: runs a subcommand or else the agent, and is the one place that prints errors and picks the
//! exit code.
//!
//! What the subcommands do is theirs; see [`cli`] for the list.

mod agent;
mod child;
mod cli;
mod dialect;
mod doctor;
mod permission;
mod recording;
mod script_api;
mod serve;
mod sessions;
mod terminal;
mod trace;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use cli::Cli;
use terminal::escaped;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        // Whoever read our output has seen enough, as in `towline trace show FILE | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            for message in serve::messages(&error) {
                // An error can quote a file name, and a file name can hold anything.
                let message = escaped(&message);
                // With standard error gone there is nobody left to tell.
                writeln!(io::stderr().lock(), "towline: {message}").ok();
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let mut words = env::args_os().skip(1).peekable();
    if words.peek().is_some_and(|first| Cli::has_command(first)) {
        return Cli::parse().run();
    }
    agent::run(words)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
