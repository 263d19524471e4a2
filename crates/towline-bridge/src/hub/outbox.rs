//! [`Outbox`]: what a viewer has not taken yet, bounded in bytes.
//!
//! Deltas that wait are merged. When there is too much, the viewer falls behind: what it has not taken is dropped, it is
//! told from which frame on ([`Item::Behind`]), reads that from the log and attaches again.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use towline_protocol::{
    Text, ToolUseId,
    dialect::pocket::{BridgeId, Status},
};

use crate::{Frame, SessionRecord};

use super::{Delta, Draft};

/// What a viewer is shown.
#[derive(Clone, Debug)]
pub enum Item {
    /// Something that happened in a session and lasts.
    Frame {
        /// The session.
        session: BridgeId,
        /// What happened.
        frame: Arc<Frame>,
    },
    /// A piece of a message in progress.
    Delta {
        /// The session.
        session: BridgeId,
        /// The piece.
        delta: Delta,
    },
    /// The viewer has everything up to here, and these are the messages in progress; what comes now is live.
    Live {
        /// The session.
        session: BridgeId,
        /// The number of the last frame.
        after: u64,
        /// What the session does.
        status: Status,
        /// The messages in progress, and the calls whose subagents write them.
        drafts: Arc<Vec<(Option<ToolUseId>, Draft)>>,
    },
    /// The viewer has frames up to this one, and there are more in the log than it can be given here.
    Behind {
        /// The session.
        session: BridgeId,
        /// The number of the last frame it has.
        after: u64,
        /// Whether something was taken away from it: it was too slow.
        gap: bool,
    },
    /// A line of the agent that does not last, such as how far a tool is.
    Passing {
        /// The session.
        session: BridgeId,
        /// The line.
        line: Text,
    },
    /// What a session does now.
    Status {
        /// The session.
        session: BridgeId,
        /// What it does.
        status: Status,
    },
    /// A session is new or has changed.
    Session(Arc<SessionRecord>),
    /// The log cannot be written, and why; or it can be again.
    Trouble(Option<Arc<str>>),
}

impl Item {
    /// The session that it is about.
    pub fn session(&self) -> Option<&BridgeId> {
        match self {
            Self::Frame { session, .. }
            | Self::Delta { session, .. }
            | Self::Live { session, .. }
            | Self::Behind { session, .. }
            | Self::Passing { session, .. }
            | Self::Status { session, .. } => Some(session),
            Self::Session(record) => Some(&record.id),
            Self::Trouble(_) => None,
        }
    }
}

/// What a viewer has not taken yet.
#[derive(Debug)]
pub struct Outbox {
    queue: VecDeque<Item>,
    bytes: usize,
    limit: usize,
    places: HashMap<BridgeId, Place>,
    overflown: bool,
}

/// How far a viewer is in a session.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// It has or will be given everything up to this frame.
    Live { last: u64 },
    /// It has everything up to this frame and gets no more until it attaches again.
    Behind { after: u64, gap: bool, told: bool },
}

