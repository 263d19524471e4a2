//! What the model is told of itself and its surroundings: [`system_blocks`]. The words are ours.
//!
//! Nothing here waits for a child process: the first request must not wait for git.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use towline_protocol::{Block, Json, Wire};

use crate::{config::PromptOptions, repository::Repository};

/// Where the model works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// Other directories that it may work in.
    pub(crate) directories: Vec<PathBuf>,
    /// The repository, if there is one.
    pub(crate) repository: Option<Repository>,
    /// Such as `linux`.
    pub(crate) platform: String,
    /// Such as `Linux 6.18.1`.
    pub(crate) os_version: Option<String>,
    /// The shell that runs commands.
    pub(crate) shell: Option<String>,
    /// Today, such as `2026-11-16`.
    pub(crate) date: String,
    /// The model's full name.
    pub(crate) model: String,
}

impl Surroundings {
    /// Looks around a directory, as far as a few small files tell. The rest is to be filled in.
    pub(crate) fn of(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            directories: Vec::new(),
            repository: Repository::find(cwd),
            platform: std::env::consts::OS.to_owned(),
            os_version: os_version(),
            shell: None,
            date: String::new(),
            model: String::new(),
        }
    }

    /// What the model is told of them.
    pub(crate) fn text(&self) -> String {
        let mut text = "# Surroundings\n".to_owned();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            write!(text, "\n- {name}: {value}").ok();
        };
        line("working directory", &self.cwd.to_string_lossy());
        for directory in &self.directories {
            line("also to work in", &directory.to_string_lossy());
        }
        match &self.repository {
            None => line("git repository", "no"),
            Some(repository) => {
                let branch = repository.branch.as_deref();
                let branch = branch.map_or("no branch checked out".to_owned(), |branch| {
                    format!("on branch `{branch}`")
                });
                let root = repository.root.display();
                line("git repository", &format!("{root}, {branch}"));
            }
        }
        line("platform", &self.platform);
        if let Some(version) = &self.os_version {
            line("operating system", version);
        }
        if let Some(shell) = &self.shell {
            line("shell", shell);
        }
        if !self.date.is_empty() {
            line("today", &self.date);
        }
        if !self.model.is_empty() {
            line("you are the model", &self.model);
        }
        text
    }
}

/// The system prompt as blocks: the prompt itself, the surroundings, the memory.
///
/// `replace` takes the place of our prompt, `append` stands behind whichever it is, with a blank line between (so does CLI
/// 2.1.325). The surroundings and the memory are told in any case: they are facts and the user's wishes, not ours.
pub(crate) fn system_blocks(
    options: &PromptOptions,
    surroundings: &Surroundings,
    memory: Option<&str>,
) -> Vec<Json> {
    let prompt = options.replace.as_deref().unwrap_or(PROMPT);
    let parts = [Some(prompt), options.append.as_deref()];
    let parts = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.trim().is_empty());
    let prompt = parts.collect::<Vec<_>>().join("\n\n");
    let surroundings = surroundings.text();
    // The API refuses an empty text.
    [prompt.as_str(), &surroundings, memory.unwrap_or_default()]
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| Block::text(text).to_standard_json())
        .collect()
}

/// The kernel's name and release, from the files that Linux has for it; nothing elsewhere.
fn os_version() -> Option<String> {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
    let (kind, release) = read("ostype").zip(read("osrelease"))?;
    Some(format!("{} {}", kind.trim(), release.trim()))
}

/// Our system prompt.
const PROMPT: &str = include_str!("context/prompt.md");

#[cfg(test)]
mod tests;
