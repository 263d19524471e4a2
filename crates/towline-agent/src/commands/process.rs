//! [`Process`]: a shell that runs one command, in a process group of its own.
//!
//! What it and its children write goes straight into a file, in the order in which they write it: no output is held in
//! memory, and nobody who keeps the file open can hold up the end.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::{fs::OpenOptionsExt as _, process::ExitStatusExt as _},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout_at},
};
use towline_process::{Descendants, Group, Signal, Watchdog};

use super::Environment;

/// A running shell. When it is dropped before it has ended, it and everything it started are killed.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Group,
    has_ended: bool,
}

/// The files of a command.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// What it wrote.
    pub(super) output: PathBuf,
    /// Where its shell was at the end.
    pub(super) directory: PathBuf,
}

impl Process {
    /// Starts a shell in `directory` that runs `command`.
    pub(super) fn spawn(
        command: &str,
        directory: &Path,
        environment: &Environment,
        files: &Files,
        watchdog: &Arc<Watchdog>,
    ) -> io::Result<Self> {
        let mark = watchdog.mark()?;
        let output = create(&files.output)?;
        let shell = SHELLS.iter().find(|shell| Path::new(shell).is_file());
        let shell =
            shell.ok_or_else(|| io::Error::other("there is no /bin/bash and no /bin/sh"))?;
        let mut builder = Command::new(shell);
        builder
            .args(["-c", SCRIPT, shell, command])
            .arg(&files.directory)
            .current_dir(directory)
            .env_clear()
            .envs(environment.iter())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .kill_on_drop(true);
        mark.put_on(builder.as_std_mut());
        let child = builder.spawn()?;
        let group = Group::of(watchdog, mark, child.id().unwrap_or_default())?;
        Ok(Self {
            child,
            group,
            has_ended: false,
        })
    }

    /// Waits until the shell has ended, and gives its exit code: `128 + N` after signal `N`, as shells count.
    ///
    /// What it left in the background goes on. Can be dropped and called again.
    pub(super) async fn wait(&mut self) -> io::Result<i32> {
        let status = self.child.wait().await?;
        self.has_ended = true;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => code,
            (None, signal) => 128 + signal.unwrap_or_default(),
        })
    }

    /// Ends the shell and everything it started: `SIGTERM`, and `SIGKILL` to all that is left after `grace`.
    pub(super) async fn stop(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        let members = self.group.terminate();
        timeout_at(until, self.child.wait()).await.ok();
        // A shell ends at once; what it started may have something to put in order.
        while Instant::now() < until && members.any_runs() {
            sleep(LOOK).await;
        }
        self.group.kill(&members);
        // Killed, so it ends; and a zombie would keep its id.
        self.child.wait().await.ok();
        self.has_ended = true;
    }

    /// What is left of the group of a shell that has ended, with the watchdog's eye still on it.
    pub(super) fn leave(self) -> Option<Leftover> {
        let leftover = Leftover(self);
        leftover.is_alive().then_some(leftover)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended {
            self.group.kill(&Descendants::default());
        }
    }
}

/// What a shell left in the background when it ended.
#[derive(Debug)]
pub(super) struct Leftover(Process);

impl Leftover {
    /// Whether anything of it still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.0.group.is_there()
    }

    /// Ends it.
    pub(super) fn kill(&self) {
        // It may have ended in between.
        self.0.group.signal(Signal::KILL).ok();
    }
}

/// A file that only the person can read, and that everything written to is appended to.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// How often one looks whether what was asked to end has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The first one that is there.
const SHELLS: &[&str] = &["/bin/bash", "/bin/sh"];

/// `$1` is the command, `$2` the file that takes the shell's directory at the end, also after `exit`. One line, so that the
/// shell's complaints count the command's lines; no arguments, so that the command sees none.
const SCRIPT: &str = r#"__command=$1; __directory=$2; set --; trap 'pwd -P 2>/dev/null >|"$__directory"' EXIT; eval "$__command""#;
