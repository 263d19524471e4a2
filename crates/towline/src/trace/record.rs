//! `towline trace record`: a wiretap between a host and an agent.
//!
//! [`wiretap`] passes bytes on, [`recorder`] makes rows of them, [`lines`] cuts them into lines.

mod lines;
mod recorder;
mod wiretap;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{self, ExitCode, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use clap::Args;

use crate::{
    child::{self, Signals},
    terminal::escaped,
};
use recorder::Recorder;

/// Record what a host and an agent say to each other.
///
/// Runs the agent and passes everything on as it comes: standard input, output and error, the end of the input,
/// signals, and at last the agent's exit code or the signal that ended it. Use `towline trace wrapper` where a
/// host wants one program without arguments.
///
/// A line of more than 8 MiB is spread over several rows, all but the last of which have `"more":true`. What is not
/// UTF-8 is recorded with U+FFFD in its place; it is passed on as it is.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// The trace to write: a new or an empty file. `%p` in its name is the process id, `%t` the time in milliseconds
    /// since 1970, `%%` a percent sign.
    out: PathBuf,

    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "CLI")]
    command: Vec<OsString>,
}

impl Record {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let milliseconds = now.unwrap_or_default().as_millis();
        let out = expanded(&self.out, process::id(), milliseconds);
        let recorder = Recorder::create(&out, &self.command[1..])?;
        let exit = child::block_on(async {
            let signals = Signals::listen()?;
            recorder::outlive_a_full_quota()?;
            let agent = child::start(&self.command, None, Stdio::piped())?;
            wiretap::run(agent, recorder, signals, warn).await
        })?;
        Ok(child::end_as(exit))
    }
}

/// Says something that is not the agent's. With standard error gone there is nobody left to tell.
fn warn(message: &str) {
    writeln!(io::stderr().lock(), "towline: {}", escaped(message)).ok();
}

/// The name with its placeholders filled in. A percent sign before anything else is one.
fn expanded(name: &Path, process: u32, milliseconds: u128) -> PathBuf {
    let Some(name) = name.to_str() else {
        return name.to_owned();
    };
    let mut filled = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        let mut ahead = rest.clone();
        let filling = match (character, ahead.next()) {
            ('%', Some('p')) => process.to_string(),
            ('%', Some('t')) => milliseconds.to_string(),
            ('%', Some('%')) => "%".to_owned(),
            _ => {
                filled.push(character);
                continue;
            }
        };
        filled.push_str(&filling);
        rest = ahead;
    }
    filled.into()
}

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn placeholders_in_the_name_are_filled_in() {
        for (name, filled) in [
            ("a.jsonl", "a.jsonl"),
            ("d/%t-%p.jsonl", "d/99-7.jsonl"),
            ("100%%p", "100%p"),
            ("100%.jsonl%", "100%.jsonl%"),
            ("%x%p", "%x7"),
        ] {
            assert_eq!(expanded(name.as_ref(), 7, 99).to_str(), Some(filled));
        }
    }
}
