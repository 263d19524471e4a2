//! Writing a file all or nothing: beside it, to the disk, then in its place. Whoever looks, and whenever the process
//! is killed, there is the old content or the new, never a part.

use std::{
    fs::{File, Metadata},
    io::{self, Write},
    os::unix::fs::MetadataExt,
};

use rustix::fs::{Gid, Uid};

use towline_files::{Directory, RealPath};

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
/// are made. A folder that became a link since the path was resolved makes it fail.
pub(in crate::tools) fn replace(
    path: &RealPath,
    bytes: &[u8],
    before: Option<&Metadata>,
    interrupt: &Interrupt,
) -> Result<(), NotReplaced> {
    let (Some(folder), Some(name)) = (path.folder(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    };
    let folder = Directory::create(&folder)?;
    // Nobody but its owner sees what will be as private as the old one.
    let mode = if before.is_some() { 0o600 } else { 0o666 };
    let new = folder.draft(mode)?;
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
            let now = folder.status(name);
            if !now.is_ok_and(|now| now.is_unchanged_since(before)) {
                return Err(NotReplaced::Changed);
            }
            new.take_place_of(name)?;
        }
        None => new.become_new(name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => NotReplaced::Changed,
            _ => NotReplaced::Failed(error),
        })?,
    }
    // The name is on the disk only after this. Not every file system can do it, and the file is in place already.
    folder.sync().ok();
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

#[cfg(test)]
mod tests;
