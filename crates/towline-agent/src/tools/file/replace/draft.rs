//! [`Draft`]: a file that is not there yet. It has no name while it is written, so that a process that is killed leaves
//! nothing behind.
//!
//! A file can only take the place of another by its name: there it has one for a moment. Some file systems know no files
//! without names: there it has one from the start. What was left behind in these ways is cleared away by the next draft
//! in the folder; a lock tells it from the draft of somebody who is alive.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, PermissionsExt},
        },
    },
    path::Path,
};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, linkat, open};
use tempfile::{Builder, NamedTempFile};

/// A file that is being written.
#[derive(Debug)]
pub(super) enum Draft<'a> {
    /// Without a name.
    Unnamed {
        /// The file.
        file: File,
        /// Where it will have one.
        folder: &'a Path,
    },
    /// Under a name of its own.
    Named(NamedTempFile),
}

impl<'a> Draft<'a> {
    /// Begins a file for this folder. `mode` is what a new file has, but for what the umask takes away.
    pub(super) fn begin(folder: &'a Path, mode: u32) -> io::Result<Self> {
        clear_away(folder);
        let draft = match unnamed(folder, mode) {
            Some(file) => Self::Unnamed { file, folder },
            None => Self::named(folder, mode)?,
        };
        // Where locks are not to be had, nobody gets one to clear it away.
        flock(draft.file(), FlockOperation::NonBlockingLockExclusive).ok();
        Ok(draft)
    }

    fn named(folder: &Path, mode: u32) -> io::Result<Self> {
        let mut builder = name();
        let builder = builder.permissions(Permissions::from_mode(mode));
        Ok(Self::Named(builder.tempfile_in(folder)?))
    }

    /// What is written to.
    pub(super) fn file(&self) -> &File {
        match self {
            Self::Unnamed { file, .. } => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Becomes the file at a path where there is none.
    pub(super) fn become_new(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Unnamed { file, .. } => link(&file, path),
            Self::Named(file) => match file.persist_noclobber(path) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.error),
            },
        }
    }

    /// Becomes the file at a path, in place of the one that is there.
    pub(super) fn take_place_of(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Unnamed { file, folder } => {
                let named = name().make_in(folder, |name| link(&file, name))?;
                named.persist(path).map_err(|error| error.error)?;
            }
            Self::Named(file) => {
                file.persist(path).map_err(|error| error.error)?;
            }
        }
        Ok(())
    }
}

/// A file without a name; nothing where that is not possible.
fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
    // It gets its name by this path.
    fs::metadata(path_of(&file)).is_ok().then_some(file)
}

/// Gives a file a name that nothing has.
fn link(file: &File, name: &Path) -> io::Result<()> {
    Ok(linkat(
        CWD,
        path_of(file),
        CWD,
        name,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Removes the drafts that somebody left behind. If it fails, somebody else will.
fn clear_away(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_name(&entry.file_name()) && is_left_behind(&entry.path()) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

/// Whether a draft is ours, and nobody writes it any more.
fn is_left_behind(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = open(path, flags, Mode::empty()).map(File::from) else {
        return false;
    };
    let is_ours = file.metadata().is_ok_and(|metadata| {
        metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw()
    });
    is_ours && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn name() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    builder
}

fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

const PREFIX: &str = ".towline-";
const SUFFIX: &str = ".tmp";

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_is_not_seen_before_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for expected in ["new", "newer"] {
            let before = names(folder);
            let draft = Draft::begin(folder, 0o600).unwrap();
            draft.file().write_all(expected.as_bytes()).unwrap();
            assert_eq!(names(folder), before);
            let path = folder.join("a");
            match before.as_slice() {
                [] => draft.become_new(&path).unwrap(),
                _ => draft.take_place_of(&path).unwrap(),
            }
            assert_eq!(names(folder), ["a"]);
            assert_eq!(fs::read_to_string(path).unwrap(), expected);
        }
    }

    #[test]
    fn a_draft_with_a_name_works_where_one_without_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let draft = Draft::named(folder, 0o644).unwrap();
        draft.file().write_all(b"one").unwrap();
        draft.become_new(&folder.join("a")).unwrap();
        let draft = Draft::named(folder, 0o644).unwrap();
        let taken = draft.become_new(&folder.join("a")).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        let draft = Draft::named(folder, 0o600).unwrap();
        draft.take_place_of(&folder.join("a")).unwrap();
        assert_eq!(names(folder), ["a"]);
    }

    #[test]
    fn what_the_dead_left_behind_is_cleared_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in [".towline-dead.tmp", ".towline-note", "towline-x.tmp"] {
            fs::write(folder.join(name), "").unwrap();
        }
        fs::create_dir(folder.join(".towline-folder.tmp")).unwrap();
        let alive = File::create(folder.join(".towline-alive.tmp")).unwrap();
        flock(&alive, FlockOperation::NonBlockingLockExclusive).unwrap();
        Draft::begin(folder, 0o644).unwrap();
        assert_eq!(
            names(folder),
            [
                ".towline-alive.tmp",
                ".towline-folder.tmp",
                ".towline-note",
                "towline-x.tmp"
            ]
        );
    }
}
