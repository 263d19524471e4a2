//! [`Row`]: one line of a trace file, read. Pure: text in, value out; a line that cannot be read is a value too.

use towline_protocol::{
    DecodeError, Line, Number, Text, peek,
    trace::{Direction, Joined, Pieces, TraceEntry, TraceRow},
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

/// Reads the lines of a trace file as rows, and those rows as one that hold the pieces of one line.
#[derive(Debug)]
pub(crate) struct RowReader {
    pieces: Pieces,
    /// The last line that was read.
    number: u64,
}

impl RowReader {
    /// For lines that are joined from pieces up to `max_line` bytes.
    pub(crate) fn new(max_line: usize) -> Self {
        Self {
            pieces: Pieces::with_limit(max_line),
            number: 0,
        }
    }

    /// Reads one line of a trace file. Nothing where the rest of what it recorded is to come.
    pub(crate) fn read(&mut self, number: u64, line: Line) -> Option<Row> {
        self.number = number;
        let line = match line {
            Line::Text(line) => line,
            Line::InvalidUtf8 { text, offset, .. } => {
                let problem = format!("not UTF-8 at byte {offset}");
                return Some(Row::malformed(number, text, problem));
            }
            Line::TooLong { limit, start } => return Some(Row::too_long(number, start, limit)),
        };
        match TraceEntry::read(&line) {
            Err(error) => Some(Row::malformed(number, line, format!("not a row: {error}"))),
            Ok(TraceEntry::Bare(line)) => Some(Row::bare(number, line)),
            Ok(TraceEntry::Row(row)) => match self.pieces.add(row) {
                Joined::Row(row) => Some(Row::recorded(number, row, line)),
                Joined::Piece => None,
                Joined::TooLong { limit, start } => Some(Row::too_long(number, start, limit)),
            },
        }
    }

    /// The lines whose last piece is missing.
    pub(crate) fn finish(self) -> impl Iterator<Item = Row> {
        let number = self.number;
        self.pieces
            .finish()
            .map(move |start| Row::malformed(number, start, "its last piece is missing".to_owned()))
    }
}

impl Row {
    fn bare(number: u64, line: Text) -> Self {
        let decoded = Message::either(&line);
        Self::decoded(number, Origin::Unsaid, (line.clone(), line), decoded)
    }

    fn recorded(number: u64, row: TraceRow, whole: Text) -> Self {
        let text = row.text();
        let texts = (row.line.text().clone(), text.clone());
        let read = match row.direction {
            Direction::In => Self::decoded(number, Origin::Host, texts, Message::to_agent(&text)),
            Direction::Out => Self::decoded(number, Origin::Agent, texts, Message::to_host(&text)),
            Direction::Argv => Self::aside(number, Origin::Argv, texts),
            Direction::Err => Self::aside(number, Origin::Stderr, texts),
            Direction::Unknown(name) => {
                return Self::malformed(number, whole, format!("not a row: no direction `{name}`"));
            }
        };
        Self {
            time: row.time,
            ..read
        }
    }

    fn decoded(
        number: u64,
        origin: Origin,
        (raw, text): (Text, Text),
        decoded: Result<Message, DecodeError>,
    ) -> Self {
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
            time: None,
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

    fn aside(number: u64, origin: Origin, (raw, text): (Text, Text)) -> Self {
        Self {
            number,
            time: None,
            origin,
            raw,
            text,
            kind: origin.direction().unwrap_or_default().to_owned(),
            reading: Reading::Aside,
        }
    }

    fn too_long(number: u64, start: Text, limit: usize) -> Self {
        Self::malformed(number, start, format!("longer than {limit} bytes"))
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
