//! A second look at folders that git reads by itself: no link in them leads to where nothing may be shown.
//!
//! git goes through any link below `objects` and `refs`: a fan-out folder, an object, a pack. What is behind one that
//! leads out of the roots would be shown as an earlier version of a file.

use std::{collections::HashSet, path::PathBuf};

use towline_files::{Directory, Kind, RealPath};

use super::repository::{Repository, unreadable};
use crate::{access::Roots, project::ProjectError};

/// Checks folders of a repository and all below them.
///
/// # Errors
/// When a link leads to where nothing may be shown, a folder cannot be read, or there is too much in them.
pub(super) fn check(
    repository: &Repository,
    folders: impl IntoIterator<Item = PathBuf>,
    roots: &Roots,
) -> Result<(), ProjectError> {
    let mut waiting: Vec<PathBuf> = folders.into_iter().collect();
    let mut known = HashSet::new();
    let mut entries = 0;
    while let Some(folder) = waiting.pop() {
        let Some(folder) = repository.part(&folder, roots)? else {
            continue;
        };
        if !known.insert(folder.clone()) {
            continue;
        }
        let failed = |error| unreadable(&folder, &error);
        let real = RealPath::resolve(&folder).map_err(failed)?;
        let directory = Directory::open(&real).map_err(failed)?;
        for entry in directory.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            entries += 1;
            if entries > MOST_ENTRIES {
                return Err(ProjectError::Unusable(format!(
                    "{} has more than {MOST_ENTRIES} objects that are not packed",
                    repository.shared.display()
                )));
            }
            let path = folder.join(&entry.name);
            match entry.kind {
                Kind::Directory => waiting.push(path),
                Kind::Link => {
                    let found = repository.part(&path, roots)?;
                    waiting.extend(found.filter(|found| found.is_dir()));
                }
                Kind::File | Kind::Special => {}
            }
        }
    }
    Ok(())
}

const MOST_ENTRIES: usize = 2_000_000;
