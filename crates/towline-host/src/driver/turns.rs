//! The loop of a session, that two may turn: a task of its own, and whoever waits for the next event.
//!
//! A task alone would do. But a task that waits for room needs a while to wake up, and so much would have to be in the
//! queue for that time that the one who looks at the events never runs out of them. Here he reads on by himself. The task
//! is there for all the time in which nobody waits for an event, and reads ahead while somebody deals with one.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use tokio::runtime::Handle;

/// For whoever waits for the next event.
#[derive(Debug)]
pub(crate) struct Turns(Weak<Shared>);

struct Shared {
    state: Mutex<State>,
    runtime: Handle,
}

struct State {
    /// Nothing once it has ended.
    looping: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Of the task. Whoever turns the loop, the task is woken: the other may have gone elsewhere.
    waker: Waker,
}

impl Turns {
    /// Starts the task.
    pub(crate) fn start(looping: impl Future<Output = ()> + Send + 'static) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                looping: Some(Box::pin(looping)),
                waker: Waker::noop().clone(),
            }),
            runtime: Handle::current(),
        });
        // If the runtime ends, so does the loop: there is no other that owns it.
        let turns = Self(Arc::downgrade(&shared));
        tokio::spawn(std::future::poll_fn(move |context| {
            shared.turn(Some(context.waker()))
        }));
        turns
    }

    /// Lets the loop do what it can do without waiting.
    pub(crate) fn turn(&self) {
        if let Some(shared) = self.0.upgrade() {
            let _runtime = shared.runtime.enter();
            let _is_over = shared.turn(None);
        }
    }
}

impl Shared {
    fn turn(&self, own: Option<&Waker>) -> Poll<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own {
            state.waker.clone_from(own);
        }
        let State { looping, waker } = &mut *state;
        let Some(future) = looping else {
            return Poll::Ready(());
        };
        let turned = future.as_mut().poll(&mut Context::from_waker(waker));
        if turned.is_ready() {
            *looping = None;
            // The task has to see it too.
            waker.wake_by_ref();
        }
        turned
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
