//! The thread that writes the log: takes all that waits and writes it in one go. What cannot be written is tried again
//! until it can be; meanwhile everybody is told.

use std::{sync::mpsc as queue, thread, time::Duration};

use tokio::sync::mpsc;

use crate::log::{Log, Write};

/// What the thread has done.
#[derive(Debug)]
pub(super) enum Progress {
    /// So many writes are in the log.
    Written(usize),
    /// Nothing can be written, and why; or it can be again.
    Trouble(Option<String>),
}

/// What is to be written.
#[derive(Debug)]
pub(super) struct Writes {
    next: Vec<Write>,
    thread: queue::Sender<Vec<Write>>,
}

impl Writes {
    pub(super) fn push(&mut self, write: Write) {
        self.next.push(write);
    }

    /// Hands over what was pushed.
    pub(super) fn flush(&mut self) {
        if !self.next.is_empty() {
            // Without the thread nothing is ever written, and so nothing shown.
            self.thread.send(std::mem::take(&mut self.next)).ok();
        }
    }
}

/// Starts the thread; it ends with the sender of what is to be written.
pub(super) fn start<L: Log>(mut log: L) -> (Writes, mpsc::UnboundedReceiver<Progress>) {
    let (thread, writes) = queue::channel::<Vec<Write>>();
    let (progress, written) = mpsc::unbounded_channel();
    thread::spawn(move || {
        while let Ok(mut batch) = writes.recv() {
            while batch.len() < MOST
                && let Ok(more) = writes.try_recv()
            {
                batch.extend(more);
            }
            write(&mut log, &batch, &progress);
            if progress.send(Progress::Written(batch.len())).is_err() {
                break;
            }
        }
    });
    let writes = Writes {
        next: Vec::new(),
        thread,
    };
    (writes, written)
}

fn write<L: Log>(log: &mut L, batch: &[Write], progress: &mpsc::UnboundedSender<Progress>) {
    let mut in_trouble = false;
    while let Err(error) = log.write(batch) {
        if !in_trouble {
            tracing::error!(%error, "the log cannot be written");
            in_trouble = true;
            if progress
                .send(Progress::Trouble(Some(error.to_string())))
                .is_err()
            {
                return;
            }
        }
        if progress.is_closed() {
            return;
        }
        thread::sleep(AGAIN);
    }
    if in_trouble {
        tracing::info!("the log can be written again");
        progress.send(Progress::Trouble(None)).ok();
    }
}

/// How much is written in one go, about.
const MOST: usize = 1000;
/// How long to wait before trying again.
const AGAIN: Duration = Duration::from_secs(1);
