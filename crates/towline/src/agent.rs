//! `towline [flags] [prompt]`: the agent itself, on standard input and output.
//!
//! [`arguments`] reads the command line by the table in [`flags`], [`choices`] checks it, [`documents`] reads the files it
//! leads to, [`mod@trust`] asks the person about them on a terminal, [`config`] puts it together, [`mod@run`] lets the agent
//! work. Wrong use is a [`Refusal`]: one line, exit code 1.

mod api;
mod arguments;
mod choices;
mod config;
mod debug;
mod documents;
mod first_line;
mod flags;
mod help;
mod key_helper;
mod picker;
mod print;
mod pull_request;
mod run;
mod signals;
mod surroundings;
#[cfg(test)]
mod tests;
mod trust;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Read as _, Write as _},
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use towline_agent::SessionStart;

use crate::{child, terminal::escaped};
use arguments::RawFlags;
use choices::{Choices, InputFormat};
use documents::{Documents, uses_project_files};
use flags::Id;
use pull_request::PullRequest;
use surroundings::Surroundings;

/// Why nothing was started, in one line for whoever started it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal(String);

impl Refusal {
    fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }
}

impl std::error::Error for Refusal {}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs the agent with these arguments.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let error = match start(words) {
        Ok(code) => return Ok(code),
        Err(error) => error,
    };
    let refusal = error.downcast::<Refusal>()?;
    // With standard error gone there is nobody left to tell.
    writeln!(io::stderr().lock(), "{}", escaped(&refusal.to_string())).ok();
    hear_out();
    Ok(ExitCode::FAILURE)
}

/// A host that already writes must find somebody who reads, else it takes the broken pipe for the error and never sees the
/// exit code: what it says first is read and left.
fn hear_out() {
    if io::stdin().is_terminal() {
        return;
    }
    let (heard, wait) = mpsc::channel();
    thread::spawn(move || {
        let mut first = [0; 4096];
        let read = io::stdin().lock().read(&mut first);
        heard.send(read.unwrap_or(0)).ok();
    });
    wait.recv_timeout(PATIENCE).ok();
}

/// How long a host may take for its first words.
const PATIENCE: Duration = Duration::from_millis(500);

fn start(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let mut flags = RawFlags::read(words)?;
    if flags.has(Id::Help) {
        help::write(&mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.has(Id::Version) {
        writeln!(io::stdout().lock(), "{}", version())?;
        return Ok(ExitCode::SUCCESS);
    }
    debug::listen(&flags)?;
    let mut choices = Choices::read(&flags)?;
    let around = Surroundings::look()?;
    let is_interactive =
        around.is_terminal && !flags.has(Id::Print) && choices.formats.input == InputFormat::Text;
    let chooses_linked = choices.pull_request == Some(PullRequest::Any);
    let needs_choice = chooses_linked
        || matches!(&choices.start, SessionStart::Resume { which, .. } if which.is_empty());
    if needs_choice && !is_interactive {
        return Err(Refusal::new(match chooses_linked {
            true => {
                "Error: --from-pr requires the number or the address of a pull request when used with --print. \
                 Usage: towline -p --from-pr <number|url>"
            }
            false => {
                "Error: --resume requires a valid session ID or session title when used with --print. \
                 Usage: towline -p --resume <session-id|title>"
            }
        })
        .into());
    }
    if is_interactive && flags.prompt.is_none() && !needs_choice {
        help::welcome(&mut io::stdout().lock())?;
        // Nothing begins yet, so a folder whose files cannot be read is told of when something does.
        if let Ok(mut documents) = Documents::read(&flags, &choices, &around)
            && uses_project_files(&choices)
        {
            trust::ask_if_needed(&mut documents)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut documents = Documents::read(&flags, &choices, &around)?;
    if is_interactive && uses_project_files(&choices) {
        trust::ask_if_needed(&mut documents)?;
    }
    if needs_choice {
        let sessions = match chooses_linked {
            true => pull_request::sessions(&documents, &PullRequest::Any, picker::MOST)?,
            false => picker::newest(&documents)?,
        };
        let Some(picked) = picker::pick(&sessions, flags.prompt.is_none())? else {
            return Ok(ExitCode::SUCCESS);
        };
        choices.resume(picked.session);
        flags.prompt = flags.prompt.or(picked.prompt);
    } else if let Some(wanted) = choices.pull_request.clone() {
        let linked = pull_request::sessions(&documents, &wanted, 1)?;
        let Some(newest) = linked.first() else {
            return Err(Refusal::new(format!(
                "Error: --from-pr: no session of this folder has made {wanted}. `towline sessions list` shows those there are"
            ))
            .into());
        };
        choices.resume(newest.session.key().to_string());
    }
    let plan = config::plan(&flags, choices, documents, &around)?;
    for notice in &plan.notices {
        // With standard error gone there is nobody left to tell.
        writeln!(io::stderr().lock(), "towline: {}", escaped(notice)).ok();
    }
    if let Some(model) = &plan.unknown_model {
        warn_of_model(model);
    }
    child::block_on(run::run(plan))
}

/// A model that nobody knows here is tried all the same. The second line is for programs, as CLI 2.1.325 writes it.
fn warn_of_model(model: &str) {
    let words = format!(
        "the model \"{model}\" is not known here; it is tried, with the context window of current models assumed"
    );
    let fact = serde_json::json!({"model": model, "query_source": "sdk"});
    // With standard error gone there is nobody left to tell.
    writeln!(
        io::stderr().lock(),
        "towline: {}\n[claude-code:unrecognized_model] {}",
        escaped(&words),
        escaped(&fact.to_string())
    )
    .ok();
}

/// The first word is a version that hosts know; then who it really is.
fn version() -> String {
    let (speaks, own) = (towline_agent::SPEAKS_AS, env!("CARGO_PKG_VERSION"));
    format!("{speaks} (towline {own})")
}
