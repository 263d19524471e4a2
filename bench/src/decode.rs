//! Owns the decode benchmark from the corpus file to the last line.

use crate::children::{self, Report};
use crate::corpus::Corpus;
use crate::decoder::{Role, Row};
use crate::figures::{self, Better};
use crate::measure::{self, Timing};
use crate::proof::{self, Reading, Reference};
use crate::report::Table;
use crate::{roundtrip, rows};
use std::error::Error;
use std::path::Path;

/// Whether every row reads what it claims to.
pub fn run(corpus_path: &Path, traces_path: &Path, scripts: &Path) -> Result<bool, Box<dyn Error>> {
    let rounds = measure::rounds()?;
    let corpus = Corpus::load(corpus_path)?;
    let lines = corpus.lines();
    let mut rows = rows::all();
    if figures::are_wanted() {
        rows.retain(|row| row.role != Role::Peer);
    }
    let (reference, readings) = proof::read_all(&rows, &lines)?;
    let timings = measure::time_rows(&rows, &lines, corpus.megabytes(), rounds);
    let children = children::ALL.iter().filter(|_| !figures::are_wanted());
    let reports: Vec<_> = children
        .map(|child| (child.name, child.run(scripts, corpus_path)))
        .collect();

    println!(
        "\ndecode and read out, {} lines, median of {rounds} rounds\n",
        lines.len()
    );
    main_table(&rows, &readings, &timings, &reference, &reports).print();

    let traces = Corpus::load(traces_path)?;
    let recorded = traces.lines();
    println!("\nthe {} distinct recorded lines\n", recorded.len());
    roundtrip::table(&rows, &recorded)?.print();

    for (row, timing) in rows.iter().zip(&timings) {
        let name = format!("{}, MB/s", row.name);
        // Other parsers peek, too.
        let note = if row.name.starts_with("towline") {
            figures::note
        } else {
            figures::control
        };
        note(&name, timing.megabytes_per_second, Better::Higher);
    }

    let broken = broken_claims(&rows, &readings, &timings, &reference, &reports);
    for claim in &broken {
        eprintln!("{claim}");
    }
    print_ratio(&rows, &readings, &timings);
    Ok(broken.is_empty())
}

fn main_table(
    rows: &[Row],
    readings: &[Reading],
    timings: &[Timing],
    reference: &Reference,
    reports: &[(&str, Result<Report, String>)],
) -> Table {
    let mut table = Table::new(&[
        "implementation",
        "MB/s",
        "failed",
        "skipped",
        "items read",
        "of",
        "lines agreeing",
        "checksum",
        "note",
    ]);
    let ours = ours(rows, timings);
    for ((row, reading), timing) in rows.iter().zip(readings).zip(timings) {
        let note = match row.role {
            Role::Context => "context".to_string(),
            Role::Peer => "peer".to_string(),
            Role::Ours => "ours".to_string(),
            Role::Peek => match ours {
                Some(speed) => format!(
                    "peek, {:.2}x our decode",
                    timing.megabytes_per_second / speed
                ),
                None => "peek".to_string(),
            },
        };
        table.row(vec![
            row.name.to_string(),
            format!("{:.0}", timing.megabytes_per_second),
            reading.lines_failed.to_string(),
            reading.lines_skipped.to_string(),
            reading.items.to_string(),
            reference.of(row.role).0.items.to_string(),
            format!("{}/{}", reading.lines_agreeing, reading.lines_read),
            format!("{:016x}", reading.strong_sum),
            note,
        ]);
    }
    for (name, report) in reports {
        let blank = || "-".to_string();
        table.row(match report {
            Ok(report) => vec![
                name.to_string(),
                format!("{:.0}", report.megabytes_per_second),
                "0".to_string(),
                "0".to_string(),
                report.items.to_string(),
                reference.full.items.to_string(),
                blank(),
                report.strong_sum.clone(),
                format!(
                    "{}, parse alone {:.0}",
                    report.version, report.parse_megabytes_per_second
                ),
            ],
            Err(reason) => {
                let mut cells = vec![name.to_string()];
                cells.extend((0..7).map(|_| blank()));
                cells.push(reason.clone());
                cells
            }
        });
    }
    table
}

fn ours(rows: &[Row], timings: &[Timing]) -> Option<f64> {
    let index = rows.iter().position(|row| row.role == Role::Ours)?;
    Some(timings[index].megabytes_per_second)
}

/// Ours to the fastest peer that reads every line; 0 while one of the two is
/// missing. Must stay the last line.
fn print_ratio(rows: &[Row], readings: &[Reading], timings: &[Timing]) {
    let all = rows.iter().zip(readings).zip(timings);
    let fastest = all
        .filter(|((row, reading), _)| row.role == Role::Peer && reading.reads_every_line())
        .map(|((row, _), timing)| (timing.megabytes_per_second, row.name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match fastest {
        Some((_, name)) => println!("\nfastest peer that reads every line: {name}"),
        None => println!("\nno peer reads every line"),
    }
    let ratio = match (ours(rows, timings), fastest) {
        (Some(ours), Some((peer, _))) => ours / peer,
        _ => 0.0,
    };
    println!("ratio {ratio:.2}");
}

/// The rows that claim to read everything and do not.
fn broken_claims(
    rows: &[Row],
    readings: &[Reading],
    timings: &[Timing],
    reference: &Reference,
    reports: &[(&str, Result<Report, String>)],
) -> Vec<String> {
    let mut broken = Vec::new();
    for ((row, reading), timing) in rows.iter().zip(readings).zip(timings) {
        let (expected, cheap_sum) = reference.of(row.role);
        let same = reading.strong_sum == expected.strong_sum && timing.cheap_sum == cheap_sum;
        if row.complete && !(same && reading.reads_every_line()) {
            broken.push(format!("{} does not read what it claims to", row.name));
        }
    }
    for (name, report) in reports {
        if let Ok(report) = report {
            let strong = format!("{:016x}", reference.full.strong_sum);
            if report.strong_sum != strong || report.cheap_sum != reference.full_cheap.0 {
                broken.push(format!("{name} reads other items than the reference"));
            }
        }
    }
    broken
}
