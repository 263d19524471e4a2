//! The conversation as the model gets it: messages in turns, each a list of blocks.
//!
//! It holds only what the Messages API takes, whatever is put in: each call has one result, at the beginning of the next
//! message; an answer of thoughts alone, texts without words, results without a call and blocks of the wrong side are
//! left out. One such block would have this request refused, and with it every later one. So would a host's marks for the
//! prompt cache beside our own, of which the API takes four: they are taken off.
//!
//! A message that is complete is written once: a request shares its bytes.

mod outline;

use std::collections::HashSet;

use serde::Deserialize;
use towline_protocol::{
    Block, Content, Json, Nullable, Role, Text, ToolResultBlock, ToolUseId, Wire,
};

use outline::{Outline, can_be_said};

/// The conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Messages that will not change, as they stand in a request.
    settled: Vec<Json>,
    /// The last message, which may still grow.
    last: Option<Message>,
    /// Calls of the last answer that have no result yet.
    open_calls: Vec<Call>,
    /// The ids of all calls, as they stand in requests.
    calls: HashSet<String>,
}

#[derive(Clone, Debug)]
struct Message {
    role: Role,
    blocks: Vec<Json>,
    /// How many results it begins with.
    results: usize,
}

#[derive(Clone, Debug)]
struct Call {
    /// The id by which its result comes.
    id: String,
    /// The id in requests: another where the model used one twice, or letters that the API does not take.
    sent_id: String,
}

impl History {
    /// Adds blocks to the user's side. Two messages in a row become one: the API wants them to take turns.
    pub(crate) fn push_user(&mut self, blocks: impl IntoIterator<Item = Json>) {
        let (mut results, mut said) = (Vec::new(), Vec::new());
        for block in blocks.into_iter().map(outline::unmarked) {
            match Outline::of(&block) {
                Outline::Result(id) => results.extend(self.take_result(&id, block)),
                Outline::Text | Outline::Other => said.push(block),
                Outline::Blank | Outline::Call(_) | Outline::Thought | Outline::AssistantOnly => {}
            }
        }
        if results.is_empty() && said.is_empty() {
            return;
        }
        let message = self.open(Role::User);
        let end = message.results + results.len();
        message
            .blocks
            .splice(message.results..message.results, results);
        message.results = end;
        message.blocks.extend(said);
    }

    /// Adds blocks to the model's side.
    pub(crate) fn push_assistant(&mut self, blocks: impl IntoIterator<Item = Json>) {
        let mut said = Vec::new();
        let mut calls = Vec::new();
        let mut is_mute = true;
        for block in blocks.into_iter().map(outline::unmarked) {
            let outline = Outline::of(&block);
            is_mute &= matches!(outline, Outline::Blank | Outline::Thought);
            match outline {
                Outline::Blank | Outline::Result(_) => {}
                Outline::Call(id) => said.push(self.note_call(id, block, &mut calls)),
                Outline::Text | Outline::Thought | Outline::AssistantOnly | Outline::Other => {
                    said.push(block);
                }
            }
        }
        let goes_on = matches!(&self.last, Some(last) if last.role == Role::Assistant);
        if said.is_empty() || is_mute && !goes_on {
            return;
        }
        if self.is_empty() {
            self.push_user([Block::text(LOST_BEGINNING).to_json()]);
        }
        self.answer_open_calls();
        self.open(Role::Assistant).blocks.extend(said);
        self.open_calls.extend(calls);
    }

    /// All messages, as they stand in a request.
    pub(crate) fn messages(&self) -> Vec<Json> {
        if !self.open_calls.is_empty() {
            let mut answered = self.clone();
            answered.answer_open_calls();
            return answered.messages();
        }
        let last = self.last.as_ref().map(Message::to_json);
        self.settled.iter().cloned().chain(last).collect()
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.last.is_none()
    }

    /// The conversation up to the calls that have no result yet.
    pub(crate) fn answered(&self) -> Self {
        let mut answered = self.clone();
        let is_answer = |last: &Message| last.role == Role::Assistant;
        if !self.open_calls.is_empty() && self.last.as_ref().is_some_and(is_answer) {
            answered.open_calls.clear();
            answered.last = answered.settled.pop().and_then(|last| Message::read(&last));
        }
        answered
    }

