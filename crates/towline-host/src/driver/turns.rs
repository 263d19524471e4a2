//! The loop of a session, turned by whoever waits for something from it.
//!
//! Nobody else has to wake up for that: one who waits for an event or an answer reads it from the agent's pipe by
//! himself. The loop has a [`Bell`], which calls those who wait. Where nobody comes, because whoever waited went
//! elsewhere or nobody waits at all, the [caretaker](super::caretaker) sends a task of the runtime after a moment, and so
//! the loop always goes on. When nobody can wait any more it becomes a task of its own, to end the agent.

use std::{
    fmt, mem,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use tokio::runtime::Handle;

use super::caretaker;

/// For whoever waits. The session lives as long as one of these does.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<Shared>);

/// The place of somebody who waits. Whoever gives up waiting is not called any more, and not remembered.
#[derive(Debug)]
pub(crate) struct Waiter {
    bell: Arc<Bell>,
    number: u64,
}

struct Shared {
    /// Nothing once it has ended.
    looping: Mutex<Option<Looping>>,
    bell: Arc<Bell>,
    runtime: Handle,
}

type Looping = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Rings when the loop has something to do.
pub(super) struct Bell {
    shared: Weak<Shared>,
    waiting: Mutex<Vec<(u64, Waker)>>,
    /// How many have waited.
    waiters: AtomicU64,
    /// Whether it rang since the loop was turned last.
    rang: AtomicBool,
    /// How often the loop was turned.
    turned: AtomicU64,
    /// Whether the caretaker listens too.
    is_watched: AtomicBool,
}

impl Turns {
    /// Takes a loop, and lets it begin.
    pub(crate) fn start(looping: impl Future<Output = ()> + Send + 'static) -> Self {
        let turns = Self(Arc::new_cyclic(|shared| Shared {
            looping: Mutex::new(Some(Box::pin(looping))),
            bell: Arc::new(Bell {
                shared: Weak::clone(shared),
                waiting: Mutex::default(),
                waiters: AtomicU64::new(0),
                rang: AtomicBool::new(false),
                turned: AtomicU64::new(0),
                is_watched: AtomicBool::new(false),
            }),
            runtime: Handle::current(),
        }));
        turns.turn();
        turns
    }

    /// Lets the loop do what it can do without waiting.
    pub(crate) fn turn(&self) {
        self.0.turn();
    }

    /// A place to wait.
    pub(crate) fn waiter(&self) -> Waiter {
        let bell = Arc::clone(&self.0.bell);
        let number = bell.waiters.fetch_add(1, Ordering::Relaxed);
        Waiter { bell, number }
    }

    /// Lets something that needs the runtime of the session be waited for from anywhere.
    pub(crate) async fn in_runtime<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        std::future::poll_fn(|context| {
            let _runtime = self.0.runtime.enter();
            future.as_mut().poll(context)
        })
        .await
    }

    /// Waits for something that the loop brings about, and turns it meanwhile.
    pub(crate) async fn until<T>(&self, done: impl Future<Output = T>) -> T {
        let mut done = pin!(done);
        let waiter = self.waiter();
        std::future::poll_fn(|context| {
            for is_turned in [false, true] {
                if is_turned {
                    self.turn();
                }
                if let Poll::Ready(done) = done.as_mut().poll(context) {
                    return Poll::Ready(done);
                }
            }
            waiter.call(context.waker());
            Poll::Pending
        })
        .await
    }
}

impl Waiter {
    /// Calls `waker` when the loop is to be turned again.
    pub(crate) fn call(&self, waker: &Waker) {
        let place = (self.number, waker.clone());
        let mut waiting = lock(&self.bell.waiting);
        let earlier = match waiting
            .iter_mut()
            .find(|(number, _)| *number == self.number)
        {
            Some(known) => Some(mem::replace(known, place)),
            None => {
                waiting.push(place);
                None
            }
        };
        drop(waiting);
        // With it a task may go, and whatever else waits in there.
        drop(earlier);
        // It may have rung before that, or want to go on.
        if self.bell.rang.load(Ordering::SeqCst) {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = lock(&self.bell.waiting);
        let place = waiting
            .iter()
            .position(|(number, _)| *number == self.number);
        let gone = place.map(|place| waiting.swap_remove(place));
        drop(waiting);
        drop(gone);
    }
}

impl Shared {
    fn turn(&self) {
        let mut looping = lock(&self.looping);
        self.bell.rang.store(false, Ordering::SeqCst);
        self.bell.turned.fetch_add(1, Ordering::Relaxed);
        let Some(future) = &mut *looping else {
            return;
        };
        let _runtime = self.runtime.enter();
        let waker = Waker::from(Arc::clone(&self.bell));
        if future
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            *looping = None;
        }
    }
}

impl Drop for Shared {
    /// Nobody turns the loop any more, so it has to turn by itself. In a runtime that has ended it is dropped, and the
    /// agent with it.
    fn drop(&mut self) {
        let looping = self.looping.get_mut();
        if let Some(looping) = looping.unwrap_or_else(PoisonError::into_inner).take() {
            self.runtime.spawn(looping);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rang.store(true, Ordering::SeqCst);
        let waiting = mem::take(&mut *lock(&self.waiting));
        for (_, waker) in waiting {
            waker.wake();
        }
        if !self.is_watched.swap(true, Ordering::SeqCst) {
            caretaker::watch(self);
        }
    }
}

impl Bell {
    /// How often the loop was turned.
    pub(super) fn turned(&self) -> u64 {
        self.turned.load(Ordering::Relaxed)
    }

    /// Whether the loop has something to do. Otherwise the caretaker need not listen any more.
    pub(super) fn still_rings(&self) -> bool {
        if self.shared.strong_count() == 0 {
            // The loop is a task of its own.
            return false;
        }
        if self.rang.load(Ordering::SeqCst) {
            return true;
        }
        self.is_watched.store(false, Ordering::SeqCst);
        // It may have rung in between; of two, the one who takes the watch back keeps it.
        self.rang.load(Ordering::SeqCst) && !self.is_watched.swap(true, Ordering::SeqCst)
    }

    /// Has a task turn the loop.
    pub(super) fn send_task(&self) {
        if let Some(shared) = self.shared.upgrade() {
            let runtime = shared.runtime.clone();
            runtime.spawn(Errand {
                shared,
                is_run: false,
            });
        }
    }
}

/// A task that turns the loop once.
struct Errand {
    shared: Arc<Shared>,
    is_run: bool,
}

impl Future for Errand {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.is_run = true;
        self.shared.turn();
        Poll::Ready(())
    }
}

impl Drop for Errand {
    /// A runtime that drops its tasks has ended, and the session with it, whoever still has a handle.
    fn drop(&mut self) {
        if !self.is_run {
            let looping = lock(&self.shared.looping).take();
            drop(looping);
            self.shared.turn();
        }
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bell").finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here panics halfway through a change.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        time::Duration,
    };

    use super::*;

    #[tokio::test]
    async fn who_gives_up_waiting_is_not_remembered() {
        let turns = Turns::start(pending());
        let events = turns.waiter();
        poll_fn(|context| {
            events.call(context.waker());
            events.call(context.waker());
            Poll::Ready(())
        })
        .await;
        for _ in 0..100 {
            let turns = turns.clone();
            let waiting = async move { turns.until(pending::<()>()).await };
            let waited = tokio::spawn(tokio::time::timeout(Duration::from_millis(1), waiting));
            assert!(waited.await.unwrap().is_err());
        }
        assert_eq!(lock(&turns.0.bell.waiting).len(), 1, "the events alone");
    }
}
