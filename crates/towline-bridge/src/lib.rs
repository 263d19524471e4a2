//! Carries the sessions of coding agents to anyone who watches: browsers, phones, other programs.
//!
//! Everything that lasts is a [`Frame`] with a number. The `hub` (pure) decides who sees what and which questions are
//! open; its shell starts agents, and writes to the [`log`] before anyone sees a frame. Surfaces translate.
#![warn(missing_docs)]

mod bridge;
mod frame;
pub mod hub;
pub mod log;
pub mod past;
mod record;
mod text;

pub use bridge::{Bridge, Launch, Parts, Reader, Restored, Shown, Viewer};
pub use frame::{Answered, Ask, Content, Frame, Input, Kind, Note, NoteCode, Outcome, Question};
pub use record::{SessionRecord, Usage};
