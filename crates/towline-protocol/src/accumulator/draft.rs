//! [`Draft`]: a message while it is being written.

use crate::{
    content::{Block, TextBlock, ThinkingBlock, ToolUseBlock},
    ids::MessageId,
    json::{Json, Text},
    message::{ModelMessage, StopReason},
    stream::{Delta, MessageDelta, StreamEvent},
    wire::{Nullable, Wire},
};

/// A message in progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    id: Option<MessageId>,
    model: Option<Text>,
    stop_reason: Option<StopReason>,
    blocks: Vec<DraftBlock>,
}

/// A block in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftBlock {
    index: u64,
    /// In a box, as what it becomes: a block is large, and most of what a draft holds is text.
    start: Box<Block>,
    /// The text, the thinking, or the JSON of a tool's input so far.
    grown: String,
    signature: Option<Text>,
    citations: Vec<Json>,
    complete: bool,
    settled: Option<Box<Block>>,
}

impl Draft {
    /// A message begins.
    pub fn start(message: &ModelMessage) -> Self {
        Self {
            id: message.id.as_ref().map(MessageId::detached),
            model: message.model.as_ref().map(Text::detached),
            stop_reason: None,
            blocks: Vec::new(),
        }
    }

    /// Takes in an event of the message's stream.
    ///
    /// ```
    /// use towline_protocol::{Draft, StreamEvent, Wire};
    ///
    /// let mut draft = Draft::default();
    /// for event in [
    ///     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    ///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
    ///     r#"{"type":"content_block_stop","index":0}"#,
    /// ] {
    ///     draft.handle(&StreamEvent::from_json(event)?);
    /// }
    /// assert_eq!(draft.blocks()[0].built().to_json().as_str(), r#"{"type":"text","text":"Hello"}"#);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn handle(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::MessageStart(start) => *self = Self::start(&start.message),
            StreamEvent::BlockStart(start) => self.begin_block(start.index, &start.content_block),
            StreamEvent::BlockDelta(delta) => {
                self.grow_block(delta.index, &delta.delta);
            }
            StreamEvent::BlockStop(stop) => self.end_block(stop.index),
            StreamEvent::MessageDelta(delta) => self.change(delta),
            StreamEvent::MessageStop(_)
            | StreamEvent::Ping(_)
            | StreamEvent::Error(_)
            | StreamEvent::Unknown(_) => {}
        }
    }

    /// The message's id.
    pub fn id(&self) -> Option<&MessageId> {
        self.id.as_ref()
    }

    /// The model that writes it.
    pub fn model(&self) -> Option<&Text> {
        self.model.as_ref()
    }

    /// Why the model stopped, once it has.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.stop_reason.as_ref()
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[DraftBlock] {
        &self.blocks
    }

    /// The words so far, without thinking and tool inputs.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter(|block| matches!(*block.start, Block::Text(_)))
            .map(DraftBlock::grown)
            .collect()
    }

    pub(super) fn begin_block(&mut self, index: u64, start: &Block) {
        let grown = match start {
            Block::Text(block) => block.text.to_string(),
            Block::Thinking(block) => block.thinking.to_string(),
            _ => String::new(),
        };
        let block = DraftBlock {
            index,
            start: Box::new(detached(start)),
            grown,
            signature: None,
            citations: Vec::new(),
            complete: false,
            settled: None,
        };
        match self.blocks.iter_mut().find(|known| known.index == index) {
            Some(known) => *known = block,
            None => self.blocks.push(block),
        }
    }

    /// Appends to a block; the length it had, and what came. Nothing for a delta that is not text.
    pub(super) fn grow_block<'l>(
        &mut self,
        index: u64,
        delta: &'l Delta,
    ) -> Option<(usize, &'l Text)> {
        let piece = match delta {
            Delta::Text(delta) => &delta.text,
            Delta::Thinking(delta) => &delta.thinking,
            Delta::InputJson(delta) => &delta.partial_json,
            Delta::Signature(delta) => {
                if let Some(block) = self.blocks.iter_mut().find(|block| block.index == index) {
                    block.signature = Some(delta.signature.detached());
                }
                return None;
            }
            Delta::Citations(delta) => {
                if let Some(block) = self.blocks.iter_mut().find(|block| block.index == index) {
                    block.citations.push(delta.citation.detached());
                }
                return None;
            }
            Delta::Unknown(_) => return None,
        };
        if !self.blocks.iter().any(|block| block.index == index) {
            // The start of the block was missed; what kind it is shows in the delta.
            let start = match delta {
                Delta::Thinking(_) => Block::Thinking(ThinkingBlock::default()),
                _ => Block::Text(TextBlock::default()),
            };
            self.begin_block(index, &start);
        }
        let block = self.blocks.iter_mut().find(|block| block.index == index)?;
        let offset = block.grown.len();
        block.grown.push_str(piece);
        Some((offset, piece))
    }

    pub(super) fn end_block(&mut self, index: u64) {
        if let Some(block) = self.blocks.iter_mut().find(|block| block.index == index) {
            block.complete = true;
        }
    }

    pub(super) fn change(&mut self, delta: &MessageDelta) {
        if let Some(reason) = delta
            .delta
            .as_ref()
            .and_then(|change| change.stop_reason.as_option())
        {
            self.stop_reason = Some(reason.clone());
        }
    }

    /// The final line of a block came. The real CLI writes them in order, each before its block's stop event.
    pub(super) fn settle_block(&mut self, block: &Block) {
        if let Some(draft) = self.blocks.iter_mut().find(|draft| draft.settled.is_none()) {
            draft.settled = Some(Box::new(block.clone()));
        }
    }
}

/// A copy with memory of its own: what a line shares would stay as long as the draft does, and that may wait for hours.
fn detached(start: &Block) -> Block {
    match start {
        // Empty, as nearly always.
        Block::Text(block) if block.text.is_empty() => start.clone(),
        Block::Thinking(block) if block.thinking.is_empty() => start.clone(),
        _ => Block::from_json(start.to_json().as_str()).unwrap_or_else(|_| start.clone()),
    }
}

impl DraftBlock {
    /// The place of the block in the message.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The text, the thinking, or the JSON of a tool's input so far.
    pub fn grown(&self) -> &str {
        &self.grown
    }

    /// Whether no more will come.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The block as its final line has it, once that came.
    pub fn settled(&self) -> Option<&Block> {
        self.settled.as_deref()
    }

    /// The block as the stream events built it. A tool's input is there once its JSON is whole.
    pub fn built(&self) -> Block {
        match &*self.start {
            Block::Text(start) => Block::Text(TextBlock {
                text: self.grown.as_str().into(),
                citations: if self.citations.is_empty() {
                    start.citations.clone()
                } else {
                    Nullable::Value(self.citations.to_json())
                },
                ..start.clone()
            }),
            Block::Thinking(start) => Block::Thinking(ThinkingBlock {
                thinking: self.grown.as_str().into(),
                signature: self.signature.clone().or_else(|| start.signature.clone()),
                ..start.clone()
            }),
            Block::ToolUse(start) => Block::ToolUse(self.call(start)),
            Block::ServerToolUse(start) => Block::ServerToolUse(self.call(start)),
            other => other.clone(),
        }
    }

    fn call(&self, start: &ToolUseBlock) -> ToolUseBlock {
        ToolUseBlock {
            input: self.input().or_else(|| start.input.clone()),
            ..start.clone()
        }
    }

    /// A tool's input, once its JSON is whole.
    pub fn input(&self) -> Option<Json> {
        if self.grown.is_empty() {
            None
        } else {
            Json::new(self.grown.as_str()).ok()
        }
    }
}
