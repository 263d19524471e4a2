//! Tests, or parts of them, that were not run: a registry on disk, so that no run of `cargo test` passes them over unseen.
//!
//! A test that does not run enters itself under its name, and one that does takes its entry away. The test target
//! `not_run` of this crate, which cargo runs behind all others, counts and lists the entries and writes them to
//! `target/PROFILE/not-run.txt`; `.ci/run` then runs exactly these.

use std::{env, fs, io, panic::Location, path::PathBuf, thread};

/// Enters the running test: it did not do this.
///
/// # Panics
/// When the entry cannot be written: it would pass unseen.
#[track_caller]
pub fn enter(reason: &str) {
    let (folder, name) = (folder(), name(Location::caller()));
    let entry = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(&name), reason));
    entry.unwrap_or_else(|error| panic!("cannot enter {name} in {}: {error}", folder.display()));
}

/// Enters the running test because this machine lacks something.
///
/// # Panics
/// With `CI` or `TOWLINE_SLOW` set: where all is to be tested, that is a failure.
#[track_caller]
pub fn enter_for_lack_of(thing: &str) {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    assert!(
        !is_set("CI") && !is_set("TOWLINE_SLOW"),
        "missing, and all is to be tested: {thing}"
    );
    enter(&format!("there is no {thing}"));
}

/// Takes the entry of the running test away: it runs.
#[track_caller]
pub fn take_away() {
    fs::remove_file(folder().join(name(Location::caller()))).ok();
}

/// A test that did not run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The crate that it belongs to.
    pub package: String,
    /// Its name, as `cargo test` shows it.
    pub test: String,
    /// Its part that did not run, or all of it.
    pub reason: String,
}

/// Takes all entries out of the registry, sorted.
///
/// # Errors
/// When an entry cannot be read or removed.
pub fn take_all() -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let files = match fs::read_dir(folder()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(entries),
        files => files?,
    };
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some((package, test)) = name.split_once(' ') {
            entries.push(Entry {
                package: package.to_owned(),
                test: test.to_owned(),
                reason: fs::read_to_string(&path)?,
            });
        }
        fs::remove_file(&path)?;
    }
    entries.sort();
    Ok(entries)
}

/// The list that is left behind for a script: a test's name on each line.
#[must_use]
pub fn list() -> PathBuf {
    folder().with_extension("txt")
}

/// Beside the folder that cargo has built the running program into.
fn folder() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let profile = program.ancestors().find(|path| path.ends_with("deps"));
    let profile = profile.and_then(|deps| deps.parent());
    profile
        .map_or_else(env::temp_dir, PathBuf::from)
        .join("not-run")
}

/// The crate and the running test. The harness names a test's thread after it, but for `--test-threads=1`: then the place
/// in the source has to do.
fn name(caller: &Location<'_>) -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = thread::current();
    match thread.name() {
        Some(test) if test != "main" => format!("{package} {test}"),
        _ => {
            let place = format!("{}:{}", caller.file(), caller.line());
            format!("{package} {}", place.replace('/', "::"))
        }
    }
}
