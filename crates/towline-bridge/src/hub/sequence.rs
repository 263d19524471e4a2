//! [`Sequence`]: everything that leaves a session, in one order for all.
//!
//! A frame is shown once it is written; what comes after it waits behind it. The messages in progress change when
//! something is shown, so that they are always those of what viewers have seen: whoever attaches can go on from there.

use std::{collections::VecDeque, sync::Arc};

use towline_protocol::{
    StreamEventLine, Text, ToolUseId,
    dialect::pocket::{BridgeId, Status},
};

use crate::{Frame, Kind, log::Write};

use super::{Item, Order, Output, Refusal, Reply, ViewerId, draft::Drafts};

#[derive(Debug)]
pub(super) struct Sequence {
    session: BridgeId,
    /// The number of the last frame.
    last: u64,
    /// The number of the last frame that viewers may see.
    shown: u64,
    held: VecDeque<Held>,
    drafts: Drafts,
    viewers: Vec<ViewerId>,
    outputs: VecDeque<Output>,
}

/// What waits to be shown.
#[derive(Debug)]
enum Held {
    Frame(Arc<Frame>, Ends, Vec<Output>),
    Stream(Box<StreamEventLine>),
    Item(Item),
}

/// Which messages in progress end with a frame.
#[derive(Clone, Debug)]
pub(super) enum Ends {
    None,
    /// So many blocks of that of the main thread, or of the subagent that a call started.
    Blocks(Option<ToolUseId>, usize),
    All,
}

impl Sequence {
    pub(super) fn new(session: BridgeId, last: u64) -> Self {
        Self {
            session,
            last,
            shown: last,
            held: VecDeque::new(),
            drafts: Drafts::default(),
            viewers: Vec::new(),
            outputs: VecDeque::new(),
        }
    }

    /// Takes out what is to be done.
    pub(super) fn take_outputs(&mut self) -> VecDeque<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// Has something done at once.
    pub(super) fn put_out(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    /// Has the agent do something after all that it is to do already, some of which waits for its frame to be written.
    pub(super) fn put_out_in_turn(&mut self, order: Output) {
        let mut waiting = self.held.iter_mut().rev().filter_map(|held| match held {
            Held::Frame(_, _, then) => Some(then),
            Held::Stream(_) | Held::Item(_) => None,
        });
        let has_order = |then: &&mut Vec<Output>| {
            let mut orders = then.iter();
            orders.any(|output| matches!(output, Output::Agent(..)))
        };
        match waiting.find(has_order) {
            Some(then) => then.push(order),
            None => self.outputs.push_back(order),
        }
    }

    /// Whether everything is shown.
    pub(super) fn is_caught_up(&self) -> bool {
        self.held.is_empty()
    }

    /// Puts in a frame, and gives its number.
    pub(super) fn append(&mut self, kind: Kind, body: Text, ends: Ends, now: u64) -> u64 {
        self.last += 1;
        let frame = Frame {
            seq: self.last,
            at: now,
            kind,
            body,
        };
        self.outputs.push_back(Output::Write(Write::Frame {
            session: self.session.clone(),
            frame: frame.clone(),
        }));
        let held = Held::Frame(Arc::new(frame), ends, Vec::new());
        self.held.push_back(held);
        self.last
    }

    /// Has something done once the frame that was put in last is written.
    pub(super) fn then(&mut self, outputs: Vec<Output>) {
        if let Some(Held::Frame(_, _, then)) = self.held.back_mut() {
            then.extend(outputs);
        }
    }

    /// Tells whoever waits for something to be written that it is not, and why. It will be when it can be. Nobody has to
    /// wait that long for the agent to be stopped.
    pub(super) fn excuse(&mut self, why: &str) {
        for held in &mut self.held {
            let Held::Frame(_, _, then) = held else {
                continue;
            };
            for output in std::mem::take(then) {
                match output {
                    Output::Reply(ticket, _) => {
                        let reply = Reply::Refused(Refusal::Waits(why.to_owned()));
                        self.outputs.push_back(Output::Reply(ticket, reply));
                    }
                    Output::Agent(_, _, Order::Control(..)) => self.outputs.push_back(output),
                    other => then.push(other),
                }
            }
        }
    }

    /// The model streams.
    pub(super) fn stream(&mut self, line: &StreamEventLine) {
        if self.held.is_empty() {
            self.show_stream(line);
        } else {
            self.held.push_back(Held::Stream(Box::new(line.clone())));
        }
    }

    /// Shows something that does not last, after what is still to be shown.
    pub(super) fn show(&mut self, item: Item) {
        if self.held.is_empty() {
            self.broadcast(&item);
        } else {
            self.held.push_back(Held::Item(item));
        }
    }

    /// The oldest frame that waits for it is written.
    pub(super) fn written(&mut self) {
        let Some(Held::Frame(frame, ends, then)) = self.held.pop_front() else {
            return;
        };
        self.shown = frame.seq;
        match ends {
            Ends::None => {}
            Ends::Blocks(parent, blocks) => self.drafts.settle(parent.as_ref(), blocks),
            Ends::All => self.drafts.clear(),
        }
        let session = self.session.clone();
        self.broadcast(&Item::Frame { session, frame });
        self.outputs.extend(then);
        while let Some(held) = self.held.pop_front() {
            match held {
                Held::Frame(..) => {
                    self.held.push_front(held);
                    break;
                }
                Held::Stream(line) => self.show_stream(&line),
                Held::Item(item) => self.broadcast(&item),
            }
        }
    }

    pub(super) fn add_viewer(&mut self, viewer: ViewerId) {
        if !self.viewers.contains(&viewer) {
            self.viewers.push(viewer);
        }
    }

    pub(super) fn remove_viewer(&mut self, viewer: ViewerId) {
        self.viewers.retain(|other| *other != viewer);
    }

    /// Shows a viewer what it needs to go on from a frame that it has.
    pub(super) fn attach(&mut self, viewer: ViewerId, after: u64, status: Status) {
        self.add_viewer(viewer);
        let session = self.session.clone();
        let item = if after == self.shown {
            Item::Live {
                session,
                after,
                status,
                drafts: Arc::new(self.drafts.snapshot()),
            }
        } else {
            // A number that was never given is from another log: there is nothing to go on from. One that was given and is
            // not shown yet was read from the log just now: the viewer looks again, and by then it is.
            let is_known = after <= self.last;
            Item::Behind {
                session,
                after: if is_known { after } else { 0 },
                gap: !is_known,
            }
        };
        self.outputs.push_back(Output::Show(viewer, item));
    }

    fn show_stream(&mut self, line: &StreamEventLine) {
        let parent = line.parent_tool_use_id.as_option();
        if let Some(delta) = self.drafts.handle(parent, &line.event) {
            let session = self.session.clone();
            self.broadcast(&Item::Delta { session, delta });
        }
    }

    fn broadcast(&mut self, item: &Item) {
        for viewer in &self.viewers {
            self.outputs.push_back(Output::Show(*viewer, item.clone()));
        }
    }
}
