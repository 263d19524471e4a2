//! [`Repository`]: where the repository of a folder is, found by reading a few small files as git's own search does.
//!
//! Only `.git` counts: a folder that merely looks like a repository, which any commit can bring, is a folder like others
//! (git calls that `safe.bareRepository=explicit`). Paths that lead elsewhere, by a `.git` file or by a link, must lead
//! to where things may be shown.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::OpenOptionsExt as _,
    },
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

use crate::{access::Roots, project::ProjectError};

/// A repository as one of its work trees sees it. All paths are real ones.
#[derive(Clone, Debug)]
pub(in crate::project) struct Repository {
    /// The folder with `.git` in it.
    pub(in crate::project) top: PathBuf,
    /// The index and `HEAD` of this work tree.
    pub(in crate::project) own: PathBuf,
    /// Objects, branches and settings, which all work trees share.
    pub(in crate::project) shared: PathBuf,
}

impl Repository {
    /// The repository of the nearest folder above, or the folder itself, that has one.
    ///
    /// # Errors
    /// When there is none, or it is somewhere else than it may be.
    pub(super) fn find(directory: &Path, roots: &Roots) -> Result<Self, ProjectError> {
        for top in directory.ancestors() {
            if let Some(found) = Self::of(top, roots)? {
                return Ok(found);
            }
        }
        Err(ProjectError::Unusable(format!(
            "not a git repository (or any of the folders above it): {}",
            directory.display()
        )))
    }

    /// The repository of a submodule; `None` when there is none.
    ///
    /// # Errors
    /// When the folder or the repository is somewhere else than it may be.
    pub(super) fn of_submodule(folder: &Path, roots: &Roots) -> Result<Option<Self>, ProjectError> {
        // git does not go through links to a submodule.
        match fs::canonicalize(folder) {
            Ok(real) if real == folder => Self::of(folder, roots),
            _ => Ok(None),
        }
    }

    fn of(top: &Path, roots: &Roots) -> Result<Option<Self>, ProjectError> {
        let Some(own) = git_folder(top)? else {
            return Ok(None);
        };
        let shared = match read_small(&own.join("commondir"), MOST_POINTER)? {
            Some(path) => real(&own.join(path_of(&path)))?,
            None => own.clone(),
        };
        // A work tree may be that of a repository above the folder. Any other must be where things may be shown.
        if shared.parent() != Some(top) {
            roots.existing(&shared)?;
        }
        if !own.starts_with(&shared) {
            roots.existing(&own)?;
        }
        Ok(Some(Self {
            top: top.to_owned(),
            own,
            shared,
        }))
    }

    /// Whether branches are kept in tables, as far as the files show.
    pub(super) fn has_reftable(&self) -> bool {
        self.shared.join("reftable/tables.list").is_file()
    }

    /// The text of the configuration, and of that of this work tree, which counts only if the first says so.
    ///
    /// # Errors
    /// As for [`Self::small`].
    pub(super) fn configuration(&self, roots: &Roots) -> Result<[Vec<u8>; 2], ProjectError> {
        let shared = self.small(&self.shared.join("config"), roots)?;
        let own = self.small(&self.own.join("config.worktree"), roots)?;
        Ok([shared.unwrap_or_default(), own.unwrap_or_default()])
    }

    /// Whether this is a work tree beside the main one.
    pub(in crate::project) fn is_linked(&self) -> bool {
        self.own != self.shared
    }

    /// Where a part of the repository really is; `None` when it is not there.
    ///
    /// # Errors
    /// When it is somewhere else than it may be.
    pub(super) fn part(&self, path: &Path, roots: &Roots) -> Result<Option<PathBuf>, ProjectError> {
        let found = match fs::canonicalize(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        };
        if !found.starts_with(&self.shared) && !found.starts_with(&self.own) {
            roots.existing(&found)?;
        }
        Ok(Some(found))
    }

    /// A small file of the repository.
    ///
    /// # Errors
    /// When it is somewhere else than it may be, or too large.
    pub(super) fn small(
        &self,
        path: &Path,
        roots: &Roots,
    ) -> Result<Option<Vec<u8>>, ProjectError> {
        match self.part(path, roots)? {
            Some(found) => read_small(&found, MOST_SMALL),
            None => Ok(None),
        }
    }

