//! Gates: a reply waits at one until somebody releases it. A gate that was released stays open, so that it does not
//! matter who comes first.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use tokio::sync::watch;

#[derive(Debug, Default)]
pub(super) struct Gates {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    open: BTreeSet<String>,
    held: BTreeMap<String, usize>,
    /// Counts resets: who waited before one gives up.
    resets: u64,
}

/// How waiting at a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    Released,
    Reset,
}

impl Gates {
    /// Waits until the gate is released.
    pub(super) async fn pass(&self, name: &str) -> Passage {
        let mut changed = self.changed.subscribe();
        let place = self.wait_at(name);
        loop {
            changed.borrow_and_update();
            if let Some(passage) = place.passage() {
                return passage;
            }
            // The sender lives as long as we do, so this cannot fail.
            changed.changed().await.ok();
        }
    }

    /// Opens a gate, and says whether somebody waited there.
    pub(super) fn release(&self, name: &str) -> bool {
        let mut held = false;
        self.change(|state| {
            state.open.insert(name.to_owned());
            held = state.held.contains_key(name);
        });
        held
    }

    /// Closes all gates; who waits gives up.
    pub(super) fn reset(&self) {
        self.change(|state| {
            state.open.clear();
            state.resets += 1;
        });
    }

    /// Waits until a reply waits at the gate.
    pub(super) async fn held(&self, name: &str) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            if self.waiting().contains_key(name) {
                return;
            }
            changed.changed().await.ok();
        }
    }

    /// How many replies wait at which gate.
    pub(super) fn waiting(&self) -> BTreeMap<String, usize> {
        self.state().held.clone()
    }

    pub(super) fn open(&self) -> BTreeSet<String> {
        self.state().open.clone()
    }

    fn wait_at<'a>(&'a self, name: &'a str) -> Waiting<'a> {
        let mut resets = 0;
        self.change(|state| {
            *state.held.entry(name.to_owned()).or_default() += 1;
            resets = state.resets;
        });
        Waiting {
            gates: self,
            name,
            resets,
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.send_replace(());
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits; also when it is dropped in the middle of it, it no longer does.
struct Waiting<'a> {
    gates: &'a Gates,
    name: &'a str,
    resets: u64,
}

impl Waiting<'_> {
    fn passage(&self) -> Option<Passage> {
        let state = self.gates.state();
        if state.resets != self.resets {
            Some(Passage::Reset)
        } else if state.open.contains(self.name) {
            Some(Passage::Released)
        } else {
            None
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gates.change(|state| {
            if let Some(count) = state.held.get_mut(self.name) {
                *count -= 1;
                if *count == 0 {
                    state.held.remove(self.name);
                }
            }
        });
    }
}
