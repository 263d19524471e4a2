//! [`Roots`]: the folders that the bridge may show and have agents work in.
//!
//! A path is first made what it really is, links and all, and then held against the folders. Checking the words of a path
//! is not enough: a link inside a project can lead anywhere.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use thiserror::Error;

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
            let found = fs::canonicalize(folder).map_err(io)?;
            if !found.is_dir() {
                return Err(io(io::ErrorKind::NotADirectory.into()));
            }
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
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, RootError> {
        well_formed(path)?;
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match nearest(path) {
                Err(RootError::Io { error, .. }) => return Err(self.unseen(path, error)),
                nearest => nearest?,
            },
            Err(error) => return Err(self.unseen(path, error)),
        };
        self.contained(path, real)
    }

    /// The same for what must be there.
    ///
    /// # Errors
    /// When it is not there, outside, or no absolute path.
    pub fn existing(&self, path: &Path) -> Result<PathBuf, RootError> {
        well_formed(path)?;
        match fs::canonicalize(path) {
            Ok(real) => self.contained(path, real),
            // Whether something outside is there is nobody's business, so that comes first.
            Err(error) => self.resolve(path).and_then(|_| Err(io_error(path, error))),
        }
    }

    /// A file of a project, by its path from there or by an absolute one. It may not leave the project.
    ///
    /// # Errors
    /// When either is outside, or no path.
    pub fn in_project(&self, project: &Path, file: &Path) -> Result<PathBuf, RootError> {
        if file.as_os_str().is_empty() {
            return Err(malformed(file, "is empty"));
        }
        let project = self.existing(project)?;
        let found = self.resolve(&project.join(file))?;
        if found.starts_with(&project) {
            Ok(found)
        } else {
            Err(outside(file, std::slice::from_ref(&project)))
        }
    }

    fn contained(&self, path: &Path, real: PathBuf) -> Result<PathBuf, RootError> {
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

/// Where something that is not there yet would be: in its nearest folder that is.
fn nearest(path: &Path) -> Result<PathBuf, RootError> {
    let mut missing = Vec::new();
    let mut parts = path.components();
    loop {
        // `a/../b` means nothing as long as there is no `a`.
        match parts.next_back() {
            Some(Component::Normal(name)) => missing.push(name),
            _ => return Err(malformed(path, "goes up from what is not there")),
        }
        let folder = parts.as_path();
        let last = missing
            .last()
            .map_or_else(PathBuf::new, |name| folder.join(name));
        // Whatever is written to a link that leads nowhere yet is written where it leads.
        if fs::symlink_metadata(&last).is_ok() {
            return Err(malformed(path, "is a link that leads nowhere"));
        }
        match fs::canonicalize(folder) {
            Ok(real) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(real, |real, name| real.join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
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
