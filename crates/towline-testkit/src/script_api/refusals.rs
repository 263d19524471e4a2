//! Requests that the Messages API refuses though their form is right. Pure.
//!
//! The words are the API's own, as its users have reported them, so that an agent which reads them can be tested. What they
//! have measured to be taken is taken: several messages of one side in a row, an answer without content, thoughts at the end
//! of an earlier answer. A message of role `system` may stand between the others, as the CLI sends it (2.1.325).

mod cache;
mod calls;
mod content;
mod thinking;

use serde_json::Value;

use super::api_error::ApiError;

/// Says why the API would refuse this request. Its form was read before: `messages` is a list of roles with contents.
pub(super) fn check(body: &Value) -> Result<(), ApiError> {
    let messages = messages(body);
    content::check_blocks(&messages)?;
    content::check_roles(&messages)?;
    content::check_texts(body, &messages)?;
    content::check_tools(body)?;
    let turns = turns(&messages);
    calls::check(&turns)?;
    thinking::check(body, &messages, &turns)?;
    content::check_end(body, &messages)?;
    cache::check(body)
}

/// One message with its place in the request.
#[derive(Debug)]
struct Message<'a> {
    index: usize,
    role: &'a str,
    /// `None` where the content is one text.
    blocks: Option<&'a [Value]>,
    content: &'a Value,
}

/// Messages of one side up to the next of the other: the API joins them.
#[derive(Debug)]
struct Turn<'a> {
    role: &'a str,
    messages: Vec<&'a Message<'a>>,
}

/// A block with the numbers of its message and of itself.
#[derive(Clone, Copy, Debug)]
struct Block<'a> {
    message: usize,
    index: usize,
    value: &'a Value,
}

impl Message<'_> {
    fn blocks(&self) -> impl DoubleEndedIterator<Item = Block<'_>> {
        let blocks = self.blocks.unwrap_or_default().iter().enumerate();
        blocks.map(|(index, value)| Block {
            message: self.index,
            index,
            value,
        })
    }
}

impl Turn<'_> {
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.messages.iter().flat_map(|message| message.blocks())
    }
}

impl<'a> Block<'a> {
    fn kind(&self) -> &'a str {
        self.value["type"].as_str().unwrap_or_default()
    }

    fn text(&self, field: &str) -> &'a str {
        self.value[field].as_str().unwrap_or_default()
    }

    /// Its address in the request, as the API writes it.
    fn place(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }
}

fn messages(body: &Value) -> Vec<Message<'_>> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .enumerate()
        .map(|(index, message)| Message {
            index,
            role: message["role"].as_str().unwrap_or_default(),
            blocks: message["content"].as_array().map(Vec::as_slice),
            content: &message["content"],
        })
        .collect()
}

fn turns<'a>(messages: &'a [Message<'a>]) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages.iter().filter(|message| message.role != "system") {
        match turns.last_mut() {
            Some(turn) if turn.role == message.role => turn.messages.push(message),
            _ => turns.push(Turn {
                role: message.role,
                messages: vec![message],
            }),
        }
    }
    turns
}

fn refuse(why: impl Into<String>) -> Result<(), ApiError> {
    Err(ApiError::invalid_request(why))
}
