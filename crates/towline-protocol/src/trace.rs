//! Traces: recorded lines with their direction and time, one JSON object a row.
//!
//! A row is `{"t":<ms>,"dir":"in"|"out"|"argv"|"err","line":…}`, the line itself as JSON, or as a string where it was
//! not JSON. A line too long to be recorded at once is spread over several rows of its direction, each with a piece
//! of its text as a string, all but the last with `"more":true`; [`Pieces`] joins them. A bare line of the protocol is
//! a row too, of unknown direction.

mod pieces;

pub use pieces::{Joined, Pieces};

use crate::{
    json::{DecodeError, Json, Number, Reader, Tag, Text},
    wire::{Extra, Parts, Wire, wire_strings, wire_structs},
};

wire_strings! {
    /// Which way a recorded line went.
    pub enum Direction {
        /// From the host to the agent.
        In = "in",
        /// From the agent to the host.
        Out = "out",
        /// Not a line: the arguments the agent was started with.
        Argv = "argv",
        /// Not a line of the protocol: what the agent wrote to standard error.
        Err = "err",
    }
}

wire_structs! {
    /// One row of a trace file.
    pub struct TraceRow {
        /// Milliseconds since the start.
        time: Option<Number> = "t",
        /// Which way it went.
        direction: Direction = "dir",
        /// Whether the line goes on in the next row of its direction.
        more: Option<bool>,
        /// The line; a JSON string where it was not JSON, or is only a piece of it.
        line: Json,
    }
}

/// What one line of a trace file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEntry {
    /// A row with direction and time.
    Row(TraceRow),
    /// A bare line of the protocol.
    Bare(Text),
}

impl TraceEntry {
    /// Reads one line of a trace file. An object with `dir` and `line` is a row, everything else a bare line.
    ///
    /// # Errors
    /// When it looks like a row and is not one.
    pub fn read(line: &Text) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(line);
        let is_row = reader.peek() == b'{' && matches!(reader.tag(&DIRECTION), Ok(Some(_)));
        if is_row {
            TraceRow::read_whole(line).map(Self::Row)
        } else {
            Ok(Self::Bare(line.clone()))
        }
    }
}

impl TraceRow {
    /// The row of a line: an object as it stands, anything else as a string.
    ///
    /// ```
    /// use towline_protocol::{Wire, trace::{Direction, TraceRow}};
    ///
    /// let row = TraceRow::of_line(5, Direction::Out, &r#"{"type" : "keep_alive"}"#.into());
    /// assert_eq!(row.to_json().as_str(), r#"{"t":5,"dir":"out","line":{"type" : "keep_alive"}}"#);
    /// let row = TraceRow::of_line(6, Direction::Err, &"oh \"no\"".into());
    /// assert_eq!(row.to_json().as_str(), r#"{"t":6,"dir":"err","line":"oh \"no\""}"#);
    /// ```
    pub fn of_line(milliseconds: u64, direction: Direction, line: &Text) -> Self {
        Self::new(milliseconds, direction, recorded(line))
    }

    /// The row of the arguments that the agent was started with.
    pub fn of_arguments(milliseconds: u64, arguments: &Vec<Text>) -> Self {
        Self::new(milliseconds, Direction::Argv, arguments.to_json())
    }

    /// A row with a piece of a line whose rest is in the next rows of that direction.
    pub fn of_piece(milliseconds: u64, direction: Direction, piece: &Text) -> Self {
        Self {
            more: Some(true),
            ..Self::new(milliseconds, direction, piece.to_json())
        }
    }

    /// The row of the last piece of a line.
    pub fn of_last_piece(milliseconds: u64, direction: Direction, piece: &Text) -> Self {
        Self::new(milliseconds, direction, piece.to_json())
    }

    fn new(milliseconds: u64, direction: Direction, line: Json) -> Self {
        Self {
            time: Some(milliseconds.into()),
            direction,
            more: None,
            line,
            extra: Extra::default(),
        }
    }

    /// The text of the recorded line, unescaped where it was recorded as a string.
    pub fn text(&self) -> Text {
        Text::read_whole(self.line.text()).unwrap_or_else(|_| self.line.text().clone())
    }
}

/// How a line stands in its row. A carriage return inside JSON is only space and would be written as such.
fn recorded(line: &Text) -> Json {
    match Json::new(line.clone()) {
        Ok(json) if json.is_object() && !line.contains('\r') => json,
        _ => line.to_json(),
    }
}

const DIRECTION: Tag = Tag::new("dir", "{\"dir\":\"");