impl Outbox {
    /// An empty one, for so many bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            bytes: 0,
            limit,
            places: HashMap::new(),
            overflown: false,
        }
    }

    /// Puts something in.
    pub fn push(&mut self, item: Item) {
        if !self.wants(&item) || self.merge(&item) {
            return;
        }
        self.bytes += size(&item);
        self.queue.push_back(item);
        if self.bytes > self.limit {
            self.fall_behind();
        }
    }

    /// Takes out what is next.
    pub fn take(&mut self) -> Option<Item> {
        if let Some(item) = self.queue.pop_front() {
            self.bytes -= size(&item);
            return Some(item);
        }
        self.places
            .iter_mut()
            .find_map(|(session, place)| match place {
                Place::Behind {
                    after,
                    gap,
                    told: told @ false,
                } => {
                    *told = true;
                    Some(Item::Behind {
                        session: session.clone(),
                        after: *after,
                        gap: *gap,
                    })
                }
                _ => None,
            })
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether something waits besides that the viewer is behind.
    pub fn has_items(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether even the list of sessions was too much for the viewer: it is to be sent away, and may come again.
    pub fn is_overflown(&self) -> bool {
        self.overflown
    }

    /// Whether the viewer is to get it, given where it is.
    fn wants(&mut self, item: &Item) -> bool {
        match item {
            Item::Frame { session, frame } => match self.place(session) {
                Place::Live { last } => {
                    *last = frame.seq;
                    true
                }
                Place::Behind { .. } => false,
            },
            Item::Delta { session, .. } | Item::Passing { session, .. } => {
                matches!(self.place(session), Place::Live { .. })
            }
            Item::Live { session, after, .. } => {
                *self.place(session) = Place::Live { last: *after };
                true
            }
            Item::Behind {
                session,
                after,
                gap,
            } => {
                *self.place(session) = Place::Behind {
                    after: *after,
                    gap: *gap,
                    told: false,
                };
                false
            }
            Item::Status { .. } | Item::Session(_) | Item::Trouble(_) => true,
        }
    }

    fn place(&mut self, session: &BridgeId) -> &mut Place {
        let unknown = Place::Live { last: 0 };
        self.places.entry(session.clone()).or_insert(unknown)
    }

    /// Adds a delta to the one before it, if they belong together.
    fn merge(&mut self, item: &Item) -> bool {
        let (
            Item::Delta { session, delta },
            Some(Item::Delta {
                session: same,
                delta: last,
            }),
        ) = (item, self.queue.back_mut())
        else {
            return false;
        };
        let fits = session == same
            && delta.block == last.block
            && delta.parent == last.parent
            && delta.part == last.part
            && delta.offset == last.end;
        if fits {
            self.bytes += delta.size() + PIECE;
            last.end = delta.end;
            last.pieces.extend(delta.pieces.iter().cloned());
            if self.bytes > self.limit {
                self.fall_behind();
            }
        }
        fits
    }

    /// Drops what is in the log or will be in a later message, and keeps what each session does now.
    fn fall_behind(&mut self) {
        let mut kept = VecDeque::new();
        let mut known = std::collections::HashSet::new();
        for item in std::mem::take(&mut self.queue).into_iter().rev() {
            match &item {
                Item::Frame { session, frame } => self.lose(session, frame.seq - 1),
                Item::Live { session, after, .. } => self.lose(session, *after),
                Item::Delta { session, .. } => {
                    if let Place::Live { last } = *self.place(session) {
                        self.lose(session, last);
                    }
                }
                Item::Status { session, .. } => {
                    if known.insert((session.clone(), 's')) {
                        kept.push_front(item);
                    }
                }
                Item::Session(record) => {
                    if known.insert((record.id.clone(), 'r')) {
                        kept.push_front(item);
                    }
                }
                Item::Passing { .. } | Item::Behind { .. } => {}
                Item::Trouble(_) => kept.push_front(item),
            }
        }
        self.bytes = kept.iter().map(size).sum();
        self.overflown = self.bytes > self.limit / 2;
        self.queue = kept;
    }

    fn lose(&mut self, session: &BridgeId, after: u64) {
        let place = self.place(session);
        let after = match *place {
            Place::Behind { after: earlier, .. } => earlier.min(after),
            Place::Live { .. } => after,
        };
        *place = Place::Behind {
            after,
            gap: true,
            told: false,
        };
    }
}

fn size(item: &Item) -> usize {
    PIECE
        + match item {
            Item::Frame { frame, .. } => frame.body.len(),
            Item::Delta { delta, .. } => delta.size() + PIECE * delta.pieces.len(),
            Item::Live { drafts, .. } => {
                let blocks = drafts.iter().flat_map(|(_, draft)| &draft.blocks);
                blocks.map(|block| block.text.len()).sum()
            }
            Item::Passing { line, .. } => line.len(),
            Item::Session(record) => record.size(),
            Item::Trouble(why) => why.as_deref().map_or(0, str::len),
            Item::Behind { .. } | Item::Status { .. } => 0,
        }
}

/// What an item takes besides its text, about.
const PIECE: usize = 64;
