//! [`Frame`]: one thing that happened in a session and lasts: a line of the agent, an input, a question, its answer.
//!
//! The body is JSON text, and that of a line is the agent's own line, byte for byte: storing, sending and replaying a
//! frame never decodes it. [`Frame::content`] does, for surfaces that translate.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use towline_protocol::{
    Frame as LineFrame, Text, ToHost, ToolName, ToolUseId, Uuid, dialect::pocket::ClientMessageId,
};
use utoipa::ToSchema;

/// Something that happened in a session, with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its number in the session: the first is 1, and none is left out.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at: u64,
    /// What the body is.
    pub kind: Kind,
    /// A JSON object.
    pub body: Text,
}

/// What the body of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A line of the agent, as it wrote it.
    Line,
    /// What a person said: [`Input`].
    Input,
    /// What the agent wants to know: [`Question`].
    Question,
    /// How a question ended: [`Answered`].
    Answer,
    /// What the bridge has to say: [`Note`].
    Note,
}

/// What is in a frame.
#[derive(Debug)]
pub enum Content {
    /// A line of the agent.
    Line(Box<LineFrame<ToHost>>),
    /// What a person said.
    Input(Input),
    /// What the agent wants to know.
    Question(Question),
    /// How a question ended.
    Answer(Answered),
    /// What the bridge has to say.
    Note(Note),
    /// What this version cannot read, such as the body of a newer one.
    Unreadable,
}

/// What a person said.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Input {
    /// A string, or the blocks of a message with pictures.
    #[schema(value_type = Object)]
    pub content: Box<RawValue>,
    /// What the client calls it, so that the same one sent twice runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub client_message_id: Option<ClientMessageId>,
    /// What the agent's transcript calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub uuid: Option<Uuid>,
    /// Who said it.
    pub by: String,
}

/// What the agent wants to know.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// Its name in the session: that of the tool call where there is one.
    pub id: String,
    /// What kind of answer it wants.
    pub ask: Ask,
    /// The tool that wants to run.
    #[schema(value_type = String)]
    pub tool_name: ToolName,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tool_use_id: Option<ToolUseId>,
    /// What the tool would be called with.
    #[schema(value_type = Object)]
    pub input: Box<RawValue>,
    /// The whole request of the agent, with its suggestions and reasons.
    #[schema(value_type = Object)]
    pub request: Box<RawValue>,
}

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// May this tool run?
    Permission,
    /// Which of these? The questions are in `input.questions`.
    Choices,
    /// Is this plan good? It is in `input.plan`.
    Plan,
    /// Something of an MCP server, or of a later version: shown, and refused if nobody can answer it.
    Dialog,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answered {
    /// The question.
    pub id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Who answered it; nobody if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was said with it: a reason, or the answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What was accepted with it beyond this once: the permission updates that the agent was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub accepted: Vec<Value>,
}

impl Answered {
    /// A question that ended without anybody.
    pub fn by_itself(id: String, outcome: Outcome) -> Self {
        Self {
            id,
            outcome,
            by: None,
            message: None,
            accepted: Vec::new(),
        }
    }
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was allowed, this once.
    Allowed,
    /// It was allowed, and its like too for the rest of the session.
    AllowedForSession,
    /// It was allowed, and its like too from now on: a rule was written to a settings file.
    AllowedAndSaved,
    /// It was denied.
    Denied,
    /// It was answered.
    Answered,
    /// The agent takes it back, or the bridge was restarted.
    Cancelled,
    /// Nobody answered in time; it counts as denied.
    TimedOut,
    /// The agent is gone.
    AgentEnded,
}

/// What the bridge has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Note {
    /// What happened, for programs.
    pub code: NoteCode,
    /// What happened, for people.
    pub text: String,
}

/// What the bridge has to say, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteCode {
    /// The agent could not be started.
    StartFailed,
    /// The agent ended when nobody wanted it to.
    AgentDied,
    /// The bridge was restarted while the agent was at work.
    CutOff,
    /// The agent wrote what cannot be used.
    Malformed,
    /// The agent complained on its standard error.
    Stderr,
    /// A person stopped the session.
    Stopped,
    /// Messages did not reach the agent, and do not any more.
    Dropped,
    /// Messages did not reach the agent before it ended. It gets them when it is started again.
    Unheard,
    /// The permission mode has changed.
    ModeChanged,
    /// The model has changed.
    ModelChanged,
    /// The session was continued elsewhere; its lines follow.
    TakenIn,
    /// An agent that keeps no transcript was started anew: it does not know what was said before.
    Forgotten,
    /// A person went back to the message that the text names: what came after it does not count.
    Rewound,
}

impl Frame {
    /// What is in it.
    pub fn content(&self) -> Content {
        fn read<T: DeserializeOwned>(body: &str, content: fn(T) -> Content) -> Content {
            serde_json::from_str(body).map_or(Content::Unreadable, content)
        }
        match self.kind {
            Kind::Line => LineFrame::decode(self.body.clone())
                .map_or(Content::Unreadable, |line| Content::Line(Box::new(line))),
            Kind::Input => read(&self.body, Content::Input),
            Kind::Question => read(&self.body, Content::Question),
            Kind::Answer => read(&self.body, Content::Answer),
            Kind::Note => read(&self.body, Content::Note),
        }
    }

    /// The record of the transcript that it is also.
    pub(crate) fn uuid(&self) -> Option<Uuid> {
        match self.content() {
            Content::Line(line) => line.message.uuid().map(Uuid::detached),
            Content::Input(input) => input.uuid,
            _ => None,
        }
    }

    /// The frame as the HTTP API gives it out: `{"seq":…,"at":…,"kind":"…","body":{…}}`.
    pub fn to_json(&self) -> String {
        let Self {
            seq,
            at,
            kind,
            body,
        } = self;
        let kind = kind.name();
        format!(r#"{{"seq":{seq},"at":{at},"kind":"{kind}","body":{body}}}"#)
    }
}

impl Kind {
    /// Its name in the log and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Input => "input",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Note => "note",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let kinds = [
            Self::Line,
            Self::Input,
            Self::Question,
            Self::Answer,
            Self::Note,
        ];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}