    /// The last message, which is begun if it is the other side's.
    fn open(&mut self, role: Role) -> &mut Message {
        if self.last.as_ref().is_none_or(|last| last.role != role) {
            let last = self.last.take();
            self.settled.extend(last.as_ref().map(Message::to_json));
        }
        self.last.get_or_insert(Message {
            role,
            blocks: Vec::new(),
            results: 0,
        })
    }

    /// Notes a call; the call as it stands in a request.
    fn note_call(&mut self, id: String, block: Json, calls: &mut Vec<Call>) -> Json {
        let sound = id.replace(|letter: char| !is_id_letter(letter), "_");
        let mut sent_id = if id.is_empty() {
            "call".to_owned()
        } else {
            sound.clone()
        };
        let mut number = self.calls.len();
        while !self.calls.insert(sent_id.clone()) {
            number += 1;
            sent_id = format!("{sound}_{number}");
        }
        let block = outline::call(block, &id, &sent_id);
        calls.push(Call { id, sent_id });
        block
    }

    /// The result as it stands in a request, if a call waits for it.
    fn take_result(&mut self, id: &str, block: Json) -> Option<Json> {
        let place = self.open_calls.iter().position(|call| call.id == id)?;
        let call = self.open_calls.remove(place);
        Some(outline::result(block, &call.id, &call.sent_id))
    }

    /// Gives the calls without a result one that says so.
    fn answer_open_calls(&mut self) {
        let calls = self.open_calls.iter();
        let results: Vec<_> = calls.map(|call| interrupted(&call.id)).collect();
        self.push_user(results);
    }
}

impl Message {
    fn read(message: &Json) -> Option<Self> {
        #[derive(Deserialize)]
        struct Written {
            role: Role,
            content: Vec<Json>,
        }
        let written = message.parse::<Written>().ok()?;
        let is_result = |block: &&Json| matches!(Outline::of(block), Outline::Result(_));
        Some(Self {
            role: written.role,
            results: written.content.iter().take_while(is_result).count(),
            blocks: written.content,
        })
    }

    fn to_json(&self) -> Json {
        let length: usize = self
            .blocks
            .iter()
            .map(|block| block.as_str().len() + 1)
            .sum();
        let mut text = String::with_capacity(length + 40);
        text.push_str(r#"{"role":""#);
        text.push_str(self.role.as_str());
        text.push_str(r#"","content":["#);
        for (place, block) in self.blocks.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(block.as_str());
        }
        text.push_str("]}");
        Json::new(text).expect("a role and blocks that are JSON make JSON")
    }
}

/// The blocks of a prompt, as the API takes them. A prompt in which nothing can be said is told as such.
pub(crate) fn prompt_blocks(content: Option<&Content>) -> Vec<Json> {
    let blocks: Vec<_> = match content {
        None => Vec::new(),
        Some(Content::Text(text)) => vec![Block::text(text.clone()).to_json().detached()],
        Some(Content::Object(json)) => vec![Block::text(json.text().clone()).to_json().detached()],
        Some(Content::Blocks(blocks)) => blocks
            .iter()
            .map(|block| block.to_standard_json().detached())
            .collect(),
    };
    let blocks: Vec<_> = blocks.into_iter().filter(can_be_said).collect();
    if blocks.is_empty() {
        return vec![Block::text(NOTHING).to_json()];
    }
    blocks
}

fn is_id_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

fn interrupted(call: &str) -> Json {
    let result = ToolResultBlock {
        tool_use_id: ToolUseId::from(call),
        content: Nullable::Value(Content::Text(Text::from_static(INTERRUPTED))),
        is_error: Nullable::Value(true),
        cache_control: Nullable::Absent,
        extra: towline_protocol::Extra::default(),
    };
    Block::ToolResult(Box::new(result)).to_standard_json()
}

const INTERRUPTED: &str =
    "The call was interrupted before it gave a result. It may have had some effect or none.";
const LOST_BEGINNING: &str = "(The beginning of this conversation is not there any more.)";
/// As CLI 2.1.325 has it.
const NOTHING: &str = "(no content)";

#[cfg(test)]
mod tests;
