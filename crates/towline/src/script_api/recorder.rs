//! `--record`: each request that ended, a JSON object a line.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::Context;
use towline_testkit::script_api::Recorded;

use crate::recording;

/// The file, until writing to it fails.
#[derive(Debug)]
pub(super) struct Recorder {
    path: String,
    file: Mutex<io::Result<File>>,
}

impl Recorder {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = recording::create(path)?;
        Ok(Self {
            path: path.display().to_string(),
            file: Mutex::new(Ok(file)),
        })
    }

    /// Writes a line. The server goes on if that fails; the end tells.
    pub(super) fn write(&self, request: &Recorded) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.as_mut().ok().map(|file| {
            let mut line = serde_json::to_vec(request)?;
            line.push(b'\n');
            file.write_all(&line)
        });
        if let Some(Err(error)) = written {
            *file = Err(error);
        }
    }

    /// Says whether all was written.
    pub(super) fn finish(&self) -> anyhow::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = std::mem::replace(&mut *file, Err(io::ErrorKind::NotConnected.into()));
        closed.with_context(|| format!("cannot write `{}`", self.path))?;
        Ok(())
    }
}
