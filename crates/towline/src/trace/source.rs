//! [`Source`]: a trace file or standard input, read piece by piece as numbered lines. The only reader of files here.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use towline_protocol::{Line, LineDecoder};

use super::progress::{Output, Progress};

/// A trace that is being read.
pub(crate) struct Source {
    name: PathBuf,
    input: Box<dyn Read>,
    buffer: Box<[u8]>,
    lines: NumberedLines,
    progress: Progress,
    ended: bool,
}

impl Source {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, max_line: usize, output: Output) -> anyhow::Result<Self> {
        let mut progress = Progress::hidden();
        let input: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| cannot_read(path))?;
            if let Ok(metadata) = file.metadata() {
                progress = Progress::of_bytes(metadata.len(), output);
            }
            Box::new(file)
        };
        Ok(Self {
            name: path.to_owned(),
            input,
            buffer: vec![0; PIECE].into_boxed_slice(),
            lines: NumberedLines::new(max_line),
            progress,
            ended: false,
        })
    }

    /// Waits for the next piece and gives the lines that end in it; nothing at the end of the input.
    pub(crate) fn read(&mut self) -> anyhow::Result<Option<Lines<'_>>> {
        if self.ended {
            return Ok(None);
        }
        let length = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.with_context(|| cannot_read(&self.name))?,
            }
        };
        self.progress.advance(length);
        if length == 0 {
            self.ended = true;
            self.progress.clear();
        }
        Ok(Some(Lines {
            lines: &mut self.lines,
            piece: &self.buffer[..length],
            ended: self.ended,
        }))
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

/// The lines that end in one piece of the input.
pub(crate) struct Lines<'a> {
    lines: &'a mut NumberedLines,
    piece: &'a [u8],
    ended: bool,
}

impl Iterator for Lines<'_> {
    type Item = (u64, Line);

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.ended) {
            return self.lines.finish();
        }
        self.lines.next(&mut self.piece)
    }
}

/// Cuts bytes into lines and counts them as an editor does, blank ones included.
struct NumberedLines {
    decoder: LineDecoder,
    /// Complete lines so far.
    complete: u64,
}

impl NumberedLines {
    fn new(max_line: usize) -> Self {
        Self {
            decoder: LineDecoder::with_limit(max_line),
            complete: 0,
        }
    }

    fn next(&mut self, piece: &mut &[u8]) -> Option<(u64, Line)> {
        // The decoder passes over blank lines without a word. Given no more than one line at a time, it leaves it to
        // us to count them.
        while !piece.is_empty() {
            let end = memchr::memchr(b'\n', piece).map_or(piece.len(), |newline| newline + 1);
            let (mut line, rest) = piece.split_at(end);
            let number = self.complete + 1;
            self.complete += u64::from(line.ends_with(b"\n"));
            *piece = rest;
            if let Some(found) = self.decoder.next_line(&mut line) {
                // A line too long may be given before its end has been taken; the rest of it gives nothing more.
                while !line.is_empty() {
                    self.decoder.next_line(&mut line);
                }
                return Some((number, found));
            }
        }
        None
    }

    fn finish(&mut self) -> Option<(u64, Line)> {
        Some((self.complete + 1, self.decoder.finish()?))
    }
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read `{}`", path.display())
}

const PIECE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(input: &[u8], max_line: usize, piece: usize) -> Vec<(u64, bool)> {
        let mut lines = NumberedLines::new(max_line);
        let mut found = Vec::new();
        for mut piece in input.chunks(piece) {
            while let Some(line) = lines.next(&mut piece) {
                found.push(line);
            }
        }
        found.extend(lines.finish());
        found
            .into_iter()
            .map(|(number, line)| (number, matches!(line, Line::Text(_))))
            .collect()
    }

    #[test]
    fn lines_have_the_numbers_an_editor_shows() {
        let input = b"{}\n\n\r\n{}\r\nmuch too long\n{}\n\n{}";
        for piece in 1..=input.len() {
            assert_eq!(
                numbers(input, 5, piece),
                [(1, true), (4, true), (5, false), (6, true), (8, true)],
                "in pieces of {piece}"
            );
        }
    }
}
