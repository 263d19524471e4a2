//! What a replay found, for programs and, in its `Display`, for people.

use std::fmt;

/// One place where the live side is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A line came with other content.
    Changed {
        /// The row it belongs to.
        row: u64,
        /// What the recorded line is.
        kind: String,
        /// Where it differs.
        fields: Vec<FieldDifference>,
    },
    /// A line did not come.
    Missing {
        /// The row.
        row: u64,
        /// What the line is.
        kind: String,
        /// How it begins.
        expected: String,
    },
    /// A line came that was not recorded.
    Unexpected {
        /// The last row that was played by then.
        after_row: u64,
        /// What the line is.
        kind: String,
        /// How it begins.
        came: String,
    },
    /// The agent was started with other arguments.
    Arguments {
        /// What was recorded.
        expected: Vec<String>,
        /// What it was now.
        came: Vec<String>,
    },
}

/// One field that is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDifference {
    /// Where it is, such as `request.hooks.PreToolUse[0].matcher`; empty for the whole line.
    pub path: String,
    /// How the recorded value begins; nothing if there was none.
    pub expected: Option<String>,
    /// How the live value begins; nothing if there is none.
    pub came: Option<String>,
}

/// How a replay ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All lines were sent, and all that was recorded came.
    Played,
    /// The other side ended before it had said all.
    Closed,
    /// The other side did not say what it said when it was recorded.
    TimedOut,
    /// Nothing could be written to the other side any more, and why.
    Broken(String),
}

/// What came of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was found, up to [`Report::MOST_DIFFERENCES`].
    pub differences: Vec<Difference>,
    /// How many more there were.
    pub withheld: u64,
    /// Recorded lines that were sent.
    pub sent: u64,
    /// Lines that came.
    pub received: u64,
    /// Recorded lines of both sides that did not have their turn.
    pub unplayed: u64,
    /// How it ended.
    pub end: End,
}

impl Report {
    /// How many differences are kept.
    pub const MOST_DIFFERENCES: usize = 1000;

    /// Whether the live side said all that was recorded and nothing else.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.withheld == 0 && self.unplayed == 0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { row, kind, fields } => {
                write!(f, "row {row}: {kind} differs")?;
                fields
                    .iter()
                    .try_for_each(|field| write!(f, "\n    {field}"))
            }
            Self::Missing {
                row,
                kind,
                expected,
            } => write!(f, "row {row}: {kind} never came\n    expected {expected}"),
            Self::Unexpected {
                after_row,
                kind,
                came,
            } => write!(
                f,
                "after row {after_row}: {kind} was not recorded\n    came {came}"
            ),
            Self::Arguments { expected, came } => write!(
                f,
                "other arguments\n    expected {expected:?}\n    came {came:?}"
            ),
        }
    }
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = "nothing".to_owned();
        let expected = self.expected.as_ref().unwrap_or(&nothing);
        let came = self.came.as_ref().unwrap_or(&nothing);
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "expected {expected}, came {came}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differences = self.differences.len() as u64 + self.withheld;
        match &self.end {
            End::Played => write!(f, "played to the end")?,
            End::Closed => write!(f, "the other side ended too early")?,
            End::TimedOut => write!(f, "waited too long for the other side")?,
            End::Broken(problem) => write!(f, "cannot write to the other side: {problem}")?,
        }
        write!(
            f,
            "; sent {}, received {}, not played {}, differences {differences}",
            self.sent, self.received, self.unplayed
        )
    }
}

/// The beginning of a text.
pub(super) fn excerpt(text: &str) -> String {
    let end = text.floor_char_boundary(SHOWN);
    if end == text.len() {
        text.to_owned()
    } else {
        format!("{}…", &text[..end])
    }
}

const SHOWN: usize = 300;
