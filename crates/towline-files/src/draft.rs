//! [`Draft`]: a file that is not there yet. It has no name while it is written, so that a process that is killed leaves
//! nothing behind.
//!
//! A file can only take the place of another by its name: there it has one for a moment. Some file systems know no files
//! without names: there it has one from the start. What was left behind in these ways is cleared away by the next draft
//! in the folder; a lock tells it from the draft of a process that is alive.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    hash::{BuildHasher, RandomState},
    io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags, flock, linkat, openat, renameat, unlinkat},
    io::Errno,
};

use crate::{Directory, Kind, directory::single, without_links};

/// A file that is being written.
#[derive(Debug)]
pub struct Draft<'a> {
    file: File,
    folder: &'a Directory,
    /// The name that it has meanwhile.
    name: Option<Temporary<'a>>,
}

impl Directory {
    /// Begins a file for this folder. `mode` is what a new file has, but for what the umask takes away.
    ///
    /// # Errors
    /// When no file can be made here.
    pub fn draft(&self, mode: u32) -> io::Result<Draft<'_>> {
        clear_away(self);
        let mode = Mode::from_raw_mode(mode);
        let draft = match unnamed(self, mode) {
            Some(draft) => draft,
            None => named(self, mode)?,
        };
        // Where locks are not to be had, no other process gets one to clear it away.
        flock(&draft.file, FlockOperation::NonBlockingLockExclusive).ok();
        Ok(draft)
    }
}

impl Draft<'_> {
    /// The file to be written to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The same, to be changed.
    pub fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Becomes the file of a name that nothing has.
    ///
    /// # Errors
    /// When there is something already.
    pub fn become_new(self, name: &OsStr) -> io::Result<()> {
        single(name)?;
        match &self.name {
            None => link(&self.file, self.folder, name),
            // Its own name, if it still has one, is taken away by the drop.
            Some(named) => match rename_new(self.folder, &named.name, name) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    let handle = self.folder.handle();
                    Ok(linkat(handle, &named.name, handle, name, AtFlags::empty())?)
                }
                renamed => Ok(renamed?),
            },
        }
    }

    /// Becomes the file of a name, in place of the one that is there.
    ///
    /// # Errors
    /// When that cannot be replaced.
    pub fn take_place_of(self, name: &OsStr) -> io::Result<()> {
        single(name)?;
        let mut named = match self.name {
            Some(named) => named,
            None => Temporary::make(self.folder, |name| link(&self.file, self.folder, name))?.0,
        };
        let handle = self.folder.handle();
        renameat(handle, &named.name, handle, name)?;
        named.is_there = false;
        Ok(())
    }
}

/// A name that is taken away again.
#[derive(Debug)]
struct Temporary<'a> {
    folder: &'a Directory,
    name: OsString,
    is_there: bool,
}

impl<'a> Temporary<'a> {
    /// Makes something under a name that is free.
    fn make<T>(
        folder: &'a Directory,
        make: impl Fn(&OsStr) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let mut tries = 0;
        loop {
            let random = RandomState::new().hash_one(tries);
            let name = OsString::from(format!("{PREFIX}{random:016x}{SUFFIX}"));
            match make(&name) {
                Ok(made) => {
                    let is_there = true;
                    return Ok((
                        Self {
                            folder,
                            name,
                            is_there,
                        },
                        made,
                    ));
                }
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && tries < MOST_TRIES =>
                {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.is_there {
            unlinkat(self.folder.handle(), &self.name, AtFlags::empty()).ok();
        }
    }
}

/// A file without a name; nothing where that is not possible.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Directory, mode: Mode) -> Option<Draft<'_>> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(openat(folder.handle(), ".", flags, mode).ok()?);
    // It gets its name by this path.
    std::fs::metadata(path_of(&file)).is_ok().then_some(Draft {
        file,
        folder,
        name: None,
    })
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Directory, _: Mode) -> Option<Draft<'_>> {
    None
}

fn named(folder: &Directory, mode: Mode) -> io::Result<Draft<'_>> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
    let flags = flags | without_links::always(flags);
    let create = |name: &OsStr| -> io::Result<File> {
        Ok(openat(folder.handle(), name, flags, mode)?.into())
    };
    let (name, file) = Temporary::make(folder, create)?;
    Ok(Draft {
        file,
        folder,
        name: Some(name),
    })
}

/// Gives a file without a name one that nothing has.
fn link(file: &File, folder: &Directory, name: &OsStr) -> io::Result<()> {
    let (handle, follow) = (folder.handle(), AtFlags::SYMLINK_FOLLOW);
    Ok(linkat(
        rustix::fs::CWD,
        path_of(file),
        handle,
        name,
        follow,
    )?)
}

/// Renames where nothing has the new name; not every file system can link, nor every system rename so.
#[cfg(target_os = "linux")]
fn rename_new(folder: &Directory, old: &OsStr, new: &OsStr) -> Result<(), Errno> {
    let handle = folder.handle();
    rustix::fs::renameat_with(handle, old, handle, new, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(target_os = "linux"))]
fn rename_new(_: &Directory, _: &OsStr, _: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

fn path_of(file: &File) -> String {
    use std::os::fd::AsRawFd as _;

    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Removes the drafts that a process left behind. If it fails, another one will.
fn clear_away(folder: &Directory) {
    for entry in folder.entries().into_iter().flatten().flatten() {
        if entry.kind == Kind::File && is_name(&entry.name) && is_left_behind(folder, &entry.name) {
            unlinkat(folder.handle(), &entry.name, AtFlags::empty()).ok();
        }
    }
}

/// Whether a draft is ours, and no process writes it any more.
fn is_left_behind(folder: &Directory, name: &OsStr) -> bool {
    let Ok(found) = folder.file(name) else {
        return false;
    };
    let is_ours = found.metadata.uid() == rustix::process::geteuid().as_raw();
    is_ours && flock(&found.file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

const PREFIX: &str = ".towline-";
const SUFFIX: &str = ".tmp";

/// How many names are tried.
const MOST_TRIES: usize = 100;

#[cfg(test)]
mod tests;
