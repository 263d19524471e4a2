//! What the model has seen of which files, so that it changes none that it does not know.

use std::{
    collections::HashMap,
    fs::Metadata,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

/// The files that the model has seen. Clones share what they know.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilesRead(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files: HashMap<PathBuf, (u64, State)>,
    /// Counts what was noted, to forget the oldest first.
    noted: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Its content, and how much of it was shown.
    Read(Fingerprint, Extent),
    /// The host said so: as it was at this time, in milliseconds.
    Seeded(i64),
}

/// What tells one content from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Fingerprint {
    size: u64,
    hash: u64,
}

/// How much of a file the model was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Extent {
    /// All.
    Whole,
    /// Some lines, or none.
    Part,
}

/// What the model knows of a file as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Seen {
    /// Nothing.
    Never,
    /// It is as it was when the model saw it.
    Current(Extent),
    /// It was changed since.
    Stale,
}

impl FilesRead {
    /// Takes a file as read, as it was at `modified` (milliseconds since 1970): the host has shown it to the model.
    pub(crate) fn seed(&self, path: &Path, modified: i64) {
        self.insert(path, State::Seeded(modified));
    }

    /// Notes that the model knows a file with this content; `path` has no links in it.
    pub(in crate::tools) fn note(&self, path: &Path, content: Fingerprint, extent: Extent) {
        self.insert(path, State::Read(content, extent));
    }

    /// What the model knows of a file as it is now.
    pub(in crate::tools) fn seen(&self, path: &Path, metadata: &Metadata, bytes: &[u8]) -> Seen {
        let state = self.known().files.get(path).map(|(_, state)| *state);
        match state {
            None => Seen::Never,
            // The content decides: a file that was only touched is still the one that was read.
            Some(State::Read(content, extent)) if content == Fingerprint::of(bytes) => {
                Seen::Current(extent)
            }
            Some(State::Seeded(at))
                if modified_at(metadata).is_some_and(|modified| modified <= at) =>
            {
                Seen::Current(Extent::Whole)
            }
            Some(_) => Seen::Stale,
        }
    }

    /// Whether the model has seen it at all.
    pub(in crate::tools) fn knows(&self, path: &Path) -> bool {
        self.known().files.contains_key(path)
    }

    fn insert(&self, path: &Path, state: State) {
        let mut known = self.known();
        known.noted += 1;
        let noted = known.noted;
        known.files.insert(path.to_owned(), (noted, state));
        if known.files.len() > MOST {
            // Half at once, so that it costs little for each.
            let mut ages: Vec<u64> = known.files.values().map(|(noted, _)| *noted).collect();
            let (_, middle, _) = ages.select_nth_unstable(MOST / 2);
            let middle = *middle;
            known.files.retain(|_, (noted, _)| *noted > middle);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing in here panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fingerprint {
    /// Of a content in one piece.
    pub(in crate::tools) fn of(bytes: &[u8]) -> Self {
        let mut fingerprint = FingerprintOf::default();
        fingerprint.add(bytes);
        fingerprint.finish()
    }
}

/// A fingerprint of a content that comes in pieces, however it is cut.
#[derive(Debug, Default)]
pub(in crate::tools) struct FingerprintOf {
    size: u64,
    hasher: DefaultHasher,
}

impl FingerprintOf {
    /// The next piece.
    pub(in crate::tools) fn add(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.hasher.write(bytes);
    }

    /// There is no more.
    pub(in crate::tools) fn finish(&self) -> Fingerprint {
        let mut hasher = self.hasher.clone();
        self.size.hash(&mut hasher);
        Fingerprint {
            size: self.size,
            hash: hasher.finish(),
        }
    }
}

fn modified_at(metadata: &Metadata) -> Option<i64> {
    let modified: SystemTime = metadata.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// How many files are remembered.
const MOST: usize = 8192;

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Extent, FilesRead, Fingerprint, FingerprintOf, MOST, Seen, modified_at};

    #[test]
    fn a_fingerprint_does_not_depend_on_how_the_content_is_cut() {
        let text = b"one two three four five six seven eight nine";
        for size in 1..text.len() {
            let mut pieces = FingerprintOf::default();
            text.chunks(size).for_each(|piece| pieces.add(piece));
            assert_eq!(pieces.finish(), Fingerprint::of(text), "pieces of {size}");
        }
        assert_ne!(Fingerprint::of(b"a"), Fingerprint::of(b"b"));
    }

    #[test]
    fn a_seeded_file_is_known_until_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let modified = modified_at(&metadata).unwrap();
        for (at, seen) in [
            (modified - 1, Seen::Stale),
            (modified, Seen::Current(Extent::Whole)),
            (modified + 1, Seen::Current(Extent::Whole)),
        ] {
            let files = FilesRead::default();
            assert_eq!(files.seen(&path, &metadata, b"one"), Seen::Never);
            files.seed(&path, at);
            assert_eq!(files.clone().seen(&path, &metadata, b"one"), seen);
        }
    }

    #[test]
    fn the_oldest_are_forgotten_and_memory_has_a_bound() {
        let files = FilesRead::default();
        for index in 0..3 * MOST {
            files.seed(Path::new(&format!("/{index}")), 0);
        }
        assert!(files.known().files.len() <= MOST);
        assert!(!files.knows(Path::new("/0")));
        assert!(files.knows(Path::new(&format!("/{}", 3 * MOST - 1))));
    }
}
