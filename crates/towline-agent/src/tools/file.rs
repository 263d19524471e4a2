//! Files as the tools see them: opened as they were judged and without waiting, read within a bound, written all or nothing.

mod missing;
mod patch;
mod replace;
mod state;
mod text;
mod words;

use std::fs::Metadata;

use towline_files::{RealPath, Refused, open};

use self::replace::{NotReplaced, replace};
use super::{Outcome, Place, blocking::Interrupt};

pub(crate) use state::FilesRead;
pub(super) use {
    missing::does_not_exist,
    patch::structured_patch,
    state::{Extent, Fingerprint, FingerprintOf, Seen},
    text::{NotText, Text, unix},
    words::{in_words, size_in_words},
};

/// A file that is about to be changed.
#[derive(Debug)]
pub(super) struct Original {
    /// What is in it.
    pub(super) text: Text,
    /// As it was when it was read.
    pub(super) metadata: Metadata,
    /// What the model has seen of it.
    pub(super) seen: Seen,
}

/// Reads a file that is about to be changed. Nothing if it is not there.
pub(super) fn original(place: &Place, real: &RealPath) -> Result<Option<Original>, Outcome> {
    let opened = match open(real) {
        Ok(opened) => opened,
        Err(Refused::Missing) => return Ok(None),
        Err(Refused::Directory) => {
            return Err(Outcome::misuse(format!(
                "{} is a directory, not a file. Give the path of a file.",
                real.display()
            )));
        }
        Err(Refused::Special) => {
            return Err(Outcome::misuse(format!(
                "Cannot change '{}': it is a device, pipe or socket, not a file.",
                real.display()
            )));
        }
        Err(Refused::Failed(error)) => return Err(Outcome::error(in_words(&error, "open", real))),
    };
    let metadata = opened.metadata.clone();
    let bytes = match opened.read(LARGEST_CHANGED) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(Outcome::error(format!(
                "{} is larger than {}, the most that is changed in one piece. Use a shell command instead.",
                real.display(),
                size_in_words(LARGEST_CHANGED)
            )));
        }
        Err(error) => return Err(Outcome::error(in_words(&error, "read", real))),
    };
    let text = Text::decode(&bytes).map_err(|not_text| {
        Outcome::misuse(format!(
            "{} These tools never change a file's encoding, so nothing was written. Use a shell command that keeps it, or \
             delete the file first and Write it anew.",
            not_text.in_words()
        ))
    })?;
    let seen = place.files.seen(real, &metadata, &bytes);
    Ok(Some(Original {
        text,
        metadata,
        seen,
    }))
}

/// What a file is to hold from now on.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// Where it is, with links followed.
    pub(super) real: &'a RealPath,
    /// What it will hold.
    pub(super) text: &'a Text,
    /// What it held; nothing for a new file.
    pub(super) before: Option<&'a Original>,
    /// How much of it the model knows then.
    pub(super) extent: Extent,
}

impl Change<'_> {
    /// Writes it, all or nothing.
    pub(super) fn put(&self, place: &Place, interrupt: &Interrupt) -> Result<(), Outcome> {
        let bytes = self.text.encode();
        let before = self.before.map(|before| &before.metadata);
        replace(self.real, &bytes, before, interrupt).map_err(|error| match error {
            NotReplaced::Changed => modified(),
            NotReplaced::Interrupted => Outcome::error("interrupted before anything was written"),
            NotReplaced::Failed(error) => Outcome::error(in_words(&error, "write", self.real)),
        })?;
        place
            .files
            .note(self.real, Fingerprint::of(&bytes), self.extent);
        Ok(())
    }
}

/// What stands against a change of a file that the model does not know, or no longer knows.
pub(super) fn not_read() -> Outcome {
    Outcome::misuse("File has not been read yet. Read it first before writing to it.")
}

/// What stands against a change of a file that was changed by somebody else.
pub(super) fn modified() -> Outcome {
    Outcome::misuse(
        "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
    )
}

/// Follows a change after which the model knows the whole file.
pub(super) const KNOWN: &str = " (file state is current in your context — no need to Read it back)";

/// The largest file that is changed: its old content goes to the host too, in one line.
const LARGEST_CHANGED: u64 = 16 << 20;
