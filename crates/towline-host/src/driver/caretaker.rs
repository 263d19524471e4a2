//! One thread for all sessions, which listens to the bells that nobody may hear.
//!
//! A task for each session would do as well, but it would be woken with every line of an agent, beside the one who waits
//! for that line. This one looks after a moment, at all bells that rang at once, and sleeps while none does.

use std::{
    io,
    sync::{
        Arc, LazyLock,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use super::turns::Bell;

/// Sees to it that a bell that rang is heard: if nobody turns its loop within a moment, a task does.
pub(super) fn watch(bell: &Arc<Bell>) {
    let bell = Watched {
        turned: bell.turned(),
        is_sent: false,
        bell: Arc::clone(bell),
    };
    match &*CARETAKER {
        // It never ends.
        Ok(caretaker) => drop(caretaker.send(bell)),
        // Without it nobody looks later, so a task has to look now.
        Err(_) => bell.bell.send_task(),
    }
}

struct Watched {
    bell: Arc<Bell>,
    /// How often its loop had been turned when it was looked at last.
    turned: u64,
    /// Whether a task was sent then.
    is_sent: bool,
}

impl Watched {
    /// Whether it is to be looked at again.
    fn look(&mut self) -> bool {
        if !self.bell.still_rings() {
            return false;
        }
        let turned = self.bell.turned();
        match (turned - self.turned, self.is_sent) {
            // It is on its way.
            (0, true) => return true,
            // Nobody came, or none but the task.
            (0, false) | (1, true) => {
                self.bell.send_task();
                self.is_sent = true;
            }
            _ => self.is_sent = false,
        }
        self.turned = turned;
        true
    }
}

static CARETAKER: LazyLock<io::Result<Sender<Watched>>> = LazyLock::new(|| {
    let (sender, bells) = mpsc::channel();
    thread::Builder::new()
        .name("towline-bells".to_owned())
        .stack_size(STACK)
        .spawn(move || listen(&bells))?;
    Ok(sender)
});

fn listen(bells: &Receiver<Watched>) {
    let mut watched: Vec<Watched> = Vec::new();
    while let Some(first) = watched.pop().or_else(|| bells.recv().ok()) {
        watched.push(first);
        thread::sleep(MOMENT);
        watched.retain_mut(Watched::look);
        // These have not waited yet.
        watched.extend(bells.try_iter());
    }
}

/// How long somebody who waits may take to come, or somebody who deals with an event to come back.
const MOMENT: Duration = Duration::from_millis(4);
const STACK: usize = 64 << 10;
