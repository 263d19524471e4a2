//! Opening a path so that no part of it is a link: `openat2` where the kernel has it, else a walk of folder handles.

use std::{
    error, fmt, io,
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

use crate::RealPath;

/// Opens what is at a real path. `flags` create nothing and do not look at links themselves (`O_PATH` comes with
/// `O_DIRECTORY`).
pub(crate) fn open(real: &RealPath, flags: OFlags) -> io::Result<OwnedFd> {
    real.check()?;
    let opened = match at_once(real, flags) {
        // A kernel before 5.6, or a sandbox that does not know the call: seccomp answers with one of these.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(real, flags),
        // A link at the end, or a file: the walk tells which.
        Err(Errno::NOTDIR) => step_by_step(real, flags),
        opened => opened,
    };
    opened.map_err(|errno| in_words(errno, real))
}

/// Whether an opening failed since a part of the path became a link after it was resolved.
pub fn is_link_in_the_way(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<LinkInTheWay>())
}

#[cfg(target_os = "linux")]
fn at_once(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, ResolveFlags, openat2};

    let (flags, mut tries) = (flags | always(flags), 0);
    loop {
        let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        match opened {
            Err(Errno::AGAIN | Errno::INTR) if tries < MOST_TRIES => tries += 1,
            opened => return opened,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Each folder by its name in the handle of the one above it.
fn step_by_step(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (folder, last) = (FOLDER | always(FOLDER), flags | always(flags));
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut next = names.next();
    let flags_of_root = if next.is_some() { folder } else { last };
    let mut handle = rustix::fs::open("/", flags_of_root, Mode::empty())?;
    while let Some(name) = next {
        next = names.next();
        let flags = if next.is_some() { folder } else { last };
        handle = openat(&handle, name, flags, Mode::empty())
            .map_err(|errno| link_or(errno, &handle, name.as_ref()))?;
    }
    Ok(handle)
}

/// A link in place of a folder is told like one in place of a file.
pub(crate) fn link_or(errno: Errno, handle: impl AsFd, name: &Path) -> Errno {
    if errno != Errno::NOTDIR {
        return errno;
    }
    match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
        _ => errno,
    }
}

/// The error for a person: a real path had no link when it was resolved.
pub(crate) fn in_words(errno: Errno, path: &Path) -> io::Error {
    if errno == Errno::LOOP {
        io::Error::other(LinkInTheWay(path.to_owned()))
    } else {
        errno.into()
    }
}

/// A part of a path became a link.
#[derive(Debug)]
struct LinkInTheWay(PathBuf);

impl fmt::Display for LinkInTheWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.display();
        write!(
            f,
            "`{path}` was not opened: a part of it is a link now and was none when the path was checked; try again"
        )
    }
}

impl error::Error for LinkInTheWay {}

/// The flags of every opening: it waits for nothing, takes no terminal, and its last part is no link.
pub(crate) fn always(flags: OFlags) -> OFlags {
    let any = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if flags.contains(FOLDER) {
        // `openat2` takes no more beside `O_PATH`, and folders are not waited for.
        any
    } else {
        any | OFlags::NONBLOCK | OFlags::NOCTTY
    }
}

/// A folder as a place to open from: it need not be readable for that.
#[cfg(target_os = "linux")]
pub(crate) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// The kernel asks for another try where folders move while it looks.
#[cfg(target_os = "linux")]
const MOST_TRIES: usize = 100;

#[cfg(test)]
mod tests;
