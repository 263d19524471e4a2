//! One small process for a session that outlives the agent by a moment, and ends what it left behind.
//!
//! It reads from a pipe which groups there are. The pipe ends when the agent does, however it does (`kill -9` included);
//! then the groups get `SIGTERM`, and whatever is left of them `SIGKILL`. A mark in the environment finds what left its
//! group. A death signal (`PR_SET_PDEATHSIG`) would reach the shell alone and not what it started, and would come when the
//! thread that started it ends.

use std::{
    io::{self, PipeWriter, Write as _},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use uuid::Uuid;

use super::descendants::Descendants;

/// The watchdog of a session. When it is dropped, whatever the session's commands left behind is ended.
#[derive(Debug)]
pub(super) struct Watchdog {
    token: String,
    leash: Mutex<Leash>,
}

/// A mark that a command and all it starts are known by, also where they left its group, and also before the watchdog
/// has been told of them. It stands in the environment, which is passed on.
#[derive(Debug)]
pub(super) struct Mark {
    value: String,
}

/// As long as this lives, the watchdog has its eye on a group.
#[derive(Debug)]
pub(super) struct Watch {
    watchdog: Arc<Watchdog>,
    group: Pid,
}

/// The watchdog's process, and what it has been told, for the case that it must be told again.
#[derive(Debug, Default)]
struct Leash {
    process: Option<(Child, PipeWriter)>,
    marks: u64,
    groups: Vec<Pid>,
}

impl Watchdog {
    /// One that does not run yet: it starts with the first command.
    pub(super) fn new() -> Self {
        Self {
            token: Uuid::new_v4().simple().to_string(),
            leash: Mutex::default(),
        }
    }

    /// The mark for a command to be; starts the watchdog if it does not run.
    pub(super) fn mark(&self) -> io::Result<Mark> {
        let mut leash = self.leash();
        leash.ensure(&self.token)?;
        leash.marks += 1;
        let value = format!("{}.{}.", self.token, leash.marks);
        Ok(Mark { value })
    }

    /// Looks after the group of a command that has its mark.
    pub(super) fn watch(self: &Arc<Self>, group: Pid) -> Watch {
        let mut leash = self.leash();
        leash.groups.push(group);
        leash.tell('+', group);
        Watch {
            watchdog: Arc::clone(self),
            group,
        }
    }

    /// `SIGKILL` to everything that the session's commands started and that still runs.
    pub(super) fn kill_all(&self) {
        if self.leash().marks > 0 {
            Descendants::marked(&format!("{VARIABLE}={}.", self.token)).signal(Signal::KILL);
        }
    }

    fn leash(&self) -> MutexGuard<'_, Leash> {
        // A panic elsewhere leaves nothing half done here.
        self.leash.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.kill_all();
    }
}

impl Mark {
    /// Marks a command to be.
    pub(super) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.value);
    }

    /// Whatever has it.
    pub(super) fn bearers(&self) -> Descendants {
        Descendants::marked(&format!("{VARIABLE}={}", self.value))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut leash = self.watchdog.leash();
        if let Some(place) = leash.groups.iter().position(|group| *group == self.group) {
            leash.groups.swap_remove(place);
        }
        leash.tell('-', self.group);
    }
}

impl Leash {
    /// Starts the watchdog if there is none, or if somebody killed it.
    fn ensure(&mut self, token: &str) -> io::Result<()> {
        if let Some((running, _)) = &mut self.process
            && running.try_wait()?.is_none()
        {
            return Ok(());
        }
        self.process = Some(start(token)?);
        for group in self.groups.clone() {
            self.tell('+', group);
        }
        Ok(())
    }

    fn tell(&mut self, what: char, group: Pid) {
        if let Some((_, pipe)) = &mut self.process {
            // A watchdog that is gone is told when the next one is started.
            pipe.write_all(format!("{what} {}\n", group.as_raw_pid()).as_bytes())
                .ok();
        }
    }
}

fn start(token: &str) -> io::Result<(Child, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "towline-watchdog", VARIABLE, token])
        .stdin(Stdio::from(reader))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to the agent's own group, such as Ctrl-C, is not for the watchdog.
        .process_group(0)
        .current_dir("/")
        // No mark of whoever runs the agent: its watchdog would end this one before its work is done.
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .spawn()?;
    Ok((child, writer))
}

/// What marks a command, its children and theirs. Not the host's name for the same: an agent that runs under a host
/// is to stay known to it.
const VARIABLE: &str = "TOWLINE_COMMAND";

/// `$1=$2.N.` are the marks. Portable but for `/proc`, without which only the groups are ended.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group"; done
tree() {
  echo "$1"
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do (tree "$child"); done
}
marked() {
  for environment in $(grep -lz "^$1=$2[.]" /proc/[0-9]*/environ); do
    process=${environment#/proc/}
    tree "${process%/environ}"
  done
}
all=$(marked "$1" "$2")
for process in $all; do kill -s TERM "$process"; done
for _ in 1 2 3 4; do
  left=''
  for process in $all; do kill -s 0 "$process" && left=1; done
  for group in $groups; do kill -s 0 -- "-$group" && left=1; done
  [ -n "$left" ] || exit 0
  sleep 0.5
done
for group in $groups; do kill -s KILL -- "-$group"; done
for process in $(marked "$1" "$2"); do kill -s KILL "$process"; done
"#;
