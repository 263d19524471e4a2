//! [`RealPath`]: where a path leads, found out once.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs, io,
    ops::Deref,
    path::{Component, Path, PathBuf},
};

use rustix::io::Errno;

/// An absolute path without links, `.` and `..`: where another path led when it was resolved.
///
/// It can be of something that is not there. Where the kernel would give up (a ring of links, `..` behind a file), it
/// holds the words as far as they are understood, and every opening of it fails as the kernel's would.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RealPath {
    path: PathBuf,
    /// The error of the kernel for this path.
    broken: Option<Errno>,
}

impl RealPath {
    /// Resolves a path component by component, as the kernel does: links are followed, and `..` behind a link is above
    /// where the link leads. What is not there yet is where its longest part that is there leads; a link that leads to
    /// nothing counts too, since whatever is written to it is written there.
    ///
    /// # Errors
    /// When the path is relative or has a zero byte: then it leads nowhere.
    pub fn resolve(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if path.is_relative() || bytes.contains(&0) {
            let problem = "the path is not absolute, or has a zero byte in it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        if bytes.len() >= LONGEST {
            return Ok(Self {
                path: path.to_owned(),
                broken: Some(Errno::NAMETOOLONG),
            });
        }
        Ok(walk(path))
    }

    /// A path that is taken as it stands: where it has a link in it, every opening fails.
    pub(crate) fn as_it_stands(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            broken: None,
        }
    }

    /// The path below this folder, by a relative path of names alone. `None` for any other path.
    pub fn below(&self, relative: &Path) -> Option<Self> {
        let is_name = |part| matches!(part, Component::Normal(_));
        let has_zero = relative.as_os_str().as_encoded_bytes().contains(&0);
        let is_plain = !has_zero && relative.components().all(is_name);
        is_plain.then(|| Self {
            path: self.path.join(relative),
            broken: self.broken,
        })
    }

    /// The folder that it is in; nothing for the root.
    pub fn folder(&self) -> Option<Self> {
        Some(Self {
            path: self.path.parent()?.to_owned(),
            broken: self.broken,
        })
    }

    /// The path, for messages and comparisons.
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// The error of the kernel, if the path cannot lead anywhere.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.broken.map_or(Ok(()), |errno| Err(errno.into()))
    }
}

impl Deref for RealPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for RealPath {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl From<RealPath> for PathBuf {
    fn from(real: RealPath) -> Self {
        real.path
    }
}

/// `canonicalize` would give up at the first part that is not there, and so would not tell where a link that leads to
/// nothing leads.
fn walk(path: &Path) -> RealPath {
    let mut real = PathBuf::new();
    let mut broken = None;
    let mut rest: VecDeque<Step> = steps(path).collect();
    let mut followed = 0;
    while let Some(step) = rest.pop_front() {
        match step {
            Step::Root(root) => real = root,
            Step::Here => broken = broken.or_else(|| no_folder(&real)),
            Step::Up => {
                broken = broken.or_else(|| no_folder(&real));
                real.pop();
            }
            Step::Name(name) => {
                let next = real.join(name);
                // No link, or nothing that can be looked at.
                let Ok(target) = fs::read_link(&next) else {
                    real = next;
                    continue;
                };
                if followed == MOST_LINKS || target.as_os_str().len() >= LONGEST {
                    broken = broken.or(Some(Errno::LOOP));
                    real = next;
                    continue;
                }
                followed += 1;
                let target: Vec<Step> = steps(&target).collect();
                for step in target.into_iter().rev() {
                    rest.push_front(step);
                }
            }
        }
    }
    RealPath { path: real, broken }
}

/// Why a path is no folder: above a file, or what is not there, is nothing.
fn no_folder(path: &Path) -> Option<Errno> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => None,
        Ok(_) => Some(Errno::NOTDIR),
        Err(error) => Some(Errno::from_io_error(&error).unwrap_or(Errno::NOENT)),
    }
}

/// One part of a path.
enum Step {
    Root(PathBuf),
    Up,
    /// A slash or a dot at the end: what is before it is a folder.
    Here,
    Name(OsString),
}

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_folder = bytes.ends_with(b"/") || bytes.ends_with(b"/.");
    let steps = path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::RootDir => {
            let root: &Path = component.as_ref();
            Some(Step::Root(root.to_owned()))
        }
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
    });
    steps.chain(is_folder.then_some(Step::Here))
}

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// No longer path is understood by the kernel; one of a hundred megabytes would keep the walk busy for ever.
const LONGEST: usize = 4096;
