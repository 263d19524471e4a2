//! How the bridge keeps what happened: its log, the search index, and sessions held elsewhere.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, also in the functions that tests share"
)]

mod full_disk;
mod killed;
mod log_files;
mod made;
mod past;
mod properties;
mod reading;
mod searching;
mod speed;
mod writing;
