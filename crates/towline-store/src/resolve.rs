//! Where paths really are: which lead elsewhere through links, and which are folders.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// What was found out about some paths.
///
/// ```
/// # towline_testkit::in_home!(|project| {
/// let path = project.to_str().unwrap();
/// let resolved = resolve_paths([path]);
/// assert!(resolved.directories.contains(path) && resolved.links.is_empty());
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The paths that lead elsewhere through a link, and where to.
    pub links: BTreeMap<String, String>,
    /// The paths that are folders, or lead to one.
    pub directories: BTreeSet<String>,
}

/// Finds out where absolute paths really are. What is not there yet is where its longest part that is there leads; a
/// link that leads to nothing counts too, since whatever is written to it is written there.
///
/// A path that is not absolute is left out: nobody here knows what it is relative to.
///
/// ```
/// let folder = std::env::temp_dir();
/// let path = folder.to_str().unwrap();
/// let resolved = towline_store::resolve_paths([path]);
/// assert!(resolved.directories.contains(path));
/// ```
pub fn resolve_paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Resolved {
    let mut resolved = Resolved::default();
    for path in paths {
        if !Path::new(path).is_absolute() {
            continue;
        }
        let real = real_path(Path::new(path));
        if fs::metadata(&real).is_ok_and(|metadata| metadata.is_dir()) {
            resolved.directories.insert(path.to_owned());
        }
        // Compared as paths, so that a slash at the end is no link.
        if real != Path::new(path) {
            let real = real.to_string_lossy().into_owned();
            resolved.links.insert(path.to_owned(), real);
        }
    }
    resolved
}

/// Walks a path from its root and follows each link. `canonicalize` would give up at the first part that is not there,
/// and so would not tell where a link that dangles leads.
fn real_path(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    let mut rest: VecDeque<Step> = steps(path);
    let mut followed = 0;
    while let Some(step) = rest.pop_front() {
        match step {
            Step::Root(root) => real = root,
            Step::Up => {
                real.pop();
            }
            Step::Name(name) => {
                let next = real.join(name);
                match fs::read_link(&next) {
                    // A ring of links leads nowhere: the system gives up, too.
                    Ok(target) if followed < MOST_LINKS => {
                        followed += 1;
                        for step in steps(&target).into_iter().rev() {
                            rest.push_front(step);
                        }
                    }
                    // No link, or nothing that can be looked at.
                    _ => real = next,
                }
            }
        }
    }
    real
}

/// One part of a path.
enum Step {
    Root(PathBuf),
    Up,
    Name(OsString),
}

fn steps(path: &Path) -> VecDeque<Step> {
    let step = |component| match component {
        Component::Prefix(_) | Component::RootDir => {
            let root: &Path = component.as_ref();
            Some(Step::Root(root.to_owned()))
        }
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
    };
    path.components().filter_map(step).collect()
}

/// As many as Linux follows.
const MOST_LINKS: usize = 40;
