//! Text as numbered lines. The file is read once from end to end in pieces; only the lines that are asked for are kept.

use std::io::{BufRead, BufReader};

use serde_json::json;

use super::{
    super::file::{Extent, FingerprintOf, NotText, Text},
    Interrupt, Outcome, Place, Source, in_words, size_in_words,
};

/// Which lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    /// The first, from 1.
    pub(super) offset: usize,
    /// How many; nothing for all.
    pub(super) limit: Option<usize>,
    /// Whether a large file is read in one piece.
    pub(super) allow_large: bool,
}

/// Shows the lines of a file.
pub(super) fn show(
    place: &Place,
    mut source: Source<'_>,
    selection: Selection,
    interrupt: &Interrupt,
) -> Result<Outcome, Outcome> {
    let most = if selection.allow_large { LARGE } else { MOST };
    if selection.limit.is_none() && source.size() > most {
        return Err(too_large(source.size(), selection));
    }
    let head = source.head()?;
    let (given, real) = (source.given, source.real.clone());
    let failed = |error: std::io::Error| Outcome::error(in_words(&error, "read", given));
    let is_wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let lines = if is_wide {
        let bytes = source.all(LARGE)?;
        let text = Text::decode(&bytes).map_err(|not_text| Outcome::error(not_text.in_words()))?;
        let mut lines = Lines::new(selection, most);
        lines.fingerprint.add(&bytes);
        lines.add(text.shown().as_bytes());
        lines
    } else {
        let mark = if head.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let mut reader = BufReader::with_capacity(1 << 16, source.opened.file);
        let mut lines = Lines::new(selection, most);
        let mut skipped = 0;
        loop {
            let piece = reader.fill_buf().map_err(failed)?;
            if piece.is_empty() {
                break;
            }
            if interrupt.is_set() {
                return Err(Outcome::error("interrupted"));
            }
            lines.fingerprint.add(piece);
            let skip = (mark - skipped).min(piece.len());
            skipped += skip;
            lines.add(&piece[skip..]);
            let read = piece.len();
            reader.consume(read);
        }
        lines
    };
    if lines.overflown > 0 {
        return Err(too_large(
            lines.overflown + lines.kept.len() as u64,
            selection,
        ));
    }
    let extent = if lines.is_whole() {
        Extent::Whole
    } else {
        Extent::Part
    };
    place.files.note(&real, lines.fingerprint.finish(), extent);
    Ok(lines.outcome(given, &head))
}

fn too_large(size: u64, selection: Selection) -> Outcome {
    let most = if selection.allow_large { LARGE } else { MOST };
    let hint = if selection.allow_large {
        ""
    } else {
        " To read it anyway, call Read again with allow_large: true."
    };
    Outcome::error(format!(
        "File content ({}) exceeds maximum allowed size ({}). Use offset and limit parameters to read specific portions of \
         the file, or search for specific content instead of reading the whole file.{hint}",
        size_in_words(size),
        size_in_words(most)
    ))
}

struct Lines {
    selection: Selection,
    most: u64,
    fingerprint: FingerprintOf,
    /// The lines that were asked for, with `\n` between them.
    kept: Vec<u8>,
    /// How many bytes were asked for beyond the most.
    overflown: u64,
    /// The line that is being read, from 1.
    line: usize,
}

impl Lines {
    fn new(selection: Selection, most: u64) -> Self {
        Self {
            selection,
            most,
            fingerprint: FingerprintOf::default(),
            kept: Vec::new(),
            overflown: 0,
            line: 1,
        }
    }

    fn wants(&self, line: usize) -> bool {
        let Selection { offset, limit, .. } = self.selection;
        line >= offset && limit.is_none_or(|limit| line - offset < limit)
    }

    fn add(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.keep(&piece[..end]);
            if self.wants(self.line) {
                if self.kept.last() == Some(&b'\r') {
                    self.kept.pop();
                }
                if self.wants(self.line + 1) {
                    self.kept.push(b'\n');
                }
            }
            self.line += 1;
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !self.wants(self.line) {
            return;
        }
        if (self.kept.len() + bytes.len()) as u64 > self.most {
            self.overflown += bytes.len() as u64;
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    fn is_whole(&self) -> bool {
        self.selection.offset == 1 && self.selection.limit.is_none_or(|limit| limit >= self.line)
    }

    fn outcome(&self, given: &std::path::Path, head: &[u8]) -> Outcome {
        let Selection { offset, limit, .. } = self.selection;
        let total = self.line;
        let shown = (total + 1)
            .saturating_sub(offset)
            .min(limit.unwrap_or(usize::MAX));
        let text = String::from_utf8_lossy(&self.kept);
        let words = if shown == 0 {
            format!(
                "<system-reminder>Warning: the file exists but is shorter than the provided offset ({offset}). The file has \
                 {total} lines.</system-reminder>"
            )
        } else if text.is_empty() && total == 1 {
            "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>".to_owned()
        } else {
            let lines = text.split('\n').zip(offset..);
            let mut words = String::with_capacity(text.len() + shown * 6);
            for (line, number) in lines {
                let separator = if number == offset { "" } else { "\n" };
                words.push_str(&format!("{separator}{number}\t{line}"));
            }
            if let Some(warning) = warning(&self.kept, head) {
                words.push_str(warning);
            }
            words
        };
        Outcome::new(
            words.as_str(),
            json!({"type": "text", "file": {
                "filePath": given,
                "content": text,
                "numLines": shown,
                "startLine": offset,
                "totalLines": total,
            }}),
        )
    }
}

/// What the model must know before it tries to change such a file.
fn warning(kept: &[u8], head: &[u8]) -> Option<&'static str> {
    let is_wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if std::str::from_utf8(kept).is_err() {
        Some(
            "\n\n[This file is not valid UTF-8; bytes that mean nothing show above as U+FFFD. Edit and Write will refuse it: \
             use a shell command that keeps its encoding.]",
        )
    } else if !is_wide && Text::decode(head) == Err(NotText::Zeros) {
        Some(
            "\n\n[This file has NUL bytes in its first 8 KB. Edit and Write will refuse it: use a shell command that keeps \
             them.]",
        )
    } else {
        None
    }
}

/// The most that is shown.
const MOST: u64 = 256 << 10;

/// The most that is shown if a large file is asked for.
const LARGE: u64 = 4 << 20;
