//! Carries the sessions of coding agents to anyone who watches: browsers, phones, other programs.
//!
//! Everything that lasts is a [`Frame`] with a number. The `hub` (pure) decides who sees what and which questions are
//! open; its shell starts agents, and writes to the [`log`] before anyone sees a frame. Surfaces translate.
#![warn(missing_docs)]

pub mod access;
pub mod agents;
mod bridge;
mod desk;
mod frame;
pub mod hub;
mod library;
pub mod log;
pub mod past;
pub mod project;
pub mod qr;
mod record;
mod serve;
pub mod settings;
mod text;
pub mod trust;
pub mod web;

pub use bridge::{Bridge, Launch, Parts, Restored, Shown, Unanswered, Viewer};
pub use desk::{
    Allowances, Begun, Beyond, Denial, Desk, Unsayable, Unshown, Wish, launch, unanswered,
};
pub use frame::{Answered, Ask, Content, Frame, Input, Kind, Note, NoteCode, Outcome, Question};
pub use library::Library;
pub use record::{SessionRecord, Usage};
pub use serve::{Checkup, Running, StartError, Surroundings};
