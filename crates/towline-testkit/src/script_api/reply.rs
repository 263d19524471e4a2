//! One reply of a script, and the functions that build it. How it looks on the wire is the business of `program`.

use std::time::Duration;

use super::{Json, When, api_error::ApiError};

/// What the API answers to one request, or to several.
///
/// ```
/// use serde_json::json;
/// use towline_testkit::script_api::Reply;
///
/// let hello = Reply::text("Hello.");
/// let look = Reply::message()
///     .thinking("The file is small.")
///     .and_text("I look into it.")
///     .tool("Bash", json!({"command": "cat a.txt"}));
/// let busy = Reply::error(529).header("retry-after", "0").times(2);
/// let torn = Reply::text("one two three").cut_after_events(4);
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) name: Option<String>,
    pub(super) when: When,
    /// How often it may be used; nothing is forever.
    pub(super) times: Option<u64>,
    pub(super) side: bool,
    pub(super) answer: Answer,
    pub(super) headers: Vec<(String, String)>,
    pub(super) acts: Vec<(Place, Act)>,
    pub(super) pieces: Pieces,
    pub(super) piece_delay: Duration,
}

/// What the reply consists of.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Message(Message),
    Error(ApiError),
    Http {
        status: u16,
        body: String,
    },
    Events(Vec<RawEvent>),
    /// Says what the request was.
    Echo,
}

/// A message of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) blocks: Vec<Block>,
    pub(super) stop_reason: Option<String>,
    pub(super) stop_sequence: Option<String>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) id: Option<String>,
}

/// A content block of a message.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    RedactedThinking(String),
    Tool {
        id: Option<String>,
        name: String,
        input: Json,
    },
    /// Any other block, as it goes over the wire.
    Raw(Json),
}

/// One event of a stream that the script writes itself.
#[derive(Clone, Debug)]
pub(super) enum RawEvent {
    /// Framed with its `type` as the name of the event.
    Json(Json),
    /// Sent as it is.
    Text(String),
}

/// The token counts of a reply. What is not set has a default that depends on the script alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request that were not cached; 100 by default.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply; a quarter of its characters by default.
    pub output_tokens: Option<u64>,
    /// Tokens written to the cache; 0 by default.
    pub cache_creation_input_tokens: Option<u64>,
    /// Tokens read from the cache; 0 by default.
    pub cache_read_input_tokens: Option<u64>,
}

/// How texts are cut into deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pieces {
    /// A delta a word; tool inputs, which have no words, every 16 characters.
    #[default]
    Words,
    /// A delta for so many characters; 0 counts as 1.
    Characters(usize),
    /// One delta a block.
    Whole,
}

/// Where in a reply something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the status line.
    Head,
    /// After so many events of the stream, the ping included.
    Events(usize),
    /// After so many bytes of the body.
    Bytes(usize),
    /// Before the content block with this index.
    Block(usize),
}

/// What happens there.
#[derive(Clone, Debug)]
pub enum Act {
    /// Waits until the gate of this name is released.
    Hold(String),
    /// Waits.
    Delay(Duration),
    /// Breaks off.
    Cut(Cut),
    /// Sends an `error` event of this type and message, and ends the stream.
    ///
    /// A request that does not stream gets the error as its response.
    Error {
        /// Such as `overloaded_error`.
        kind: String,
        /// What the error says.
        message: String,
    },
    /// Sends these words as they are, between the events.
    Send(String),
}

/// How a reply breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The connection is reset.
    Reset,
    /// The connection is closed, though more was promised.
    Close,
    /// The body ends as if it were whole.
    End,
}

