//! [`Walked`]: a second look at what a walk by paths has found.

use std::{io, path::Path};

use crate::{Directory, RealPath, Status};

/// Looks again at what a walk found below a folder, through handles. A walk by paths can be led astray: while it lists a
/// folder, that may become a link. What it found counts if it is there by a path without links.
#[derive(Debug)]
pub struct Walked {
    root: RealPath,
    /// The folder of what was looked at last: a walk names the files of a folder together.
    last: Option<(RealPath, Directory)>,
}

impl Walked {
    /// For a walk that began at this path.
    pub fn new(root: RealPath) -> Self {
        Self { root, last: None }
    }

    /// Tells what is at a path that was found. A link is told as one.
    ///
    /// # Errors
    /// When the path is not below the root, or is not there without links.
    pub fn look(&mut self, found: &Path) -> io::Result<(RealPath, Status)> {
        let below = found.strip_prefix(&self.root);
        self.look_below(below.map_err(|_| outside())?)
    }

    /// The same by the path from the root.
    ///
    /// # Errors
    /// As for [`look`](Self::look).
    pub fn look_below(&mut self, found: &Path) -> io::Result<(RealPath, Status)> {
        let real = if found.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.below(found).ok_or_else(outside)?
        };
        let (Some(folder), Some(name)) = (real.folder(), real.file_name()) else {
            let status = crate::status(&real)?;
            return Ok((real, status));
        };
        let is_last = |last: &(RealPath, Directory)| last.0 == folder;
        if !self.last.as_ref().is_some_and(is_last) {
            let directory = Directory::open(&folder)?;
            self.last = Some((folder, directory));
        }
        let (_, directory) = self.last.as_ref().ok_or_else(outside)?;
        let status = directory.status(name)?;
        Ok((real, status))
    }
}

fn outside() -> io::Error {
    io::Error::other("the walk found something outside of its root")
}
