//! [`PrivateFolder`]: the folder that git takes for the repository. It is made for one look and holds a configuration of
//! ours, a copy of the index, and references to the objects and branches of the repository itself.
//!
//! So git reads no configuration, no hook and no attribute driver of the repository, whatever they are called, and what it
//! writes goes into this folder.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{
    objects,
    repository::{Repository, open_regular, path_of, unreadable},
};
use crate::{access::Roots, project::ProjectError};

/// A folder that git takes for the repository. It is deleted with this value.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: TempDir,
    is_linked: bool,
}

impl PrivateFolder {
    pub(super) fn new() -> Result<Self, ProjectError> {
        let folder = tempfile::Builder::new()
            .prefix("towline-look-")
            .tempdir()
            .map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
        Ok(Self {
            folder,
            is_linked: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The value of `GIT_DIR`.
    pub(super) fn git_dir(&self) -> PathBuf {
        if self.is_linked {
            self.work_tree(LINKED)
        } else {
            self.path().to_owned()
        }
    }

    fn work_tree(&self, name: &str) -> PathBuf {
        self.path().join("worktrees").join(name)
    }

    /// Makes it stand for a repository, with a configuration of ours.
    ///
    /// # Errors
    /// When a part of the repository is somewhere else than it may be, or cannot be copied.
    pub(super) fn fill(
        &mut self,
        repository: &Repository,
        configuration: &str,
        roots: &Roots,
    ) -> Result<(), ProjectError> {
        self.fill_heads(repository, configuration, roots)?;
        let path = self.path();
        let found = repository.objects(roots)?;
        let [first, ..] = &*found else {
            return Err(ProjectError::Unusable(format!(
                "not a git repository: {} has no objects",
                repository.shared.display()
            )));
        };
        objects::check(repository, found.iter().cloned(), roots)?;
        write(&path.join("objects/info/alternates"), &quoted(first))?;
        for name in ["exclude", "attributes"] {
            let name = Path::new("info").join(name);
            if let Some(bytes) = repository.small(&repository.shared.join(&name), roots)? {
                write(&path.join(name), &bytes)?;
            }
        }
        self.copy_index(repository, roots)
    }

    /// Makes it stand for a repository of which only `HEAD` and the branches are read.
    ///
    /// # Errors
    /// As for [`Self::fill`].
    pub(super) fn fill_heads(
        &mut self,
        repository: &Repository,
        configuration: &str,
        roots: &Roots,
    ) -> Result<(), ProjectError> {
        self.is_linked = repository.is_linked();
        let path = self.path();
        create_folder(&path.join("objects"))?;
        write(&path.join("config"), configuration.as_bytes())?;
        copy_heads(repository, &repository.shared, path, roots)?;
        refer(repository, &repository.shared, "packed-refs", path, roots)?;
        if self.is_linked {
            self.add_work_tree(repository, &repository.own, LINKED, roots)?;
        }
        Ok(())
    }

    /// Adds the other work trees of the repository, so that git lists them.
    ///
    /// # Errors
    /// As for [`Self::fill`].
    pub(super) fn add_work_trees(
        &self,
        repository: &Repository,
        roots: &Roots,
    ) -> Result<(), ProjectError> {
        let folder = repository.shared.join("worktrees");
        let Some(folder) = repository.part(&folder, roots)? else {
            return Ok(());
        };
        let entries = fs::read_dir(&folder).map_err(|error| unreadable(&folder, &error))?;
        let mut number = 0;
        for entry in entries.take(MOST_WORK_TREES).filter_map(Result::ok) {
            let own = entry.path();
            if own != repository.own && own.join("gitdir").is_file() {
                number += 1;
                self.add_work_tree(repository, &own, &number.to_string(), roots)?;
            }
        }
        Ok(())
    }

    fn add_work_tree(
        &self,
        repository: &Repository,
        own: &Path,
        name: &str,
        roots: &Roots,
    ) -> Result<(), ProjectError> {
        let to = self.work_tree(name);
        write(&to.join("commondir"), b"../..\n")?;
        copy_heads(repository, own, &to, roots)?;
        if let Some(git) = repository.small(&own.join("gitdir"), roots)? {
            // It may be a path from there, which is elsewhere seen from here.
            let git = own.join(path_of(&git));
            write(
                &to.join("gitdir"),
                &[git.as_os_str().as_bytes(), b"\n"].concat(),
            )?;
        }
        Ok(())
    }

    /// The index, in whose copy git can write, and the parts that it may be split into.
    fn copy_index(&self, repository: &Repository, roots: &Roots) -> Result<(), ProjectError> {
        let entries = fs::read_dir(&repository.own);
        let entries = entries.map_err(|error| unreadable(&repository.own, &error))?;
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                refer(repository, &repository.own, &name, &self.git_dir(), roots)?;
            }
        }
        let Some(from) = repository.part(&repository.own.join("index"), roots)? else {
            return Ok(());
        };
        let to = self.git_dir().join("index");
        let opened = open_regular(&from).map_err(|error| unreadable(&from, &error))?;
        let Some(mut original) = opened else {
            // A pipe, or the like: git waits for it until its time is over.
            return symlink(&from, &to).map_err(|error| unwritable(&to, &error));
        };
        let mut copied = || -> io::Result<u64> {
            let mut copy = fs::File::create_new(&to)?;
            let bytes = io::copy(
                &mut io::Read::take(&mut original, MOST_INDEX + 1),
                &mut copy,
            )?;
            // The copy is as old as the original: git looks again at files that are as young as its index, and would
            // take one that was changed in that moment for unchanged.
            copy.set_modified(original.metadata()?.modified()?)?;
            Ok(bytes)
        };
        let bytes = copied().map_err(|error| {
            ProjectError::Unusable(format!("the index cannot be copied: {error}"))
        })?;
        if bytes > MOST_INDEX {
            return Err(ProjectError::Unusable(format!(
                "the index is too large: more than {MOST_INDEX} bytes"
            )));
        }
        Ok(())
    }
}

fn copy_heads(
    repository: &Repository,
    from: &Path,
    to: &Path,
    roots: &Roots,
) -> Result<(), ProjectError> {
    if let Some(head) = repository.head(from, roots)? {
        write(&to.join("HEAD"), &head)?;
    }
    let branches = ["refs", "reftable"].map(|name| from.join(name));
    objects::check(repository, branches, roots)?;
    refer(repository, from, "refs", to, roots)?;
    refer(repository, from, "reftable", to, roots)
}

/// A link to a part of the repository, if it has that part.
fn refer(
    repository: &Repository,
    from: &Path,
    name: impl AsRef<Path>,
    to: &Path,
    roots: &Roots,
) -> Result<(), ProjectError> {
    let name = name.as_ref();
    let Some(part) = repository.part(&from.join(name), roots)? else {
        return Ok(());
    };
    let link = to.join(name);
    symlink(part, &link).map_err(|error| unwritable(&link, &error))
}

fn create_folder(path: &Path) -> Result<(), ProjectError> {
    fs::create_dir_all(path).map_err(|error| unwritable(path, &error))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ProjectError> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let written = fs::File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| unwritable(path, &error))
}

/// A path as a line of `info/alternates` has it. In quotes it may hold anything.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' | 0..0x20 | 0x7f.. => line.extend(format!("\\{byte:03o}").bytes()),
            plain => line.push(*plain),
        }
    }
    line.extend(b"\"\n");
    line
}

fn unwritable(path: &Path, error: &io::Error) -> ProjectError {
    ProjectError::Unusable(format!("{} cannot be written: {error}", path.display()))
}

/// The name of the looked-at work tree, if it is not the main one.
const LINKED: &str = "this";

const MOST_INDEX: u64 = 1 << 30;
const MOST_WORK_TREES: usize = 1_000;

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_path_of_objects_may_hold_anything() {
        for (path, line) in [
            (&b"/a b"[..], "\"/a b\"\n"),
            (b"/a\n\"b\\\xff", "\"/a\\012\\042b\\134\\377\"\n"),
        ] {
            let line_of = quoted(Path::new(OsStr::from_bytes(path)));
            assert_eq!(String::from_utf8(line_of).unwrap(), line);
        }
    }
}
