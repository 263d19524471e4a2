//! The agent beside the real CLI, in one run over one scripted API: start, memory, a turn with many calls, the resume
//! of a large session, and what a turn costs as the conversation grows.
//!
//! Prints a table and fails where a bound is missed. Runs of the two take turns, so that a slow moment of the machine
//! hits both alike; figures are medians.

#[path = "../../src/figures.rs"]
mod figures;
mod growth;
mod past;
mod process;
#[path = "../../src/report.rs"]
mod report;
mod resume;
mod room;
mod start;
mod tools;
mod verdict;

use std::{error::Error, path::PathBuf, process::ExitCode};

use room::Room;
use verdict::{Pair, Verdict};

/// What goes wrong is only ever told to a person.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            // A bound that is missed is 1.
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let towline = std::env::args_os().nth(1).map(PathBuf::from);
    let towline = towline.ok_or("usage: towline-bench-agent TOWLINE")?;
    let rounds = number("BENCH_ROUNDS", 5)?;
    let megabytes = number("BENCH_MB", 100)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(towline, rounds, megabytes))
}

async fn measure(towline: PathBuf, rounds: usize, megabytes: usize) -> Result<bool> {
    let rooms = Pair {
        real: Room::of_the_real_cli()?,
        ours: Room::of(towline)?,
    };
    eprintln!("start and memory …");
    let start = start::measure(&rooms, rounds * STARTS_A_ROUND).await?;
    eprintln!("a turn with {} calls …", tools::CALLS);
    let tools = tools::measure(&rooms, rounds).await?;
    eprintln!("resume of {megabytes} MB …");
    let resumed = resume::measure(&rooms, rounds, megabytes).await?;
    eprintln!("{} turns of one session …", growth::LATE);
    let growth = rooms.each(growth::measure).await?;

    let mut verdict = Verdict::default();
    verdict.compare(
        "start: spawn to the first request, ms",
        start.milliseconds,
        25.0,
    );
    verdict.compare("peak memory of a short session, MB", start.megabytes, 10.0);
    verdict.compare(
        &format!("a turn with {} tool calls, ms", tools::CALLS),
        tools,
        5.0,
    );
    verdict.compare(
        &format!("resume of {megabytes} MB: spawn to the first request, ms"),
        resumed.milliseconds,
        5.0,
    );
    verdict.compare("peak memory after it, MB", resumed.megabytes, 4.0);
    growth.judge(&mut verdict);
    verdict.print(rounds);
    println!(
        "start ratio {:.2}, memory ratio {:.2}",
        start.milliseconds.ratio(),
        start.megabytes.ratio()
    );
    Ok(verdict.is_good())
}

/// A count that the environment may set.
fn number(name: &str, usual: usize) -> Result<usize> {
    match std::env::var(name) {
        Ok(text) => match text.parse() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(format!("{name} is no count: {text}").into()),
        },
        Err(_) => Ok(usual),
    }
}

/// A start takes milliseconds, so that more of them can be had.
const STARTS_A_ROUND: usize = 3;
