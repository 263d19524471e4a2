//! What is on its way to the agent: lines in order, written as fast as the agent reads.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::OwnedSemaphorePermit,
};

/// A line on its way, with the room it takes in the queue.
#[derive(Debug)]
pub(crate) struct ToWrite {
    pub(crate) bytes: Bytes,
    /// Given back when the line is written and this is dropped; nothing for a reply of ours.
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// The agent's input, and what is to be written to it.
pub(super) struct Outgoing {
    /// Nothing once it is closed, by us or by the agent.
    stdin: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    lines: VecDeque<ToWrite>,
    /// How much of that is ours, and not a caller's, who waits for room.
    replies: usize,
    flush_due: bool,
    ending: bool,
    /// For those who want to write more.
    is_closed: Arc<AtomicBool>,
}

impl Outgoing {
    pub(super) fn new(
        stdin: Box<dyn AsyncWrite + Send + Unpin>,
        is_closed: Arc<AtomicBool>,
    ) -> Self {
        Self {
            stdin: Some(stdin),
            lines: VecDeque::new(),
            replies: 0,
            flush_due: false,
            ending: false,
            is_closed,
        }
    }

    /// Takes a line, unless nobody will read it.
    pub(super) fn push(&mut self, line: ToWrite) {
        if self.stdin.is_some() {
            if line.room.is_none() {
                self.replies += line.bytes.len();
            }
            self.lines.push_back(line);
        }
    }

    /// Whether nothing more can be written.
    pub(super) fn is_closed(&self) -> bool {
        self.stdin.is_none() || self.ending
    }

    /// Whether lines wait to be written.
    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Whether the agent has read enough of our replies to be listened to.
    pub(super) fn has_room_for_replies(&self) -> bool {
        self.replies < MOST_REPLIES
    }

    /// Closes the agent's input as soon as all is written.
    pub(super) fn end(&mut self) {
        self.ending = true;
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Whether there is something to do.
    pub(super) fn has_work(&self) -> bool {
        self.stdin.is_some() && (!self.lines.is_empty() || self.flush_due || self.ending)
    }

    /// Writes some. Whatever has been written when this is dropped is taken off the queue.
    pub(super) async fn write_some(&mut self) {
        if let Err(_gone) = self.try_write().await {
            // The agent does not listen any more. Why, its exit will tell.
            self.close();
        }
    }

    async fn try_write(&mut self) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        if let Some(line) = self.lines.front_mut() {
            let before = line.bytes.remaining();
            stdin.write_buf(&mut line.bytes).await?;
            self.flush_due = true;
            let written = before - line.bytes.remaining();
            if line.room.is_none() {
                self.replies -= written;
            }
            if !line.bytes.has_remaining() {
                self.lines.pop_front();
            }
        } else if self.flush_due {
            stdin.flush().await?;
            self.flush_due = false;
        } else if self.ending {
            stdin.shutdown().await?;
            self.close();
        }
        Ok(())
    }

    fn close(&mut self) {
        self.stdin = None;
        self.lines.clear();
        self.replies = 0;
        self.is_closed.store(true, Ordering::Relaxed);
    }
}

/// How much of our own replies may wait for an agent that does not read.
const MOST_REPLIES: usize = 1 << 20;
