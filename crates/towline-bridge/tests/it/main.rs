//! The bridge from outside: what lasts, who is let in, what is shown, how it is configured.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, also in the functions that tests share"
)]

mod access;
mod agents;
mod full_disk;
mod killed;
mod log_files;
mod made;
mod page;
mod past;
mod project;
mod properties;
mod qr;
mod reading;
mod searching;
mod settings;
mod speed;
mod writing;
