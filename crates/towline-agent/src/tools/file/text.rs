//! Text as it is in a file: encoding, byte order mark and line endings are kept, whatever is changed in it.
//!
//! The model sees lines that end in `\n` and no mark. A change is made in what it sees and carried over to what is
//! there, so that every byte that was not changed stays.

use std::ops::Range;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Text {
    /// As it is, but for the mark.
    raw: String,
    encoding: Encoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16LittleEndian,
    Utf16BigEndian,
}

/// Why a file is no text that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum NotText {
    /// Bytes that mean nothing.
    Encoding,
    /// Zero bytes near the beginning.
    Zeros,
}

impl NotText {
    /// For the model.
    pub(in crate::tools) fn in_words(self) -> &'static str {
        match self {
            Self::Encoding => "File is not valid UTF-8: it has another encoding, or it is binary.",
            Self::Zeros => {
                "File has NUL bytes near its beginning: it is binary, or UTF-16 without a byte order mark."
            }
        }
    }
}

impl Text {
    /// Reads the bytes of a file.
    pub(in crate::tools) fn decode(bytes: &[u8]) -> Result<Self, NotText> {
        let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
            let (pairs, []) = bytes.as_chunks::<2>() else {
                return Err(NotText::Encoding);
            };
            let units = pairs.iter().map(|pair| unit(*pair));
            char::decode_utf16(units)
                .collect::<Result<String, _>>()
                .map_err(|_| NotText::Encoding)
        };
        let (raw, encoding) = match bytes {
            [0xff, 0xfe, rest @ ..] => {
                (wide(rest, u16::from_le_bytes)?, Encoding::Utf16LittleEndian)
            }
            [0xfe, 0xff, rest @ ..] => (wide(rest, u16::from_be_bytes)?, Encoding::Utf16BigEndian),
            [0xef, 0xbb, 0xbf, rest @ ..] => (plain(rest)?, Encoding::Utf8WithMark),
            rest => (plain(rest)?, Encoding::Utf8),
        };
        Ok(Self { raw, encoding })
    }

    /// The text of a new file.
    pub(in crate::tools) fn new(text: &str) -> Self {
        Self {
            raw: text.to_owned(),
            encoding: Encoding::Utf8,
        }
    }

    /// The bytes to be written.
    pub(in crate::tools) fn encode(&self) -> Vec<u8> {
        let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            let units = self.raw.encode_utf16().flat_map(bytes);
            mark.into_iter().chain(units).collect()
        };
        match self.encoding {
            Encoding::Utf8 => self.raw.clone().into_bytes(),
            Encoding::Utf8WithMark => [b"\xef\xbb\xbf", self.raw.as_bytes()].concat(),
            Encoding::Utf16LittleEndian => wide([0xff, 0xfe], u16::to_le_bytes),
            Encoding::Utf16BigEndian => wide([0xfe, 0xff], u16::to_be_bytes),
        }
    }

    /// As the model sees it.
    pub(in crate::tools) fn shown(&self) -> String {
        unix(&self.raw)
    }

    /// The same file with other text in it.
    pub(in crate::tools) fn with(&self, text: &str) -> Self {
        Self {
            raw: self.with_endings(text),
            encoding: self.encoding,
        }
    }

    /// Puts `new` in place of each of some ranges of what is [`shown`](Self::shown); they are in order and apart.
    pub(in crate::tools) fn splice(&self, ranges: &[Range<usize>], new: &str) -> Self {
        let new = self.with_endings(new);
        // Where a byte of what is shown is in the file: further by the `\r` that are left out before it.
        let mut hidden = self
            .raw
            .match_indices("\r\n")
            .map(|(at, _)| at)
            .enumerate()
            .peekable();
        let mut left_out = 0;
        let mut place = |shown: usize| {
            while let Some((index, _)) = hidden.next_if(|(index, at)| at - index < shown) {
                left_out = index + 1;
            }
            shown + left_out
        };
        let (mut raw, mut done) = (String::with_capacity(self.raw.len()), 0);
        for range in ranges {
            raw.push_str(&self.raw[done..place(range.start)]);
            raw.push_str(&new);
            done = place(range.end);
        }
        raw.push_str(&self.raw[done..]);
        Self {
            raw,
            encoding: self.encoding,
        }
    }

    /// New text with the line endings that most lines of the file have.
    fn with_endings(&self, text: &str) -> String {
        let all = self.raw.matches('\n').count();
        let windows = self.raw.matches("\r\n").count();
        if windows * 2 > all {
            unix(text).replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    }
}

/// Line endings as the model sees them.
pub(in crate::tools) fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn plain(bytes: &[u8]) -> Result<String, NotText> {
    if bytes.iter().take(HEAD).any(|byte| *byte == 0) {
        return Err(NotText::Zeros);
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| NotText::Encoding)
}

/// How much of a file is looked at to tell whether it is text.
const HEAD: usize = 8 << 10;

#[cfg(test)]
mod tests;
