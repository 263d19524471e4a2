//! The message in progress: what has been streamed of it, so that whoever comes late can go on from there.
//!
//! A block has a length, and a delta the offset it begins at, both in UTF-16 code units (the length of a string in
//! JavaScript and Dart): a viewer that already has a part of it can tell which.

use std::collections::BTreeMap;

use serde::Serialize;
use towline_protocol::{
    Block, Delta as StreamDelta, MessageId, StreamEvent, Text, ToolName, ToolUseId,
};
use utoipa::ToSchema;

/// A piece of a message in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// The call whose subagent speaks; nothing for the main thread.
    pub parent: Option<ToolUseId>,
    /// Which block of the message it belongs to.
    pub block: u64,
    /// What the block is.
    pub part: Part,
    /// The tool, of a tool call.
    pub tool_name: Option<ToolName>,
    /// Where in the block it begins.
    pub offset: u64,
    /// Where in the block it ends.
    pub end: u64,
    /// The text, in one piece or, where deltas were merged, in several.
    pub pieces: Vec<Text>,
}

/// What a block of a message in progress is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text,
    /// Thoughts.
    Thinking,
    /// The input of a tool call, as JSON that is not complete yet.
    ToolInput,
}

/// What has been streamed of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Draft {
    /// The message.
    #[schema(value_type = Option<String>)]
    pub message: Option<MessageId>,
    /// The blocks that are not complete, in order.
    pub blocks: Vec<DraftBlock>,
}

/// What has been streamed of a block.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DraftBlock {
    /// Which block of the message it is.
    pub block: u64,
    /// What it is.
    pub part: Part,
    /// The tool, of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tool_name: Option<ToolName>,
    /// Where `text` begins in the block: 0, unless the block is too long to be kept whole.
    pub offset: u64,
    /// The text so far.
    pub text: String,
    /// Where the block ends so far.
    #[serde(skip)]
    end: u64,
}

/// The messages in progress of a session: that of the main thread, and those of subagents.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    of: BTreeMap<Option<ToolUseId>, Draft>,
}

impl Drafts {
    /// Takes in what the model streams; what a viewer needs to know of it comes back.
    pub(super) fn handle(
        &mut self,
        parent: Option<&ToolUseId>,
        event: &StreamEvent,
    ) -> Option<Delta> {
        let parent = parent.map(ToolUseId::detached);
        match event {
            StreamEvent::MessageStart(start) => {
                if self.of.len() < MOST_THREADS || self.of.contains_key(&parent) {
                    let message = start.message.id.as_ref().map(MessageId::detached);
                    self.of.insert(
                        parent,
                        Draft {
                            message,
                            blocks: Vec::new(),
                        },
                    );
                }
                None
            }
            StreamEvent::BlockStart(start) => {
                let (part, tool_name) = match &start.content_block {
                    Block::Text(_) => (Part::Text, None),
                    Block::Thinking(_) => (Part::Thinking, None),
                    Block::ToolUse(call) => (Part::ToolInput, Some(call.name.detached())),
                    _ => return None,
                };
                self.block(parent, start.index, part)?.tool_name = tool_name;
                None
            }
            StreamEvent::BlockDelta(delta) => {
                let (part, text) = match &delta.delta {
                    StreamDelta::Text(delta) => (Part::Text, &delta.text),
                    StreamDelta::Thinking(delta) => (Part::Thinking, &delta.thinking),
                    StreamDelta::InputJson(delta) => (Part::ToolInput, &delta.partial_json),
                    _ => return None,
                };
                let block = self.block(parent.clone(), delta.index, part)?;
                let offset = block.grow(text);
                Some(Delta {
                    parent,
                    block: block.block,
                    part,
                    tool_name: block.tool_name.clone(),
                    offset,
                    end: block.end,
                    pieces: vec![text.clone()],
                })
            }
            _ => None,
        }
    }

    /// A block, begun if it was not: not every agent says where a message and its blocks begin.
    fn block(
        &mut self,
        parent: Option<ToolUseId>,
        index: u64,
        part: Part,
    ) -> Option<&mut DraftBlock> {
        if self.of.len() >= MOST_THREADS && !self.of.contains_key(&parent) {
            return None;
        }
        let blocks = &mut self.of.entry(parent).or_default().blocks;
        if let Some(place) = blocks.iter().position(|block| block.block == index) {
            return blocks.get_mut(place);
        }
        if blocks.len() >= MOST_BLOCKS {
            return None;
        }
        blocks.push(DraftBlock {
            block: index,
            part,
            tool_name: None,
            offset: 0,
            text: String::new(),
            end: 0,
        });
        blocks.last_mut()
    }

    /// A whole message has come: what is in it is no draft any more. The agent writes a line for each block, in order.
    pub(super) fn settle(&mut self, parent: Option<&ToolUseId>, blocks: usize) {
        if let Some(draft) = self.of.get_mut(&parent.cloned()) {
            draft.blocks.drain(..blocks.min(draft.blocks.len()));
        }
    }

    /// The turn is over.
    pub(super) fn clear(&mut self) {
        self.of.clear();
    }

    /// Those with something in them, and whose they are.
    pub(super) fn snapshot(&self) -> Vec<(Option<ToolUseId>, Draft)> {
        let drafts = self.of.iter().filter(|(_, draft)| !draft.blocks.is_empty());
        drafts
            .map(|(parent, draft)| (parent.clone(), draft.clone()))
            .collect()
    }
}

impl DraftBlock {
    /// A block with a text so far, for tests of what is made of it.
    #[cfg(test)]
    pub(crate) fn new(block: u64, part: Part, text: &str) -> Self {
        Self {
            block,
            part,
            tool_name: None,
            offset: 0,
            text: text.to_owned(),
            end: units(text),
        }
    }

    /// Where the block ends so far.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Where in the block the text was put.
    fn grow(&mut self, text: &str) -> u64 {
        let offset = self.end;
        self.text.push_str(text);
        self.end += units(text);
        if self.text.len() > LONGEST {
            let gone = self.text.ceil_char_boundary(self.text.len() - LONGEST / 2);
            self.offset += units(&self.text[..gone]);
            self.text.drain(..gone);
        }
        offset
    }
}

impl Delta {
    /// How much text it has, in bytes.
    pub fn size(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// The text in one piece.
    pub fn text(&self) -> String {
        self.pieces.iter().map(Text::as_str).collect()
    }
}

/// The length of a text, in UTF-16 code units.
fn units(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.encode_utf16().count() as u64
}

/// How much of a block is kept, in bytes. Of a longer one the last part is; the whole comes when it is complete.
const LONGEST: usize = 1 << 20;
/// More blocks than a message has.
const MOST_BLOCKS: usize = 1_000;
/// More subagents than work at the same time.
const MOST_THREADS: usize = 64;
