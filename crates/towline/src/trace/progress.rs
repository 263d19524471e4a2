//! [`Progress`]: a bar on standard error for long files, for people only.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// How far a file has been read. Hidden unless somebody waits for it.
#[derive(Clone)]
pub(crate) struct Progress(ProgressBar);

/// What a command does to standard output while it reads.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    /// A row for each line, which would scroll a bar away.
    Steady,
    /// A line now and then, written inside [`Progress::pause`].
    Rare,
}

impl Progress {
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// A bar for a file of that size, if it is worth one and there is a terminal with room for it.
    pub(crate) fn of_bytes(length: u64, output: Output) -> Self {
        let in_the_way = matches!(output, Output::Steady) && io::stdout().is_terminal();
        if length <= WORTH_A_BAR || in_the_way || !io::stderr().is_terminal() {
            return Self::hidden();
        }
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is well formed");
        let bar = ProgressBar::new(length).with_style(style);
        Self(bar.with_finish(ProgressFinish::AndClear))
    }

    pub(crate) fn advance(&self, bytes: usize) {
        self.0.inc(bytes as u64);
    }

    /// Takes the bar away while something is printed.
    pub(crate) fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

const WORTH_A_BAR: u64 = 16 << 20;
const TEMPLATE: &str = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
