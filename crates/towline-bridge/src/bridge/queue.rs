//! [`Queue`]: between the task that owns the hub and one that shows; and [`Gate`], which lets an agent wait for those who
//! read what it says.
//!
//! A viewer that reads is waited for, so that it loses nothing however fast the agent is. One that does not read fast
//! enough is not: it falls behind, and nobody waits for it until it has caught up.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use crate::hub::{Item, Outbox};

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Notify,
    drained: Notify,
}

#[derive(Debug)]
struct State {
    outbox: Outbox,
    /// From how many bytes on agents wait.
    high: usize,
    pace: Pace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Little waits.
    Quick,
    /// Much waits, and so do agents.
    Awaited,
    /// Much waits, and nobody does.
    Slow,
}

impl Queue {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            state: Mutex::new(State {
                outbox: Outbox::new(bytes),
                high: bytes / 4,
                pace: Pace::Quick,
            }),
            filled: Notify::new(),
            drained: Notify::new(),
        }
    }

    /// Puts something in. Says whether its agent should now wait.
    pub(super) fn push(&self, item: Item) -> bool {
        let should_wait = {
            let mut state = self.lock();
            state.outbox.push(item);
            let is_high = state.outbox.bytes() > state.high;
            is_high && state.pace == Pace::Quick && {
                state.pace = Pace::Awaited;
                true
            }
        };
        self.filled.notify_one();
        should_wait
    }

    /// What is next, if there is something; nothing at all if the viewer is to be sent away.
    #[expect(
        clippy::option_option,
        reason = "nothing yet and nothing any more are two things"
    )]
    pub(super) fn take(&self) -> Option<Option<Item>> {
        let mut state = self.lock();
        if state.outbox.is_overflown() {
            return None;
        }
        let item = state.outbox.take();
        self.note_drained(&mut state);
        Some(item)
    }

    /// What is next, unless it is that the viewer is behind.
    pub(super) fn take_item(&self) -> Option<Item> {
        let mut state = self.lock();
        if state.outbox.is_overflown() || !state.outbox.has_items() {
            return None;
        }
        let item = state.outbox.take();
        self.note_drained(&mut state);
        item
    }

    /// Waits until there may be something to take.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Nobody reads it any more.
    pub(super) fn abandon(&self) {
        self.lock().pace = Pace::Slow;
        self.drained.notify_waiters();
    }

    fn note_drained(&self, state: &mut State) {
        if state.pace != Pace::Quick && state.outbox.bytes() <= state.high / 2 {
            state.pace = Pace::Quick;
            self.drained.notify_waiters();
        }
    }

    /// Waits until little waits, or the viewer proves to be too slow for that.
    async fn wait(&self) {
        let mut drained = std::pin::pin!(self.drained.notified());
        drained.as_mut().enable();
        if self.lock().pace != Pace::Awaited {
            return;
        }
        if tokio::time::timeout(PATIENCE, drained).await.is_err() {
            let mut state = self.lock();
            if state.pace == Pace::Awaited {
                state.pace = Pace::Slow;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an agent passes before each line.
#[derive(Debug, Default)]
pub(super) struct Gate {
    is_closed: AtomicBool,
    waits_for: Mutex<Vec<Arc<Queue>>>,
}

impl Gate {
    /// Lets the agent wait for a viewer.
    pub(super) fn close(&self, queue: &Arc<Queue>) {
        self.lock().push(Arc::clone(queue));
        self.is_closed.store(true, Ordering::Release);
    }

    /// Waits for all those viewers.
    pub(super) async fn pass(&self) {
        while self.is_closed.swap(false, Ordering::Acquire) {
            let queues = std::mem::take(&mut *self.lock());
            for queue in queues {
                queue.wait().await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.waits_for
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a viewer may take to read what waits for it before nobody waits for it any more.
const PATIENCE: Duration = Duration::from_secs(1);
