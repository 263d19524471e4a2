//! The stream-json protocol of coding-agent CLIs: one JSON object a line, between a host and an agent.
//!
//! [`ToAgent`] and [`ToHost`] are the lines of the two directions. A decoded line keeps its bytes ([`Frame`]), and a
//! message keeps every field it has no name for ([`Extra`]), so nothing is lost between reading and writing. Bytes
//! become lines in [`LineDecoder`]; [`Peer`] knows which questions are open; [`Accumulator`] builds messages from
//! stream events; [`dialect`] translates the other protocols that clients speak. [`peek`] is for relays that need
//! only to know where a line belongs.
//!
//! The crate does no IO and reads no clock, file or environment variable.
//!
//! ```
//! use towline_protocol::{Frame, ToHost};
//!
//! let frame = Frame::<ToHost>::decode(
//!     r#"{"type":"result","subtype":"success","is_error":false,"result":"4","session_id":"s1"}"#,
//! )?;
//! let ToHost::Result(result) = &frame.message else { panic!("not a result") };
//! assert_eq!(result.text().unwrap(), "4");
//! # Ok::<(), towline_protocol::DecodeError>(())
//! ```
#![warn(missing_docs)]

mod accumulator;
mod codec;
mod content;
pub mod control;
pub mod dialect;
mod frame;
mod hook;
mod ids;
mod json;
mod message;
mod peek;
mod peer;
mod permission;
mod result;
mod shown;
mod stream;
mod system;
mod to_agent;
mod to_host;
mod tool;
pub mod trace;
pub mod transcript;
mod user;
mod wire;

pub use accumulator::*;
pub use codec::{Line, LineDecoder};
pub use content::*;
pub use control::{
    ControlCancelRequest, ControlRequest, ControlResponse, Failure, Reply, Success,
    request::Request,
};
pub use frame::{AgentFrame, Frame, HostFrame};
pub use hook::*;
pub use ids::*;
pub use json::{DecodeError, Json, Leaf, Leaves, Number, Text};
pub use message::*;
pub use peek::{Peek, is_control, peek, peek_kind};
pub use peer::{Answer, ControlLine, Event, Outcome, Output, Peer, Stray, Ticket, Withdrawal};
pub use permission::*;
pub use result::*;
pub use shown::{escaped, is_hidden, marked, push_escape};
pub use stream::*;
pub use system::*;
pub use to_agent::{SessionMessage, ToAgent, UpdateEnvironment};
pub use to_host::*;
pub use tool::*;
pub use user::*;
pub use wire::{Extra, Map, Nullable, OneOrMany, TextOrJson, Unknown, Wire};
