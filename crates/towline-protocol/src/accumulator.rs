//! [`Accumulator`]: from the lines of an agent to the messages in progress, what they use, and the tree of calls.
//!
//! Pure: every line is handed in, the state is there to look at. Stream events are for showing a message while it
//! grows; the final `assistant` line of a block is the authority and takes its place (document 001 §2.5).

mod calls;
mod draft;
mod usage;

pub use calls::{Call, CallState, Calls};
pub use draft::{Draft, DraftBlock};
pub use usage::{Tally, Usages};

use std::collections::VecDeque;

use crate::{
    content::{Block, Content},
    ids::ToolUseId,
    json::Text,
    stream::StreamEvent,
    to_host::{Assistant, ToHost},
};

/// Builds messages from stream events, one for the main thread and one for each subagent.
///
/// ```
/// use towline_protocol::{Accumulator, Growth, ToHost, Wire};
///
/// let mut accumulator = Accumulator::default();
/// for line in [
///     r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}}}"#,
///     r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}"#,
///     r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}}"#,
/// ] {
///     accumulator.handle(&ToHost::from_json(line)?);
/// }
/// let line = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}}"#;
/// let line = ToHost::from_json(line)?;
/// let growth = accumulator.handle(&line);
/// assert_eq!(growth, Some(Growth { parent: None, index: 0, offset: 3, piece: &"lo".into() }));
/// assert_eq!(accumulator.draft(None).unwrap().text(), "Hello");
/// # Ok::<(), towline_protocol::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Accumulator {
    drafts: VecDeque<(Option<ToolUseId>, Draft)>,
    /// Where the draft is that grew last; a guess.
    last_draft: usize,
    usages: Usages,
    calls: Calls,
}

/// How a message in progress grew: enough for a viewer that has the first `offset` bytes of the block to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth<'l> {
    /// The thread: the call whose subagent writes, nothing for the main one.
    pub parent: Option<&'l ToolUseId>,
    /// The block.
    pub index: u64,
    /// How long the block's text was before.
    pub offset: usize,
    /// What came.
    pub piece: &'l Text,
}

impl Accumulator {
    /// How many subagents may be writing at once. Past that the messages of those that began first are forgotten.
    pub const MAX_WRITING: usize = 32;

