//! [`Row`]: one line of a trace file, read. Pure: text in, value out; a line that cannot be read is a value too.

use towline_protocol::{
    Line, Number, Text, peek,
    trace::{Direction, TraceEntry},
};

use super::message::{Message, is_unknown_kind};

/// One line of a trace file.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its line in the file, from 1.
    pub(crate) number: u64,
    /// Milliseconds since the start of the recording.
    pub(crate) time: Option<Number>,
    pub(crate) origin: Origin,
    /// What was recorded, as it stands in the file.
    pub(crate) raw: Text,
    /// The same as text: without the quotes and escapes of a line that was recorded as a string.
    pub(crate) text: Text,
    /// Type and subtype, as far as they could be read.
    pub(crate) kind: String,
    pub(crate) reading: Reading,
}

/// Who wrote what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Host,
    Agent,
    /// Nobody recorded it.
    Unsaid,
    /// Not a line: how the agent was started.
    Argv,
    /// Not a line: what the agent wrote to standard error.
    Stderr,
}

/// What a row turned out to be.
#[derive(Debug)]
pub(crate) enum Reading {
    Message {
        message: Message,
        /// The paths of all that no named field holds.
        unnamed: Vec<String>,
    },
    /// Not a line of the protocol, and not meant to be one.
    Aside,
    /// A line that could not be read, and why.
    Malformed(String),
}

impl Row {
    /// Reads one line of a trace file.
    pub(crate) fn read(number: u64, line: Line) -> Self {
        let line = match line {
            Line::Text(line) => line,
            Line::InvalidUtf8 { text, offset, .. } => {
                return Self::malformed(number, text, format!("not UTF-8 at byte {offset}"));
            }
            Line::TooLong { limit, start } => {
                return Self::malformed(number, start, format!("longer than {limit} bytes"));
            }
        };
        let entry = match TraceEntry::read(&line) {
            Ok(entry) => entry,
            Err(error) => return Self::malformed(number, line, format!("not a row: {error}")),
        };
        let (time, direction, raw, text) = match entry {
            TraceEntry::Bare(line) => (None, None, line.clone(), line),
            TraceEntry::Row(row) => {
                let text = row.text();
                (row.time, Some(row.direction), row.line.text().clone(), text)
            }
        };
        let (origin, decoded) = match direction {
            None => (Origin::Unsaid, Message::either(&text)),
            Some(Direction::In) => (Origin::Host, Message::to_agent(&text)),
            Some(Direction::Out) => (Origin::Agent, Message::to_host(&text)),
            Some(Direction::Argv) => return Self::aside(number, time, Origin::Argv, (raw, text)),
            Some(Direction::Err) => return Self::aside(number, time, Origin::Stderr, (raw, text)),
            Some(Direction::Unknown(name)) => {
                return Self::malformed(number, line, format!("not a row: no direction `{name}`"));
            }
        };
        let (kind, reading) = match decoded {
            Ok(message) => {
                let unnamed = message.unnamed_paths();
                let kind = message.full_kind();
                (kind, Reading::Message { message, unnamed })
            }
            Err(error) => (kind_of(&text), Reading::Malformed(error.to_string())),
        };
        Self {
            number,
            time,
            origin,
            raw,
            text,
            kind,
            reading,
        }
    }

    /// The paths of all in the message that no named field holds.
    pub(crate) fn unnamed_paths(&self) -> &[String] {
        match &self.reading {
            Reading::Message { unnamed, .. } => unnamed,
            Reading::Aside | Reading::Malformed(_) => &[],
        }
    }

    /// The kinds in the message that this version does not know, as `path=kind`.
    pub(crate) fn unknown_kinds(&self) -> impl Iterator<Item = &str> {
        let unnamed = self.unnamed_paths().iter();
        unnamed
            .map(String::as_str)
            .filter(|path| is_unknown_kind(path))
    }

    fn aside(number: u64, time: Option<Number>, origin: Origin, (raw, text): (Text, Text)) -> Self {
        Self {
            number,
            time,
            origin,
            raw,
            text,
            kind: origin.direction().unwrap_or_default().to_owned(),
            reading: Reading::Aside,
        }
    }

    fn malformed(number: u64, line: Text, problem: String) -> Self {
        Self {
            number,
            time: None,
            origin: Origin::Unsaid,
            kind: kind_of(&line),
            raw: line.clone(),
            text: line,
            reading: Reading::Malformed(problem),
        }
    }
}

impl Origin {
    /// The name under which a trace records it.
    pub(crate) fn direction(self) -> Option<&'static str> {
        match self {
            Self::Host => Some("in"),
            Self::Agent => Some("out"),
            Self::Unsaid => None,
            Self::Argv => Some("argv"),
            Self::Stderr => Some("err"),
        }
    }

    pub(crate) fn arrow(self) -> &'static str {
        match self {
            Self::Host => "→",
            Self::Agent => "←",
            Self::Unsaid | Self::Argv | Self::Stderr => "·",
        }
    }
}

/// What a line that cannot be read says it is.
fn kind_of(line: &str) -> String {
    peek(line)
        .and_then(|peek| peek.kind)
        .map_or_else(|| "?".to_owned(), String::from)
}
