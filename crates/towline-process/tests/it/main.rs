//! Groups of real processes, and how they end.

#![expect(
    clippy::unwrap_used,
    reason = "the lint lets tests off, but not what several tests share"
)]

mod groups;
