//! How the agent is started: what the host gave, and what the protocol needs.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use towline_protocol::dialect::session::Opening;

/// A program and its arguments, read as far as it matters here.
#[derive(Debug)]
pub(super) struct AgentArguments {
    program: OsString,
    arguments: Vec<OsString>,
    /// Behind `--`: not flags, whatever they look like.
    literal: Vec<OsString>,
    /// Where the agent is to work, from a flag that no agent knows any more.
    pub(super) cwd: Option<PathBuf>,
}

impl AgentArguments {
    /// Takes a command, and out of it the folder to work in.
    pub(super) fn read(command: Vec<OsString>) -> Self {
        let mut words = command.into_iter();
        let mut read = Self {
            program: words.next().unwrap_or_default(),
            arguments: Vec::new(),
            literal: Vec::new(),
            cwd: None,
        };
        while let Some(word) = words.next() {
            let text = word.to_str();
            if text == Some("--") {
                read.literal.push(word);
                read.literal.extend(words);
                break;
            }
            if text == Some("--cwd") {
                read.cwd = words.next().map(PathBuf::from);
            } else if let Some(folder) = text.and_then(|text| text.strip_prefix("--cwd=")) {
                read.cwd = Some(folder.into());
            } else {
                read.arguments.push(word);
            }
        }
        read
    }

    /// Adds the flags that are missing. A new session gets the id that `new_id` makes.
    pub(super) fn complete(&mut self, new_id: impl FnOnce() -> String) -> anyhow::Result<()> {
        for (flag, value) in NEEDED {
            match (self.value(flag), value) {
                (None, Some(value)) => self.add(&[flag, value]),
                (None, None) => self.add(&[flag]),
                (Some(given), Some("stream-json")) if given != OsStr::new("stream-json") => bail!(
                    "the agent must speak stream-json: leave `{flag} {}` out",
                    given.display()
                ),
                (Some(_), _) => {}
            }
        }
        if !self.resumes() && self.value("--session-id").is_none() {
            self.add(&["--session-id", &new_id()]);
        }
        Ok(())
    }

    /// What is known of the session before it begins.
    pub(super) fn opening(&self, folder: &Path) -> Opening {
        let is_fork = self.value("--fork-session").is_some();
        let resumed = ["--resume", "-r"].iter().find_map(|flag| self.value(flag));
        let id = self
            .value("--session-id")
            .or_else(|| resumed.filter(|id| !is_fork && is_uuid(id)));
        Opening {
            session_id: id.map(|id| id.to_string_lossy().into_owned().into()),
            cwd: Some(folder.to_string_lossy().into_owned().into()),
            resumes: self.resumes(),
        }
    }

    /// The command to run, in whichever folder.
    pub(super) fn command(self) -> anyhow::Result<Vec<OsString>> {
        let mut program = self.program;
        if Path::new(&program).components().count() > 1 {
            program = std::path::absolute(&program)
                .with_context(|| format!("cannot find `{}`", program.display()))?
                .into();
        }
        let mut command = vec![program];
        command.extend(self.arguments);
        command.extend(self.literal);
        Ok(command)
    }

    /// Whether it goes on with an old session.
    fn resumes(&self) -> bool {
        ["--resume", "-r", "--continue", "-c"]
            .iter()
            .any(|flag| self.value(flag).is_some())
    }

    /// What stands behind a flag, or nothing if the flag is not there. A flag without a value has the next one.
    fn value(&self, flag: &str) -> Option<&OsStr> {
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            if word == flag {
                return Some(words.next().map_or(OsStr::new(""), OsString::as_os_str));
            }
            let given = word.to_str().and_then(|word| word.strip_prefix(flag));
            if let Some(value) = given.and_then(|rest| rest.strip_prefix('=')) {
                return Some(OsStr::new(value));
            }
        }
        None
    }

    fn add(&mut self, words: &[&str]) {
        self.arguments.extend(words.iter().map(OsString::from));
    }
}

fn is_uuid(id: &OsStr) -> bool {
    let id = id.to_str();
    id.is_some_and(|id| uuid::Uuid::try_parse(id).is_ok())
}

/// The real CLI needs `--verbose` with the other three; document 003 has it as optional.
const NEEDED: [(&str, Option<&str>); 4] = [
    ("--output-format", Some("stream-json")),
    ("--input-format", Some("stream-json")),
    ("--permission-prompt-tool", Some("stdio")),
    ("--verbose", None),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> AgentArguments {
        AgentArguments::read(words.iter().map(OsString::from).collect())
    }

    /// The completed arguments and the session, as one line.
    fn check(words: &[&str], expected: &str) {
        let mut arguments = read(words);
        let id = || "NEW".to_owned();
        let told = match arguments.complete(id) {
            Err(error) => error.to_string(),
            Ok(()) => {
                let opening = arguments.opening(Path::new("/p"));
                let cwd = arguments.cwd.clone().unwrap_or_default();
                let session = opening.session_id.map(|id| id.to_string());
                let words = arguments.command().unwrap();
                let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
                let resumes = if opening.resumes { ", resumes" } else { "" };
                let (words, session) = (words.join(" "), session.unwrap_or_default());
                format!("{words} | {}| {session}{resumes}", cwd.display())
            }
        };
        assert_eq!(told, expected, "{words:?}");
    }

    #[test]
    fn missing_flags_are_added_and_given_ones_kept() {
        const ALL: &str = "--output-format stream-json --input-format stream-json \
                           --permission-prompt-tool stdio --verbose";
        const OLD: &str = "11111111-2222-4333-8444-555555555555";
        check(
            &["claude"],
            &format!("claude {ALL} --session-id NEW | | NEW"),
        );
        check(
            &[
                "/b/claude",
                "--verbose",
                "--cwd",
                "/w",
                "--model",
                "opus",
                "--",
                "--cwd=/x",
            ],
            "/b/claude --verbose --model opus --output-format stream-json --input-format stream-json \
             --permission-prompt-tool stdio --session-id NEW -- --cwd=/x | /w| NEW",
        );
        check(
            &["claude", "--cwd=/w", "--resume", OLD],
            &format!("claude --resume {OLD} {ALL} | /w| {OLD}, resumes"),
        );
        check(
            &["claude", &format!("--resume={OLD}"), "--fork-session"],
            &format!("claude --resume={OLD} --fork-session {ALL} | | , resumes"),
        );
        check(&["claude", "-c"], &format!("claude -c {ALL} | | , resumes"));
        check(
            &[
                "claude",
                "--session-id=mine",
                "--permission-prompt-tool=mcp__a__b",
            ],
            "claude --session-id=mine --permission-prompt-tool=mcp__a__b --output-format stream-json \
             --input-format stream-json --verbose | | mine",
        );
        check(
            &["claude", "--output-format", "text"],
            "the agent must speak stream-json: leave `--output-format text` out",
        );
    }
}
