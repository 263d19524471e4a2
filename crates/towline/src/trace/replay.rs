//! `towline trace replay`: plays one side of a trace, and says where the other side differs. How that is told is in
//! `towline_testkit::replay`; here are the streams.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::PathBuf,
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use towline_testkit::replay::{Difference, Replay as Player, Report, Speed, Trace};

use crate::{child, terminal::escaped};

/// Play one side of a trace, and tell where the other side differs.
///
/// As the agent it plays on its own standard input and output, to whatever host runs it. As the host it runs an agent
/// and plays to that. A recorded line is sent once all lines of the other side that were recorded before it have come.
/// Ids that the other side makes up are put into the recorded lines; ids, times and process ids are not compared.
///
/// Differences are told on standard error, each with its row, and a summary at the end. Exits with 0 if there are none,
/// 1 if there are some.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The trace; `towline trace record` makes one.
    file: PathBuf,

    /// Which side to play.
    #[arg(long = "as", value_name = "SIDE", value_enum, default_value_t = Role::Agent)]
    side: Role,

    /// How fast to send: as soon as it is a line's turn, or after the recorded pause.
    #[arg(long, value_enum, default_value_t = Pace::Full)]
    speed: Pace,

    /// How long to wait for what the other side must say next.
    #[arg(long, value_name = "SECONDS", default_value_t = Player::TIMEOUT.as_secs())]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Leave this field out of the comparison, wherever it stands. May be given several times.
    #[arg(long, value_name = "FIELD")]
    ignore: Vec<String>,

    /// As the host: the agent and its arguments. As the agent: the arguments it was started with, to be compared with
    /// the recorded ones.
    #[arg(last = true, value_name = "CLI", required_if_eq("side", "host"))]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    Agent,
    Host,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Pace {
    Recorded,
    Full,
}

impl Replay {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let cannot_play = || format!("cannot play `{}`", self.file.display());
        let file = fs::read(&self.file).with_context(cannot_play)?;
        let trace = Trace::read(&file).with_context(cannot_play)?;
        let report = match self.side {
            Role::Agent => self.as_agent(trace),
            Role::Host => self.as_host(trace),
        }?;
        tell(&report.to_string());
        Ok(if report.is_same() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn as_agent(&self, trace: Trace) -> anyhow::Result<Report> {
        let arguments = self.other_arguments(&trace);
        if let Some(difference) = &arguments {
            tell_difference(difference);
        }
        let player = self.player(Player::agent(trace));
        let mut report = child::block_on(async {
            let (stdin, stdout) = (tokio::io::stdin(), tokio::io::stdout());
            Ok(player.run_split(stdin, stdout, tell_difference).await)
        })?;
        report.differences.extend(arguments);
        Ok(report)
    }

    fn as_host(&self, trace: Trace) -> anyhow::Result<Report> {
        let player = self.player(Player::host(trace));
        child::block_on(async {
            let mut agent = child::start(&self.command, None, Stdio::inherit())?;
            let no_pipe = "the agent has no pipe";
            let stdin = agent.stdin.take().context(no_pipe)?;
            let stdout = agent.stdout.take().context(no_pipe)?;
            let report = player.run_split(stdout, stdin, tell_difference).await;
            // It has had its time to end by itself, unless it already had.
            let exit = tokio::time::timeout(GRACE, agent.wait()).await;
            if exit.is_err() {
                agent.stop(GRACE).await.context("cannot end the agent")?;
            }
            Ok(report)
        })
    }

    fn player(&self, player: Player) -> Player {
        let speed = match self.speed {
            Pace::Recorded => Speed::Recorded,
            Pace::Full => Speed::Full,
        };
        let timeout = Duration::from_secs(self.timeout);
        player
            .at(speed)
            .waiting(timeout)
            .ignoring(self.ignore.iter().cloned())
    }

    /// Nothing where there is nothing to compare with.
    fn other_arguments(&self, trace: &Trace) -> Option<Difference> {
        let expected = trace.arguments().filter(|_| !self.command.is_empty())?;
        let came: Vec<String> = self
            .command
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        (came != expected).then(|| Difference::Arguments {
            expected: expected.to_vec(),
            came,
        })
    }
}

fn tell_difference(difference: &Difference) {
    tell(&difference.to_string());
}

/// A message may have several lines, and in each of them anything that came.
fn tell(message: &str) {
    let mut stderr = io::stderr().lock();
    for line in message.lines() {
        // With standard error gone there is nobody left to tell; the exit code still says it.
        writeln!(stderr, "{}", escaped(line)).ok();
    }
}

const GRACE: Duration = Duration::from_secs(5);
