//! `Bash`: runs a command, and waits for it or not. What the model reads of it is in [`report`].

mod report;
#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Change, Outcome, Place, Tool};
use crate::{
    Shell,
    commands::{Ended, Order, Waited},
};

/// Runs a command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bash {
    /// The command line.
    command: String,
    /// How long it may take, in milliseconds.
    timeout: Option<f64>,
    /// What it does, in five to ten words.
    description: Option<String>,
    /// Whether to go on at once and look at it later. Needs no `&`.
    run_in_background: Option<bool>,
    /// There is no sandbox here; accepted, and without effect.
    #[serde(rename = "dangerouslyDisableSandbox")]
    _disable_sandbox: Option<bool>,
}

impl Tool for Bash {
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = "Runs a command line with bash and gives what it wrote, standard output and \
standard error together. The working directory is kept from one call to the next, variables and functions are not. \
There is no input to read from and no terminal. A command may take two minutes unless `timeout` (in milliseconds, at \
most ten minutes) says otherwise; what takes longer, or never ends, is started with `run_in_background` and looked at \
with TaskOutput. Use the tools for files, not cat, sed or echo, to read and change files.";

    async fn run(self, place: &Place) -> Outcome {
        if self.command.contains('\0') {
            return Outcome::misuse(
                "the command has a NUL character in it, which no shell can run",
            );
        }
        let directory = if place.current.is_dir() {
            place.current.clone()
        } else {
            place.project.to_path_buf()
        };
        let timeout = timeout(self.timeout, place.shell);
        let order = Order {
            command: self.command,
            description: self.description,
            tool_use_id: place.tool_use_id.to_string(),
            directory,
        };
        if self.run_in_background == Some(true) {
            return match place.commands.start(order).await {
                Ok(task) => report::started(&task),
                Err(error) => not_started(&error),
            };
        }
        let is_silent = report::is_silent(&order.command);
        match place.commands.run(order, timeout).await {
            Ok(Waited::Ended(ended)) => {
                let whereabouts = whereabouts(&ended, place).await;
                let mut outcome = report::ended(&ended, place, timeout, whereabouts.note()).await;
                if is_silent && outcome.data.is_object() {
                    outcome.data["noOutputExpected"] = true.into();
                }
                outcome.changes.extend(whereabouts.change(place));
                outcome
            }
            Ok(Waited::Backgrounded(task)) => report::backgrounded(&task),
            Err(error) => not_started(&error),
        }
    }
}

fn not_started(error: &std::io::Error) -> Outcome {
    Outcome::error(format!("the command could not be started: {error}"))
}

/// What the model wants, within bounds. Zero and what is no number are as good as nothing.
fn timeout(wanted: Option<f64>, shell: Shell) -> Duration {
    let wanted = wanted
        .filter(|milliseconds| *milliseconds > 0.0)
        .and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok());
    match wanted {
        Some(wanted) => wanted.clamp(Duration::from_millis(1), shell.max_timeout),
        None => shell.default_timeout.min(shell.max_timeout),
    }
}

/// Where the shell is after a command.
#[derive(Debug, PartialEq, Eq)]
enum Whereabouts {
    /// Where it may be.
    At(PathBuf),
    /// It was somewhere else; it is back here.
    Reset(PathBuf),
}

impl Whereabouts {
    /// What the model is told.
    fn note(&self) -> Option<String> {
        match self {
            Self::At(_) => None,
            Self::Reset(path) => Some(format!("Shell cwd was reset to {}", path.display())),
        }
    }

    fn change(self, place: &Place) -> Option<Change> {
        let (Self::At(path) | Self::Reset(path)) = self;
        (path != place.current).then_some(Change::Directory(path))
    }
}

/// Where the shell went stays if that is an allowed directory; else it goes back to the project.
async fn whereabouts(ended: &Ended, place: &Place) -> Whereabouts {
    let Some(now) = ended.directory().await else {
        return Whereabouts::At(place.current.clone());
    };
    let allowed =
        std::iter::once(&*place.project).chain(place.directories.iter().map(PathBuf::as_path));
    for directory in allowed {
        if is_inside(&now, directory).await {
            return Whereabouts::At(now);
        }
    }
    Whereabouts::Reset(place.project.to_path_buf())
}

/// `path` is where something really is; `directory` may be reached through links.
async fn is_inside(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory)
        || tokio::fs::canonicalize(directory)
            .await
            .is_ok_and(|directory| path.starts_with(directory))
}
