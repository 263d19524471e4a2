//! A queue bounded in bytes, between the loop that reads an agent and whoever looks at the events.
//!
//! The sender never waits inside [`Sender::push`]: it asks for room first, and reads no more from the agent while there
//! is none. That is the whole backpressure. The receiver takes all there is at once, so that a busy session costs one
//! lock for many lines. What it has taken still counts until it comes back for more: while somebody deals with a long
//! line, the next one is left in the pipe.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// A queue, empty.
pub(crate) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Mutex::new(Shared {
        items: VecDeque::new(),
        waiting: 0,
        taken: 0,
        wants_item: None,
        wants_room: None,
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
    sender_gone: bool,
    receiver_gone: bool,
}

impl<T> Sender<T> {
    /// Puts items in, each with its bytes, whether there is room or not. They are dropped if nobody receives.
    pub(crate) fn push(&self, items: impl IntoIterator<Item = (T, usize)>) {
        let waker = {
            let mut shared = lock(&self.shared);
            if shared.receiver_gone {
                drop(shared);
                return items.into_iter().for_each(drop);
            }
            for (item, bytes) in items {
                shared.items.push_back(item);
                shared.waiting += bytes;
            }
            if shared.items.is_empty() {
                return;
            }
            shared.wants_item.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ready when there is room, besides the `unfinished` bytes of an item that is still to be put in. Ready as well when
    /// there is nothing but that item, however long it is, or nobody receives any more.
    pub(crate) fn poll_room(
        &self,
        context: &Context<'_>,
        bound: Bound,
        unfinished: usize,
    ) -> Poll<()> {
        let mut shared = lock(&self.shared);
        let others = shared.waiting.saturating_add(shared.taken);
        let has_room =
            shared.waiting < bound.waiting && others.saturating_add(unfinished) < bound.on_the_way;
        if has_room || others == 0 || shared.receiver_gone {
            return Poll::Ready(());
        }
        shared.wants_room = Some(context.waker().clone());
        Poll::Pending
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
