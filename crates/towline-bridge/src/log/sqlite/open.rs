//! The data folder and its files: made for their owner alone, held by one bridge, opened with little memory.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{Read, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use super::{
    failure::{Failure, refused},
    schema::{APPLICATION, NEWEST, migrate},
};
use crate::log::LogError;

/// Makes the folder if there is none; it is then for its owner alone.
pub(super) fn make_folder(folder: &Path) -> Result<(), LogError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        refused(
            "make the data folder",
            folder,
            &error,
            "name another folder",
        )
    })
}

/// Takes the folder for this process, for as long as the file is open.
pub(super) fn take(folder: &Path) -> Result<File, LogError> {
    let path = folder.join(LOCK_FILE);
    let remedy = "see that the folder can be written by this user, or name another";
    let failed = |error| refused("use the data folder", folder, &error, remedy);
    let mut file = private_file(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(folder, file)),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // For whoever finds the folder in use. It is no reason to fail: the lock is what counts.
    let noted = file
        .set_len(0)
        .and_then(|()| write!(file, "{}", std::process::id()));
    if let Err(error) = noted {
        tracing::debug!(path = %path.display(), %error, "the lock does not say whose it is");
    }
    Ok(file)
}

fn in_use(folder: &Path, file: File) -> LogError {
    let mut holder = String::new();
    let read = file.take(20).read_to_string(&mut holder);
    let holder = match read {
        Ok(_) if !holder.is_empty() => format!("another bridge (process {holder})"),
        _ => "another bridge".to_owned(),
    };
    LogError {
        what: format!("cannot use the data folder `{}`", folder.display()),
        why: format!("{holder} uses it: end that one, or name another folder"),
    }
}

/// Opens the log for writing, and makes it what this version writes.
pub(super) fn open_to_write(folder: &Path) -> Result<(Connection, PathBuf), LogError> {
    let path = folder.join(LOG_FILE);
    // SQLite gives its other files the rights of this one.
    private_file(&path).map_err(|error| {
        let remedy = "see that the file can be read and written by this user";
        refused("open the log", &path, &error, remedy)
    })?;
    let opened = open_and_migrate(&path);
    let connection = opened.map_err(|failure| failure.while_trying_to("open the log", &path))?;
    Ok((connection, path))
}

fn open_and_migrate(path: &Path) -> Result<Connection, Failure> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let application = recognize(&connection)?;
    if application == 0 {
        // It has to be said before the first page is written.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Failure::Refused(format!(
            "this file system cannot share it between threads (journal mode {mode}): name a folder on a local disk"
        )));
    }
    // A killed process loses nothing by this, a power cut at most the last moments: the log stays whole.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", LARGEST_IDLE_JOURNAL)?;
    // The indexer does it sooner, if there is one.
    connection.pragma_update(None, "wal_autocheckpoint", LONGEST_JOURNAL)?;
    migrate(&mut connection, NEWEST)?;
    Ok(connection)
}

/// Whether it is a log, or is to become one: gives the application that it says it is of.
fn recognize(connection: &Connection) -> Result<i64, Failure> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != i64::from(APPLICATION) && (application != 0 || version != 0 || tables != 0) {
        return Err(Failure::Refused(
            "it is the database of another program: move it away, or name another data folder"
                .to_owned(),
        ));
    }
    if version < 0 || version > i64::from(NEWEST) {
        return Err(Failure::Refused(format!(
            "a newer towline wrote it (schema {version}, this one knows {NEWEST}): update towline, or name another \
             data folder"
        )));
    }
    Ok(application)
}

/// Sees whether the folder and its log could be opened to write, and opens the log to read if there is one. Nothing is left
/// behind.
pub(super) fn look(folder: &Path) -> Result<Option<(Connection, PathBuf)>, LogError> {
    let is_there = |folder: &&Path| folder.symlink_metadata().is_ok();
    let there = folder.ancestors().find(is_there).unwrap_or(folder);
    let remedy = "see that the folder can be written by this user, or name another";
    write_something(there)
        .map_err(|error| refused("use the data folder", folder, &error, remedy))?;
    if let Ok(lock) = File::open(folder.join(LOCK_FILE))
        && let Err(TryLockError::WouldBlock) = lock.try_lock()
    {
        return Err(in_use(folder, lock));
    }
    let path = folder.join(LOG_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let opened = || {
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        recognize(&connection)?;
        Ok(connection)
    };
    let opened: Result<_, Failure> = opened();
    let connection = opened.map_err(|failure| failure.while_trying_to("open the log", &path))?;
    Ok(Some((connection, path)))
}

/// Makes a file in a folder, and takes it away again.
fn write_something(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".towline-{}", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs::remove_file(path)
}

/// Another connection to a log that is open already.
pub(super) fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LONGEST_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Opens a file that only its owner may read, whatever it was before; makes it if there is none.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600))?;
    Ok(file)
}

const LOCK_FILE: &str = "log.lock";
const LOG_FILE: &str = "log.sqlite3";
/// How long a statement waits for another connection.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Kibibytes, as SQLite has it for negative numbers.
const CACHE: i32 = -512;
const STATEMENTS: usize = 24;
/// In pages of 4 KiB.
const LONGEST_JOURNAL: i64 = 4096;
/// In bytes.
const LARGEST_IDLE_JOURNAL: i64 = 4 << 20;
