//! What all connections of one server share.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    Options, Reply, Script,
    desk::Desk,
    gates::Gates,
    record::{Record, Recorded},
};

/// The state of one server.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) gates: Gates,
    /// Counts changes of the record.
    changed: watch::Sender<u64>,
    started: Instant,
    pub(super) options: Options,
}

/// What is behind the lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) desk: Desk,
    pub(super) record: Record,
}

impl Shared {
    pub(super) fn new(script: Script, options: Options) -> Self {
        Self {
            state: Mutex::new(State {
                desk: Desk::of(script),
                record: Record::new(options.keep_requests, options.keep_bytes),
            }),
            gates: Gates::default(),
            changed: watch::Sender::default(),
            started: Instant::now(),
            options,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in there panics half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells those who wait that the record is another.
    pub(super) fn record_changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// A request has ended.
    pub(super) fn ended(&self, entry: &Recorded) {
        self.state().record.update(entry);
        if let Some(on_end) = &self.options.on_end {
            on_end(entry);
        }
        self.record_changed();
    }

    /// Adds replies behind those that are there.
    pub(super) fn add(&self, replies: Vec<Reply>) -> Result<usize, String> {
        let mut state = self.state();
        if state.desk.len() + replies.len() > MOST_REPLIES {
            return Err(format!(
                "a script may have {MOST_REPLIES} replies, POST /_script/reset starts anew"
            ));
        }
        let added = replies.len();
        state.desk.add(replies);
        Ok(added)
    }

    /// Waits until `found` finds something in the state.
    pub(super) async fn wait_for<T>(&self, mut found: impl FnMut(&State) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let now = found(&self.state());
            if let Some(now) = now {
                return now;
            }
            // The sender lives as long as we do, so this cannot fail.
            changed.changed().await.ok();
        }
    }

    /// Back to the start: the script unused, the record empty, the gates closed.
    pub(super) fn reset(&self) {
        {
            let mut state = self.state();
            state.desk.reset();
            state.record.clear();
        }
        self.gates.reset();
        self.record_changed();
    }

    /// Everything for a person who wonders why it hangs.
    pub(super) fn describe(&self) -> Value {
        let (waiting, open) = (self.gates.waiting(), self.gates.open());
        let state = self.state();
        json!({
            "requests": state.record.last(),
            "dropped": state.record.dropped,
            "replies": state.desk.used(),
            "held": waiting,
            "released": open,
        })
    }
}

/// Far more than anyone writes; a bound for those who add them at run time.
const MOST_REPLIES: usize = 10_000;
