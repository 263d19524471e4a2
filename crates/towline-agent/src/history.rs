//! The conversation as the model gets it: messages in turns, each a list of blocks.
//!
//! What is once written is not written again: a request shares the bytes of the messages before it.

use towline_protocol::{Block, Content, Json, Role, Wire};

use crate::resume::conversation::user_blocks;

/// The conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Messages that will not change, as they stand in a request.
    settled: Vec<Json>,
    /// The last message, which may still grow.
    last: Option<(Role, Vec<Json>)>,
}

impl History {
    /// A conversation that was had before.
    pub(crate) fn resumed(mut messages: Vec<Json>) -> Self {
        let open = messages.last().and_then(user_blocks);
        let last = open.map(|blocks| {
            messages.pop();
            (Role::User, blocks)
        });
        Self {
            settled: messages,
            last,
        }
    }

    /// Something is said to the model. Two messages in a row become one: the API wants them to take turns.
    pub(crate) fn push_user(&mut self, blocks: impl IntoIterator<Item = Json>) {
        self.push(Role::User, blocks);
    }

    /// The model said something.
    pub(crate) fn push_assistant(&mut self, blocks: impl IntoIterator<Item = Json>) {
        self.push(Role::Assistant, blocks);
    }

    /// All messages, as they stand in a request.
    pub(crate) fn messages(&self) -> Vec<Json> {
        let last = self
            .last
            .as_ref()
            .map(|(role, blocks)| message(role, blocks));
        self.settled.iter().cloned().chain(last).collect()
    }

    /// The conversation without calls that nobody has answered yet.
    pub(crate) fn answered(&self) -> Self {
        match &self.last {
            Some((Role::Assistant, blocks)) if blocks.iter().any(is_call) => {
                Self::resumed(self.settled.clone())
            }
            _ => self.clone(),
        }
    }

    fn push(&mut self, role: Role, blocks: impl IntoIterator<Item = Json>) {
        match &mut self.last {
            Some((last, held)) if *last == role => held.extend(blocks),
            last => {
                let blocks: Vec<_> = blocks.into_iter().collect();
                if blocks.is_empty() {
                    return;
                }
                if let Some((role, blocks)) = last.replace((role, blocks)) {
                    self.settled.push(message(&role, &blocks));
                }
            }
        }
    }
}

/// Whether a block is a call of a tool.
fn is_call(block: &Json) -> bool {
    let block: serde_json::Value = serde_json::from_str(block.as_str()).unwrap_or_default();
    block["type"] == "tool_use"
}

/// The blocks of what a person said, as the API takes them. Nothing at all is said in words.
pub(crate) fn prompt_blocks(content: Option<&Content>) -> Vec<Json> {
    let nothing = || vec![Block::text("(no content)").to_json()];
    match content {
        None => nothing(),
        Some(Content::Text(text)) if text.is_empty() => nothing(),
        Some(Content::Text(text)) => vec![Block::text(text.clone()).to_json().detached()],
        Some(Content::Object(json)) => vec![Block::text(json.text().clone()).to_json().detached()],
        Some(Content::Blocks(blocks)) if blocks.is_empty() => nothing(),
        Some(Content::Blocks(blocks)) => blocks
            .iter()
            // The API refuses a block without words.
            .filter(|block| !matches!(block, Block::Text(text) if text.text.is_empty()))
            .map(|block| block.to_standard_json().detached())
            .collect(),
    }
}

fn message(role: &Role, blocks: &[Json]) -> Json {
    let mut text = format!(r#"{{"role":"{}","content":["#, role.as_str());
    for (place, block) in blocks.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(block.as_str());
    }
    text.push_str("]}");
    Json::new(text).expect("a role and blocks that are JSON make JSON")
}
