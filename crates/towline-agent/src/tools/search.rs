//! What `Glob` and `Grep` share: walking below a directory with ripgrep's own walker, and stopping in time.
//!
//! The walker follows no links, but it goes by paths: while it lists a folder, that may become a link. So a file counts as
//! found only if it is there by a path without links, see [`towline_files`].

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use ignore::{
    DirEntry, WalkBuilder,
    overrides::{Override, OverrideBuilder},
};

use towline_files::{Kind, RealPath, Walked};

use super::{Outcome, Place, Target, blocking::Interrupt};

/// A file that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// When it was last changed.
    pub(super) modified: SystemTime,
    /// Where it is.
    pub(super) real: RealPath,
    /// The same in the model's words.
    pub(super) words: PathBuf,
}

/// How long a search may go on.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    interrupt: Interrupt,
    until: Instant,
}

impl Patience {
    /// From now on.
    pub(super) fn new(interrupt: &Interrupt) -> Self {
        Self {
            interrupt: interrupt.clone(),
            until: Instant::now() + LONGEST,
        }
    }

    /// Whether to stop.
    pub(super) fn is_over(&self) -> bool {
        self.interrupt.is_set() || Instant::now() > self.until
    }

    /// What is said then.
    pub(super) fn in_words(&self) -> Outcome {
        Outcome::error(format!(
            "The search was stopped after {} seconds. Use a more specific path, pattern, glob or type.",
            LONGEST.as_secs()
        ))
    }
}

/// A reader that fails when patience is over, so that one huge file cannot hold a search up.
#[derive(Debug)]
pub(super) struct Patient<R> {
    /// What is read.
    pub(super) inner: R,
    /// How long.
    pub(super) patience: Patience,
}

impl<R: io::Read> io::Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.patience.is_over() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.inner.read(buffer)
    }
}

/// All plain files that a walk below the target finds, without those that rules hide, and whether these are all; nothing
/// if it took too long.
pub(super) fn files(
    place: &Place,
    target: &Target,
    walk: &WalkBuilder,
    patience: &Patience,
) -> Option<(Vec<Found>, bool)> {
    let mut found = Vec::new();
    let mut walked = Walked::new(target.real.clone());
    for entry in walk.build() {
        if patience.is_over() {
            return None;
        }
        // A directory that may not be read is left out, as ripgrep does.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| !kind.is_file()) {
            continue;
        }
        let Ok((real, status)) = walked.look(entry.path()) else {
            continue;
        };
        let words = target.in_words(&real);
        if status.kind != Kind::File || place.hidden.covers(&words, &real) {
            continue;
        }
        if found.len() == MOST {
            return Some((found, false));
        }
        found.push(Found {
            modified: status.modified,
            real,
            words,
        });
    }
    Some((found, true))
}

/// Whether an entry of a walk is a folder; a link to one is none.
pub(super) fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Globs as ripgrep's `--glob` takes them.
pub(super) fn globs<'a>(
    root: &Path,
    globs: impl IntoIterator<Item = &'a str>,
) -> Result<Override, Outcome> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        builder.add(glob).map_err(|error| rejected(&error))?;
    }
    builder.build().map_err(|error| rejected(&error))
}

/// A pattern, glob or type that cannot be understood.
pub(super) fn rejected(error: &dyn std::fmt::Display) -> Outcome {
    Outcome::error(format!(
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: {error}"
    ))
}

/// A path as it is shown: relative to where the shell is, if it is below.
pub(super) fn shown(place: &Place, path: &Path) -> String {
    let relative = path.strip_prefix(&place.current).unwrap_or(path);
    relative.to_string_lossy().into_owned()
}

/// The longest that a search goes on.
const LONGEST: Duration = Duration::from_secs(30);

/// The most files that are looked at.
const MOST: usize = 500_000;