    /// Takes in a line. Says how a message in progress grew, if it did.
    pub fn handle<'l>(&mut self, line: &'l ToHost) -> Option<Growth<'l>> {
        let parent = line.parent_tool_use_id();
        match line {
            ToHost::StreamEvent(line) => self.stream(parent, &line.event),
            ToHost::Assistant(line) => match &line.delta {
                Some(event) => self.stream(parent, event),
                None => {
                    self.assistant(parent, line);
                    None
                }
            },
            ToHost::User(line) => {
                for result in line.tool_results() {
                    self.finish(&result.tool_use_id, result.is_error.as_option());
                }
                None
            }
            ToHost::ToolUse(line) => {
                if let (Some(id), Some(name)) = (&line.id, &line.name) {
                    self.calls.begin(id, parent, name, line.input.as_ref());
                }
                None
            }
            ToHost::ToolResult(line) => {
                if let Some(id) = &line.tool_use_id {
                    self.finish(id, line.is_error.as_option());
                }
                None
            }
            ToHost::Result(result) => {
                // The turn is over: nothing grows any more, in the main thread at least.
                self.drafts.retain(|(thread, _)| thread.is_some());
                self.usages.result(result);
                None
            }
            ToHost::ConversationReset(_) => {
                *self = Self::default();
                None
            }
            _ => None,
        }
    }

    /// The message in progress of a thread.
    pub fn draft(&self, parent: Option<&ToolUseId>) -> Option<&Draft> {
        self.drafts
            .iter()
            .find(|(thread, _)| thread.as_ref() == parent)
            .map(|(_, draft)| draft)
    }

    /// All messages in progress with the threads they belong to.
    pub fn drafts(&self) -> impl Iterator<Item = (Option<&ToolUseId>, &Draft)> {
        self.drafts
            .iter()
            .map(|(thread, draft)| (thread.as_ref(), draft))
    }

    /// What the main thread and the subagents have used.
    pub fn usages(&self) -> &Usages {
        &self.usages
    }

    /// The tree of tool calls.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    fn stream<'l>(
        &mut self,
        parent: Option<&'l ToolUseId>,
        event: &'l StreamEvent,
    ) -> Option<Growth<'l>> {
        match event {
            StreamEvent::MessageStart(start) => {
                *self.draft_of(parent) = Draft::start(&start.message);
                self.usages.message(parent, &start.message);
                None
            }
            StreamEvent::BlockStart(start) => {
                if let Block::ToolUse(call) = &start.content_block {
                    self.calls.begin(&call.id, parent, &call.name, None);
                }
                self.draft_of(parent)
                    .begin_block(start.index, &start.content_block);
                None
            }
            StreamEvent::BlockDelta(delta) => {
                let (offset, piece) = self
                    .draft_of(parent)
                    .grow_block(delta.index, &delta.delta)?;
                Some(Growth {
                    parent,
                    index: delta.index,
                    offset,
                    piece,
                })
            }
            StreamEvent::BlockStop(stop) => {
                self.draft_of(parent).end_block(stop.index);
                None
            }
            StreamEvent::MessageDelta(delta) => {
                if let Some(usage) = delta.usage.as_option() {
                    self.usages.update(parent, usage);
                }
                self.draft_of(parent).change(delta);
                None
            }
            StreamEvent::MessageStop(_) => {
                self.drafts.retain(|(thread, _)| thread.as_ref() != parent);
                None
            }
            StreamEvent::Ping(_) | StreamEvent::Error(_) | StreamEvent::Unknown(_) => None,
        }
    }

    fn assistant(&mut self, parent: Option<&ToolUseId>, line: &Assistant) {
        let Some(message) = &line.message else { return };
        self.usages.message(parent, message);
        let blocks = message
            .content
            .as_option()
            .map(Content::blocks)
            .unwrap_or_default();
        for block in blocks {
            if let Block::ToolUse(call) = block {
                self.calls
                    .begin(&call.id, parent, &call.name, call.input.as_ref());
            }
            let draft = self
                .drafts
                .iter_mut()
                .find(|(thread, _)| thread.as_ref() == parent);
            if let Some((_, draft)) = draft
                && draft.id().is_some_and(|id| Some(id) == message.id.as_ref())
            {
                draft.settle_block(block);
            }
        }
    }

    /// A call is over, and with it whatever its subagent was writing: one that was killed says no more.
    fn finish(&mut self, call: &ToolUseId, is_error: Option<&bool>) {
        self.drafts
            .retain(|(thread, _)| thread.as_ref() != Some(call));
        self.calls.finish(call, is_error == Some(&true));
    }

    /// The draft of a thread; an empty one if its start was missed (a viewer that came late).
    fn draft_of(&mut self, parent: Option<&ToolUseId>) -> &mut Draft {
        let is_it = |(thread, _): &(Option<ToolUseId>, Draft)| thread.as_ref() == parent;
        // Whoever wrote last is the likeliest to go on.
        let place = match self.drafts.get(self.last_draft) {
            Some(last) if is_it(last) => Some(self.last_draft),
            _ => self.drafts.iter().rposition(is_it),
        };
        let place = place.unwrap_or_else(|| {
            if self.drafts.len() > Self::MAX_WRITING {
                let subagent = |(thread, _): &(Option<_>, _)| thread.is_some();
                let oldest = self.drafts.iter().position(subagent).unwrap_or(0);
                self.drafts.remove(oldest);
            }
            let thread = parent.map(ToolUseId::detached);
            self.drafts.push_back((thread, Draft::default()));
            self.drafts.len() - 1
        });
        self.last_draft = place;
        &mut self.drafts[place].1
    }
}
