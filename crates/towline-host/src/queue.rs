//! A queue bounded in bytes, between the loop that reads an agent and whoever looks at the events.
//!
//! The sender never waits inside [`Sender::push`]: it asks for room first, and reads no more from the agent while there
//! is none. That is the whole backpressure. The receiver takes all there is at once, so that a busy session costs one
//! lock for many lines. What it has taken still counts until it comes back for more: while somebody deals with a long
//! line, the next one is left in the pipe.
//!
//! A receiver that wants more turns the loop that sends by itself ([`Turns`](crate::driver::Turns)): to wake another
//! thread often costs more than to read. It is woken only when a full queue was taken, to fill it again meanwhile. A
//! receiver that stays away leaves the rest to the sender, which looks again by the clock.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

/// How long after a sender found no room it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A queue, empty.
pub(crate) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Mutex::new(Shared {
        items: VecDeque::new(),
        waiting: 0,
        taken: 0,
        wants_item: None,
        wants_room: None,
        called: false,
        sender_gone: false,
        receiver_gone: false,
    }));
    let receiver = Receiver {
        taken: VecDeque::new(),
        shared: Arc::clone(&shared),
    };
    (Sender { shared }, receiver)
}

/// How much may be in a queue, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// That nobody has taken.
    pub(crate) waiting: usize,
    /// Of that, of what was taken last, and of what is still to be put in.
    pub(crate) on_the_way: usize,
}

#[derive(Debug)]
pub(crate) struct Sender<T> {
    shared: Arc<Mutex<Shared<T>>>,
}

#[derive(Debug)]
pub(crate) struct Receiver<T> {
    taken: VecDeque<T>,
    shared: Arc<Mutex<Shared<T>>>,
}

#[derive(Debug)]
struct Shared<T> {
    items: VecDeque<T>,
    /// What the items hold, as their sender says.
    waiting: usize,
    /// What the items held that the receiver took last and has not all given out.
    taken: usize,
    wants_item: Option<Waker>,
    wants_room: Option<Waker>,
    /// Whether the receiver was woken and has not come yet. It will go on by itself: reading more for it would only be in
    /// its way.
    called: bool,
    sender_gone: bool,
    receiver_gone: bool,
}

impl<T> Sender<T> {
    /// Puts items in, whether there is room or not. They are dropped if nobody receives.
    pub(crate) fn push(&self, items: impl IntoIterator<Item = T>, bytes: usize) {
        let waker = {
            let mut shared = lock(&self.shared);
            if shared.receiver_gone {
                return;
            }
            shared.items.extend(items);
            shared.waiting += bytes;
            let waker = shared.wants_item.take();
            shared.called |= waker.is_some();
            waker
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until there is room, besides the `unfinished` bytes of an item that is still to be put in. There is as well
    /// when there is nothing but that item, however long it is, or nobody receives any more.
    pub(crate) async fn room(&self, bound: Bound, unfinished: usize) {
        let mut look_again: Option<Pin<Box<Sleep>>> = None;
        poll_fn(|context| {
            while !lock(&self.shared).has_room(bound, unfinished, context) {
                let clock = look_again.get_or_insert_with(|| Box::pin(sleep(LOOK_AGAIN)));
                ready!(clock.as_mut().poll(context));
                look_again = None;
                lock(&self.shared).called = false;
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl<T> Shared<T> {
    fn has_room(&mut self, bound: Bound, unfinished: usize, context: &Context<'_>) -> bool {
        let others = self.waiting.saturating_add(self.taken);
        if others == 0 || self.receiver_gone {
            return true;
        }
        let is_full =
            self.waiting >= bound.waiting || others.saturating_add(unfinished) >= bound.on_the_way;
        if is_full {
            self.wants_room = Some(context.waker().clone());
        }
        !is_full && !self.called
    }
}

impl<T> Receiver<T> {
    /// Whether there is an item to take.
    pub(crate) fn has_next(&self) -> bool {
        if !self.taken.is_empty() {
            return true;
        }
        let mut shared = lock(&self.shared);
        shared.taken = 0;
        !shared.items.is_empty()
    }

    /// The next item; nothing once the sender is gone and all is taken.
    pub(crate) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.taken.pop_front() {
            return Poll::Ready(Some(item));
        }
        let waker = {
            let mut shared = lock(&self.shared);
            std::mem::swap(&mut self.taken, &mut shared.items);
            shared.taken = std::mem::take(&mut shared.waiting);
            shared.called = false;
            if self.taken.is_empty() {
                if shared.sender_gone {
                    return Poll::Ready(None);
                }
                shared.wants_item = Some(context.waker().clone());
            }
            shared.wants_room.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        match self.taken.pop_front() {
            None => Poll::Pending,
            item => Poll::Ready(item),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut shared = lock(&self.shared);
            shared.sender_gone = true;
            shared.wants_item.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (items, waker) = {
            let mut shared = lock(&self.shared);
            shared.receiver_gone = true;
            (std::mem::take(&mut shared.items), shared.wants_room.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        // Outside the lock: dropping an item may do something of its own, such as answering a question.
        drop(items);
    }
}

fn lock<T>(shared: &Mutex<Shared<T>>) -> MutexGuard<'_, Shared<T>> {
    // Nothing in here panics halfway through a change.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
