//! Content: what messages are made of, in both directions.

use crate::{
    ids::ToolUseId,
    json::{Json, Reader, Text, Writer},
    tool::ToolName,
    wire::{Nullable, Parts, Result, Unnamed, wire_enum, wire_structs},
};

/// The content of a message or of a tool result: a string, blocks, or (document 001 §6.7) a bare object.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(Text),
    /// A list of blocks.
    Blocks(Vec<Block>),
    /// An object that is no block, as the result of a background agent in document 001.
    Object(Json),
}

impl Content {
    /// The text in it: the string itself, or the text blocks joined by blank lines (document 001 §2.3).
    pub fn text(&self) -> Text {
        match self {
            Self::Text(text) => text.clone(),
            Self::Object(json) => json.text().clone(),
            Self::Blocks(blocks) => {
                let mut texts = blocks.iter().filter_map(|block| match block {
                    Block::Text(block) => Some(&block.text),
                    _ => None,
                });
                match (texts.next(), texts.next()) {
                    (None, _) => Text::new(),
                    (Some(only), None) => only.clone(),
                    (Some(first), Some(second)) => {
                        let rest = texts.map(Text::as_str);
                        [first.as_str(), second]
                            .into_iter()
                            .chain(rest)
                            .collect::<Vec<_>>()
                            .join("\n\n")
                            .into()
                    }
                }
            }
        }
    }

    /// What a local command printed, out of the tags it comes in (document 001 §7.3).
    ///
    /// ```
    /// use towline_protocol::Content;
    ///
    /// let content = Content::from("<local-command-stdout>Total cost: $0</local-command-stdout>");
    /// assert_eq!(content.local_command_output().unwrap(), "Total cost: $0");
    /// assert_eq!(Content::from("Total cost?").local_command_output(), None);
    /// ```
    pub fn local_command_output(&self) -> Option<Text> {
        let text = self.text();
        let inside = text.trim().strip_prefix("<local-command-stdout>")?;
        inside
            .strip_suffix("</local-command-stdout>")
            .map(Text::from)
    }

    /// The blocks; none for a string.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) | Self::Object(_) => &[],
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<Block>> for Content {
    fn from(blocks: Vec<Block>) -> Self {
        Self::Blocks(blocks)
    }
}

impl Parts for Content {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        match reader.peek() {
            b'"' => reader.text().map(Self::Text),
            b'[' => Vec::read(reader).map(Self::Blocks),
            b'{' => reader.json().map(Self::Object),
            _ => Err(reader.expected("a string or a list of blocks")),
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Text(text) => text.write(writer),
            Self::Blocks(blocks) => blocks.write(writer),
            Self::Object(json) => json.write(writer),
        }
    }

    fn unnamed(&self, found: &mut Unnamed) {
        if let Self::Blocks(blocks) = self {
            blocks.unnamed(found);
        }
    }
}

wire_enum! {
    /// One block of content.
    pub enum Block by "type" {
        /// Words.
        "text" => Text(TextBlock),
        /// The model's thinking.
        "thinking" => Thinking(ThinkingBlock),
        /// Thinking that only the API can read.
        "redacted_thinking" => RedactedThinking(RedactedThinkingBlock),
        /// A tool call.
        "tool_use" => ToolUse(ToolUseBlock),
        /// What a tool call gave.
        "tool_result" => ToolResult(Box<ToolResultBlock>),
        /// A picture.
        "image" => Image(MediaBlock),
        /// A PDF or other document.
        "document" => Document(MediaBlock),
        /// A tool call that the API runs itself.
        "server_tool_use" => ServerToolUse(ToolUseBlock),
        /// What the API's own web search gave.
        "web_search_tool_result" => WebSearchToolResult(Box<ToolResultBlock>),
        /// What the API's own web fetch gave.
        "web_fetch_tool_result" => WebFetchToolResult(Box<ToolResultBlock>),
        /// A deferred tool that a tool search found.
        "tool_reference" => ToolReference(ToolReferenceBlock),
    }
}

wire_structs! {
    /// `{"type":"text","text":…}`
    #[derive(Default)]
    pub struct TextBlock {
        /// The words.
        text: Text,
        /// Where they come from, when the model cites.
        citations: Nullable<Json>,
        /// A mark for prompt caching.
        cache_control: Nullable<Json>,
    }

    /// `{"type":"thinking","thinking":…,"signature":…}`
    #[derive(Default)]
    pub struct ThinkingBlock {
        /// The thoughts.
        thinking: Text,
        /// Proof for the API that they are the model's own.
        signature: Option<Text>,
    }

    /// `{"type":"redacted_thinking","data":…}`
    #[derive(Default)]
    pub struct RedactedThinkingBlock {
        /// Encrypted thoughts, to be sent back as they are.
        data: Text,
    }

    /// `{"type":"tool_use","id":…,"name":…,"input":…}`
    pub struct ToolUseBlock {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: ToolName,
        /// Its arguments, raw; [`ToolInput::read`](crate::ToolInput::read) gives them typed. Absent at the start of a
        /// streamed block in document 001 §6.3.
        input: Option<Json>,
        /// Who called, when it was not the model itself.
        caller: Option<Json>,
        /// A mark for prompt caching.
        cache_control: Nullable<Json>,
    }

    /// `{"type":"tool_result","tool_use_id":…,"content":…}`
    pub struct ToolResultBlock {
        /// The call it answers.
        tool_use_id: ToolUseId,
        /// What the model gets to see.
        content: Nullable<Content>,
        /// Whether the tool failed, was denied or was interrupted.
        is_error: Nullable<bool> = "is_error" | "isError",
        /// A mark for prompt caching.
        cache_control: Nullable<Json>,
    }

    /// `{"type":"image","source":…}` and `{"type":"document","source":…}`
    pub struct MediaBlock {
        /// The data, or where it is.
        source: MediaSource,
        /// The name of a document.
        title: Nullable<Text>,
        /// What the document is about.
        context: Nullable<Text>,
        /// Whether the model may cite it.
        citations: Nullable<Json>,
        /// A mark for prompt caching.
        cache_control: Nullable<Json>,
    }

    /// The data of a picture or document: `base64`, `url`, `text` or `file`.
    #[derive(Default)]
    pub struct MediaSource {
        /// How the data is given.
        kind: Text = "type",
        /// Such as `image/png`.
        media_type: Option<Text> = "media_type" | "mediaType",
        /// The data in base64, or the text.
        data: Option<Text>,
        /// Where to fetch it.
        url: Option<Text>,
        /// A file the API has already.
        file_id: Option<Text>,
    }

    /// `{"type":"tool_reference","tool_name":…}`
    pub struct ToolReferenceBlock {
        /// The tool that was found.
        tool_name: ToolName,
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            ..TextBlock::default()
        })
    }

    /// A picture from data in base64.
    pub fn image(media_type: impl Into<Text>, base64: impl Into<Text>) -> Self {
        Self::Image(MediaBlock {
            source: MediaSource {
                kind: Text::from_static("base64"),
                media_type: Some(media_type.into()),
                data: Some(base64.into()),
                ..MediaSource::default()
            },
            title: Nullable::Absent,
            context: Nullable::Absent,
            citations: Nullable::Absent,
            cache_control: Nullable::Absent,
            extra: crate::wire::Extra::default(),
        })
    }
}
