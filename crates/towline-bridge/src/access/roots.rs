//! [`Roots`]: the folders that the bridge may show and have agents work in.
//!
//! A path is first made what it really is, links and all, and then held against the folders. Checking the words of a path
//! is not enough: a link inside a project can lead anywhere. The result is a [`RealPath`], which is opened without following
//! links, so that one that comes in between changes nothing.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use thiserror::Error;
use towline_files::{Kind, RealPath, status};

/// Folders, and everything below them.
///
/// ```
/// use towline_bridge::access::Roots;
///
/// let folder = tempfile::tempdir()?;
/// let roots = Roots::new([folder.path()])?;
/// assert!(roots.resolve(&folder.path().join("new/file.txt")).is_ok());
/// assert!(roots.resolve("/etc/passwd".as_ref()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Roots {
    /// Where they really are.
    folders: Vec<PathBuf>,
}

/// Why a path cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootError {
    /// It is in none of the folders.
    #[error("{path} is in none of the folders that this bridge may use: {roots}")]
    Outside {
        /// The path as it was given.
        path: String,
        /// The folders.
        roots: String,
    },
    /// It is no path.
    #[error("{path:?} cannot be used as a path: it {problem}")]
    Malformed {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It cannot be looked at.
    #[error("{path}: {error}")]
    Io {
        /// The path as it was given.
        path: String,
        /// What came of it.
        error: io::Error,
    },
}

impl Roots {
    /// The folders, which must be there.
    ///
    /// # Errors
    /// When one is not there, or is no folder, or is not absolute.
    pub fn new(folders: impl IntoIterator<Item: AsRef<Path>>) -> Result<Self, RootError> {
        let mut real = Vec::new();
        for folder in folders {
            let folder = folder.as_ref();
            well_formed(folder)?;
            let io = |error| RootError::Io {
                path: folder.display().to_string(),
                error,
            };
            let found = RealPath::resolve(folder).map_err(io)?;
            if status(&found).map_err(io)?.kind != Kind::Directory {
                return Err(io(io::ErrorKind::NotADirectory.into()));
            }
            let found = PathBuf::from(found);
            if !real.contains(&found) {
                real.push(found);
            }
        }
        Ok(Self { folders: real })
    }

    /// The folders, as they really are.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Where a path really is, if that is inside. What is not there yet is inside if its nearest folder is.
    ///
    /// # Errors
    /// When it is outside, or no absolute path.
    pub fn resolve(&self, path: &Path) -> Result<RealPath, RootError> {
        let real = real(path)?;
        match status(&real) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => match can_be_missing(path) {
                Err(RootError::Io { error, .. }) => return Err(self.unseen(path, error)),
                other => other?,
            },
            Err(error) => return Err(self.unseen(path, error)),
        }
        self.contained(path, real)
    }

    /// The same for what must be there.
    ///
    /// # Errors
    /// When it is not there, outside, or no absolute path.
    pub fn existing(&self, path: &Path) -> Result<RealPath, RootError> {
        let real = real(path)?;
        match status(&real) {
            Ok(_) => self.contained(path, real),
            // Whether something outside is there is nobody's business, so that comes first.
            Err(error) => self.resolve(path).and_then(|_| Err(io_error(path, error))),
        }
    }

    /// A file of a project, by its path from there or by an absolute one. It may not leave the project.
    ///
    /// # Errors
    /// When either is outside, or no path.
    pub fn in_project(&self, project: &Path, file: &Path) -> Result<RealPath, RootError> {
        if file.as_os_str().is_empty() {
            return Err(malformed(file, "is empty"));
        }
        let project = self.existing(project)?;
        let found = self.resolve(&project.join(file))?;
        if found.starts_with(&project) {
            Ok(found)
        } else {
            Err(outside(file, &[project.into()]))
        }
    }

    fn contained(&self, path: &Path, real: RealPath) -> Result<RealPath, RootError> {
        if self.folders.iter().any(|folder| real.starts_with(folder)) {
            Ok(real)
        } else {
            Err(outside(path, &self.folders))
        }
    }

    /// What cannot be looked at is outside unless its words say that it is inside: else errors would tell what is there.
    fn unseen(&self, path: &Path, error: io::Error) -> RootError {
        let plain = !path.components().any(|part| part == Component::ParentDir);
        if plain && self.folders.iter().any(|folder| path.starts_with(folder)) {
            io_error(path, error)
        } else {
            outside(path, &self.folders)
        }
    }
}

fn real(path: &Path) -> Result<RealPath, RootError> {
    well_formed(path)?;
    RealPath::resolve(path).map_err(|error| io_error(path, error))
}

/// Whether something that is not there could be made: it is in a folder that is there, or below one.
fn can_be_missing(path: &Path) -> Result<(), RootError> {
    // The path itself may be such a link, too.
    if fs::symlink_metadata(path).is_ok() {
        return Err(malformed(path, "is a link that leads nowhere"));
    }
    let mut parts = path.components();
    loop {
        // `a/../b` means nothing as long as there is no `a`.
        if !matches!(parts.next_back(), Some(Component::Normal(_))) {
            return Err(malformed(path, "goes up from what is not there"));
        }
        let folder = parts.as_path();
        match fs::symlink_metadata(folder) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error(path, error)),
        }
        match fs::canonicalize(folder) {
            Ok(_) => return Ok(()),
            // Whatever is written to a link that leads nowhere yet is written where it leads.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(malformed(path, "is a link that leads nowhere"));
            }
            Err(error) => return Err(io_error(path, error)),
        }
    }
}

fn well_formed(path: &Path) -> Result<(), RootError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let problem = if bytes.is_empty() {
        "is empty"
    } else if bytes.contains(&0) {
        "holds a zero byte"
    } else if path.to_str().is_none() {
        "is not UTF-8"
    } else if path.is_relative() {
        "is not absolute"
    } else {
        return Ok(());
    };
    Err(malformed(path, problem))
}

fn malformed(path: &Path, problem: &'static str) -> RootError {
    let path = path.display().to_string();
    RootError::Malformed { path, problem }
}

fn outside(path: &Path, folders: &[PathBuf]) -> RootError {
    let roots: Vec<_> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    RootError::Outside {
        path: path.display().to_string(),
        roots: roots.join(", "),
    }
}

fn io_error(path: &Path, error: io::Error) -> RootError {
    let path = path.display().to_string();
    RootError::Io { path, error }
}
