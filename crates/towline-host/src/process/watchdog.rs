//! One small process for the whole program that outlives it by a moment, and ends what it left behind.
//!
//! It reads from a pipe which groups there are. The pipe ends when this program does, however it does; then the groups
//! get `SIGTERM`, and whatever is left of them `SIGKILL`. A mark in the environment finds what it was not told of. A death signal (`PR_SET_PDEATHSIG`) would reach the child
//! alone and not what it started, would come when the thread that started it ends, and exists on Linux only.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use rustix::process::Pid;

/// A mark that the watchdog knows children by that it has not been told of yet. The environment of a process is passed
/// on to whatever it starts, so the mark also finds those that left its group.
pub(crate) struct Mark {
    token: String,
}

/// As long as this lives, the watchdog has its eye on a group.
#[derive(Debug)]
pub(crate) struct Watch {
    group: Pid,
}

impl Mark {
    /// The mark for a child to be; starts the watchdog if it does not run.
    pub(crate) fn new() -> io::Result<Self> {
        let mut watchdog = lock();
        let running = match watchdog.take() {
            Some(mut running) => match running.child.try_wait()? {
                None => running,
                // Somebody killed it. The new one knows the new children only; that is more than none.
                Some(_) => Watchdog::start()?,
            },
            None => Watchdog::start()?,
        };
        let token = watchdog.insert(running).token.clone();
        Ok(Self { token })
    }

    /// Marks a child to be.
    pub(crate) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.token);
    }
}

impl Watch {
    /// Has the watchdog look after the group of a child that has its mark.
    pub(crate) fn over(group: Pid) -> Self {
        tell('+', group);
        Self { group }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        tell('-', self.group);
    }
}

/// A watchdog that is gone needs no telling: the next one is started for the next child.
fn tell(what: char, group: Pid) {
    if let Some(Watchdog { child, .. }) = &mut *lock()
        && let Some(pipe) = &mut child.stdin
    {
        pipe.write_all(format!("{what} {}\n", group.as_raw_pid()).as_bytes())
            .ok();
    }
}

#[derive(Debug)]
struct Watchdog {
    child: Child,
    token: String,
}

impl Watchdog {
    fn start() -> io::Result<Self> {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let token = format!("{}-{}", std::process::id(), since.as_nanos());
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "towline-watchdog", VARIABLE, &token])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal to our own group, such as Ctrl-C, is not for the watchdog.
            .process_group(0)
            .current_dir("/")
            // The mark of a watchdog further up would have that one end this one before its work is done.
            .env_remove(VARIABLE)
            .spawn()?;
        Ok(Self { child, token })
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Watchdog>> {
    // A panic elsewhere leaves nothing half done here.
    WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner)
}

static WATCHDOG: Mutex<Option<Watchdog>> = Mutex::new(None);

/// What marks a child, its children and theirs.
const VARIABLE: &str = "TOWLINE_LEASH";

/// `$1=$2` is the mark. Portable but for `/proc`, without which only the groups are ended.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
  esac
done
tree() {
  echo "$1"
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do (tree "$child"); done
}
marked() {
  for environment in /proc/[0-9]*/environ; do
    if tr '\0' '\n' <"$environment" | grep -qx "$1=$2"; then
      process=${environment#/proc/}
      tree "${process%/environ}"
    fi
  done
}
all=$(for group in $groups; do tree "$group"; done; marked "$1" "$2")
[ -n "$all" ] || exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
for process in $all; do kill -s TERM "$process"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=''
  for process in $all; do kill -s 0 "$process" && left=1; done
  [ -n "$left" ] || exit 0
  sleep 0.5
done
for group in $groups; do kill -s KILL -- "-$group"; done
for process in $all $(marked "$1" "$2"); do kill -s KILL "$process"; done
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_child_that_nobody_told_of_is_ended_too() {
        let mut watchdog = Watchdog::start().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' TERM; sleep 1000 & wait; sleep 1000"]);
        Mark {
            token: watchdog.token.clone(),
        }
        .put_on(&mut command);
        let mut child = command.spawn().unwrap();
        drop(watchdog.child.stdin.take());
        watchdog.child.wait().unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
