//! `towline trace check`: whether every line of a trace is read whole.

mod compare;
mod report;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;

use super::{
    Bounds,
    progress::Output,
    row::{Row, RowReader},
    source::Source,
    tally::Tally,
};
use crate::terminal::escaped;
use report::{Counts, Finding, findings};

/// Tell whether every line of a trace is read whole.
///
/// Counts the lines of the protocol, and among them those of a kind this version does not know, those that cannot be
/// read, and those that would be another JSON value if written again. Exits with 1 if there is any of the three.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Traces, or bare lines of the protocol; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print every problem instead of the first 20 of each file.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    bounds: Bounds,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut counts = Counts::default();
        let mut unnamed = Tally::new(MOST_PATHS);
        for file in &self.files {
            let mut source = Source::open(file, self.bounds.max_line, Output::Rare)?;
            let mut printer = Printer::new(file, self.all);
            let progress = source.progress();
            let mut rows = RowReader::new(self.bounds.max_line);
            let mut check = |row: &Row, out: &mut dyn Write| {
                let found = findings(row);
                counts.add(row, &found);
                for path in row.unnamed_paths() {
                    unnamed.add(&format!("{}: {path}", row.kind), 0);
                }
                if found.is_empty() {
                    return Ok(());
                }
                progress
                    .pause(|| printer.print(row.number, &found, out))
                    .context(CANNOT_WRITE)
            };
            while let Some(lines) = source.read()? {
                for (number, line) in lines {
                    if let Some(row) = rows.read(number, line) {
                        check(&row, &mut out)?;
                    }
                }
            }
            for row in rows.finish() {
                check(&row, &mut out)?;
            }
            printer.finish(&mut out).context(CANNOT_WRITE)?;
        }
        summarize(&counts, &unnamed, &mut out).context(CANNOT_WRITE)?;
        Ok(if counts.is_clean() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Prints the problems of one file, up to a bound.
struct Printer {
    file: String,
    left: u64,
    withheld: u64,
}

impl Printer {
    fn new(file: &Path, all: bool) -> Self {
        Self {
            file: escaped(&file.display().to_string()),
            left: if all { u64::MAX } else { SHOWN_PROBLEMS },
            withheld: 0,
        }
    }

    fn print(&mut self, row: u64, found: &[Finding], out: &mut dyn Write) -> io::Result<()> {
        for finding in found {
            if self.left == 0 {
                self.withheld += 1;
                continue;
            }
            self.left -= 1;
            let Finding { problem, what } = finding;
            writeln!(out, "{}:{row}: {problem}: {what}", self.file)?;
        }
        // A person who watches a pipe should see a problem when it is found.
        out.flush()
    }

    fn finish(self, out: &mut impl Write) -> io::Result<()> {
        if self.withheld > 0 {
            writeln!(out, "{}: … and {} more", self.file, self.withheld)?;
        }
        Ok(())
    }
}

fn summarize(counts: &Counts, unnamed: &Tally, out: &mut impl Write) -> io::Result<()> {
    if !unnamed.is_empty() {
        writeln!(out, "kept, but held by no named field (count, kind: path):")?;
        for (path, count) in unnamed.sorted() {
            writeln!(out, "{:>8}  {}", count.rows, escaped(path))?;
        }
    }
    writeln!(out, "{counts}")?;
    out.flush()
}

const SHOWN_PROBLEMS: u64 = 20;
/// How many different paths are told apart.
const MOST_PATHS: usize = 1000;
const CANNOT_WRITE: &str = "cannot write to standard output";
