//! Owns the benchmark of whole clients: a fake agent writes a corpus as fast as it
//! can, and each client, in a process of its own, starts it and reads all its
//! lines. From the corpus file to the last line.

mod client;
mod clients;
mod lines;
mod one;

pub use one::run as run_one;

use crate::decoder::Role;
use crate::figures::{self, Better};
use crate::machine::Ticks;
use crate::measure::{median, rounds};
use crate::report::Table;
use client::Row;
use lines::HostCorpus;
use one::{Depth, Report};
use std::error::Error;
use std::path::Path;

/// What was measured of one client.
struct Measured {
    row: Row,
    /// One run that takes a hash of everything it reads.
    proof: Report,
    megabytes_per_second: f64,
    peak_megabytes: f64,
    /// Whether every run gave every line with everything in it.
    complete: bool,
}

/// Whether our client reads everything, three times as fast as the fastest complete peer and with no more memory than
/// the smallest. The last line printed is the ratio.
pub fn run(corpus: &Path, agent: &Path) -> Result<bool, Box<dyn Error>> {
    // A run is short, and the machine is seldom quiet.
    let rounds = 3 * rounds()?;
    let corpus = HostCorpus::make(corpus)?;
    let ticks = Ticks::now()?;
    let measured = measure(&corpus, agent, rounds)?;
    let others = ticks.used_by_others()?;

    println!(
        "\nfrom the agent's pipe to the caller, {:.1} MB, {} lines, median of {rounds} rounds\n",
        corpus.megabytes, corpus.lines
    );
    table(&measured, &corpus).print();
    println!("\nother processes used {others:.0}% of the machine meanwhile");
    let ours = measured.iter().find(|client| client.row.role == Role::Ours);
    let ours = ours.ok_or("our client is not in the list")?;
    if figures::are_wanted() {
        note(&measured);
        return Ok(ours.complete);
    }
    let is_small = is_small(ours, &measured);
    let is_fast = is_fast(ours, &measured);
    Ok(ours.complete && is_small && is_fast)
}

/// Rounds go through all clients in turn, so that a slow moment of the machine hits
/// all alike.
fn measure(
    corpus: &HostCorpus,
    agent: &Path,
    rounds: usize,
) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut rows = clients::all();
    if figures::are_wanted() {
        rows.retain(|row| row.role != Role::Peer);
    }
    let mut proofs = Vec::new();
    for row in &rows {
        proofs.push(one::start(row, agent, &corpus.path, Depth::Proof)?);
    }
    let mut timed: Vec<Vec<Report>> = rows.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (row, reports) in rows.iter().zip(&mut timed) {
            reports.push(one::start(row, agent, &corpus.path, Depth::Timed)?);
        }
    }
    let all = rows.into_iter().zip(proofs).zip(timed);
    Ok(all
        .map(|((row, proof), timed)| {
            let mut seconds: Vec<_> = timed.iter().map(|report| report.seconds).collect();
            let mut peaks: Vec<_> = timed.iter().map(|report| report.peak_megabytes).collect();
            let same = timed.iter().all(|report| {
                report.delivered == proof.delivered && report.cheap_sum == corpus.cheap_sum
            });
            Measured {
                megabytes_per_second: corpus.megabytes / median(&mut seconds),
                peak_megabytes: median(&mut peaks),
                complete: same
                    && proof.problem.is_none()
                    && proof.delivered == corpus.lines
                    && proof.strong_sum == corpus.strong_sum,
                row,
                proof,
            }
        })
        .collect())
}

fn note(measured: &[Measured]) {
    for client in measured {
        let name = client.row.name;
        let speed = (format!("{name}, MB/s"), client.megabytes_per_second);
        let peak = (format!("{name}, peak MB"), client.peak_megabytes);
        let note = match client.row.role {
            Role::Ours => figures::note,
            _ => figures::control,
        };
        note(&speed.0, speed.1, Better::Higher);
        note(&peak.0, peak.1, Better::Lower);
    }
}

fn table(measured: &[Measured], corpus: &HostCorpus) -> Table {
    let mut table = Table::new(&[
        "client",
        "MB/s",
        "peak MB",
        "lines delivered",
        "lost",
        "items read",
        "of",
        "checksum",
        "complete",
        "note",
    ]);
    for client in measured {
        let proof = &client.proof;
        let reads = client.row.role != Role::Context;
        let if_reads = |cell: String| if reads { cell } else { "-".to_string() };
        let note = match (&proof.problem, client.row.role) {
            (Some(problem), _) => problem.clone(),
            (None, Role::Ours) => "ours".to_string(),
            (None, Role::Peer) => "peer".to_string(),
            (None, _) => "context: reads no messages".to_string(),
        };
        table.row(vec![
            client.row.name.to_string(),
            format!("{:.0}", client.megabytes_per_second),
            format!("{:.1}", client.peak_megabytes),
            proof.delivered.to_string(),
            corpus.lines.saturating_sub(proof.delivered).to_string(),
            if_reads(proof.items.to_string()),
            if_reads(corpus.items.to_string()),
            if_reads(format!("{:016x}", proof.strong_sum)),
            if_reads(if client.complete { "yes" } else { "no" }.to_string()),
            note,
        ]);
    }
    table
}

fn peers(measured: &[Measured]) -> impl Iterator<Item = &Measured> {
    measured
        .iter()
        .filter(|client| client.row.role == Role::Peer)
}

fn is_small(ours: &Measured, measured: &[Measured]) -> bool {
    let smallest = peers(measured).min_by(|a, b| a.peak_megabytes.total_cmp(&b.peak_megabytes));
    smallest.is_some_and(|peer| {
        let is_small = ours.peak_megabytes <= peer.peak_megabytes;
        println!(
            "peak memory: ours {:.1} MB, smallest of the peers {:.1} MB ({}); no more than that: {}",
            ours.peak_megabytes,
            peer.peak_megabytes,
            peer.row.name,
            verdict(is_small)
        );
        is_small
    })
}

/// Ours to the fastest complete peer; 0 while one of the two is missing. That line must stay the last.
fn is_fast(ours: &Measured, measured: &[Measured]) -> bool {
    let fastest = peers(measured)
        .filter(|client| client.complete)
        .max_by(|a, b| a.megabytes_per_second.total_cmp(&b.megabytes_per_second));
    let ratio = match fastest {
        Some(peer) if ours.complete => ours.megabytes_per_second / peer.megabytes_per_second,
        _ => 0.0,
    };
    let is_fast = ratio >= LEAST_RATIO;
    match fastest {
        Some(peer) => println!(
            "fastest complete peer: {}; {LEAST_RATIO} times as fast: {}",
            peer.row.name,
            verdict(is_fast)
        ),
        None => println!("no peer is complete"),
    }
    println!("ratio {ratio:.2}");
    is_fast
}

fn verdict(is_good: bool) -> &'static str {
    if is_good { "good" } else { "MISSED" }
}

/// How many times as fast as the fastest complete peer we have to be.
const LEAST_RATIO: f64 = 3.0;
