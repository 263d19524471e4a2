//! [`LineDecoder`]: bytes in any chunking become lines, within a bound.

use bytes::{Bytes, BytesMut};

use crate::json::Text;

/// What came out of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its line end.
    Text(Text),
    /// A line that was not UTF-8.
    InvalidUtf8 {
        /// The line with U+FFFD where it was not, as the real CLI reads it.
        text: Text,
        /// The line as it came.
        bytes: Bytes,
        /// The first byte that was not UTF-8.
        offset: usize,
    },
    /// A line that went past the bound. All of it up to the next line end is left out.
    TooLong {
        /// The bound.
        limit: usize,
        /// How it begins, to tell which one it was.
        start: Text,
    },
}

/// Cuts a stream of bytes into lines.
///
/// Line ends are `\n` or `\r\n`; blank lines and a byte order mark at the start are left out. What is held back never
/// grows past the bound (and one piece of input).
///
/// ```
/// use towline_protocol::{Line, LineDecoder};
///
/// let mut decoder = LineDecoder::default();
/// let mut lines = Vec::new();
/// for mut chunk in [&b"{\"type\":"[..], b"\"keep_alive\"}\r", b"\n\n{}"] {
///     while let Some(line) = decoder.next_line(&mut chunk) {
///         lines.push(line);
///     }
/// }
/// lines.extend(decoder.finish());
/// assert_eq!(lines, [Line::Text(r#"{"type":"keep_alive"}"#.into()), Line::Text("{}".into())]);
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    /// The line so far.
    held: BytesMut,
    /// The size of the memory that `held` is a part of.
    allocated: usize,
    limit: usize,
    /// In the middle of a line that was too long.
    skipping: bool,
    /// Nothing has been given out yet, so a byte order mark may come.
    at_start: bool,
}

impl Default for LineDecoder {
    fn default() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }
}

impl LineDecoder {
    /// The bound unless another one is set: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// A decoder for lines of at most `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            held: BytesMut::new(),
            allocated: 0,
            limit,
            skipping: false,
            at_start: true,
        }
    }

    /// Takes from `input` until a line is complete. Nothing once the input is used up; then call again with more.
    pub fn next_line(&mut self, input: &mut &[u8]) -> Option<Line> {
        while !input.is_empty() {
            let piece = &input[..input.len().min(PIECE)];
            let line = match memchr::memchr(b'\n', piece) {
                Some(end) => {
                    *input = &input[end + 1..];
                    self.hold(&piece[..end]);
                    self.take_line()
                }
                None => {
                    *input = &input[piece.len()..];
                    self.hold(piece);
                    self.bound()
                }
            };
            if line.is_some() {
                return line;
            }
        }
        None
    }

    /// The last line, if the input ended without a line end. The decoder can be used again for another stream.
    pub fn finish(&mut self) -> Option<Line> {
        let line = self.take_line();
        *self = Self::with_limit(self.limit);
        line
    }

    /// How much memory is held for lines that are not complete.
    pub fn capacity(&self) -> usize {
        self.held.capacity()
    }

    /// What is held, as a line; nothing if it is blank or the end of one that was too long.
    fn take_line(&mut self) -> Option<Line> {
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        let mut content = self.held.split().freeze();
        if self.content(&content).len() < content.len() {
            content = content.slice_ref(self.content(&content));
        }
        self.at_start = false;
        if content.len() > self.limit {
            return Some(self.too_long(&content));
        }
        if content.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(match Text::from_utf8(content.clone()) {
            Ok(text) => Line::Text(text),
            Err(error) => Line::InvalidUtf8 {
                text: String::from_utf8_lossy(&content).into_owned().into(),
                offset: error.valid_up_to(),
                bytes: content,
            },
        })
    }

    /// Lets go of a line that has grown past the bound, and says so once.
    fn bound(&mut self) -> Option<Line> {
        if self.content(&self.held).len() <= self.limit {
            return None;
        }
        self.skipping = true;
        let line = std::mem::take(&mut self.held);
        let line = self.too_long(self.content(&line));
        self.at_start = false;
        Some(line)
    }

    /// A line, or what there is of one, without the rest of its line end and without a byte order mark at the start.
    fn content<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(marked) if self.at_start => marked,
            _ => line,
        }
    }

    fn too_long(&self, line: &[u8]) -> Line {
        let start = &line[..line.len().min(START_SHOWN)];
        Line::TooLong {
            limit: self.limit,
            start: String::from_utf8_lossy(start).into_owned().into(),
        }
    }

    /// Appends, growing by doubling but never past the bound and one piece.
    fn hold(&mut self, piece: &[u8]) {
        if self.skipping || piece.is_empty() {
            return;
        }
        let needed = self.held.len() + piece.len();
        if needed > self.held.capacity() && !self.reclaim(piece.len()) {
            let grown = (needed * 2)
                .min(self.limit.saturating_add(PIECE))
                .max(needed)
                .max(PIECE);
            let mut larger = BytesMut::with_capacity(grown);
            larger.extend_from_slice(&self.held);
            self.held = larger;
            self.allocated = grown;
        }
        self.held.extend_from_slice(piece);
    }

    /// Makes room in the memory of lines that are gone: it is still warm. What a long line needed is let go instead.
    fn reclaim(&mut self, needed: usize) -> bool {
        self.allocated <= KEPT && self.held.try_reclaim(needed)
    }
}

/// How much input is taken at once.
const PIECE: usize = 64 << 10;
/// How much memory is used again for the next lines.
const KEPT: usize = 1 << 20;
/// How much of a line that is too long is shown.
const START_SHOWN: usize = 200;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
