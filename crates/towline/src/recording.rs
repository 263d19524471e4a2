//! Where a recording goes: a file of its own, for nobody else's eyes.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::{Context as _, bail};

/// Creates the file. A recording is not made over another one; an empty file, a pipe or a device holds none.
pub(crate) fn create(name: &Path) -> anyhow::Result<File> {
    let holds_something = |file: std::fs::Metadata| file.is_file() && file.len() > 0;
    if name.metadata().is_ok_and(holds_something) {
        bail!(
            "`{}` exists already: remove it, or record into another file",
            name.display()
        );
    }
    // What people tell their agents is nobody else's business.
    let mut options = OpenOptions::new();
    options
        .append(true)
        .create(true)
        .mode(0o600)
        .open(name)
        .with_context(|| format!("cannot write `{}`", name.display()))
}
