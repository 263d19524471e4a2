//! [`Pieces`]: joins the rows of a line that was recorded in pieces.

use super::{Direction, TraceRow, recorded};
use crate::json::Text;

/// Holds the pieces of lines until they are whole, within a bound.
///
/// ```
/// use towline_protocol::trace::{Direction, Joined, Pieces, TraceRow};
///
/// let mut pieces = Pieces::with_limit(1000);
/// let first = TraceRow::of_piece(1, Direction::Out, &r#"{"type":"#.into());
/// let last = TraceRow::of_last_piece(2, Direction::Out, &r#""keep_alive"}"#.into());
/// assert_eq!(pieces.add(first), Joined::Piece);
/// let Joined::Row(row) = pieces.add(last) else { panic!() };
/// assert_eq!(row.text(), r#"{"type":"keep_alive"}"#);
/// ```
#[derive(Debug)]
pub struct Pieces {
    limit: usize,
    /// Directions are few, and most of the time none has an open line.
    open: Vec<Open>,
}

/// What came of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Joined {
    /// A whole line; with the time of its last piece.
    Row(TraceRow),
    /// A piece; the rest is to come.
    Piece,
    /// The last piece of a line that is longer than the bound.
    TooLong {
        /// The bound.
        limit: usize,
        /// How the line begins.
        start: Text,
    },
}

#[derive(Debug)]
struct Open {
    direction: Direction,
    text: String,
    /// The line went past the bound; only its start is kept.
    too_long: bool,
}

impl Pieces {
    /// Joins lines of at most `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            open: Vec::new(),
        }
    }

    /// Takes the next row of a trace.
    pub fn add(&mut self, row: TraceRow) -> Joined {
        let place = self
            .open
            .iter()
            .position(|open| open.direction == row.direction);
        let more = row.more == Some(true);
        let mut open = match place {
            None if !more => return Joined::Row(row),
            None => Open {
                direction: row.direction.clone(),
                text: String::new(),
                too_long: false,
            },
            Some(place) => self.open.swap_remove(place),
        };
        open.add(&row.text(), self.limit);
        if more {
            self.open.push(open);
            return Joined::Piece;
        }
        let text = Text::from(open.text);
        if open.too_long {
            return Joined::TooLong {
                limit: self.limit,
                start: text,
            };
        }
        Joined::Row(TraceRow {
            line: recorded(&text),
            ..row
        })
    }

    /// How the lines begin whose last piece never came: the recording was cut off.
    pub fn finish(self) -> impl Iterator<Item = Text> {
        self.open.into_iter().map(|mut open| {
            cut(&mut open.text, START_SHOWN);
            open.text.into()
        })
    }
}

impl Open {
    fn add(&mut self, piece: &str, limit: usize) {
        if self.too_long {
            return;
        }
        if self.text.len() + piece.len() <= limit {
            return self.text.push_str(piece);
        }
        self.too_long = true;
        self.text
            .push_str(&piece[..piece.floor_char_boundary(START_SHOWN)]);
        cut(&mut self.text, START_SHOWN);
        self.text.shrink_to_fit();
    }
}

/// Shortens a text, between two characters.
fn cut(text: &mut String, length: usize) {
    text.truncate(text.floor_char_boundary(length));
}

/// How much of a line that is too long is shown.
const START_SHOWN: usize = 200;
