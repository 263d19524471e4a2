//! [`Records`]: a transcript of any size as a stream of records. Holds one line at a time.

mod lines;

pub use lines::{NumberedLine, NumberedLines};

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use towline_protocol::{DecodeError, Line, LineDecoder, Text, Wire, transcript::Record};

use crate::{
    error::{Error, Result},
    plain,
};

/// The records of a transcript, in the order of the file.
///
/// What cannot be read is [`Skipped`], and the next line goes on. An error means that the file itself cannot be read.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// use towline_store::Entry;
///
/// # std::fs::write(session.path(), "{\"type\":\"mode\",\"mode\":\"normal\"}\nnonsense\n")?;
/// let mut kinds = Vec::new();
/// for entry in session.records()? {
///     match entry? {
///         Entry::Record(located) => kinds.push(located.record.kind().to_owned()),
///         Entry::Skipped(skipped) => kinds.push(format!("line {}", skipped.place.line)),
///     }
/// }
/// assert_eq!(kinds, ["mode", "line 2"]);
/// # });
/// ```
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    file: File,
    buffer: Box<[u8]>,
    /// The part of the buffer that has not been cut into lines yet.
    rest: std::ops::Range<usize>,
    lines: NumberedLines,
    ended: bool,
}

/// One line of a transcript.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let first = session.records()?.next().unwrap()?;
/// assert!(matches!(first, Entry::Record(located) if located.record.kind() == "user"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A record, of a known kind or not.
    Record(Box<Located>),
    /// A line that is no record.
    Skipped(Skipped),
}

/// A record and where it stands.
///
/// ```
/// # towline_testkit::in_home!(|transcript| {
/// let first = transcript.tree().nodes().next().unwrap();
/// let Located { place, line, record } = transcript.read(first)?;
/// assert_eq!((place.line, record.kind()), (1, "user"));
/// assert!(line.contains("Why does the login fail?"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// Where it stands.
    pub place: Place,
    /// The line as it stands there.
    pub line: Text,
    /// What it says.
    pub record: Record,
}

/// The place of a line in its file.
///
/// ```
/// # towline_testkit::in_home!(|session, tree| {
/// let Place { line, offset, length } = tree.place(tree.find("a1").unwrap());
/// assert_eq!(line, 2);
/// let text = std::fs::read_to_string(session.path())?;
/// assert!(text[offset as usize..][..length as usize].contains("login.rs"));
/// # });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 1, as an editor counts.
    pub line: u64,
    /// The byte at which it begins.
    pub offset: u64,
    /// Its bytes, without the newline.
    pub length: u64,
}

/// A line that could not be read.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// std::fs::write(session.path(), "{}\nnonsense\n")?;
/// let transcript = session.transcript()?;
/// let Skipped { place, reason } = &transcript.skipped()[0];
/// assert_eq!((place.line, place.offset), (2, 3));
/// assert!(matches!(reason, SkipReason::Malformed(_)));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// Where it stands.
    pub place: Place,
    /// Why.
    pub reason: SkipReason,
}

/// Why a line could not be read.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// std::fs::write(session.path(), "nonsense\n{\"type\":\"us")?;
/// let reasons = session.records()?.map(|entry| match entry? {
///     Entry::Skipped(skipped) => Ok(skipped.reason.to_string()),
///     Entry::Record(located) => panic!("{} is a record", located.line),
/// });
/// assert_eq!(reasons.collect::<Result<Vec<_>, Error>>()?[1], "cut off");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkipReason {
    /// The last line, cut off: its writer is still at it, or was killed. That is legal.
    Torn,
    /// Not a record: where it stops being one.
    Malformed(DecodeError),
    /// Not UTF-8 from this byte on.
    NotUtf8(usize),
    /// Longer than this bound.
    TooLong(usize),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Torn => f.write_str("cut off"),
            Self::Malformed(error) => write!(f, "{error}"),
            Self::NotUtf8(byte) => write!(f, "not UTF-8 at byte {byte}"),
            Self::TooLong(limit) => write!(f, "longer than {limit} bytes"),
        }
    }
}

impl Records {
    /// Opens a transcript, wherever it is.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// assert_eq!(Records::open(session.path())?.count(), 8);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no plain file, or it may not be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_limit(path, LineDecoder::DEFAULT_LIMIT)
    }

    /// The same with another bound for lines.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let short = Records::open_with_limit(session.path(), 100)?;
    /// // Only the title is that short.
    /// let short = short.filter(|entry| matches!(entry, Ok(Entry::Record(_))));
    /// assert_eq!(short.count(), 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no plain file, or it may not be read.
    pub fn open_with_limit(path: impl AsRef<Path>, longest_line: usize) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self {
            path: path.to_owned(),
            file: plain::open(path)?,
            buffer: vec![0; PIECE].into_boxed_slice(),
            rest: 0..0,
            lines: NumberedLines::with_limit(longest_line),
            ended: false,
        })
    }

    /// The open file, to read single lines from it again.
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    fn fill(&mut self) -> Result<()> {
        let length = loop {
            match self.file.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(Error::io("read", &self.path))?,
            }
        };
        self.rest = 0..length;
        self.ended = length == 0;
        Ok(())
    }
}

impl Iterator for Records {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut piece = &self.buffer[self.rest.clone()];
            let line = self.lines.next(&mut piece);
            self.rest.start = self.rest.end - piece.len();
            if let Some(line) = line {
                return Some(Ok(read_entry(line)));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.fill() {
                self.ended = true;
                return Some(Err(error));
            }
            if self.ended {
                return self.lines.finish().map(|line| Ok(read_entry(line)));
            }
        }
    }
}

/// Reads the line at a place that was found before.
pub(crate) fn read_at(file: &mut File, path: &Path, place: Place) -> Result<Located> {
    let changed = || Error::Changed {
        path: path.to_owned(),
        line: place.line,
    };
    let length = usize::try_from(place.length).map_err(|_| changed())?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(place.offset))
        .map_err(Error::io("read", path))?;
    file.read_exact(&mut bytes)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed(),
            _ => Error::io("read", path)(error),
        })?;
    let text = String::from_utf8(bytes).map_err(|_| changed())?;
    // The decoder of lines leaves these out too. Nearly never is one there, so that the text is not copied.
    let content = text.strip_suffix('\r').unwrap_or(&text);
    let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
    let line = if content.len() < text.len() {
        Text::from(content)
    } else {
        Text::from(text)
    };
    match read_entry(NumberedLine {
        place,
        line: Line::Text(line),
        is_complete: true,
    }) {
        Entry::Record(located) => Ok(*located),
        Entry::Skipped(_) => Err(changed()),
    }
}

fn read_entry(numbered: NumberedLine) -> Entry {
    let NumberedLine {
        place,
        line,
        is_complete,
    } = numbered;
    let reason = match line {
        Line::Text(line) => match Record::from_json(line.clone()) {
            Ok(record) => {
                return Entry::Record(Box::new(Located {
                    place,
                    line,
                    record,
                }));
            }
            Err(_) if !is_complete => SkipReason::Torn,
            Err(error) => SkipReason::Malformed(error),
        },
        Line::InvalidUtf8 { .. } if !is_complete => SkipReason::Torn,
        Line::InvalidUtf8 { offset, .. } => SkipReason::NotUtf8(offset),
        Line::TooLong { limit, .. } => SkipReason::TooLong(limit),
    };
    Entry::Skipped(Skipped { place, reason })
}

/// How much is read at once.
const PIECE: usize = 64 << 10;
const BYTE_ORDER_MARK: char = '\u{feff}';
