//! The crate as its users see it.

#![expect(
    clippy::unwrap_used,
    reason = "what these tests share may fail as they do"
)]

mod opening;
mod properties;
mod reaching;
mod resolving;