impl Reply {
    /// A message with one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::message().and_text(text)
    }

    /// A message without content, to be filled.
    #[must_use]
    pub fn message() -> Self {
        Self::of(Answer::Message(Message::default()))
    }

    /// An error of the API, with the type that goes with the status.
    #[must_use]
    pub fn error(status: u16) -> Self {
        Self::of(Answer::Error(ApiError::of_status(status)))
    }

    /// Any response: a page of HTML, an empty body, broken JSON.
    #[must_use]
    pub fn http(status: u16, content_type: &str, body: impl Into<String>) -> Self {
        let body = body.into();
        Self::of(Answer::Http { status, body }).header("content-type", content_type)
    }

    /// A stream of these events, whatever they are; each is framed with its `type`.
    #[must_use]
    pub fn events(events: impl IntoIterator<Item = serde_json::Value>) -> Self {
        let events = events.into_iter().map(|event| RawEvent::Json(event.into()));
        Self::of(Answer::Events(events.collect()))
    }

    /// A text that says what the request was; the same for equal requests.
    #[must_use]
    pub fn echo() -> Self {
        Self::of(Answer::Echo)
    }

    pub(super) fn of(answer: Answer) -> Self {
        Self {
            name: None,
            when: When::default(),
            times: Some(1),
            side: false,
            answer,
            headers: Vec::new(),
            acts: Vec::new(),
            pieces: Pieces::default(),
            piece_delay: Duration::ZERO,
        }
    }

    /// Goes on with a text. (`text` is the name of the function that starts a reply.)
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Text(text.into()))
    }

    /// Goes on with thinking, under a made-up signature.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.signed_thinking(text, SIGNATURE)
    }

    /// Goes on with thinking under this signature.
    #[must_use]
    pub fn signed_thinking(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        let (text, signature) = (text.into(), signature.into());
        self.with_block(Block::Thinking { text, signature })
    }

    /// Goes on with thinking that only the API can read.
    #[must_use]
    pub fn redacted_thinking(self, data: impl Into<String>) -> Self {
        self.with_block(Block::RedactedThinking(data.into()))
    }

    /// Goes on with a tool call; its id is made from the request's index.
    #[must_use]
    pub fn tool(self, name: impl Into<String>, input: serde_json::Value) -> Self {
        self.with_block(Block::Tool {
            id: None,
            name: name.into(),
            input: input.into(),
        })
    }

    /// Goes on with a tool call under this id.
    #[must_use]
    pub fn tool_with_id(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: serde_json::Value,
    ) -> Self {
        self.with_block(Block::Tool {
            id: Some(id.into()),
            name: name.into(),
            input: input.into(),
        })
    }

    /// Goes on with any other block, such as a `server_tool_use`.
    #[must_use]
    pub fn block(self, block: serde_json::Value) -> Self {
        self.with_block(Block::Raw(block.into()))
    }

    /// Waits at a gate before what comes next in the message.
    #[must_use]
    pub fn then_hold(self, gate: impl Into<String>) -> Self {
        self.then(Act::Hold(gate.into()))
    }

    /// Does something before what comes next in the message.
    #[must_use]
    pub fn then(self, act: Act) -> Self {
        let next = match &self.answer {
            Answer::Message(message) => message.blocks.len(),
            _ => 0,
        };
        self.at(Place::Block(next), act)
    }

    /// Waits at a gate before the reply begins.
    #[must_use]
    pub fn hold(self, gate: impl Into<String>) -> Self {
        self.at(Place::Head, Act::Hold(gate.into()))
    }

    /// Waits at a gate after so many events.
    #[must_use]
    pub fn hold_after_events(self, events: usize, gate: impl Into<String>) -> Self {
        self.at(Place::Events(events), Act::Hold(gate.into()))
    }

    /// Waits before the reply begins.
    #[must_use]
    pub fn delay(self, time: Duration) -> Self {
        self.at(Place::Head, Act::Delay(time))
    }

    /// Resets the connection instead of answering.
    #[must_use]
    pub fn cut(self) -> Self {
        self.at(Place::Head, Act::Cut(Cut::Reset))
    }

    /// Resets the connection after so many events.
    #[must_use]
    pub fn cut_after_events(self, events: usize) -> Self {
        self.at(Place::Events(events), Act::Cut(Cut::Reset))
    }

    /// Resets the connection after so many bytes of the body.
    #[must_use]
    pub fn cut_after_bytes(self, bytes: usize) -> Self {
        self.at(Place::Bytes(bytes), Act::Cut(Cut::Reset))
    }

    /// Sends an `error` event of this type after so many events, and ends the stream.
    #[must_use]
    pub fn error_after_events(self, events: usize, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        self.at(Place::Events(events), Act::Error { kind, message })
    }

    /// Does something at a place. Acts at one place happen in the order in which they were said.
    #[must_use]
    pub fn at(mut self, place: Place, act: Act) -> Self {
        self.acts.push((place, act));
        self
    }

    /// Cuts texts into deltas like this.
    #[must_use]
    pub fn pieces(mut self, pieces: Pieces) -> Self {
        self.pieces = pieces;
        self
    }

    /// Waits so long before each delta.
    #[must_use]
    pub fn piece_delay(mut self, time: Duration) -> Self {
        self.piece_delay = time;
        self
    }

    /// Adds a header to the response; an empty one takes the API's own of that name away.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Stops for this reason instead of `tool_use` after a tool call and `end_turn` else.
    #[must_use]
    pub fn stop_reason(self, reason: &str) -> Self {
        self.edit(|message| message.stop_reason = Some(reason.to_owned()))
    }

    /// Counts tokens like this.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        self.edit(|message| message.usage = usage)
    }

    /// Names this model instead of the one that was asked for.
    #[must_use]
    pub fn model(self, model: &str) -> Self {
        self.edit(|message| message.model = Some(model.to_owned()))
    }

    /// Gives the error this message.
    #[must_use]
    pub fn error_message(mut self, text: &str) -> Self {
        if let Answer::Error(error) = &mut self.answer {
            text.clone_into(&mut error.message);
        }
        self
    }

    /// Gives the error this type.
    #[must_use]
    pub fn error_type(mut self, kind: &str) -> Self {
        if let Answer::Error(error) = &mut self.answer {
            kind.clone_into(&mut error.kind);
        }
        self
    }

    /// Is called this in the record.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Answers so many requests; one by default.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Answers any number of requests.
    #[must_use]
    pub fn forever(mut self) -> Self {
        self.times = None;
        self
    }

    /// Answers only requests like this, and before any reply without a condition.
    #[must_use]
    pub fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    /// Answers only requests whose prompt has these words.
    #[must_use]
    pub fn when_prompt_contains(mut self, words: impl Into<String>) -> Self {
        self.when.prompt_contains = Some(words.into());
        self
    }

    /// Answers only requests that bring the result of this tool, by the call's id or by the tool's name.
    #[must_use]
    pub fn when_tool_result_for(mut self, tool: impl Into<String>) -> Self {
        self.when.tool_result_for = Some(tool.into());
        self
    }

    /// Answers only requests of subagents.
    #[must_use]
    pub fn when_subagent(mut self) -> Self {
        self.when.agent = Some(super::Agent::Subagent);
        self
    }

    /// What it answers is recorded as a side request, which a test does not count.
    #[must_use]
    pub fn side(mut self) -> Self {
        self.side = true;
        self
    }

    fn with_block(self, block: Block) -> Self {
        self.edit(|message| message.blocks.push(block))
    }

    /// Changes the message. Other kinds of replies have none, and stay what they are.
    fn edit(mut self, change: impl FnOnce(&mut Message)) -> Self {
        if let Answer::Message(message) = &mut self.answer {
            change(message);
        }
        self
    }
}

/// A signature is opaque to everyone but the API; this one says what it is.
pub(super) const SIGNATURE: &str = "c2NyaXB0ZWQgc2lnbmF0dXJl";
