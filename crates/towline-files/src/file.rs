//! Plain files, opened for reading without ever waiting: a pipe without a writer and a device are refused, not read.

use std::{
    fs::{File, Metadata},
    io::{self, Read as _},
};

use rustix::{fs::OFlags, io::Errno};

use crate::{RealPath, without_links};

/// A plain file, open for reading.
#[derive(Debug)]
pub struct PlainFile {
    /// The file.
    pub file: File,
    /// Its metadata when it was opened.
    pub metadata: Metadata,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Refused {
    /// It is not there.
    Missing,
    /// It is a directory.
    Directory,
    /// It is a device, pipe or socket.
    Special,
    /// Something else.
    Failed(io::Error),
}

/// Opens a plain file for reading.
///
/// # Errors
/// When it is no plain file, cannot be read, or a part of its path is a link by now.
pub fn open(path: &RealPath) -> Result<PlainFile, Refused> {
    let opened = without_links::open(path, OFlags::RDONLY).map_err(Refused::of)?;
    PlainFile::of(File::from(opened))
}

impl PlainFile {
    pub(crate) fn of(file: File) -> Result<Self, Refused> {
        let metadata = file.metadata().map_err(Refused::of)?;
        if metadata.is_dir() {
            Err(Refused::Directory)
        } else if metadata.is_file() {
            Ok(Self { file, metadata })
        } else {
            Err(Refused::Special)
        }
    }

    /// All of it; nothing if it is larger than that.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(self, largest: u64) -> io::Result<Option<Vec<u8>>> {
        if self.metadata.len() > largest {
            return Ok(None);
        }
        // A file may grow while it is read, and files of the kernel do not tell their size.
        let mut bytes = Vec::new();
        let bound = largest.saturating_add(1);
        self.file.take(bound).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= largest).then_some(bytes))
    }
}

impl Refused {
    pub(crate) fn of(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Directory,
            // A socket: "no such device or address".
            _ if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Self::Special,
            _ => Self::Failed(error),
        }
    }
}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Missing => Errno::NOENT.into(),
            Refused::Directory => Errno::ISDIR.into(),
            Refused::Special => Self::other("it is a device, pipe or socket, not a file"),
            Refused::Failed(error) => error,
        }
    }
}
