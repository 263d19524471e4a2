//! How rows are printed: their width and colours, the time, and notes on standard error.

use std::{
    fmt,
    io::{self, Write},
};

use clap::Args;
use jiff::Timestamp;
use towline_store::Transcript;

use crate::{
    cli::Color,
    terminal::{Screen, escaped, stdout_width},
};

/// What rows look like.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Look {
    /// Cut rows at this many columns; 0 does not cut.
    ///
    /// The width of the terminal by default; where there is none, rows are not cut.
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,

    /// When to use colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

impl Look {
    pub(crate) fn screen(self) -> Screen {
        Screen::stdout(self.color)
    }

    pub(crate) fn width(self) -> Option<usize> {
        self.width.or_else(stdout_width).filter(|width| *width > 0)
    }
}

/// A time to the minute, in UTC.
pub(crate) fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A time to the second, in UTC.
pub(crate) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Says something on standard error, one line.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    // With standard error gone there is nobody left to tell.
    writeln!(
        io::stderr().lock(),
        "towline: {}",
        escaped(&text.to_string())
    )
    .ok();
}

/// Tells of the lines that could not be read.
pub(crate) fn note_skipped(transcript: &Transcript) {
    let path = transcript.path().display();
    for skipped in transcript.skipped().iter().take(SHOWN) {
        note(format_args!(
            "{path}:{}: skipped: {}",
            skipped.place.line, skipped.reason
        ));
    }
    let more = transcript.skipped_count().saturating_sub(SHOWN as u64);
    if more > 0 {
        note(format_args!("{path}: … and {more} more lines skipped"));
    }
}

/// How many lines that could not be read are told one by one.
const SHOWN: usize = 5;
pub(crate) const CANNOT_WRITE: &str = "cannot write to standard output";
