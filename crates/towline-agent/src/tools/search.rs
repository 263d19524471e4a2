//! What `Glob` and `Grep` share: walking below a directory with ripgrep's own walker, and stopping in time.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use ignore::{
    WalkBuilder,
    overrides::{Override, OverrideBuilder},
};

use super::{Outcome, Place, blocking::Interrupt};

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// When it was last changed.
    pub(super) modified: SystemTime,
    /// Where it is.
    pub(super) path: PathBuf,
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

/// All plain files that a walk finds, and whether these are all; nothing if it took too long.
pub(super) fn files(walk: &WalkBuilder, patience: &Patience) -> Option<(Vec<Found>, bool)> {
    let mut found = Vec::new();
    for entry in walk.build() {
        if patience.is_over() {
            return None;
        }
        // A directory that may not be read is left out, as ripgrep does.
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if !metadata.is_file() {
            continue;
        }
        if found.len() == MOST {
            return Some((found, false));
        }
        found.push(Found {
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            path: entry.into_path(),
        });
    }
    Some((found, true))
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
