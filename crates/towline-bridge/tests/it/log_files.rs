//! The data folder and the file in it: who may read them, and what is said of those that cannot be used.

use std::{fs, path::Path};

use rusqlite::Connection;
use tempfile::TempDir;
use towline_bridge::log::{Log, SqliteLog};

use crate::made::{Made, line, of};

fn file(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("log.sqlite3")
}

/// What is said when a folder is opened.
fn refusal(folder: &Path) -> String {
    SqliteLog::open(folder).unwrap_err().to_string()
}

#[cfg(unix)]
#[test]
fn the_folder_and_its_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a/b");
    let mut log = SqliteLog::open(&folder).unwrap();
    log.write(&[crate::made::session("s", 1)]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn two_bridges_cannot_use_one_folder() {
    let made = Made::new();
    let refused = refusal(made.folder.path());
    let place = made.folder.path().display();
    let process = std::process::id();
    assert_eq!(
        refused,
        format!(
            "cannot use the data folder `{place}`: another bridge (process {process}) uses it: end that one, or name \
             another folder"
        )
    );
    made.reopened();
}

#[test]
fn files_that_are_no_log_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (content, says) in [
        (
            b"this is a letter, and not a database at all".repeat(200),
            "the file is damaged or is no log: move it away",
        ),
        (
            foreign_database(),
            "it is the database of another program: move it away",
        ),
    ] {
        fs::write(file(&folder), &content).unwrap();
        let refused = refusal(folder.path());
        assert!(refused.contains(says), "{refused}");
        assert!(refused.contains("log.sqlite3"), "{refused}");
        assert_eq!(fs::read(file(&folder)).unwrap(), content);
    }
}

fn foreign_database() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(&folder)).unwrap();
    connection
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .unwrap();
    drop(connection);
    fs::read(file(&folder)).unwrap()
}

#[test]
fn a_log_of_a_newer_version_is_refused() {
    let made = Made::new();
    let folder = made.folder;
    drop(made.log);
    let connection = Connection::open(file(&folder)).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refused = refusal(folder.path());
    assert!(
        refused.contains("a newer towline wrote it (schema 99, this one knows 4): update towline"),
        "{refused}"
    );
}

#[test]
fn a_damaged_log_is_an_error_that_says_so() {
    let mut made = Made::new();
    let batch: Vec<_> = (1..=200).map(|seq| of("s", line(seq, 2000))).collect();
    made.log.write(&batch).unwrap();
    let folder = made.folder;
    drop(made.log);
    let mut bytes = fs::read(file(&folder)).unwrap();
    let length = bytes.len();
    bytes[8192..length].fill(0xa5);
    fs::write(file(&folder), bytes).unwrap();
    let outcome = SqliteLog::open(folder.path()).and_then(|log| log.sessions());
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.contains("the file is damaged or is no log: move it away"),
        "{error}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let refused = refusal(&plain.join("data"));
    assert!(
        refused.starts_with(&format!(
            "cannot make the data folder `{}/data`: ",
            plain.display()
        )),
        "{refused}"
    );
    assert!(refused.ends_with("; name another folder"), "{refused}");
    // A folder where the file should be.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(file(&folder)).unwrap();
    let refused = refusal(folder.path());
    assert!(refused.starts_with("cannot open the log `"), "{refused}");
}
