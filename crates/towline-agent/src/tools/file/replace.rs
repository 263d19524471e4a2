//! Writing a file all or nothing: beside it, to the disk, then in its place. Whoever looks, and whenever the process
//! is killed, there is the old content or the new, never a part.

mod draft;

use std::{
    fs::{self, File, Metadata},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

use rustix::fs::{Gid, Uid};

use self::draft::Draft;
use super::super::blocking::Interrupt;

/// Why a file was not written. It is as it was.
#[derive(Debug)]
pub(in crate::tools) enum NotReplaced {
    /// Somebody else has changed it since it was looked at.
    Changed,
    /// The call was interrupted.
    Interrupted,
    /// Something else.
    Failed(io::Error),
}

impl From<io::Error> for NotReplaced {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Puts `bytes` in place of a file, or makes one where there was none; `before` is what was there. Directories above it
/// are made. `path` has no links in it.
pub(in crate::tools) fn replace(
    path: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
    interrupt: &Interrupt,
) -> Result<(), NotReplaced> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    // Nobody but its owner sees what will be as private as the old one.
    let mode = if before.is_some() { 0o600 } else { 0o666 };
    let new = Draft::begin(folder, mode)?;
    new.file().write_all(bytes)?;
    if let Some(before) = before {
        keep_owner_and_mode(new.file(), before)?;
    }
    new.file().sync_all()?;
    if interrupt.is_set() {
        return Err(NotReplaced::Interrupted);
    }
    match before {
        Some(before) => {
            let unchanged = fs::symlink_metadata(path).is_ok_and(|now| is_same(before, &now));
            if !unchanged {
                return Err(NotReplaced::Changed);
            }
            new.take_place_of(path)?;
        }
        None => new.become_new(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => NotReplaced::Changed,
            _ => NotReplaced::Failed(error),
        })?,
    }
    // The name is on the disk only after this. Not every file system can do it, and the file is in place already.
    drop(File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

fn keep_owner_and_mode(file: &File, before: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        // Only the superuser may give files away. The group alone is possible more often.
        let (owner, group) = (Uid::from_raw(before.uid()), Gid::from_raw(before.gid()));
        if rustix::fs::fchown(file, Some(owner), Some(group)).is_err() {
            let _ = rustix::fs::fchown(file, None, Some(group));
        }
    }
    // After the owner, since giving a file away takes the set-user bits off.
    file.set_permissions(before.permissions())
}

fn is_same(before: &Metadata, now: &Metadata) -> bool {
    let key = |file: &Metadata| {
        (
            file.dev(),
            file.ino(),
            file.size(),
            file.mtime(),
            file.mtime_nsec(),
        )
    };
    key(before) == key(now)
}

#[cfg(test)]
mod tests;
