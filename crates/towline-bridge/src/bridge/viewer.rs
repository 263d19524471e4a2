//! [`Viewer`]: whoever watches, with a bounded queue, and what it missed read from the log.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};
use towline_protocol::dialect::pocket::BridgeId;

use crate::{
    Frame,
    hub::{Item, ViewerId},
    log::{LogError, Page},
};

use super::{Bridge, Request, queue::Queue};

/// Somebody who watches. Gone when it is dropped.
#[derive(Debug)]
pub struct Viewer {
    id: ViewerId,
    queue: Arc<Queue>,
    bridge: Bridge,
    /// What is being read from the log.
    replay: Option<Replay>,
}

/// What a viewer is shown.
#[derive(Debug)]
pub enum Shown {
    /// Something of the hub; never [`Item::Behind`].
    Item(Item),
    /// The viewer was too slow, and what it was not shown is left out; the frames among that follow.
    Gap {
        /// The session.
        session: BridgeId,
        /// The number of the last frame that it was shown.
        after: u64,
    },
    /// The log could not be read; it is tried again until it can be.
    Failed(LogError),
}

#[derive(Debug)]
struct Replay {
    session: BridgeId,
    after: u64,
    page: VecDeque<Frame>,
    /// When to look again, since the log could not be read.
    again: Option<Instant>,
}

impl Viewer {
    pub(super) fn new(id: ViewerId, queue: Arc<Queue>, bridge: Bridge) -> Self {
        Self {
            id,
            queue,
            bridge,
            replay: None,
        }
    }

    /// Wants to see a session from after a frame on: the rest of its frames, then the messages in progress, then live.
    pub async fn attach(&self, session: &BridgeId, after: u64) {
        let request = Request::Attach(self.id, session.clone(), after);
        self.bridge.requests.send(request).await.ok();
    }

    /// Does not want to see a session any more.
    pub async fn detach(&self, session: &BridgeId) {
        let request = Request::Detach(self.id, session.clone());
        self.bridge.requests.send(request).await.ok();
    }

    /// What is to be shown next; nothing if the viewer is too slow even for the list of sessions.
    ///
    /// Can be dropped and called again without losing anything.
    pub async fn next(&mut self) -> Option<Shown> {
        loop {
            if self.replay.is_some() {
                if let Some(shown) = self.replay().await {
                    return Some(shown);
                }
                continue;
            }
            match self.queue.take()? {
                Some(Item::Behind {
                    session,
                    after,
                    gap,
                }) => {
                    self.replay = Some(Replay {
                        session: session.clone(),
                        after,
                        page: VecDeque::new(),
                        again: None,
                    });
                    if gap {
                        return Some(Shown::Gap { session, after });
                    }
                }
                Some(item) => return Some(Shown::Item(item)),
                None => self.queue.filled().await,
            }
        }
    }

    /// What can be shown without waiting; [`Viewer::next`] gives the rest.
    pub fn try_next(&mut self) -> Option<Shown> {
        if self.replay.is_some() {
            return None;
        }
        self.queue.take_item().map(Shown::Item)
    }

    /// The next frame from the log; nothing at its end, where the hub is asked to go on. A log that cannot be read is
    /// tried again until it can be: that is told once, and nothing is left out.
    async fn replay(&mut self) -> Option<Shown> {
        let replay = self.replay.as_mut()?;
        if replay.page.is_empty() {
            if let Some(again) = replay.again {
                sleep_until(again).await;
            }
            let library = &self.bridge.library;
            match library.frames(&replay.session, replay.after, PAGE).await {
                Ok(frames) => {
                    replay.page = frames.into();
                    replay.again = None;
                }
                Err(error) => {
                    let is_told = replay.again.replace(Instant::now() + AGAIN).is_some();
                    return (!is_told).then_some(Shown::Failed(error));
                }
            }
        }
        let Some(frame) = replay.page.pop_front() else {
            let (session, after) = (replay.session.clone(), replay.after);
            self.attach(&session, after).await;
            self.replay = None;
            return None;
        };
        replay.after = frame.seq;
        Some(Shown::Item(Item::Frame {
            session: replay.session.clone(),
            frame: Arc::new(frame),
        }))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.queue.abandon();
        let (requests, id) = (self.bridge.requests.clone(), self.id);
        if requests.try_send(Request::Leave(id)).is_err()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { requests.send(Request::Leave(id)).await });
        }
    }
}

/// How long to wait before a log is read again that could not be.
const AGAIN: Duration = Duration::from_secs(1);
/// How much is read from the log at once.
const PAGE: Page = Page {
    frames: 200,
    bytes: 256 << 10,
};
