//! [`LineDecoder`]: bytes in any chunking become lines, within a bound.

mod long;

use std::mem;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut, buf::Limit};

use crate::json::Text;

use long::{LongLine, Spare};

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
/// grows past the bound (and one piece of input). Lines are shares of the memory that the bytes were put into, which is
/// used again once they are gone.
///
/// Bytes come by [`next_line`](Self::next_line):
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
/// or, where they are read from somewhere, right into the decoder and without a copy:
/// ```
/// use bytes::BufMut;
/// use towline_protocol::{Line, LineDecoder};
///
/// let mut decoder = LineDecoder::default();
/// decoder.room().put_slice(b"{}\n[]\n{\"type\":");
/// assert_eq!(decoder.cut(), Some(Line::Text("{}".into())));
/// assert_eq!(decoder.cut(), Some(Line::Text("[]".into())));
/// assert_eq!(decoder.cut(), None);
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    /// The front of a line that does not fit into a block.
    long: Option<LongLine>,
    /// For the next one of these.
    spare: Spare,
    /// Whole lines that were not given out yet.
    ready: Ready,
    /// What came behind that, in front of the room for more.
    held: BytesMut,
    /// How much of it is known to have no line end.
    searched: usize,
    /// Blocks that lines were cut from, for when those are gone.
    used: Vec<BytesMut>,
    /// The size of the next block.
    block: usize,
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
            long: None,
            spare: Spare::default(),
            ready: Ready::Nothing,
            held: BytesMut::new(),
            searched: 0,
            used: Vec::new(),
            block: BLOCK,
            limit,
            skipping: false,
            at_start: true,
        }
    }

    /// Takes from `input` until a line is complete. Nothing once the input is used up; then call again with more.
    pub fn next_line(&mut self, input: &mut &[u8]) -> Option<Line> {
        loop {
            let line = self.cut();
            if line.is_some() || input.is_empty() {
                return line;
            }
            let mut room = self.room();
            let piece = &input[..input.len().min(room.remaining_mut())];
            let end = memchr::memchr(b'\n', piece);
            let (piece, rest) = input.split_at(end.map_or(piece.len(), |end| end + 1));
            room.put_slice(piece);
            *input = rest;
        }
    }

    /// Room for the bytes that come next. Then [`cut`](Self::cut) lines until there is none.
    pub fn room(&mut self) -> Limit<&mut BytesMut> {
        if self.free() < LEAST_ROOM {
            self.make_room();
        }
        let free = self.free();
        (&mut self.held).limit(free)
    }

    /// The next line of what was put into the room; nothing if it is not complete.
    pub fn cut(&mut self) -> Option<Line> {
        loop {
            match &mut self.ready {
                Ready::Text { lines, at } => {
                    let Some(length) = memchr::memchr(b'\n', &lines.as_bytes()[*at..]) else {
                        self.ready = Ready::Nothing;
                        continue;
                    };
                    let line = &lines[*at..*at + length];
                    *at += length + 1;
                    let line = line.strip_suffix('\r').unwrap_or(line);
                    if line.len() > self.limit {
                        return Some(too_long(line.as_bytes(), self.limit));
                    }
                    if !is_blank(line.as_bytes()) {
                        return Some(Line::Text(lines.share(line)));
                    }
                }
                Ready::Bytes(lines) => {
                    let Some(length) = memchr::memchr(b'\n', lines) else {
                        self.ready = Ready::Nothing;
                        continue;
                    };
                    let line = lines.split_to(length);
                    lines.advance(1);
                    let line = self.end_line(line);
                    if line.is_some() {
                        return line;
                    }
                }
                Ready::Nothing => {
                    if !self.take_whole_lines() {
                        break;
                    }
                }
            }
        }
        self.searched = self.held.len();
        if self.free() >= LEAST_ROOM {
            // Less came than there was room for. What is free now was needed at another pace.
            self.block = BLOCK;
            if self.held.is_empty() && self.held.capacity() > BLOCK {
                self.held = BytesMut::new();
            }
            drop((self.free_block(), self.spare.take()));
        }
        self.bound()
    }

    /// The last line, if the input ended without a line end. The decoder can be used again for another stream.
    pub fn finish(&mut self) -> Option<Line> {
        let rest = mem::take(&mut self.held);
        let line = self.end_line(rest.freeze());
        *self = Self::with_limit(self.limit);
        line
    }

    /// How much there is of a line whose end has not come.
    pub fn unfinished(&self) -> usize {
        let front = self.long.as_ref().map_or(0, |long| long.so_far().len());
        front + self.held.len()
    }

    /// How much memory is held for lines that are not complete.
    pub fn capacity(&self) -> usize {
        let long = self.long.as_ref().map_or(0, LongLine::capacity);
        long + self.held.capacity()
    }

    /// Takes all whole lines from what is held, or one of which not all is there. Whether there are any.
    fn take_whole_lines(&mut self) -> bool {
        let is_plain = !self.at_start && !self.skipping && self.long.is_none();
        let fresh = &self.held[self.searched..];
        let end = if is_plain {
            memchr::memrchr(b'\n', fresh)
        } else {
            memchr::memchr(b'\n', fresh)
        };
        let Some(end) = end else { return false };
        let end = mem::take(&mut self.searched) + end;
        let lines = self.held.split_to(end + 1).freeze();
        if self.free() == 0 && self.block < LARGE_BLOCK {
            self.block = LARGE_BLOCK;
            self.used.clear();
        }
        self.ready = match Text::from_utf8(lines.clone()) {
            Ok(lines) if is_plain => Ready::Text { lines, at: 0 },
            _ => Ready::Bytes(lines),
        };
        true
    }

    /// A line from its last bytes; nothing if it is blank or the end of one that was too long.
    fn end_line(&mut self, end: Bytes) -> Option<Line> {
        if mem::take(&mut self.skipping) {
            return None;
        }
        let mut content = match self.long.take() {
            None => end,
            Some(mut long) => {
                long.push(&end, self.most());
                long.into()
            }
        };
        if self.content(&content).len() < content.len() {
            content = content.slice_ref(self.content(&content));
        }
        self.at_start = false;
        if content.len() > self.limit {
            return Some(too_long(&content, self.limit));
        }
        if is_blank(&content) {
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
        if !self.skipping && self.unfinished() <= self.limit {
            return None;
        }
        if self.long.is_some() {
            self.gather();
        }
        let line = self.long.as_ref().map_or(&*self.held, LongLine::so_far);
        let content = self.content(line);
        if !self.skipping && content.len() <= self.limit {
            return None;
        }
        let line = (!self.skipping).then(|| too_long(content, self.limit));
        self.skipping = true;
        self.at_start = false;
        self.long = None;
        self.held.clear();
        self.searched = 0;
        line
    }

    /// A line, or what there is of one, without the rest of its line end and without a byte order mark at the start.
    fn content<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(marked) if self.at_start => marked,
            _ => line,
        }
    }

    fn free(&self) -> usize {
        self.held.capacity() - self.held.len()
    }

    /// Goes on in another block with what is held of a line, or without it if it is much.
    fn make_room(&mut self) {
        if self.long.is_some() || self.held.len() > BLOCK / 2 {
            self.gather();
        }
        if self.held.try_reclaim(self.block - self.held.len()) {
            // Whoever has the lines keeps up, and one block is enough.
            drop(self.free_block());
            return;
        }
        let mut next = self
            .free_block()
            .unwrap_or_else(|| BytesMut::with_capacity(self.block));
        next.extend_from_slice(&self.held);
        let mut last = mem::replace(&mut self.held, next);
        last.clear();
        self.used.truncate(MOST_USED - 1);
        self.used.insert(0, last);
    }

    /// Puts what is held to the front of its line.
    fn gather(&mut self) {
        let most = self.most();
        match &mut self.long {
            Some(long) => long.push(&self.held, most),
            None => self.long = Some(LongLine::begin(&self.held, most, &self.spare)),
        }
        self.held.clear();
        self.searched = 0;
        if self.unfinished() > LARGE_BLOCK && self.block > BLOCK {
            // There is enough in memory with such a line, and with what is made of it.
            self.block = BLOCK;
            self.held = BytesMut::new();
            self.used.clear();
        }
    }

    /// A block whose lines are gone. Any will do: it is still warm.
    fn free_block(&mut self) -> Option<BytesMut> {
        let size = self.block;
        let free = |block: &mut BytesMut| block.try_reclaim(size);
        let place = self.used.iter_mut().position(free)?;
        Some(self.used.remove(place))
    }

    /// The most that a line may have taken when it is found to be too long.
    fn most(&self) -> usize {
        self.limit.saturating_add(LARGE_BLOCK)
    }
}

/// Whole lines that wait to be given out.
#[derive(Debug)]
enum Ready {
    Nothing,
    /// Lines that came in one piece. They are checked together, and cut without another look.
    Text {
        lines: Text,
        at: usize,
    },
    /// All others: those of which one is not UTF-8, the end of one that began elsewhere, the very first.
    Bytes(Bytes),
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn too_long(line: &[u8], limit: usize) -> Line {
    let start = &line[..line.len().min(START_SHOWN)];
    Line::TooLong {
        limit,
        start: String::from_utf8_lossy(start).into_owned().into(),
    }
}

/// The memory that is taken and used again. Short lines that are kept keep all of it.
const BLOCK: usize = 16 << 10;
/// The same where lines fill all the room there is: whoever writes them is woken for each piece that is taken.
const LARGE_BLOCK: usize = 128 << 10;
/// With less room than this, reading costs more than what the next block costs.
const LEAST_ROOM: usize = 4 << 10;
/// How many blocks are remembered: as many as lines may wait in for somebody to look at them.
const MOST_USED: usize = 4;
/// How much of a line that is too long is shown.
const START_SHOWN: usize = 200;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
