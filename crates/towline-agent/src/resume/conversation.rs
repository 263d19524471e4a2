//! [`Conversation`]: records become the [`History`] of a conversation, which sees to it that the API takes it. Pure.
//!
//! - Records of one message of the model are joined, and so is all that is said to it in between;
//! - results are found by the call's id, wherever they stand;
//! - what the agent added to a prompt is a text in the user's message, as the transcript has rendered it. The real CLI
//!   gives some of it the role `system`, which not every model knows. What described the surroundings of the earlier
//!   process (its tools, agents, skills, memory, the date) is left out: those of this one are told anew;
//! - what tells of an API failure is left out.

use std::collections::HashMap;

use serde::Deserialize;
use towline_protocol::{
    Block, Content, Json, MessageId, ToolUseId, Wire,
    transcript::{AssistantRecord, AttachmentRecord, Record, UserRecord},
};

use crate::history::History;

/// A conversation that is put together record by record. It shares nothing with them: an id would hold a whole line, and
/// with it all that the model is not told.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    parts: Vec<Part>,
    /// The results of calls, until they are put behind them.
    results: HashMap<ToolUseId, Json>,
    /// What the model was told of planning, until it was told that this is over.
    pub(super) plan_told: Option<String>,
}

#[derive(Debug)]
enum Part {
    /// What is said to the model.
    Said(Vec<Json>),
    /// What the model said.
    Answer(Answer),
}

#[derive(Debug, Default)]
struct Answer {
    message: Option<MessageId>,
    blocks: Vec<Json>,
    calls: Vec<ToolUseId>,
}

impl Conversation {
    /// Adds the next record of the conversation.
    pub(super) fn add(&mut self, record: &Record) {
        match record {
            Record::User(record) => self.add_user(record),
            Record::Assistant(record) => self.add_assistant(record),
            Record::Attachment(record) => self.add_attachment(record),
            Record::System(record) => {
                let is_command = record.subtype.as_deref() == Some("local_command");
                if let Some(content) = record.content.as_ref().filter(|_| is_command) {
                    self.say(vec![Block::text(content.clone()).to_standard_json()]);
                }
            }
            _ => {}
        }
    }

    /// The conversation as the model gets it.
    pub(super) fn into_history(self) -> History {
        let mut results = self.results;
        let mut history = History::default();
        for part in self.parts {
            match part {
                Part::Said(blocks) => history.push_user(blocks),
                Part::Answer(answer) => {
                    history.push_assistant(answer.blocks);
                    let calls = answer.calls.iter();
                    history.push_user(calls.filter_map(|call| results.remove(call)));
                }
            }
        }
        history
    }

    fn add_user(&mut self, record: &UserRecord) {
        let is_for_people = record.is_visible_in_transcript_only == Some(true);
        if is_for_people && record.is_compact_summary != Some(true) {
            return;
        }
        let mut said = Vec::new();
        match record.message.content.as_option() {
            None | Some(Content::Object(_)) => {}
            Some(Content::Text(words)) => said.push(text(words)),
            Some(Content::Blocks(blocks)) => {
                for block in blocks {
                    match block {
                        Block::ToolResult(result) => {
                            let json = block.to_standard_json();
                            self.results
                                .entry(result.tool_use_id.detached())
                                .or_insert(json);
                        }
                        other => said.push(other.to_standard_json()),
                    }
                }
            }
        }
        self.say(said);
    }

    fn add_assistant(&mut self, record: &AssistantRecord) {
        if record.is_api_error_message == Some(true) {
            return;
        }
        let id = record.message.id.as_ref();
        let mut fresh = Answer::default();
        let is_same = match self.parts.last() {
            Some(Part::Answer(last)) => last.message.as_ref() == id && id.is_some(),
            _ => false,
        };
        let answer = match self.parts.last_mut() {
            Some(Part::Answer(last)) if is_same => last,
            _ => &mut fresh,
        };
        match record.message.content.as_option() {
            None | Some(Content::Object(_)) => {}
            Some(Content::Text(words)) => answer.blocks.push(text(words)),
            Some(Content::Blocks(blocks)) => blocks.iter().for_each(|block| answer.add(block)),
        }
        if !is_same {
            fresh.message = id.map(MessageId::detached);
            self.parts.push(Part::Answer(fresh));
        }
    }

    fn add_attachment(&mut self, record: &AttachmentRecord) {
        let kind = record.attachment.as_ref();
        let kind = kind.and_then(|attachment| attachment.parse::<Kind>().ok());
        let kind = kind.as_ref().map(|kind| kind.kind.as_str());
        if kind.is_some_and(|kind| SURROUNDINGS.contains(&kind)) {
            return;
        }
        let rendered = record.rendered.as_ref();
        let rendered = rendered.and_then(|rendered| rendered.parse::<Vec<Rendered>>().ok());
        let rendered = rendered.unwrap_or_default();
        match kind {
            Some("plan_mode") => {
                let words = rendered.first();
                let words = words.and_then(|piece| piece.content.parse::<String>().ok());
                self.plan_told = Some(words.unwrap_or_default());
            }
            Some("plan_mode_exit") => self.plan_told = None,
            _ => {}
        }
        let mut said = Vec::new();
        for piece in rendered {
            said.extend(blocks_of(&piece.content));
        }
        self.say(said);
    }

    fn say(&mut self, blocks: Vec<Json>) {
        match self.parts.last_mut() {
            _ if blocks.is_empty() => {}
            Some(Part::Said(said)) => said.extend(blocks),
            _ => self.parts.push(Part::Said(blocks)),
        }
    }
}

impl Answer {
    fn add(&mut self, block: &Block) {
        if let Block::ToolUse(call) = block {
            self.calls.push(call.id.detached());
        }
        self.blocks.push(block.to_standard_json());
    }
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Rendered {
    content: Json,
}

/// The blocks of content that is a string or a list of them.
fn blocks_of(content: &Json) -> Vec<Json> {
    match content.parse::<String>() {
        Ok(words) => vec![text(&words)],
        Err(_) => content.parse().unwrap_or_default(),
    }
}

fn text(words: &str) -> Json {
    Block::text(words).to_standard_json()
}

/// What the earlier process told of itself; each process tells its own.
const SURROUNDINGS: &[&str] = &[
    "agent_listing_delta",
    "date",
    "deferred_tools_delta",
    "deferred_tools_record",
    "environment",
    "instructions",
    "mcp_instructions_delta",
    "model",
    "prompt_snapshot",
    "remote_session_change",
    "session_context",
    "skill_listing",
];
