//! `towline trace show`: prints a trace for a person, one line a row, or filters it for a program.

mod filter;
mod gist;
mod questions;
mod render;
mod stats;

pub(crate) use gist::{content as content_gist, tool_input as tool_input_gist};

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Args;

use super::{
    Bounds,
    progress::Output,
    row::{Row, RowReader},
    source::Source,
};
use crate::{
    cli::Color,
    terminal::{Palette, Screen, stdout_width},
};
use filter::Filter;
use questions::Questions;
use stats::Stats;

/// Print a recorded trace, one line a row.
///
/// `→` is a line from the host to the agent, `←` one from the agent to the host, `·` anything else. Kinds that this
/// version does not know are marked `unknown`, lines that cannot be read `malformed`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A trace, or bare lines of the protocol; `-` is standard input.
    file: PathBuf,

    /// Show only rows of this kind: `system/init`, `control_request` (with all its subtypes), `system/task_*`.
    ///
    /// May be given several times.
    #[arg(long, value_name = "PATTERN")]
    kind: Vec<String>,

    /// Show only rows whose line has these words in it, in upper or lower case.
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,

    /// Print rows as JSON objects with the recorded line inside, and the statistics to standard error.
    #[arg(long)]
    json: bool,

    /// Leave out the statistics at the end.
    #[arg(long)]
    no_stats: bool,

    /// Cut rows at this many columns; 0 does not cut.
    ///
    /// The width of the terminal by default, 120 where there is none.
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,

    /// When to use colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,

    #[command(flatten)]
    bounds: Bounds,
}

impl Show {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut source = Source::open(&self.file, self.bounds.max_line, Output::Steady)?;
        let mut screen = Screen::stdout(self.color);
        let filter = Filter::new(self.kind, self.text.as_deref());
        let width = Some(self.width.or_else(stdout_width).unwrap_or(WIDTH_ELSEWHERE));
        let width = width.filter(|columns| *columns > 0);
        let mut questions = Questions::default();
        let mut stats = Stats::default();

        let mut rows = RowReader::new(self.bounds.max_line);
        let mut print = |row: &Row, out: &mut dyn Write, palette: &Palette| {
            questions.learn(row);
            if !filter.lets_through(row) {
                stats.pass_over();
                return Ok(());
            }
            stats.add(row);
            let rendered = if self.json {
                render::json(row)
            } else {
                render::text(row, &questions, palette, width)
            };
            writeln!(out, "{rendered}").context(CANNOT_WRITE)
        };
        while let Some(lines) = source.read()? {
            for (number, line) in lines {
                if let Some(row) = rows.read(number, line) {
                    print(&row, &mut screen.out, &screen.palette)?;
                }
            }
            // The next piece may be long in coming, when the trace is still being recorded.
            screen.out.flush().context(CANNOT_WRITE)?;
        }
        for row in rows.finish() {
            print(&row, &mut screen.out, &screen.palette)?;
        }

        if !self.no_stats {
            if self.json {
                screen = Screen::stderr(self.color);
            }
            write!(screen.out, "{}", stats.table(&screen.palette)).context(CANNOT_WRITE)?;
            screen.out.flush().context(CANNOT_WRITE)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The width of rows where there is no terminal to ask.
const WIDTH_ELSEWHERE: usize = 120;
const CANNOT_WRITE: &str = "cannot write the rows";
