//! [`NumberedLines`]: bytes in any chunking become lines that know their place.

use towline_protocol::{Line, LineDecoder};

use super::Place;

/// Cuts bytes into lines and counts them as an editor does, blank ones included.
///
/// ```
/// use towline_store::NumberedLines;
///
/// let mut lines = NumberedLines::with_limit(100);
/// let mut input = &b"{}\n\n{}\n"[..];
/// let first = lines.next(&mut input).unwrap();
/// let second = lines.next(&mut input).unwrap();
/// assert_eq!((first.place.line, second.place.line), (1, 3));
/// assert_eq!(second.place.offset, 4);
/// ```
#[derive(Debug)]
pub struct NumberedLines {
    decoder: LineDecoder,
    /// The line that is being taken in.
    place: Place,
    /// What was found at the start of a line too long for the rest to matter.
    too_long: Option<Line>,
}

/// A line and its place.
///
/// ```
/// use towline_store::NumberedLines;
///
/// let mut lines = NumberedLines::with_limit(100);
/// let line = lines.next(&mut &b"\n{}\n"[..]).unwrap();
/// assert_eq!((line.place.line, line.place.offset, line.place.length), (2, 1, 2));
/// assert!(line.is_complete);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedLine {
    /// Where it stands.
    pub place: Place,
    /// The line.
    pub line: Line,
    /// Whether it has its newline; only the last one may lack it.
    pub is_complete: bool,
}

impl NumberedLines {
    /// Lines of at most `limit` bytes.
    ///
    /// ```
    /// use towline_protocol::Line;
    /// use towline_store::NumberedLines;
    ///
    /// let mut lines = NumberedLines::with_limit(5);
    /// let long = lines.next(&mut &b"much too long\n"[..]).unwrap();
    /// assert!(matches!(long.line, Line::TooLong { limit: 5, .. }));
    /// ```
    pub fn with_limit(limit: usize) -> Self {
        Self {
            decoder: LineDecoder::with_limit(limit),
            place: Place {
                line: 1,
                ..Place::default()
            },
            too_long: None,
        }
    }

    /// Takes from the piece until a line is complete. Nothing once the piece is used up; then call again with more.
    ///
    /// ```
    /// use towline_store::NumberedLines;
    ///
    /// let mut lines = NumberedLines::with_limit(100);
    /// assert_eq!(lines.next(&mut &b"{\"a\":"[..]), None);
    /// assert_eq!(lines.next(&mut &b"1}\n"[..]).unwrap().place.length, 7);
    /// ```
    pub fn next(&mut self, piece: &mut &[u8]) -> Option<NumberedLine> {
        // The decoder passes over blank lines without a word. Given no more than one line at a time, it leaves it to
        // us to count them.
        while !piece.is_empty() {
            let newline = memchr::memchr(b'\n', piece);
            let end = newline.map_or(piece.len(), |newline| newline + 1);
            let (mut line, rest) = piece.split_at(end);
            *piece = rest;
            let content = end - usize::from(newline.is_some());
            self.place.length += content as u64;
            let mut found = None;
            while !line.is_empty() {
                // A line too long may be given before its end has been taken; the rest of it gives nothing more.
                found = self.decoder.next_line(&mut line).or(found);
            }
            if newline.is_none() {
                self.too_long = found.or(self.too_long.take());
                continue;
            }
            let found = found.or(self.too_long.take());
            let place = self.place;
            self.place = Place {
                line: place.line + 1,
                offset: place.offset + place.length + 1,
                length: 0,
            };
            if let Some(line) = found {
                return Some(NumberedLine {
                    place,
                    line,
                    is_complete: true,
                });
            }
        }
        None
    }

    /// The last line, if the input ended without a newline.
    ///
    /// ```
    /// use towline_store::NumberedLines;
    ///
    /// let mut lines = NumberedLines::with_limit(100);
    /// assert_eq!(lines.next(&mut &b"{}"[..]), None);
    /// assert!(!lines.finish().unwrap().is_complete);
    /// ```
    pub fn finish(&mut self) -> Option<NumberedLine> {
        let line = self.decoder.finish().or(self.too_long.take())?;
        Some(NumberedLine {
            place: self.place,
            line,
            is_complete: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_places_an_editor_shows_in_any_chunking() {
        let input = b"{}\n\n\r\n{}\r\nmuch too long\n{}\n\n{}";
        for size in 1..=input.len() {
            let mut lines = NumberedLines::with_limit(5);
            let mut found = Vec::new();
            for mut piece in input.chunks(size) {
                while let Some(line) = lines.next(&mut piece) {
                    found.push(line);
                }
            }
            found.extend(lines.finish());
            let found: Vec<_> = found
                .iter()
                .map(|line| {
                    let Place {
                        line: number,
                        offset,
                        length,
                    } = line.place;
                    let is_text = matches!(line.line, Line::Text(_));
                    (number, offset, length, is_text, line.is_complete)
                })
                .collect();
            assert_eq!(
                found,
                [
                    (1, 0, 2, true, true),
                    (4, 6, 3, true, true),
                    (5, 10, 13, false, true),
                    (6, 24, 2, true, true),
                    (8, 28, 2, true, false),
                ],
                "in pieces of {size}"
            );
        }
    }
}
