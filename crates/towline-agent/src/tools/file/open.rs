//! Opening a file without ever waiting for it: a pipe nobody writes to and a device are refused, not read.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// A plain file, open for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum Refused {
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
pub(crate) fn open(path: &Path) -> Result<Opened, Refused> {
    // Not waiting is what lets a pipe be opened at all; for plain files it means nothing.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Refused::Missing,
        io::ErrorKind::IsADirectory => Refused::Directory,
        // A socket: "no such device or address".
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            Refused::Special
        }
        _ => Refused::Failed(error),
    };
    let file = opened.map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        Err(Refused::Directory)
    } else if metadata.is_file() {
        Ok(Opened { file, metadata })
    } else {
        Err(Refused::Special)
    }
}

impl Opened {
    /// All of it; nothing if it is larger than that.
    pub(in crate::tools) fn read(self, largest: u64) -> io::Result<Option<Vec<u8>>> {
        if self.metadata.len() > largest {
            return Ok(None);
        }
        // A file may grow while it is read, and files of the kernel do not tell their size.
        let mut bytes = Vec::new();
        self.file.take(largest + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= largest).then_some(bytes))
    }
}
