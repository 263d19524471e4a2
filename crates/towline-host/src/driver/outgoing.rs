//! What is on its way to the agent: lines in order, written as fast as the agent reads.

use std::{collections::VecDeque, io};

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::OwnedSemaphorePermit,
};

/// A line on its way, with the room it takes in the queue.
#[derive(Debug)]
pub(crate) struct ToWrite {
    pub(crate) bytes: Bytes,
    /// Given back when the line is written and this is dropped.
    pub(crate) _room: Option<OwnedSemaphorePermit>,
}

/// The agent's input, and what is to be written to it.
pub(super) struct Outgoing {
    /// Nothing once it is closed, by us or by the agent.
    stdin: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    lines: VecDeque<ToWrite>,
    flush_due: bool,
    ending: bool,
}

impl Outgoing {
    pub(super) fn new(stdin: Box<dyn AsyncWrite + Send + Unpin>) -> Self {
        Self {
            stdin: Some(stdin),
            lines: VecDeque::new(),
            flush_due: false,
            ending: false,
        }
    }

    /// Takes a line, unless nobody will read it.
    pub(super) fn push(&mut self, line: ToWrite) {
        if self.stdin.is_some() {
            self.lines.push_back(line);
        }
    }

    /// Closes the agent's input as soon as all is written.
    pub(super) fn end(&mut self) {
        self.ending = true;
    }

    /// Whether there is something to do.
    pub(super) fn has_work(&self) -> bool {
        self.stdin.is_some() && (!self.lines.is_empty() || self.flush_due || self.ending)
    }

    /// Writes some. Whatever has been written when this is dropped is taken off the queue.
    pub(super) async fn write_some(&mut self) {
        if let Err(_gone) = self.try_write().await {
            // The agent does not listen any more. Why, its exit will tell.
            self.stdin = None;
            self.lines.clear();
        }
    }

    async fn try_write(&mut self) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        if let Some(line) = self.lines.front_mut() {
            stdin.write_buf(&mut line.bytes).await?;
            self.flush_due = true;
            if !line.bytes.has_remaining() {
                self.lines.pop_front();
            }
        } else if self.flush_due {
            stdin.flush().await?;
            self.flush_due = false;
        } else if self.ending {
            stdin.shutdown().await?;
            self.stdin = None;
        }
        Ok(())
    }
}
