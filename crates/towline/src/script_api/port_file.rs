//! A file with the port, for those who wait for the server. It is there in one piece or not at all.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// Removed when dropped.
#[derive(Debug)]
pub(super) struct PortFile(PathBuf);

impl PortFile {
    pub(super) fn write(path: &Path, port: u16) -> anyhow::Result<Self> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}", std::process::id()));
        // A new one: whatever lies there under that name, a link perhaps, is not ours to write through.
        let written = File::create_new(&draft).and_then(|mut file| writeln!(file, "{port}"));
        written
            .and_then(|()| fs::rename(&draft, path))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for PortFile {
    fn drop(&mut self) {
        // Whoever removed it before us wanted it gone.
        fs::remove_file(&self.0).ok();
    }
}
