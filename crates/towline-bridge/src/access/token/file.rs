//! The token's file: `token` in the data folder, mode 0600, written whole or not at all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    },
    path::Path,
};

use rustix::{fs::OFlags, process::geteuid};

use super::{Kept, LONGEST, Token, TokenError};

impl Token {
    /// The token of a data folder; the first time, a new one.
    ///
    /// Two bridges that start at once get the same one. A file that others could read is closed to them, and
    /// [`Kept::warning`] says so.
    ///
    /// # Errors
    /// When the file cannot be read or written, belongs to somebody else, is a link, or holds no token.
    pub fn load_or_create(folder: &Path) -> Result<Kept, TokenError> {
        let path = folder.join("token");
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.map_err(|error| TokenError::io(folder, &error))?;
        let created = match create(folder, &path) {
            Ok(()) => true,
            Err(Creation::Exists) => false,
            Err(Creation::Failed(error)) => return Err(error),
        };
        let (token, warning) = read(&path)?;
        Ok(Kept {
            token,
            file: path,
            created,
            warning,
        })
    }
}

enum Creation {
    Exists,
    Failed(TokenError),
}

/// Writes a new token beside the file and then gives it its name, which fails if there is one already.
fn create(folder: &Path, path: &Path) -> Result<(), Creation> {
    let failed = |error: io::Error| Creation::Failed(TokenError::io(path, &error));
    if fs::symlink_metadata(path).is_ok() {
        return Err(Creation::Exists);
    }
    let token = Token::generate().map_err(Creation::Failed)?;
    // Made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    writeln!(file, "{}", token.expose()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(Creation::Exists),
        Err(error) => Err(failed(error.error)),
    }
}

fn read(path: &Path) -> Result<(Token, Option<String>), TokenError> {
    let failed = |error: io::Error| TokenError::io(path, &error);
    // Not through a link, and without waiting for the writer of a pipe.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::LOOP) => {
                TokenError::file(path, "is a link; put the file itself there")
            }
            _ => failed(error),
        })?;
    let warning = close_to_others(path, &file)?;
    let mut text = String::new();
    let mut bounded = file.take(LONGEST as u64 + 2);
    bounded.read_to_string(&mut text).map_err(failed)?;
    let token = Token::parse(text.trim()).map_err(|error| {
        TokenError::file(path, format!("{error}; delete the file to get a new token"))
    })?;
    Ok((token, warning))
}

/// Makes sure that the open file is ours alone.
fn close_to_others(path: &Path, file: &File) -> Result<Option<String>, TokenError> {
    let failed = |error: io::Error| TokenError::io(path, &error);
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(TokenError::file(path, "is no file; move it away"));
    }
    if metadata.uid() != geteuid().as_raw() {
        let problem = "belongs to another user; choose another data folder, or delete the file";
        return Err(TokenError::file(path, problem));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(failed)?;
    Ok(Some(format!(
        "{} could be read by others (mode {mode:o}, now 600): delete it and start again to get a new token",
        path.display()
    )))
}
