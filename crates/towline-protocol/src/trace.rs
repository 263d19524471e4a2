//! Traces: recorded lines with their direction and time, one JSON object a row.
//!
//! A row is `{"t":<ms>,"dir":"in"|"out"|"argv"|"err","line":…}`, the line itself as JSON, or as a string where it was
//! not JSON. A bare line of the protocol is a row too, of unknown direction.

use crate::{
    json::{DecodeError, Json, Number, Reader, Tag, Text},
    wire::{Parts, wire_strings, wire_structs},
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
        /// The line; a JSON string where it was not JSON.
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
    /// The text of the recorded line, unescaped where it was recorded as a string.
    pub fn text(&self) -> Text {
        Text::read_whole(self.line.text()).unwrap_or_else(|_| self.line.text().clone())
    }
}

const DIRECTION: Tag = Tag::new("dir", "{\"dir\":\"");
