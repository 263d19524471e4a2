//! [`Directory`]: a folder by its handle. Whatever becomes of its path meanwhile, the handle stays where it is.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustix::{
    fs::{Dir, FileType, Mode, OFlags, mkdirat, openat},
    io::Errno,
};

use crate::{Kind, PlainFile, RealPath, Refused, without_links};

/// A folder, open.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    /// Its path, for messages.
    path: PathBuf,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// The kind of file; a link is not followed.
    pub kind: Kind,
}

impl Directory {
    /// Opens the folder at a real path.
    ///
    /// # Errors
    /// When it is no folder, or a part of the path is a link by now.
    pub fn open(path: &RealPath) -> io::Result<Self> {
        Ok(Self {
            handle: without_links::open(path, without_links::FOLDER)?,
            path: path.as_path().to_owned(),
        })
    }

    /// The same, and makes it and the folders above it where they are missing.
    ///
    /// # Errors
    /// When one of them is no folder, cannot be made, or is a link by now.
    pub fn create(path: &RealPath) -> io::Result<Self> {
        let mut missing = Vec::new();
        let mut existing = path.clone();
        let mut directory = loop {
            match Self::open(&existing) {
                Ok(directory) => break directory,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let (Some(folder), Some(name)) = (existing.folder(), existing.file_name())
                    else {
                        return Err(error);
                    };
                    missing.push(name.to_owned());
                    existing = folder;
                }
                Err(error) => return Err(error),
            }
        };
        for name in missing.iter().rev() {
            match mkdirat(&directory.handle, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            directory = directory.directory(name)?;
        }
        Ok(directory)
    }

    /// Opens a folder in it, which is no link.
    ///
    /// # Errors
    /// When it is no folder.
    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(single(name)?);
        Ok(Self {
            handle: self.open_name(name, without_links::FOLDER)?,
            path,
        })
    }

    /// Opens a plain file in it for reading; a link is refused.
    ///
    /// # Errors
    /// When it is no plain file, or cannot be read.
    pub fn file(&self, name: &OsStr) -> Result<PlainFile, Refused> {
        let opened = self.open_name(name, OFlags::RDONLY);
        PlainFile::of(File::from(opened.map_err(Refused::of)?))
    }

    /// Its entries, in the order of the file system.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entries(&self) -> io::Result<Entries<'_>> {
        // A handle of its own: this one may be a place to open from only, and has one position for all.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(&self.handle, ".", flags, Mode::empty())?;
        Ok(Entries {
            entries: Dir::new(handle)?,
            directory: self,
        })
    }

    /// Writes its names to the disk.
    ///
    /// # Errors
    /// When the file system cannot.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(&self.handle, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(handle)?)
    }

    /// Tells when something in it was made, removed or renamed last, or its own rights were changed. Unlike the time of a
    /// change that a file keeps for people, this one cannot be set.
    ///
    /// # Errors
    /// When the file system cannot tell.
    pub fn changed(&self) -> io::Result<SystemTime> {
        Ok(crate::status::changed(&rustix::fs::fstat(&self.handle)?))
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    fn open_name(&self, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
        single(name)?;
        let flags = flags | without_links::always(flags);
        openat(&self.handle, name, flags, Mode::empty()).map_err(|errno| {
            let errno = without_links::link_or(errno, &self.handle, name.as_ref());
            without_links::in_words(errno, &self.path.join(name))
        })
    }
}

impl From<Directory> for OwnedFd {
    /// The handle, for a place where only the system's own is understood.
    fn from(directory: Directory) -> Self {
        directory.handle
    }
}

/// A name that leads to no other folder.
pub(crate) fn single(name: &OsStr) -> io::Result<&OsStr> {
    if Path::new(name).file_name() == Some(name) {
        Ok(name)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// The entries of a [`Directory`].
#[derive(Debug)]
pub struct Entries<'a> {
    entries: Dir,
    directory: &'a Directory,
}

impl Iterator for Entries<'_> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.entries.next()? {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(errno.into())),
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from_vec(name.to_owned());
            let kind = match entry.file_type() {
                // Some file systems do not tell.
                FileType::Unknown => match self.directory.status(&name) {
                    Ok(status) => status.kind,
                    // It is gone again.
                    Err(_) => continue,
                },
                kind => Kind::of(kind),
            };
            return Some(Ok(Entry { name, kind }));
        }
    }
}
