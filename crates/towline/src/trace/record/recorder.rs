//! [`Recorder`]: the trace file, a row as soon as its line is complete.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use towline_protocol::{
    Text, Wire,
    trace::{Direction, TraceRow},
};

use super::lines::{Lines, Piece};
use crate::recording;

/// A trace that is being written. Once a row could not be written, no other is: a trace with a hole would lie.
#[derive(Debug)]
pub(super) struct Recorder {
    name: PathBuf,
    file: Option<File>,
    /// How long the file is, up to the last whole row.
    length: u64,
    started: Instant,
    input: Lines,
    output: Lines,
    errors: Lines,
}

impl Recorder {
    /// Creates the file, with the agent's arguments as its first row: a disk that is full is known before the start.
    pub(super) fn create(name: &Path, arguments: &[OsString]) -> anyhow::Result<Self> {
        let file = recording::create(name)?;
        let arguments: Vec<Text> = arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned().into())
            .collect();
        let mut recorder = Self {
            name: name.to_owned(),
            file: Some(file),
            length: 0,
            started: Instant::now(),
            input: Lines::default(),
            output: Lines::default(),
            errors: Lines::default(),
        };
        recorder
            .write(&TraceRow::of_arguments(0, &arguments))
            .with_context(|| format!("cannot write `{}`", name.display()))?;
        Ok(recorder)
    }

    /// Where it writes.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Takes what came one way. An error comes once; after it nothing is recorded any more.
    pub(super) fn take(&mut self, direction: &Direction, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.lines(direction)
            .take(bytes, |piece| pieces.push(piece));
        self.write_rows(direction, &pieces)
    }

    /// One way has ended: a last line without a line end is a line, too.
    pub(super) fn finish(&mut self, direction: &Direction) -> io::Result<()> {
        let mut pieces = Vec::new();
        self.lines(direction)
            .finish(&mut |piece| pieces.push(piece));
        self.write_rows(direction, &pieces)
    }

    fn lines(&mut self, direction: &Direction) -> &mut Lines {
        match direction {
            Direction::In => &mut self.input,
            Direction::Out => &mut self.output,
            Direction::Err | Direction::Argv | Direction::Unknown(_) => &mut self.errors,
        }
    }

    fn write_rows(&mut self, direction: &Direction, pieces: &[Piece]) -> io::Result<()> {
        let milliseconds = self.started.elapsed().as_millis();
        let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        pieces
            .iter()
            .try_for_each(|piece| self.write(&row(milliseconds, direction.clone(), piece)))
    }

    fn write(&mut self, row: &TraceRow) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let text = format!("{}\n", row.to_json());
        // Straight into the file, so that nothing is lost with this process.
        let written = file.write_all(text.as_bytes());
        if written.is_err() {
            // Half a row would spoil the trace. A pipe cannot be cut, and then it stays as it is.
            file.set_len(self.length).ok();
            self.file = None;
        } else {
            self.length += text.len() as u64;
        }
        written
    }
}

/// Has a write past the limit for file sizes fail, instead of ending the program by a signal.
pub(super) fn outlive_a_full_quota() -> anyhow::Result<()> {
    // The stream may be dropped: the signal stays caught.
    let kind = SignalKind::from_raw(Signal::XFSZ.as_raw());
    signal(kind).map(drop).context("cannot listen for signals")
}

fn row(milliseconds: u64, direction: Direction, piece: &Piece) -> TraceRow {
    match piece {
        Piece::Whole(line) => TraceRow::of_line(milliseconds, direction, line),
        Piece::Part(piece) => TraceRow::of_piece(milliseconds, direction, piece),
        Piece::Last(piece) => TraceRow::of_last_piece(milliseconds, direction, piece),
    }
}
