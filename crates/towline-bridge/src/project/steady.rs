//! Whether the folders of a project stayed as they were while git looked at them.
//!
//! git goes through a work tree by paths. While a folder and a link are exchanged it can be led out of the roots, and what
//! it read there stands in its answer. An exchange changes the folder that both are in, and the system notes when: an
//! answer counts only if no folder of it was changed since before git began.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use towline_files::{Directory, RealPath};

use super::git::Repository;
use crate::access::Roots;

/// The folders between a root and the files of these names, each of which ends with a zero byte.
pub(super) fn folders(roots: &Roots, project: &Path, names: &[u8]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let is_root = |folder: &Path| roots.folders().iter().any(|root| root == folder);
    for folder in project.ancestors() {
        found.insert(folder.to_owned());
        if is_root(folder) {
            break;
        }
    }
    // Behind the last of them is nothing: as a name it would lead above the project.
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let path = project.join(OsStr::from_bytes(name));
        for folder in path.ancestors().skip(1) {
            if !found.insert(folder.to_owned()) {
                break;
            }
        }
    }
    found
}

/// The folders of a repository that git reads from: its own, and those of its objects.
pub(super) fn of_repository(repository: &Repository) -> Vec<PathBuf> {
    let objects = repository.shared.join("objects");
    let inner = std::fs::read_dir(&objects).into_iter().flatten().flatten();
    let inner: Vec<PathBuf> = inner.map(|entry| entry.path()).collect();
    let own = [repository.own.clone(), repository.shared.clone(), objects];
    own.into_iter().chain(inner).collect()
}

/// Whether none of these folders was changed since. One that is gone, or is a link by now, is known by the folder above.
pub(super) fn are_steady(folders: &BTreeSet<PathBuf>, since: SystemTime) -> bool {
    let since = since.checked_sub(COARSE).unwrap_or(since);
    let is_steady = |folder: &PathBuf| {
        let opened = RealPath::resolve(folder).ok();
        let opened = opened.filter(|real| real.as_path() == folder);
        let opened = opened.and_then(|real| Directory::open(&real).ok());
        opened.is_none_or(|opened| opened.changed().is_ok_and(|changed| changed < since))
    };
    folders.iter().all(is_steady)
}

/// The times of a file system lag behind the clock by up to so much.
const COARSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder above the project is where other programs make their files.
    #[test]
    fn a_folder_above_the_roots_kept_a_diff_from_being_shown() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let project = base.join("root/project");
        std::fs::create_dir_all(&project).unwrap();
        let roots = Roots::new([base.join("root")]).unwrap();
        let found = folders(&roots, &project, b"a.txt\0deep/er/b.txt\0side/\0");
        let expected = [
            "root",
            "root/project",
            "root/project/deep",
            "root/project/deep/er",
        ];
        assert_eq!(found, expected.map(|name| base.join(name)).into());
    }
}
