//! What is wrong with a row, and the counts of it. Pure.

use std::fmt::{self, Write};

use super::{
    super::row::{Reading, Row},
    compare::change,
};
use crate::terminal::Clip;

/// The counts of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    lines: u64,
    unknown: u64,
    malformed: u64,
    changed: u64,
}

/// One thing that is wrong with a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) problem: Problem,
    /// The kind of the line and the place, short and harmless to a terminal.
    pub(crate) what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A kind this version does not know.
    Unknown,
    /// It cannot be read.
    Malformed,
    /// Written again, it is another JSON value.
    Changed,
}

impl Counts {
    pub(crate) fn add(&mut self, row: &Row, found: &[Finding]) {
        self.lines += u64::from(!matches!(row.reading, Reading::Aside));
        for finding in found {
            match finding.problem {
                Problem::Unknown => self.unknown += 1,
                Problem::Malformed => self.malformed += 1,
                Problem::Changed => self.changed += 1,
            }
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        (self.unknown, self.malformed, self.changed) == (0, 0, 0)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            lines,
            unknown,
            malformed,
            changed,
        } = self;
        write!(
            f,
            "lines {lines}, unknown {unknown}, malformed {malformed}, changed {changed}"
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Malformed => "malformed",
            Self::Changed => "changed",
        })
    }
}

/// All that is wrong with a row: each problem once.
pub(crate) fn findings(row: &Row) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |problem, what: &str| {
        let mut clip = Clip::new(Some(WIDEST_FINDING));
        // A full clip is a finding cut short.
        write!(clip, "{}: {what}", row.kind).ok();
        let what = clip.finish();
        found.push(Finding { problem, what });
    };
    match &row.reading {
        Reading::Aside => {}
        Reading::Malformed(why) => add(Problem::Malformed, why),
        Reading::Message { message, .. } => {
            let unknown: Vec<&str> = row.unknown_kinds().collect();
            if !unknown.is_empty() {
                add(Problem::Unknown, &unknown.join(", "));
            }
            if let Some(difference) = change(&row.text, message) {
                add(Problem::Changed, &difference);
            }
        }
    }
    found
}

const WIDEST_FINDING: usize = 400;
