//! What an agent writes to standard error: always read, never in the way.
//!
//! Escape sequences are stripped. What comes within two seconds is one batch, so that a stack trace is one event. Both
//! the batch and the tail that is kept for an error message are bounded: a flood loses its middle and says so.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anstream::adapter::StripBytes;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::Notify,
    time::Instant,
};

/// How long words that belong together may take to come.
const WINDOW: Duration = Duration::from_secs(2);
/// The most of one batch.
const BATCH: usize = 64 << 10;
/// The most of the tail.
const TAIL: usize = 4 << 10;

/// What has been written and not yet been looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    began: Notify,
}

#[derive(Debug, Default)]
struct State {
    batch: Vec<u8>,
    /// How much of the batch was left out.
    left_out: usize,
    /// When the batch is to be shown.
    due: Option<Instant>,
    tail: VecDeque<u8>,
}

impl Stderr {
    /// Reads until the end.
    pub(crate) async fn drain(self, mut pipe: impl AsyncRead + Unpin) {
        let mut strip = StripBytes::new();
        let mut buffer = vec![0; 8 << 10];
        while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
            let mut state = self.lock();
            for piece in strip.strip_next(&buffer[..length]) {
                state.take(piece);
            }
            if state.due.is_none() && !state.batch.is_empty() {
                state.due = Some(Instant::now() + WINDOW);
                self.shared.began.notify_one();
            }
        }
    }

    /// Waits until a batch has begun and its time is over.
    pub(crate) async fn due(&self) {
        loop {
            let due = self.lock().due;
            match due {
                Some(due) => return tokio::time::sleep_until(due).await,
                None => self.shared.began.notified().await,
            }
        }
    }

    /// What came since the last time; nothing if that is nothing, or blank.
    pub(crate) fn take(&self) -> Option<String> {
        let mut state = self.lock();
        state.due = None;
        let batch = std::mem::take(&mut state.batch);
        let left_out = std::mem::take(&mut state.left_out);
        drop(state);
        let text = String::from_utf8_lossy(&batch);
        let lines = text.lines().map(str::trim_end);
        let mut lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        let note = format!("[{left_out} more bytes left out]");
        if left_out > 0 {
            lines.push(&note);
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The last words, for an error message.
    pub(crate) fn tail(&self) -> String {
        let mut state = self.lock();
        let cut = state.tail.len() == TAIL;
        let tail = String::from_utf8_lossy(state.tail.make_contiguous());
        let tail = tail.trim();
        // The first line of a tail that was cut is a part of one.
        match tail.split_once('\n') {
            Some((_, rest)) if cut => rest.to_owned(),
            _ => tail.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, piece: &[u8]) {
        let room = BATCH - self.batch.len();
        self.batch.extend(&piece[..piece.len().min(room)]);
        self.left_out += piece.len().saturating_sub(room);
        self.tail.extend(piece);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
    }
}
