//! Runs `git` so that it only looks: nothing that a repository says is executed, nothing is fetched, nothing is asked.
//!
//! A repository can name programs in its configuration: filters, hooks, a file watcher, diff drivers, a pager. An agent, or
//! whoever made the repository, may have written it, and looking at a diff on a phone is no permission to run any of
//! that. Settings of the user and of the system are left out too, so that answers look the same everywhere.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time::{Instant, timeout_at},
};

use super::ProjectError;
use crate::access::Roots;

/// `git` in a folder, with an end to all that it may take.
#[derive(Debug)]
pub(super) struct Git {
    directory: PathBuf,
    time: Duration,
    deadline: Instant,
    /// Settings that go over those of the repository.
    settings: Vec<(OsString, OsString)>,
    variables: Vec<(OsString, OsString)>,
}

/// What `git` wrote.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    /// Whether it wrote more than was wanted.
    pub(super) truncated: bool,
}

impl Git {
    /// `git` in a folder of a work tree.
    ///
    /// # Errors
    /// When there is no work tree, or it or its repository is somewhere else than it may be.
    pub(super) async fn at(
        directory: &Path,
        roots: &Roots,
        time: Duration,
    ) -> Result<Self, ProjectError> {
        let mut git = Self {
            directory: directory.to_owned(),
            time,
            deadline: Instant::now() + time,
            settings: SETTINGS
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            variables: Vec::new(),
        };
        if let Some(ignored) = ignore::gitignore::gitconfig_excludes_path() {
            git.settings
                .push(("core.excludesFile".into(), ignored.into()));
        }
        git.stay_inside(roots).await?;
        git.without_filters(directory).await?;
        Ok(git)
    }

    /// A work tree may be that of a repository above the folder. Any other must be where things may be shown:
    /// a `.git` file or `core.worktree` can lead anywhere.
    async fn stay_inside(&self, roots: &Roots) -> Result<(), ProjectError> {
        let places = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-common-dir",
        ];
        let places = self.text(&places).await?;
        let mut places = places.lines().map(PathBuf::from);
        let (Some(work_tree), Some(repository)) = (places.next(), places.next()) else {
            return Err(ProjectError::Unusable(
                "git does not say where the work tree is".to_owned(),
            ));
        };
        let work_tree = real(&work_tree)?;
        if !self.directory.starts_with(&work_tree) {
            roots.existing(&work_tree)?;
            return Err(ProjectError::Unusable(format!(
                "the work tree of {} is elsewhere: {}",
                self.directory.display(),
                work_tree.display()
            )));
        }
        let repository = real(&repository)?;
        if repository.parent() != Some(&work_tree) {
            roots.existing(&repository)?;
        }
        Ok(())
    }

    /// Takes away the filters that a work tree names. There is no switch for all of them.
    pub(super) async fn without_filters(&mut self, directory: &Path) -> Result<(), ProjectError> {
        let filters = r"^filter\..*\.(clean|smudge|process|required)$";
        let mut command =
            self.command(&["config", "--null", "--name-only", "--get-regexp", filters]);
        command.current_dir(directory);
        // It fails when there are none.
        let (output, _) = self.finish(command, &[], MOST_SETTINGS).await?;
        if output.truncated {
            return Err(ProjectError::Unusable(
                "the repository has too many filters".to_owned(),
            ));
        }
        let names = String::from_utf8_lossy(&output.bytes).into_owned();
        for name in names.split_terminator('\0') {
            let value = if name.ends_with(".required") {
                "false"
            } else {
                ""
            };
            self.settings.push((name.into(), value.into()));
        }
        Ok(())
    }

    /// Sets a variable for all that follows.
    pub(super) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    /// What a command writes, up to a bound.
    ///
    /// # Errors
    /// When it fails: what it says.
    pub(super) async fn run(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: &[u8],
        most: u64,
    ) -> Result<Output, ProjectError> {
        let command = self.command(arguments);
        match self.finish(command, input, most).await? {
            (output, None) => Ok(output),
            (_, Some(complaint)) => Err(ProjectError::Unusable(complaint)),
        }
    }

    /// A few words that a command writes, without the end of the line.
    pub(super) async fn text(&self, arguments: &[&str]) -> Result<String, ProjectError> {
        let output = self.run(arguments, &[], MOST_WORDS).await?;
        Ok(String::from_utf8_lossy(&output.bytes).trim_end().to_owned())
    }

    fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(VARIABLES.iter().copied())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("GIT_CONFIG_COUNT", self.settings.len().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        for (number, (name, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command
    }

    /// What it wrote, and what it complains of if it failed. It is gone afterwards, whatever happens.
    async fn finish(
        &self,
        mut command: Command,
        input: &[u8],
        most: u64,
    ) -> Result<(Output, Option<String>), ProjectError> {
        let failed =
            |error: io::Error| ProjectError::Unusable(format!("git cannot be run: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let group = Group::of(&child);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ProjectError::Unusable("git has no pipes".to_owned()));
        };
        let work = async {
            let write = async {
                // It may not want to read all; then its exit status tells.
                drop(stdin.write_all(input).await);
                drop(stdin);
            };
            let ((), output, complaint) =
                tokio::join!(write, head(stdout, most), head_of_all(stderr));
            let status = child.wait().await?;
            Ok((output?, complaint, status))
        };
        let done = timeout_at(self.deadline, work).await;
        let Ok(done) = done else {
            return Err(ProjectError::TooSlow {
                what: "git".to_owned(),
                time: self.time,
            });
        };
        let (output, complaint, status) = done.map_err(failed)?;
        group.ended();
        // One whose output was cut was ended by that.
        let complaint = (!status.success() && !output.truncated).then(|| match complaint.trim() {
            "" => format!("git ended with {status}"),
            complaint => complaint.to_owned(),
        });
        Ok((output, complaint))
    }
}

/// The child and what it started, ended together unless they have ended by themselves.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It fails if they have just ended, which is as well.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn head(stream: impl AsyncRead + Unpin, most: u64) -> io::Result<Output> {
    let mut bytes = Vec::new();
    stream.take(most + 1).read_to_end(&mut bytes).await?;
    let truncated = bytes.len() as u64 > most;
    if truncated {
        bytes.pop();
    }
    Ok(Output { bytes, truncated })
}

/// The beginning of a stream that is read to its end, so that its writer never waits.
async fn head_of_all(mut stream: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let read = (&mut stream).take(MOST_WORDS).read_to_end(&mut bytes).await;
    if read.is_ok() {
        drop(tokio::io::copy(&mut stream, &mut tokio::io::sink()).await);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn real(path: &Path) -> Result<PathBuf, ProjectError> {
    std::fs::canonicalize(path)
        .map_err(|error| ProjectError::Unusable(format!("{}: {error}", path.display())))
}

/// Go over what the repository says.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("core.untrackedCache", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("protocol.allow", "never"),
];

const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

const MOST_WORDS: u64 = 4 << 10;
const MOST_SETTINGS: u64 = 64 << 10;
