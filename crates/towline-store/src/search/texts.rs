//! The texts of a record that a person may have read or written. Pure.

use towline_protocol::{Block, Content, Json, Leaf, ToolResultBlock, transcript::Record};

/// What a text is.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let query = SearchQuery::new(Pattern::words("login.rs")?);
/// let parts: Vec<Part> = session.search(query).map(|hit| hit.map(|hit| hit.part)).collect::<Result<_, _>>()?;
/// assert_eq!(parts, [Part::ToolInput, Part::Answer]);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What was said to the model.
    Prompt,
    /// What the model said.
    Answer,
    /// What the model thought.
    Thinking,
    /// What the model gave to a tool.
    ToolInput,
    /// What a tool gave back.
    ToolResult,
}

/// Whose a text is.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let count = |speaker| {
///     let query = SearchQuery { speaker, ..SearchQuery::new(Pattern::words("token").unwrap()) };
///     session.search(query).count()
/// };
/// assert_eq!([None, Some(Speaker::Assistant), Some(Speaker::Tool)].map(count), [3, 1, 1]);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person, or whoever speaks for one.
    User,
    /// The model.
    Assistant,
    /// A tool: what it was given and what it gave.
    Tool,
}

impl Part {
    /// Whose it is.
    ///
    /// ```
    /// use towline_store::{Part, Speaker};
    ///
    /// assert_eq!(Part::Thinking.speaker(), Speaker::Assistant);
    /// ```
    pub fn speaker(self) -> Speaker {
        match self {
            Self::Prompt => Speaker::User,
            Self::Answer | Self::Thinking => Speaker::Assistant,
            Self::ToolInput | Self::ToolResult => Speaker::Tool,
        }
    }

    /// Its name, for lists.
    ///
    /// ```
    /// use towline_store::Part;
    ///
    /// assert_eq!(Part::ToolInput.name(), "tool input");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool input",
            Self::ToolResult => "tool result",
        }
    }
}

/// Gives the texts of a record one by one. What the CLI says to itself is left out.
pub(super) fn each_text(record: &Record, mut give: impl FnMut(Part, &str)) {
    let (content, part) = match record {
        Record::User(record) if record.is_meta != Some(true) => {
            (&record.message.content, Part::Prompt)
        }
        Record::Assistant(record) => (&record.message.content, Part::Answer),
        _ => return,
    };
    if let Some(content) = content.as_option() {
        content_texts(content, part, &mut give);
    }
}

fn content_texts(content: &Content, part: Part, give: &mut impl FnMut(Part, &str)) {
    match content {
        Content::Text(text) => give(part, text),
        Content::Object(json) => leaves(json, part, give),
        Content::Blocks(blocks) => {
            for block in blocks {
                block_texts(block, part, give);
            }
        }
    }
}

fn block_texts(block: &Block, part: Part, give: &mut impl FnMut(Part, &str)) {
    match block {
        Block::Text(block) => give(part, &block.text),
        Block::Thinking(block) => give(Part::Thinking, &block.thinking),
        Block::ToolUse(call) | Block::ServerToolUse(call) => {
            if let Some(input) = &call.input {
                leaves(input, Part::ToolInput, give);
            }
        }
        Block::ToolResult(result)
        | Block::WebSearchToolResult(result)
        | Block::WebFetchToolResult(result) => result_texts(result, give),
        // Data that nobody reads, and kinds that nobody knows.
        Block::RedactedThinking(_)
        | Block::Image(_)
        | Block::Document(_)
        | Block::ToolReference(_)
        | Block::Unknown(_) => {}
    }
}

/// A result holds no results, so this goes one deeper and no more.
fn result_texts(result: &ToolResultBlock, give: &mut impl FnMut(Part, &str)) {
    match result.content.as_option() {
        Some(Content::Text(text)) => give(Part::ToolResult, text),
        Some(Content::Object(json)) => leaves(json, Part::ToolResult, give),
        Some(Content::Blocks(blocks)) => {
            for block in blocks {
                match block {
                    Block::Text(block) => give(Part::ToolResult, &block.text),
                    Block::Unknown(unknown) => leaves(&unknown.json, Part::ToolResult, give),
                    _ => {}
                }
            }
        }
        None => {}
    }
}

fn leaves(json: &Json, part: Part, give: &mut impl FnMut(Part, &str)) {
    for leaf in json.leaves() {
        if let Leaf::Text(text) = leaf {
            give(part, &text);
        }
    }
}
