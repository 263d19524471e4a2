//! [`Resolved`]: what is found out about some paths before something is decided about them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{Kind, RealPath, status};

/// Where some paths lead.
///
/// ```
/// let folder = std::env::temp_dir();
/// let path = folder.to_str().unwrap();
/// let resolved = towline_files::resolve_paths([path]);
/// assert!(resolved.directories.contains(path));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Where each path leads; what is decided about is to be opened as this.
    pub real: BTreeMap<String, RealPath>,
    /// The paths that lead elsewhere through a link, and where to.
    pub links: BTreeMap<String, String>,
    /// The paths that are folders, or lead to one.
    pub directories: BTreeSet<String>,
}

/// Finds out where absolute paths really are, see [`RealPath::resolve`]. Others are left out.
pub fn resolve_paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Resolved {
    let mut resolved = Resolved::default();
    for path in paths {
        let Ok(real) = RealPath::resolve(Path::new(path)) else {
            continue;
        };
        if status(&real).is_ok_and(|status| status.kind == Kind::Directory) {
            resolved.directories.insert(path.to_owned());
        }
        // Compared as paths, so that a slash at the end is no link.
        if real.as_path() != Path::new(path) {
            let target = real.to_string_lossy().into_owned();
            resolved.links.insert(path.to_owned(), target);
        }
        resolved.real.insert(path.to_owned(), real);
    }
    resolved
}
