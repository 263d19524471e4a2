//! `towline trace`: what to do with recorded lines. One file a command; here is what they share.

mod check;
mod message;
mod progress;
mod record;
mod replay;
mod row;
mod show;
mod source;
mod tally;
mod wrapper;

pub(crate) use show::{content_gist, tool_input_gist};

use std::process::ExitCode;

use clap::{Args, Subcommand};
use towline_protocol::LineDecoder;

/// Record, show, check and replay traces.
#[derive(Debug, Args)]
pub(crate) struct Trace {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    Show(show::Show),
    Check(check::Check),
    Record(record::Record),
    Replay(replay::Replay),
    Wrapper(wrapper::Wrapper),
}

impl Trace {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            TraceCommand::Show(show) => show.run(),
            TraceCommand::Check(check) => check.run(),
            TraceCommand::Record(record) => record.run(),
            TraceCommand::Replay(replay) => replay.run(),
            TraceCommand::Wrapper(wrapper) => wrapper.run(),
        }
    }
}

/// How much of a trace is read at once.
#[derive(Clone, Copy, Debug, Args)]
struct Bounds {
    /// Report lines longer than this and go on behind them.
    #[arg(long, value_name = "BYTES", default_value_t = LineDecoder::DEFAULT_LIMIT)]
    max_line: usize,
}
