//! The turn that runs, with what is known around it.

use std::{collections::HashMap, time::Instant};

use towline_protocol::{Json, MessageId, Origin, StreamEvent, Text, ToolUseId, Usage, User, Uuid};

use super::{Prompts, clock::Clock};
use crate::{
    model::{ModelEvent, cost::TurnUsage},
    turn::{Output, Turn, TurnOptions},
};

/// A turn, and what is known around it.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) turn: Turn,
    pub(super) prompts: Prompts,
    pub(super) clock: Clock,
    pub(super) usage: TurnUsage,
    /// The message that is being written.
    pub(super) message: Option<MessageId>,
    /// The lines of the blocks that were said, for the transcript.
    pub(super) said: Vec<Uuid>,
    /// The records of the calls.
    pub(super) call_records: HashMap<ToolUseId, Uuid>,
    /// The tokens of the first request.
    pub(super) first_usage: Option<Usage>,
    /// The echo of the prompt, until the model answers.
    pub(super) echo: Option<User>,
    /// What set the turn off, as the host said.
    pub(super) origin: Option<Origin>,
    /// Whether the answer came in one piece.
    pub(super) came_whole: bool,
    /// When the model began to think, and how many tokens of it there are, about.
    pub(super) thinking: Option<(Instant, u64)>,
    /// Whether a request was sent.
    pub(super) requested: bool,
    /// Prompts that came while calls ran and went to the model with their results.
    pub(super) taken_up: Vec<Uuid>,
    /// The id of the request, from the headers of the answer.
    pub(super) request_id: Option<Text>,
}

impl Running {
    pub(super) fn new(prompts: Vec<Uuid>, options: TurnOptions) -> Self {
        Self {
            turn: Turn::new(options),
            prompts: Prompts(prompts),
            clock: Clock::start(),
            usage: TurnUsage::default(),
            message: None,
            said: Vec::new(),
            call_records: HashMap::new(),
            first_usage: None,
            requested: false,
            came_whole: false,
            thinking: None,
            origin: None,
            echo: None,
            taken_up: Vec::new(),
            request_id: None,
        }
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.turn.poll_output()
    }

    /// Looks at an event on its way to the turn.
    pub(super) fn note_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Answering { request_id } => self.request_id.clone_from(request_id),
            ModelEvent::Whole => self.came_whole = true,
            _ => {}
        }
        if let ModelEvent::Stream { event, .. } = event {
            self.clock.event();
            match &**event {
                StreamEvent::MessageStart(start) => {
                    self.message.clone_from(&start.message.id);
                    self.said.clear();
                    if self.first_usage.is_none() {
                        self.first_usage = start.message.usage.as_option().cloned();
                    }
                }
                StreamEvent::BlockStart(_) => self.clock.text(),
                _ => {}
            }
        }
    }
}

/// Words as a block of a request.
pub(super) fn text_block(text: &str) -> Json {
    towline_protocol::Wire::to_json(&towline_protocol::Block::text(Text::from(text)))
}
