//! Replacing a file in one step, and changing one that other programs change too.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use tempfile::NamedTempFile;

use crate::{
    error::{Error, Result},
    settings::read_bounded,
};

/// Whether the file was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// It has the new text.
    Yes,
    /// Another program changed it since it was read, and it is as that program left it.
    ChangedMeanwhile,
}

/// Puts `text` in the place of `before` in one step: a reader sees the old text or the new one. The mode stays, and a link
/// stays a link; a new file is for its owner alone.
pub(crate) fn replace(path: &Path, before: &str, text: &str, most: u64) -> Result<Replaced> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let failed = |action| Error::io(action, path);
    let Some(folder) = path.parent() else {
        return Err(Error::Unusable {
            path: path.clone(),
            problem: "it is in no folder".to_owned(),
        });
    };
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let now = read_bounded(path, most)?;
    if now.as_deref().unwrap_or_default() != before {
        return Ok(Replaced::ChangedMeanwhile);
    }
    let mut next = NamedTempFile::new_in(folder).map_err(failed("write to"))?;
    next.write_all(text.as_bytes())
        .map_err(failed("write to"))?;
    if let Ok(metadata) = fs::metadata(path) {
        let mode = metadata.permissions();
        next.as_file()
            .set_permissions(mode)
            .map_err(failed("keep the mode of"))?;
    }
    next.as_file().sync_all().map_err(failed("write to"))?;
    next.persist(path)
        .map_err(|error| failed("replace")(error.error))?;
    Ok(Replaced::Yes)
}

/// Changes a file that other programs change too: `change` gets the text (empty, if there is no file) and gives the new
/// one. Writers that use the same lock wait for each other, and what another program wrote in between is not lost.
pub(crate) fn change(
    path: &Path,
    most: u64,
    change: impl Fn(&str) -> Result<String>,
) -> Result<()> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let _lock = Lock::take(path)?;
    for _ in 0..TRIES {
        let before = read_bounded(path, most)?.unwrap_or_default();
        let text = change(&before)?;
        if text == before || replace(path, &before, &text, most)? == Replaced::Yes {
            return Ok(());
        }
    }
    Err(Error::Unusable {
        path: path.clone(),
        problem: "another program changes it all the time: try again".to_owned(),
    })
}

/// A folder beside the file, as the npm package proper-lockfile makes it: programs of either kind wait for each other.
struct Lock(PathBuf);

impl Lock {
    fn take(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        for _ in 0..WAITS {
            match fs::create_dir(&lock) {
                Ok(()) => return Ok(Self(lock)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("lock", path)(error)),
            }
            if is_left_over(&lock) {
                // If that fails, another program was faster, or the next round says why.
                fs::remove_dir(&lock).ok();
            } else {
                thread::sleep(PAUSE);
            }
        }
        Err(Error::Unusable {
            path: lock,
            problem: "another program has held it for 15 s: remove it if none runs that could"
                .to_owned(),
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that stays is taken for left over after ten seconds.
        fs::remove_dir(&self.0).ok();
    }
}

/// Whether the program that made the lock is gone: one that still works renews it within ten seconds.
fn is_left_over(lock: &Path) -> bool {
    let made = File::open(lock).and_then(|lock| lock.metadata()?.modified());
    let age = made
        .ok()
        .and_then(|made| SystemTime::now().duration_since(made).ok());
    age.is_some_and(|age| age > STALE)
}

const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);
const STALE: Duration = Duration::from_secs(10);
/// 15 s in all: longer than a left-over lock is waited for.
const WAITS: usize = 1500;
