//! [`Status`]: what is at a path, without opening it.

use std::{
    ffi::OsStr,
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt as _,
    time::{Duration, SystemTime},
};

use rustix::fs::{FileType, Stat};

use crate::{Directory, RealPath, without_links};

/// The file at a path, unopened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The kind of file.
    pub kind: Kind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last changed.
    pub modified: SystemTime,
    device: u64,
    inode: u64,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A link. [`status`] never gives it: a real path leads to none.
    Link,
    /// A device, pipe or socket.
    Special,
}

/// Tells what is at a real path.
///
/// # Errors
/// When nothing is there, or a part of the path is a link by now.
pub fn status(path: &RealPath) -> io::Result<Status> {
    let (Some(folder), Some(name)) = (path.folder(), path.file_name()) else {
        return Directory::open(path)?.own_status();
    };
    path.check()?;
    let found = Directory::open(&folder)?.status(name)?;
    if found.kind == Kind::Link {
        return Err(without_links::in_words(rustix::io::Errno::LOOP, path));
    }
    Ok(found)
}

impl Status {
    /// Whether it is the same file with the same content as when `metadata` was taken, as far as the file system tells.
    pub fn is_unchanged_since(&self, metadata: &Metadata) -> bool {
        let before = (metadata.dev(), metadata.ino(), metadata.size());
        (self.device, self.inode, self.size) == before
            && metadata
                .modified()
                .is_ok_and(|modified| modified == self.modified)
    }

    #[expect(
        clippy::unnecessary_cast,
        reason = "the widths of these fields differ between systems"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode)),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
        }
    }
}

impl Kind {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// When the file itself was changed, not only its content.
#[expect(
    clippy::unnecessary_cast,
    reason = "the widths of these fields differ between systems"
)]
pub(crate) fn changed(stat: &Stat) -> SystemTime {
    time(stat.st_ctime as i64, stat.st_ctime_nsec as u32)
}

/// A time that no clock can hold counts as 1970.
fn time(seconds: i64, nanoseconds: u32) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    let fraction = Duration::from_nanos(nanoseconds.into());
    let time = whole.and_then(|whole| whole.checked_add(fraction));
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

impl Directory {
    /// Tells what is in it under a name. A link is told as one.
    ///
    /// # Errors
    /// When nothing is there.
    pub fn status(&self, name: &OsStr) -> io::Result<Status> {
        let stat = rustix::fs::statat(self.handle(), name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Status::of(&stat))
    }

    fn own_status(&self) -> io::Result<Status> {
        Ok(Status::of(&rustix::fs::fstat(self.handle())?))
    }
}
