//! `towline sessions delete`.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use clap::Args;
use towline_store::{Session, SessionSummary};

use super::find::{find_session, home};
use crate::terminal::escaped;

/// Delete a session with its subagents and stored tool results.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The session: its id, the start of it, or its title.
    session: String,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = find_session(&home()?, &self.session)?;
        if !self.yes && !confirm(&session)? {
            bail!("nothing was deleted");
        }
        session.delete()?;
        Ok(())
    }
}

fn confirm(session: &Session) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!(
            "there is no terminal to ask on: give --yes to delete {}",
            session.key()
        );
    }
    let title = SessionSummary::of(session.clone())?.map(|summary| summary.title);
    let title = escaped(&title.unwrap_or_default());
    let mut stderr = io::stderr().lock();
    write!(stderr, "delete {} ({title})? [y/N] ", session.key()).context("cannot ask")?;
    stderr.flush().context("cannot ask")?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
