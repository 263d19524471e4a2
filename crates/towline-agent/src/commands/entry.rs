//! [`Entry`]: one command of a session, what it is and where it stands. Its supervisor moves it on; others wish.

use std::{fs, time::Duration};

use tokio::sync::{Mutex, watch};
use uuid::Uuid;

use super::{
    Order, Status,
    event::{Task, TaskEnd},
    process::Files,
};

/// A command.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: String,
    run_id: String,
    order: Order,
    pub(super) files: Files,
    pub(super) state: watch::Sender<State>,
    pub(super) wish: watch::Sender<Wish>,
    /// How many bytes of the output have been asked for.
    pub(super) seen: Mutex<u64>,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Whether nobody waits for it.
    pub(super) is_backgrounded: bool,
    /// How it ended; nothing while it runs.
    pub(super) end: Option<TaskEnd>,
}

/// Where a command begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Somebody waits for it.
    Foreground,
    /// Nobody does.
    Background,
}

/// What is wanted of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nothing in particular.
    GoOn,
    /// That it goes on with nobody waiting.
    Background,
    /// That it ends.
    End,
}

impl Entry {
    pub(super) fn new(id: String, order: Order, files: Files, placement: Placement) -> Self {
        Self {
            id,
            run_id: new_run_id(),
            order,
            files,
            state: watch::Sender::new(State {
                is_backgrounded: placement == Placement::Background,
                end: None,
            }),
            wish: watch::Sender::new(Wish::GoOn),
            seen: Mutex::new(0),
        }
    }

    /// As the host sees it.
    pub(super) fn task(&self) -> Task {
        let order = &self.order;
        let is_backgrounded = self.is_backgrounded();
        Task {
            id: self.id.clone(),
            run_id: self.run_id.clone(),
            tool_use_id: order.tool_use_id.clone(),
            description: order.description.as_ref().unwrap_or(&order.command).clone(),
            command: order.command.clone(),
            is_backgrounded,
            output_file: is_backgrounded.then(|| self.files.output.clone()),
        }
    }

    pub(super) fn status(&self) -> Status {
        Status {
            task: self.task(),
            end: self.state.borrow().end,
        }
    }

    pub(super) fn is_backgrounded(&self) -> bool {
        self.state.borrow().is_backgrounded
    }

    pub(super) fn runs(&self) -> bool {
        self.state.borrow().end.is_none()
    }

    /// Waits until it is over, but no longer than this.
    pub(super) async fn over(&self, timeout: Duration) {
        let mut state = self.state.subscribe();
        let over = state.wait_for(|state| state.end.is_some());
        tokio::time::timeout(timeout, over).await.ok();
    }
}

impl Drop for Entry {
    /// What was waited for has been read, or never will be; what ran in the background stays, as the host was told
    /// where it is.
    fn drop(&mut self) {
        fs::remove_file(&self.files.directory).ok();
        if !self.is_backgrounded() {
            fs::remove_file(&self.files.output).ok();
        }
    }
}

/// An id such as `b0abfyagl`: a letter for the kind, and eight characters.
pub(super) fn new_id() -> String {
    format!("b{}", random(8))
}

/// An id such as `0mwii6gz4-638fa7da`.
fn new_run_id() -> String {
    let hex = Uuid::new_v4().simple().to_string();
    format!("0{}-{}", random(8), &hex[..8])
}

/// So many characters of base 36, at most 20.
fn random(length: usize) -> String {
    let mut left = Uuid::new_v4().as_u128();
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        let digit = u32::try_from(left % 36).unwrap_or_default();
        text.push(char::from_digit(digit, 36).unwrap_or('0'));
        left /= 36;
    }
    text
}
