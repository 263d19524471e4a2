//! Owns one run of one client in a process of its own, seen from both sides:
//! `start` is the benchmark, `run` the process, and a line of JSON goes between.

use super::client::{Row, Tally};
use super::clients;
use crate::items::{CheapSum, ItemHashes};
use crate::machine;
use serde::{Deserialize, Serialize};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use tokio::runtime::Runtime;

/// What a run had to tell.
#[derive(Default, Deserialize, Serialize)]
pub struct Report {
    /// From before the agent starts to after the last message.
    pub seconds: f64,
    /// The most that the process of the client had in memory.
    pub peak_megabytes: f64,
    pub delivered: usize,
    pub items: usize,
    pub cheap_sum: u32,
    pub strong_sum: u64,
    /// Why it ended before the agent did.
    pub problem: Option<String>,
}

/// How much is made of the items.
#[derive(Clone, Copy)]
pub enum Depth {
    Timed,
    Proof,
}

impl Depth {
    fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Proof => "proof",
        }
    }
}

/// Runs a client over a corpus and waits for its report.
pub fn start(
    row: &Row,
    agent: &Path,
    corpus: &Path,
    depth: Depth,
) -> Result<Report, Box<dyn Error>> {
    let output = Command::new(env::current_exe()?)
        .args(["host-one", row.name])
        .arg(agent)
        .arg(depth.name())
        .env("BENCH_AGENT_FILE", corpus)
        .env("PATH", path_with(agent)?)
        // Some clients refuse to start an agent inside another.
        .env_remove("CLAUDECODE")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", row.name, output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The PATH with the agent's folder in front, for clients that look for it there.
fn path_with(agent: &Path) -> Result<OsString, Box<dyn Error>> {
    let folder = agent.parent().ok_or("the agent is in no folder")?;
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(env::split_paths(&path));
    Ok(env::join_paths(folders)?)
}

/// The process: runs the client and prints its report.
pub fn run(name: &str, agent: &Path, depth: &str) -> Result<(), Box<dyn Error>> {
    let row = clients::all().into_iter().find(|row| row.name == name);
    let row = row.ok_or_else(|| format!("there is no client {name}"))?;
    // What `#[tokio::main]` makes, for all alike.
    let runtime = Runtime::new()?;
    let mut report = Report::default();
    let started = Instant::now();
    let ended = match depth {
        "proof" => {
            let mut tally = Tally::<ItemHashes>::default();
            let ended = (row.proof)(&runtime, agent, &mut tally);
            report.delivered = tally.delivered;
            report.items = tally.sink.0.len();
            report.strong_sum = tally.sink.sum();
            ended
        }
        _ => {
            let mut tally = Tally::<CheapSum>::default();
            let ended = (row.timed)(&runtime, agent, &mut tally);
            report.delivered = tally.delivered;
            report.cheap_sum = tally.sink.0;
            ended
        }
    };
    report.seconds = started.elapsed().as_secs_f64();
    report.peak_megabytes = machine::peak_megabytes()?;
    report.problem = ended.err().map(|problem| problem.to_string());
    println!("{}", serde_json::to_string(&report)?);
    // Whatever a client left running must not keep its process.
    runtime.shutdown_background();
    Ok(())
}
