//! What coding agents keep on disk: the transcripts of their sessions, and their settings.
//!
//! [`Home`] is the configuration folder; it finds a [`Session`], lists them and searches them. [`Records`] streams a
//! transcript of any size; [`Transcript`] reads it once and keeps its [`Tree`]: which branch is live, what a resumed
//! session would hold. [`TranscriptWriter`] appends to one. Titles and tags are appended, as the real CLI and the
//! official SDKs do; nothing is ever rewritten.
//!
//! A [`Workspace`] is a project as its settings see it. [`Home::settings`] finds the files that count there; what they
//! say is for others to read. [`Home::trusts`] and [`Home::saved_answers`] are what the person said of a project, and
//! [`Offer`] what the project's files wait for.
//!
//! Everything is synchronous. Files that are being written to are fine. No link inside the projects folder is followed,
//! and only a UUID can name a session, so nothing outside that folder is touched.
#![warn(missing_docs)]

mod append;
mod edit;
mod error;
mod find;
mod fork;
mod glance;
mod home;
mod key;
mod list;
mod offer;
mod plain;
mod project;
mod prompt;
mod records;
mod replace;
mod search;
mod session;
mod settings;
mod state;
mod transcript;
mod tree;
mod workspace;

pub use append::TranscriptWriter;
pub use error::Error;
pub use fork::ForkOptions;
pub use home::{Home, Scope};
pub use key::SessionKey;
pub use list::{ListQuery, Listing, SessionSummary};
pub use offer::{Offer, OfferItem, OfferKind};
pub use plain::open as open_plain;
pub use project::project_folder_name;
pub use records::{
    Entry, Located, NumberedLine, NumberedLines, Place, Records, SkipReason, Skipped,
};
pub use search::{Excerpt, Hit, Part, Pattern, Search, SearchQuery, Speaker};
pub use session::{Session, Subagent};
pub use settings::{SettingsFile, managed_folder};
pub use transcript::Transcript;
pub use tree::{Branch, NodeId, NodeKind, Offspring, Reason, Step, Tree};
pub use workspace::Workspace;
