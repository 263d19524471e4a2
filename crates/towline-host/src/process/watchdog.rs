//! One small process for the whole program that outlives it by a moment, and ends what it left behind.
//!
//! It reads from a pipe which groups there are. The pipe ends when this program does, however it does; then the groups
//! get `SIGTERM`, and whatever is left of them `SIGKILL`. A mark in the environment finds what it was not told of. A
//! death signal (`PR_SET_PDEATHSIG`) would reach the child alone and not what it started, would come when the thread that
//! started it ends, and exists on Linux only.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use rustix::process::Pid;

/// A mark that a child and all it starts are known by, also where they left its group, and also before the watchdog
/// has been told of them. It stands in the environment, which is passed on.
#[derive(Debug)]
pub(crate) struct Mark {
    value: String,
}

/// As long as this lives, the watchdog has its eye on a group.
#[derive(Debug)]
pub(crate) struct Watch {
    group: Pid,
}

impl Mark {
    /// The mark for a child to be; starts the watchdog if it does not run.
    pub(crate) fn new() -> io::Result<Self> {
        let mut leash = lock();
        leash.ensure()?;
        leash.marks += 1;
        let value = format!("{}.{}", leash.token, leash.marks);
        Ok(Self { value })
    }

    /// Marks a child to be.
    pub(crate) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.value);
    }

    /// As it stands in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE}={}", self.value)
    }
}

impl Watch {
    /// Has the watchdog look after the group of a child that has its mark.
    pub(crate) fn over(group: Pid) -> Self {
        let mut leash = lock();
        leash.groups.push(group);
        leash.tell('+', group);
        Self { group }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut leash = lock();
        leash.groups.retain(|group| *group != self.group);
        leash.tell('-', self.group);
    }
}

/// The watchdog, and what it has been told, for the case that it must be told again.
struct Leash {
    watchdog: Option<Child>,
    token: String,
    marks: u64,
    groups: Vec<Pid>,
}

impl Leash {
    /// Starts the watchdog if there is none, or if somebody killed it.
    fn ensure(&mut self) -> io::Result<()> {
        if let Some(running) = &mut self.watchdog
            && running.try_wait()?.is_none()
        {
            return Ok(());
        }
        if self.token.is_empty() {
            let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            self.token = format!("{}-{}", std::process::id(), since.as_nanos());
        }
        self.watchdog = Some(start(&self.token)?);
        for group in self.groups.clone() {
            self.tell('+', group);
        }
        Ok(())
    }

    fn tell(&mut self, what: char, group: Pid) {
        if let Some(pipe) = self
            .watchdog
            .as_mut()
            .and_then(|child| child.stdin.as_mut())
        {
            // A watchdog that is gone is told when the next one is started.
            pipe.write_all(format!("{what} {}\n", group.as_raw_pid()).as_bytes())
                .ok();
        }
    }
}

fn start(token: &str) -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", SCRIPT, "towline-watchdog", VARIABLE, token])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to our own group, such as Ctrl-C, is not for the watchdog.
        .process_group(0)
        .current_dir("/")
        // The mark of a watchdog further up would have that one end this one before its work is done.
        .env_remove(VARIABLE)
        .spawn()
}

fn lock() -> MutexGuard<'static, Leash> {
    // A panic elsewhere leaves nothing half done here.
    LEASH.lock().unwrap_or_else(PoisonError::into_inner)
}

static LEASH: Mutex<Leash> = Mutex::new(Leash {
    watchdog: None,
    token: String::new(),
    marks: 0,
    groups: Vec::new(),
});

/// What marks a child, its children and theirs.
const VARIABLE: &str = "TOWLINE_LEASH";

/// `$1=$2.N` are the marks. Portable but for `/proc`, without which only the groups are ended.
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
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=''
  for process in $all; do kill -s 0 "$process" && left=1; done
  for group in $groups; do kill -s 0 -- "-$group" && left=1; done
  [ -n "$left" ] || exit 0
  sleep 0.5
done
for group in $groups; do kill -s KILL -- "-$group"; done
for process in $(marked "$1" "$2"); do kill -s KILL "$process"; done
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_child_that_nobody_told_of_is_ended_too() {
        let mut watchdog = start("test-token").unwrap();
        let mark = Mark {
            value: "test-token.7".to_owned(),
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' TERM; sleep 1000 & wait; sleep 1000"]);
        mark.put_on(&mut command);
        let mut child = command.spawn().unwrap();
        drop(watchdog.stdin.take());
        watchdog.wait().unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
