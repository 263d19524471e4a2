//! `towline dialect session`: document 003's protocol (`session.create`, `callback.request`, …) in front of an agent.
//!
//! [`arguments`] is how the agent is started, [`relay`] what is said (pure), [`streams`] who says it.

mod arguments;
mod relay;
mod streams;

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, bail};
use clap::Args;
use tokio::{io::AsyncRead, sync::mpsc};
use towline_agent::{Config, SessionOptions, SessionStart, Signal};
use towline_protocol::dialect::session::Opening;
use towline_store::SessionKey;

use crate::child::{self, Signals};
use arguments::AgentArguments;
use relay::Relay;

/// Speak the protocol of `session.create` and `callback.request` in front of an agent.
///
/// Runs the agent and translates between its stream-json and the protocol of document 003, on standard input and output.
/// What is wrong with a line is told in an `error` line, and the session goes on.
///
/// The agent gets the flags it needs where they are missing: `--output-format stream-json`, `--input-format
/// stream-json`, `--permission-prompt-tool stdio`, `--verbose`, and a `--session-id` unless it goes on with an old session. A `--cwd` among
/// its arguments is taken out: the agent is started there.
///
/// The protocol has a `system` line behind the answer to `initialize`, before the first message. Agents say theirs
/// when the first turn begins, so the first one is made of what is known by then, with an empty list of tools; the
/// agent's own follows with the turn.
#[derive(Debug, Args)]
pub(crate) struct Session {
    /// Start the agent in this folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Start the agent with these arguments and no others.
    #[arg(long)]
    bare: bool,

    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "CLI")]
    command: Vec<OsString>,
}

impl Session {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut arguments = AgentArguments::read(self.command);
        if !self.bare {
            arguments.complete(|| uuid::Uuid::new_v4().to_string())?;
        }
        let folder = match self.cwd.or_else(|| arguments.cwd.clone()) {
            None => std::env::current_dir().context("cannot tell which folder this is")?,
            Some(folder) if folder.is_dir() => std::path::absolute(&folder)?,
            Some(folder) => bail!(
                "cannot work in `{}`: no such folder; give --cwd one that exists",
                folder.display()
            ),
        };
        let opening = arguments.opening(&folder);
        let command = arguments.command()?;
        let exit = child::block_on(async {
            let signals = Signals::listen()?;
            let agent = child::start(&command, Some(&folder), Stdio::piped())?;
            streams::run(agent, Relay::new(opening), signals).await
        })?;
        Ok(child::end_as(exit))
    }
}

/// Speaks the protocol in front of an agent in this process, on standard output.
pub(super) async fn serve(
    mut config: Config,
    host: impl AsyncRead + Unpin,
    signals: mpsc::Receiver<Signal>,
) -> Result<towline_agent::Exit, towline_store::Error> {
    let resumes = config.session.start != SessionStart::New;
    if !resumes && config.session.id.is_none() {
        // The protocol tells the id before the agent would.
        config.session.id = Some(uuid::Uuid::new_v4().to_string().parse()?);
    }
    let opening = Opening {
        session_id: known_id(&config.session).map(|id| id.as_str().into()),
        cwd: Some(config.cwd.to_string_lossy().into_owned().into()),
        resumes,
    };
    Ok(streams::run_here(config, Relay::new(opening), host, signals).await)
}

/// The id of a session that has not begun, where that is known.
fn known_id(session: &SessionOptions) -> Option<SessionKey> {
    let resumed = match &session.start {
        SessionStart::Resume {
            which, fork: false, ..
        } => which.parse().ok(),
        _ => None,
    };
    session.id.clone().or(resumed)
}
