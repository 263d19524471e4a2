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
        let (file, mode) = open(&path)?;
        let warning = close_to_others(&path, &file, mode)?;
        Ok(Kept {
            token: read(&path, file)?,
            file: path,
            created,
            warning,
        })
    }

    /// The token of a data folder as it is, if there is one; nothing is made and nothing put right.
    ///
    /// # Errors
    /// As with [`Token::load_or_create`].
    pub fn look(folder: &Path) -> Result<Option<Kept>, TokenError> {
        let path = folder.join("token");
        match fs::symlink_metadata(&path).map_err(|error| (error.kind(), error)) {
            Ok(_) => {}
            Err((ErrorKind::NotFound | ErrorKind::NotADirectory, _)) => return Ok(None),
            Err((_, error)) => return Err(TokenError::io(&path, &error)),
        }
        let (file, mode) = open(&path)?;
        let warning = is_open(mode).then(|| {
            let path = path.display();
            format!("{path} can be read by others (mode {mode:o}): {START_OVER}")
        });
        Ok(Some(Kept {
            token: read(&path, file)?,
            file: path,
            created: false,
            warning,
        }))
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

/// Opens the file, which has to be ours, and gives its mode.
fn open(path: &Path) -> Result<(File, u32), TokenError> {
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
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(TokenError::file(path, "is no file; move it away"));
    }
    if metadata.uid() != geteuid().as_raw() {
        let problem = "belongs to another user; choose another data folder, or delete the file";
        return Err(TokenError::file(path, problem));
    }
    Ok((file, metadata.mode() & 0o777))
}

fn read(path: &Path, file: File) -> Result<Token, TokenError> {
    let mut text = String::new();
    let mut bounded = file.take(LONGEST as u64 + 2);
    let read = bounded.read_to_string(&mut text);
    read.map_err(|error| TokenError::io(path, &error))?;
    Token::parse(text.trim()).map_err(|error| {
        TokenError::file(path, format!("{error}; delete the file to get a new token"))
    })
}

/// Makes sure that the open file is for us alone; says so if it was not.
fn close_to_others(path: &Path, file: &File, mode: u32) -> Result<Option<String>, TokenError> {
    if !is_open(mode) {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(|error| TokenError::io(path, &error))?;
    let path = path.display();
    Ok(Some(format!(
        "{path} could be read by others (mode {mode:o}, now 600): {START_OVER}"
    )))
}

/// Whether others than the owner can do something with it.
fn is_open(mode: u32) -> bool {
    mode & 0o077 != 0
}

/// What to do about a token that others may know.
const START_OVER: &str = "delete it and start again to get a new token";
