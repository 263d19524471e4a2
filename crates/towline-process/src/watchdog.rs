//! One small process that outlives its program by a moment, and ends what that left behind.
//!
//! It reads from a pipe which groups there are. The pipe ends when the program does, however it does (`kill -9`
//! included); then the groups get `SIGTERM`, and whatever is left of them `SIGKILL`. A mark in the environment finds what
//! left its group and what it was not told of. A death signal (`PR_SET_PDEATHSIG`) would reach the child alone and not
//! what it started, would come when the thread that started it ends, and exists on Linux only.

use std::{
    collections::HashSet,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::process::Pid;

use crate::{Descendants, group::Reach};

/// A watchdog, which starts with the first mark. When it is dropped, whatever bears its marks is killed.
#[derive(Debug)]
pub struct Watchdog {
    variable: &'static str,
    token: String,
    grace: Duration,
    leash: Mutex<Leash>,
}

/// A mark that a child and all it starts are known by, also where they left its group, and also before the watchdog
/// has been told of them. It stands in the environment, which is passed on.
#[derive(Debug)]
pub struct Mark {
    variable: &'static str,
    value: String,
}

/// As long as this lives, the watchdog has its eye on a group.
#[derive(Debug)]
pub struct Watch {
    watchdog: Arc<Watchdog>,
    group: Reach,
}

/// The watchdog's process, and what it has been told, for the case that it must be told again.
#[derive(Debug, Default)]
struct Leash {
    process: Option<Child>,
    marks: u64,
    groups: Vec<Reach>,
}

impl Watchdog {
    /// A watchdog whose marks are the environment variable `variable` with a value that begins with `token`, which no
    /// other may have: letters, digits and `-`. Between its two signals lies `grace`.
    pub fn new(variable: &'static str, token: impl Into<String>, grace: Duration) -> Self {
        Self {
            variable,
            token: token.into(),
            grace,
            leash: Mutex::default(),
        }
    }

    /// The mark for a child to be; starts the watchdog if it does not run.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn mark(&self) -> io::Result<Mark> {
        let mut leash = self.leash();
        self.ensure(&mut leash)?;
        leash.marks += 1;
        Ok(Mark {
            variable: self.variable,
            value: format!("{}.{}.", self.token, leash.marks),
        })
    }

    /// Looks after the group of a child that has its mark.
    pub(crate) fn watch(self: &Arc<Self>, group: Reach) -> Watch {
        let mut leash = self.leash();
        leash.groups.push(group);
        leash.tell('+', group);
        Watch {
            watchdog: Arc::clone(self),
            group,
        }
    }

    /// `SIGKILL` to everything that bears one of its marks.
    pub fn kill_all(&self) {
        if self.leash().marks > 0 {
            let beginning = format!("{}={}.", self.variable, self.token);
            Descendants::kill_all(|| Descendants::marked(&beginning, &HashSet::new()));
        }
    }

    /// Starts the process if there is none, or if somebody killed it.
    fn ensure(&self, leash: &mut Leash) -> io::Result<()> {
        if let Some(running) = &mut leash.process
            && running.try_wait()?.is_none()
        {
            return Ok(());
        }
        leash.process = Some(self.start()?);
        for group in leash.groups.clone() {
            leash.tell('+', group);
        }
        Ok(())
    }

    fn start(&self) -> io::Result<Child> {
        let looks = (self.grace.as_millis() / LOOK_MILLIS).max(1).to_string();
        Command::new("/bin/sh")
            .args(["-c", SCRIPT, "towline-watchdog"])
            .args([self.variable, &self.token, &looks])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal to the program's own group, such as Ctrl-C, is not for the watchdog.
            .process_group(0)
            .current_dir("/")
            // No mark of whoever runs the program: another watchdog would end this one before its work is done.
            .env_clear()
            .env("PATH", PATH)
            .spawn()
    }

    fn leash(&self) -> MutexGuard<'_, Leash> {
        // A panic elsewhere leaves nothing half done here.
        self.leash.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.kill_all();
        // No group is watched any more, as each watch keeps the watchdog: there is nothing left for the process to do.
        if let Some(mut process) = self.leash().process.take() {
            process.kill().ok();
            process.wait().ok();
        }
    }
}

impl Mark {
    /// Marks a child to be.
    pub fn put_on(&self, command: &mut Command) {
        command.env(self.variable, &self.value);
    }

    /// Whatever has it, but for these.
    pub(crate) fn bearers(&self, others: &HashSet<Pid>) -> Descendants {
        Descendants::marked(&format!("{}={}", self.variable, self.value), others)
    }
}

