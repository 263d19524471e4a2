//! `towline sessions rename`.

use clap::Args;

use super::find::{find_session, home};

/// Give a session a title, by which `claude --resume TITLE` finds it too.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session: its id, the start of it, or its title.
    session: String,

    /// The new title.
    title: String,
}

impl Rename {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = find_session(&home()?, &self.session)?;
        session.rename(&self.title)?;
        Ok(())
    }
}
