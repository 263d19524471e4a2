//! The WebSocket protocol between a phone app and a bridge server (document 004 §8), as the ccpocket app speaks it.
//!
//! One JSON object a WebSocket message: [`ToServer`] from the app, [`ToClient`] from the bridge. The document has
//! 11 kinds of the one and 10 of the other; the app has added many since, and those that matter to a bridge for one
//! kind of agent have names here too. What has none is [`ToServer::Unknown`] and gets [`ToServer::unsupported`] for
//! an answer, which the app understands. Fields for agents of other makers have no names: they are kept in `extra`.
//!
//! Two ids must not be mixed up: [`BridgeId`] names a session of the bridge, [`SessionId`](crate::SessionId) the
//! agent's own. Nothing here decides what a message does.
//!
//! ```
//! use towline_protocol::{Wire, dialect::pocket::{ToClient, ToServer}};
//!
//! let message = ToServer::from_json(r#"{"type":"input","text":"hello","sessionId":"1a2b3c4d"}"#)?;
//! assert!(matches!(&message, ToServer::Input(input) if input.text == "hello"));
//! assert_eq!(message.unsupported(), None);
//!
//! let answer = ToServer::from_json(r#"{"type":"take_screenshot"}"#)?.unsupported().unwrap();
//! assert_eq!(
//!     answer.to_json().as_str(),
//!     r#"{"type":"error","message":"take_screenshot","errorCode":"unsupported_message"}"#,
//! );
//!
//! let error = ToServer::from_json(r#"{"type":"input","text":1}"#).unwrap_err();
//! let ToClient::Error(problem) = ToClient::invalid(&error) else { panic!("not an error") };
//! assert_eq!(problem.message, "expected a string in `text` at byte 23");
//! # Ok::<(), towline_protocol::DecodeError>(())
//! ```

mod account;
mod answer;
mod input;
mod project;
mod sessions;
mod to_client;
mod to_server;

pub use account::*;
pub use answer::{AnswerEnvelope, AnswerError};
pub use input::*;
pub use project::*;
pub use sessions::*;
pub use to_client::*;
pub use to_server::*;

use crate::wire::{wire_ids, wire_strings};

wire_ids! {
    /// A session of the bridge, as in `sessionId`: eight hexadecimal digits. Not the agent's own session id.
    BridgeId;
    /// What a client calls an input, so that the same one sent twice can be told.
    ClientMessageId;
}

impl BridgeId {
    /// The id made of 32 random bits.
    ///
    /// ```
    /// use towline_protocol::dialect::pocket::BridgeId;
    ///
    /// assert_eq!(BridgeId::from_bits(0x1a2b), "00001a2b");
    /// ```
    pub fn from_bits(bits: u32) -> Self {
        format!("{bits:08x}").into()
    }

    /// Whether it has the form that a bridge gives its ids.
    pub fn is_well_formed(&self) -> bool {
        let digits = self.as_str().as_bytes();
        digits.len() == 8
            && digits
                .iter()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    }
}

wire_strings! {
    /// What a session is doing.
    #[derive(Default)]
    pub enum Status {
        /// Waits for input.
        Idle = "idle",
        /// Works.
        Running = "running",
        /// Waits for a person to allow something or to answer.
        WaitingApproval = "waiting_approval",
        /// Is being started.
        #[default]
        Starting = "starting",
        /// Sums up its context.
        Compacting = "compacting",
        /// Its agent is gone; an addition of ours, the app has no such word.
        Dead = "dead",
    }

    /// Whose agent it is.
    pub enum Provider {
        /// Claude.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
    }

    /// How much an agent may do without asking, in the app's three steps.
    pub enum ExecutionMode {
        /// Ask.
        Default = "default",
        /// Edit files in the project without asking.
        AcceptEdits = "acceptEdits",
        /// Never ask.
        FullAccess = "fullAccess",
    }

    /// How hard the model tries.
    pub enum Effort {
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// More.
        ExtraHigh = "xhigh",
        /// All it can.
        Max = "max",
    }

    /// Which list of recent sessions is meant.
    pub enum RequestScope {
        /// That of all projects.
        List = "list",
        /// That of one project.
        Project = "project",
    }

    /// What a rewind puts back.
    pub enum RewindMode {
        /// The conversation.
        Conversation = "conversation",
        /// The files.
        Code = "code",
        /// Both.
        Both = "both",
    }

    /// What a `system` message tells.
    #[derive(Default)]
    pub enum SystemKind {
        /// The agent has begun.
        #[default]
        Init = "init",
        /// The bridge has a new session.
        SessionCreated = "session_created",
        /// The commands that can be called.
        SupportedCommands = "supported_commands",
        /// The permission mode has changed.
        SetPermissionMode = "set_permission_mode",
        /// Advice for the person.
        Tip = "tip",
        /// An old session is being resumed.
        SessionResumeStarted = "session_resume_started",
        /// An old session could not be resumed.
        SessionResumeFailed = "session_resume_failed",
    }

    /// How a turn ended.
    #[derive(Default)]
    pub enum Outcome {
        /// Well.
        #[default]
        Success = "success",
        /// Badly.
        Error = "error",
        /// A person stopped it.
        Stopped = "stopped",
    }

    /// What went wrong, for programs.
    pub enum ErrorCode {
        /// The server does not know this type of message.
        UnsupportedMessage = "unsupported_message",
        /// The message is not what it says it is; an addition of ours.
        InvalidMessage = "invalid_message",
        /// The bridge has no such session.
        SessionNotFound = "session_not_found",
        /// The path is outside of what the bridge may show.
        PathNotAllowed = "path_not_allowed",
    }

    /// Why a client gets a snapshot in place of what it missed.
    pub enum SnapshotReason {
        /// What it missed is no longer kept.
        Compacted = "compacted",
        /// The numbers have started over.
        Reset = "reset",
        /// It was too slow, and was not told everything; the messages that it missed follow. An addition of ours.
        Gap = "gap",
    }
}