impl Watch {
    /// The children that are watched besides this one: they bear other marks.
    pub(crate) fn others(&self) -> HashSet<Pid> {
        let leash = self.watchdog.leash();
        let others = leash.groups.iter().filter(|group| **group != self.group);
        others.map(|group| group.id()).collect()
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
    fn tell(&mut self, what: char, group: Reach) {
        let pipe = self
            .process
            .as_mut()
            .and_then(|process| process.stdin.as_mut());
        if let Some(pipe) = pipe {
            // A watchdog that is gone is told when the next one is started.
            pipe.write_all(format!("{what} {group}\n").as_bytes()).ok();
        }
    }
}

/// Where the script's `cat`, `grep`, `sleep` and `sort` are.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/// How often the script looks whether all have ended; as it sleeps.
const LOOK_MILLIS: u128 = 500;

/// `$1=$2.N.` are the marks, `$3` is how often one looks. Portable but for `/proc`, without which only the groups are
/// ended.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac ;;
  esac
done
# ID:START of a process that has not ended; what stands before the last parenthesis may be anything.
named() {
  stat=$(cat /proc/"$1"/stat) || return
  set -- "$1" ${stat##*") "}
  [ "$2" = Z ] || echo "$1:${21}"
}
tree() {
  named "$1"
  for child in $(cat /proc/"$1"/task/*/children); do (tree "$child"); done
}
marked() {
  for environment in $(grep -lz "^$1=$2[.]" /proc/[0-9]*/environ); do
    process=${environment#/proc/}
    echo "${process%/environ}"
  done
}
# All that is there, with what they started: those that are marked, the groups' leaders, and those that were known.
look() {
  {
    for process in $groups $(marked "$1" "$2"); do tree "${process#-}"; done
    for process in $all; do
      [ "$(named "${process%:*}")" != "$process" ] || tree "${process%:*}"
    done
  } | sort -u
}
# A signal to those that are the same still.
tell() {
  for process in $all; do
    [ "$(named "${process%:*}")" != "$process" ] || kill -s "$1" "${process%:*}"
  done
}
# Before any ends: one who bears no mark is known by its parent alone. They stand still meanwhile, so that none is started
# between the look and the signal.
rounds=20
while all=$(look "$1" "$2") && [ "$all" != "$still" ] && [ "$rounds" -gt 0 ]; do
  tell STOP
  still=$all
  rounds=$((rounds - 1))
done
for group in $groups; do kill -s TERM -- "$group"; done
tell TERM
tell CONT
looks=$3
while [ "$looks" -gt 0 ]; do
  # Twice: a process that is about to become another program has no environment for a moment.
  all=$(look "$1" "$2") && all=$(look "$1" "$2")
  left=$all
  for group in $groups; do kill -s 0 -- "$group" && left=1; done
  [ -n "$left" ] || exit 0
  sleep 0.5
  looks=$((looks - 1))
done
all=$(look "$1" "$2")
for group in $groups; do kill -s KILL -- "$group"; done
tell KILL
"#;

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};

    use super::*;

    #[test]
    fn a_marked_child_that_nobody_told_of_is_ended_too() {
        let watchdog = Watchdog::new("TOWLINE_TEST_MARK", "untold", Duration::from_secs(1));
        let mut process = watchdog.start().unwrap();
        let mark = Mark {
            variable: watchdog.variable,
            value: "untold.7.".to_owned(),
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' TERM; sleep 1000 & wait; sleep 1000"]);
        mark.put_on(&mut command);
        let mut child = command.spawn().unwrap();
        drop(process.stdin.take());
        process.wait().unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_child_without_mark_and_group_is_ended_after_its_parent() {
        let watchdog = Watchdog::new("TOWLINE_TEST_MARK", "cleared", Duration::from_secs(1));
        for (script, group) in [
            // Its parent ends with the first signal; it listens to none.
            (
                "env -i /usr/bin/setsid /bin/sh -c 'trap \"\" TERM; echo up; sleep 1000; sleep 1000' & wait",
                true,
            ),
            (
                "env -i /usr/bin/setsid /bin/sh -c 'echo up; exec sleep 1000' & wait",
                true,
            ),
            // The group is not known: the mark of its parent is what there is.
            (
                "env -i /usr/bin/setsid /bin/sh -c 'echo up; exec sleep 1000' & wait",
                false,
            ),
        ] {
            let mut process = watchdog.start().unwrap();
            let mark = Mark {
                variable: watchdog.variable,
                value: "cleared.1.".to_owned(),
            };
            let (reader, writer) = io::pipe().unwrap();
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]).stdout(writer).process_group(0);
            mark.put_on(&mut command);
            let mut child = command.spawn().unwrap();
            // The command keeps the writing end of the pipe.
            drop(command);
            let mut reader = BufReader::new(reader);
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if group {
                let told = format!("+ {}\n", child.id());
                let pipe = process.stdin.as_mut().unwrap();
                pipe.write_all(told.as_bytes()).unwrap();
            }
            drop(process.stdin.take());
            // The pipe is at its end when the last who holds it is gone.
            reader.read_to_end(&mut Vec::new()).unwrap();
            process.wait().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_watchdog_that_was_killed_is_started_again_and_told_what_there_is() {
        let watchdog = Arc::new(Watchdog::new(
            "TOWLINE_TEST_MARK",
            "again",
            Duration::from_secs(1),
        ));
        watchdog.mark().unwrap();
        let mut child = Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .unwrap();
        let watch = watchdog.watch(Reach::Group(Pid::from_child(&child)));
        let mut killed = watchdog.leash().process.take().unwrap();
        killed.kill().unwrap();
        killed.wait().unwrap();
        watchdog.leash().process = Some(killed);
        watchdog.mark().unwrap();
        let mut second = watchdog.leash().process.take().unwrap();
        drop(second.stdin.take());
        second.wait().unwrap();
        assert!(!child.wait().unwrap().success());
        drop(watch);
    }
}
