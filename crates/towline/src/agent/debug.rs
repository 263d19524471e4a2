//! `--debug-to-stderr` and `--debug-file`: what the agent does, line by line, for those who look for a fault.

use std::{fs::OpenOptions, io, sync::Mutex};

use tracing::Level;

use super::{Refusal, arguments::RawFlags, flags::Id};
use crate::terminal::LogWriter;

/// Listens, if a flag says where to write.
pub(super) fn listen(flags: &RawFlags) -> Result<(), Refusal> {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::DEBUG)
        .with_ansi(false);
    // There is one agent in a process, and so there is one listener.
    if let Some(path) = flags.value(Id::DebugFile) {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file =
            file.map_err(|error| Refusal::new(format!("Error: --debug-file {path}: {error}")))?;
        subscriber
            .with_writer(Mutex::new(LogWriter(file)))
            .try_init()
            .ok();
    } else if flags.has(Id::DebugToStderr) {
        subscriber
            .with_writer(|| LogWriter(io::stderr()))
            .try_init()
            .ok();
    }
    Ok(())
}
