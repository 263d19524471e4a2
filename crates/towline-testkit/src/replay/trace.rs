//! [`Trace`]: a recorded conversation, read whole and ready to be played.

use std::time::Duration;

use towline_protocol::{
    Line, LineDecoder, Text, ToAgent, ToHost, Wire, peek,
    trace::{Direction, Joined, Pieces, TraceEntry, TraceRow},
};

/// A recorded conversation: the lines of both sides in their order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    arguments: Option<Vec<String>>,
    steps: Vec<Step>,
}

/// Why a file is no trace that can be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {problem}")]
pub struct BadTrace {
    /// The row, from 1.
    pub row: u64,
    /// What is wrong there.
    pub problem: String,
}

/// Who says a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Who drives.
    Host,
    /// Who works.
    Agent,
}

/// One line of the conversation.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) row: u64,
    pub(super) time: Duration,
    pub(super) side: Side,
    pub(super) line: Text,
}

impl Trace {
    /// Reads a trace file. What the agent wrote to standard error is passed over, and so is a last row that was cut
    /// off: the recorder may have been killed.
    ///
    /// # Errors
    /// When a row is none, has no direction, or holds a line that cannot be sent.
    pub fn read(file: &[u8]) -> Result<Self, BadTrace> {
        let mut trace = Self::default();
        let mut pieces = Pieces::with_limit(LineDecoder::DEFAULT_LIMIT);
        let mut rows = file.split_inclusive(|byte| *byte == b'\n').peekable();
        let mut number = 0;
        while let Some(row) = rows.next() {
            number += 1;
            let is_cut = rows.peek().is_none() && !row.ends_with(b"\n");
            match trace.add(number, row, &mut pieces) {
                Err(_) if is_cut => {}
                added => added.map_err(|problem| BadTrace {
                    row: number,
                    problem,
                })?,
            }
        }
        Ok(trace)
    }

    /// The arguments the agent was started with, if they were recorded.
    pub fn arguments(&self) -> Option<&[String]> {
        self.arguments.as_deref()
    }

    /// The lines of one side, in their order.
    pub fn lines(&self, side: Side) -> impl Iterator<Item = &Text> {
        let steps = self.steps.iter().filter(move |step| step.side == side);
        steps.map(|step| &step.line)
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn add(&mut self, row: u64, bytes: &[u8], pieces: &mut Pieces) -> Result<(), String> {
        let mut decoder = LineDecoder::with_limit(bytes.len());
        let mut input = bytes;
        let line = decoder.next_line(&mut input).or_else(|| decoder.finish());
        let entry = match line {
            None => return Ok(()),
            Some(Line::Text(line)) => TraceEntry::read(&line),
            Some(Line::InvalidUtf8 { offset, .. }) => {
                return Err(format!("not UTF-8 at byte {offset}"));
            }
            Some(Line::TooLong { .. }) => return Err("longer than itself".to_owned()),
        };
        match entry {
            Err(error) => Err(format!("not a row of a trace: {error}")),
            Ok(TraceEntry::Bare(_)) => Err(NO_DIRECTION.to_owned()),
            Ok(TraceEntry::Row(entry)) => match pieces.add(entry) {
                Joined::Piece => Ok(()),
                Joined::TooLong { limit, .. } => Err(format!("a line longer than {limit} bytes")),
                Joined::Row(entry) => self.add_row(row, &entry),
            },
        }
    }

    fn add_row(&mut self, row: u64, entry: &TraceRow) -> Result<(), String> {
        let side = match &entry.direction {
            Direction::In => Side::Host,
            Direction::Out => Side::Agent,
            Direction::Err => return Ok(()),
            Direction::Argv => {
                let arguments = entry.line.parse();
                self.arguments =
                    Some(arguments.map_err(|error| format!("bad arguments: {error}"))?);
                return Ok(());
            }
            Direction::Unknown(name) => return Err(format!("no direction `{name}`")),
        };
        let line = entry.text();
        if line.contains('\n') {
            return Err("a line with a line break in it cannot be sent".to_owned());
        }
        let milliseconds = entry
            .time
            .as_ref()
            .map_or(0.0, towline_protocol::Number::as_f64);
        self.steps.push(Step {
            row,
            time: Duration::try_from_secs_f64(milliseconds / 1000.0)
                .unwrap_or_default()
                .min(LONGEST),
            side,
            line,
        });
        Ok(())
    }
}

impl Side {
    /// Who is on the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Host => Self::Agent,
            Self::Agent => Self::Host,
        }
    }
}

impl Step {
    /// A line that was not recorded.
    pub(super) fn live(side: Side, line: Text) -> Self {
        Self {
            row: 0,
            time: Duration::ZERO,
            side,
            line,
        }
    }

    /// Type and subtype of the line, as far as they can be read.
    pub(super) fn kind(&self) -> String {
        let kind = match self.side {
            Side::Host => ToAgent::from_json(self.line.clone()).map(|line| line.full_kind()),
            Side::Agent => ToHost::from_json(self.line.clone()).map(|line| line.full_kind()),
        };
        kind.unwrap_or_else(|_| {
            let said = peek(&self.line).and_then(|peek| peek.kind);
            said.map_or_else(|| "?".to_owned(), String::from)
        })
    }
}

/// No recording is longer, so that times can be added without care.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
const NO_DIRECTION: &str = "a bare line: without `dir` nobody knows which side said it";
