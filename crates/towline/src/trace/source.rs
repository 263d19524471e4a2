//! [`Source`]: a trace file or standard input, read piece by piece as numbered lines. The only reader of files here.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use towline_protocol::Line;
use towline_store::{NumberedLine, NumberedLines};

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
            lines: NumberedLines::with_limit(max_line),
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
        let NumberedLine { place, line, .. } = if std::mem::take(&mut self.ended) {
            self.lines.finish()
        } else {
            self.lines.next(&mut self.piece)
        }?;
        Some((place.line, line))
    }
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read `{}`", path.display())
}

const PIECE: usize = 64 << 10;
