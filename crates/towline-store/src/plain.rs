//! Opening of plain files and real folders. Nothing here follows a link, so that a link inside the projects folder
//! cannot lead out of it, and nothing waits at a pipe.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// Opens a plain file to read it byte by byte. A link is not followed and a pipe not waited for.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let text = std::io::read_to_string(open_plain(session.path())?)?;
/// assert!(text.contains("Why does the login fail?"));
/// assert!(matches!(open_plain(session.project_folder()), Err(Error::NotPlain { .. })));
/// # });
/// ```
///
/// # Errors
/// When there is no plain file, or it may not be read.
pub fn open(path: &Path) -> Result<File> {
    open_with(path, OpenOptions::new().read(true), "read")
}

/// Opens a plain file that is there already, to read it and write behind its end.
pub(crate) fn open_to_append(path: &Path) -> Result<File> {
    open_with(path, OpenOptions::new().read(true).append(true), "write to")
}

fn open_with(path: &Path, options: &mut OpenOptions, action: &'static str) -> Result<File> {
    // Before the open for systems without the flags, and after it for those with a race in between.
    let metadata = fs::symlink_metadata(path).map_err(Error::io(action, path))?;
    let not_plain = || Error::NotPlain {
        path: path.to_owned(),
    };
    if !metadata.is_file() {
        return Err(not_plain());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(Error::io(action, path))?;
    let metadata = file.metadata().map_err(Error::io(action, path))?;
    if metadata.is_file() {
        Ok(file)
    } else {
        Err(not_plain())
    }
}

/// Whether there is a folder that is no link.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether there is a link, wherever it leads.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// What is in a folder, links left out, in the order of the names; nothing if there is no such folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<(PathBuf, Kind)>> {
    let action = "list";
    let listed = match fs::read_dir(folder) {
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        listed => listed.map_err(Error::io(action, folder))?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(Error::io(action, folder))?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Kind::Folder,
            Ok(kind) if kind.is_file() => Kind::File,
            // A link, a device, or gone in the meantime.
            _ => continue,
        };
        found.push((entry.path(), kind));
    }
    found.sort();
    Ok(found)
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Folder,
}

pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
