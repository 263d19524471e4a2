//! The message that the model is writing.

use towline_protocol::{
    Block, Content, Draft, Json, ModelMessage, Nullable, StopReason, StreamEvent, Text, Usage,
};

use super::calls::Call;
use crate::model::cost::{TurnUsage, merge};

/// The message in progress.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// As it began.
    start: Option<ModelMessage>,
    draft: Draft,
    /// The tokens it took.
    usage: Usage,
    /// The blocks that were said, each with its place.
    said: Vec<(u64, Block)>,
    /// Whether it came in one piece.
    pub(super) whole: bool,
    /// The id of the API's request.
    pub(super) request_id: Option<Text>,
}

/// A block that is complete.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The message it belongs to, as it began.
    pub(crate) message: ModelMessage,
    /// The block.
    pub(crate) block: Block,
    /// Whether it was cut off.
    pub(crate) aborted: bool,
}

/// A message that is complete.
#[derive(Clone, Debug)]
pub(crate) struct Complete {
    /// The message, with all blocks, its stop reason and its tokens.
    pub(crate) message: ModelMessage,
    /// The place of each block in the API's message.
    pub(crate) indices: Vec<u64>,
    /// The id of the API's request.
    pub(crate) request_id: Option<Text>,
    /// Whether it was cut off, so that its tokens are not known.
    pub(crate) aborted: bool,
}

impl Message {
    /// Takes in an event; a block that it completes.
    pub(super) fn handle(&mut self, event: &StreamEvent) -> Option<Said> {
        self.draft.handle(event);
        match event {
            StreamEvent::MessageStart(start) => {
                if let Some(usage) = start.message.usage.as_option() {
                    self.usage = usage.clone();
                }
                self.start = Some(start.message.clone());
                None
            }
            StreamEvent::MessageDelta(delta) => {
                if let Some(usage) = delta.usage.as_option() {
                    merge(&mut self.usage, usage);
                }
                None
            }
            StreamEvent::BlockStop(stop) => self.say(stop.index, Cut::No),
            _ => None,
        }
    }

    /// Why the model stopped.
    pub(super) fn stop_reason(&self) -> Option<&StopReason> {
        self.draft.stop_reason()
    }

    /// Whether anything of it came.
    pub(super) fn began(&self) -> bool {
        self.start.is_some()
    }

    /// How many blocks were begun.
    pub(super) fn blocks(&self) -> u64 {
        self.draft.blocks().len() as u64
    }

    /// The block that is being written.
    pub(super) fn open_block(&self) -> Option<u64> {
        let open = self.draft.blocks().last()?;
        (!open.is_complete()).then(|| open.index())
    }

    /// What is left of a block that will not be finished: its words. Half a call is nothing, nor are thoughts whose
    /// signature is missing.
    pub(super) fn cut_off(&mut self) -> Option<Said> {
        let index = self.open_block()?;
        self.say(index, Cut::Off)
    }

    /// All that was said; nothing if there was nothing.
    pub(super) fn complete(&mut self) -> Option<Complete> {
        let mut message = self.start.take()?;
        let aborted = self.draft.stop_reason().is_none();
        let (indices, blocks): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.said).into_iter().unzip();
        if blocks.is_empty() && aborted {
            return None;
        }
        message.content = Nullable::Value(Content::Blocks(blocks));
        message.stop_reason = nullable(self.draft.stop_reason().cloned());
        message.usage = Nullable::Value(std::mem::take(&mut self.usage));
        Some(Complete {
            message,
            indices,
            request_id: self.request_id.take(),
            aborted,
        })
    }

    fn say(&mut self, index: u64, cut: Cut) -> Option<Said> {
        let block = self
            .draft
            .blocks()
            .iter()
            .find(|block| block.index() == index)?
            .built();
        if cut == Cut::Off && !matches!(&block, Block::Text(text) if !text.text.is_empty()) {
            return None;
        }
        let block = with_input(block);
        self.said.push((index, block.clone()));
        let mut message = self.start.clone().unwrap_or_default();
        message.content = Nullable::Value(Content::Blocks(vec![block.clone()]));
        if self.whole {
            let mut usage = TurnUsage::default();
            usage.add(&self.usage);
            message.usage = Nullable::Value(usage.usage());
        }
        if matches!(message.context_management, Nullable::Absent) {
            message.context_management = Nullable::Null;
        }
        Some(Said {
            message,
            block,
            aborted: cut == Cut::Off,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    Off,
}

impl Said {
    /// The call in it.
    pub(super) fn call(&self) -> Option<Call> {
        match &self.block {
            Block::ToolUse(call) => Some(Call::new(call)),
            _ => None,
        }
    }
}

/// A call always has an input, be it one that no tool will take.
fn with_input(block: Block) -> Block {
    match block {
        Block::ToolUse(mut call) if call.input.is_none() => {
            call.input = Json::new("{}").ok();
            Block::ToolUse(call)
        }
        other => other,
    }
}

fn nullable<T>(value: Option<T>) -> Nullable<T> {
    value.map_or(Nullable::Null, Nullable::Value)
}