    /// `HEAD` in the form of a file; in old repositories it is a link.
    pub(super) fn head(
        &self,
        folder: &Path,
        roots: &Roots,
    ) -> Result<Option<Vec<u8>>, ProjectError> {
        let path = folder.join("HEAD");
        match fs::read_link(&path) {
            Ok(target) if target.starts_with("refs") => Ok(Some(
                [b"ref: ", target.as_os_str().as_bytes(), b"\n"].concat(),
            )),
            _ => self.small(&path, roots),
        }
    }

    /// Where the objects are, with those that are borrowed from other repositories.
    ///
    /// # Errors
    /// When some are where nothing may be shown.
    pub(super) fn objects(&self, roots: &Roots) -> Result<Vec<PathBuf>, ProjectError> {
        let mut found: Vec<PathBuf> = Vec::new();
        let mut waiting = vec![self.shared.join("objects")];
        while let Some(path) = waiting.pop() {
            let Some(folder) = self.part(&path, roots)? else {
                continue;
            };
            if found.contains(&folder) {
                continue;
            }
            if found.len() == MOST_OBJECT_FOLDERS {
                return Err(ProjectError::Unusable(format!(
                    "{} borrows objects from more than {MOST_OBJECT_FOLDERS} folders",
                    self.shared.display()
                )));
            }
            let borrowed = self.small(&folder.join("info/alternates"), roots)?;
            for line in borrowed.unwrap_or_default().split(|byte| *byte == b'\n') {
                if line.starts_with(b"\"") {
                    return Err(ProjectError::Unusable(format!(
                        "{} borrows objects from a folder with a quoted name, which is not read",
                        self.shared.display()
                    )));
                }
                if !line.is_empty() && !line.starts_with(b"#") {
                    waiting.push(folder.join(OsStr::from_bytes(line)));
                }
            }
            found.push(folder);
        }
        Ok(found)
    }
}

/// `.git` of a folder, or the folder that a file in its place names: so it is in a linked work tree and a submodule.
fn git_folder(top: &Path) -> Result<Option<PathBuf>, ProjectError> {
    let git = top.join(".git");
    let Ok(found) = fs::metadata(&git) else {
        return Ok(None);
    };
    if found.is_dir() {
        let git = real(&git)?;
        return Ok(is_repository(&git).then_some(git));
    }
    let pointer = read_small(&git, MOST_POINTER)?;
    let target = pointer
        .as_deref()
        .and_then(|pointer| pointer.strip_prefix(b"gitdir:"));
    let Some(target) = target else {
        return Err(ProjectError::Unusable(format!(
            "{} does not say where the repository is",
            git.display()
        )));
    };
    Ok(Some(real(&top.join(path_of(target.trim_ascii_start())))?))
}

/// Whether git would take a folder for a repository: an empty `.git` is none.
fn is_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join("HEAD")).is_ok()
        && folder.join("objects").is_dir()
        && folder.join("refs").is_dir()
}

/// The path in a file that holds one line.
pub(super) fn path_of(line: &[u8]) -> PathBuf {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    OsString::from_vec(line[..end.map_or(0, |end| end + 1)].to_vec()).into()
}

/// A regular file that is there. Anything else, such as a pipe, is not waited for.
///
/// # Errors
/// When it is larger than that.
pub(super) fn read_small(path: &Path, most: u64) -> Result<Option<Vec<u8>>, ProjectError> {
    let Some(file) = open_regular(path).map_err(|error| unreadable(path, &error))? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > most {
        return Err(ProjectError::Unusable(format!(
            "{} is too large: more than {most} bytes",
            path.display()
        )));
    }
    Ok(Some(bytes))
}

/// Opens a regular file; `None` when it is not there or is something else.
pub(super) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    match opened {
        Ok(file) => Ok(file.metadata()?.is_file().then_some(file)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The path without links.
pub(super) fn real(path: &Path) -> Result<PathBuf, ProjectError> {
    fs::canonicalize(path).map_err(|error| unreadable(path, &error))
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> ProjectError {
    ProjectError::Unusable(format!("{}: {error}", path.display()))
}

const MOST_POINTER: u64 = 64 << 10;
const MOST_SMALL: u64 = 1 << 20;
const MOST_OBJECT_FOLDERS: usize = 100;
