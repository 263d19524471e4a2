//! One small process for the whole program that outlives it by a moment, and ends what it left behind.
//!
//! It reads from a pipe which groups there are. The pipe ends when this program does, however it does; then the groups
//! get `SIGTERM`, and whatever is left of them `SIGKILL`. A death signal (`PR_SET_PDEATHSIG`) would reach the child
//! alone and not what it started, would come when the thread that started it ends, and exists on Linux only.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use rustix::process::Pid;

/// As long as this lives, the watchdog has its eye on a group.
#[derive(Debug)]
pub(crate) struct Watch {
    group: Pid,
}

impl Watch {
    /// Has the watchdog look after a group; starts it if it does not run.
    pub(crate) fn over(group: Pid) -> io::Result<Self> {
        let mut watchdog = lock();
        if let Some(running) = &mut *watchdog
            && running.tell('+', group).is_ok()
        {
            return Ok(Self { group });
        }
        // None yet, or somebody killed it. A new one knows the new group only; that is more than none.
        if let Some(mut killed) = watchdog.take() {
            killed.child.wait()?;
        }
        let mut started = Watchdog::start()?;
        started.tell('+', group)?;
        *watchdog = Some(started);
        Ok(Self { group })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(running) = &mut *lock() {
            // A watchdog that is gone needs no telling.
            running.tell('-', self.group).ok();
        }
    }
}

#[derive(Debug)]
struct Watchdog {
    child: Child,
}

impl Watchdog {
    fn start() -> io::Result<Self> {
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal to our own group, such as Ctrl-C, is not for the watchdog.
            .process_group(0)
            .current_dir("/")
            .spawn()?;
        Ok(Self { child })
    }

    fn tell(&mut self, what: char, group: Pid) -> io::Result<()> {
        let pipe = self.child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        pipe.write_all(format!("{what} {}\n", group.as_raw_pid()).as_bytes())
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Watchdog>> {
    // A panic elsewhere leaves nothing half done here.
    WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner)
}

static WATCHDOG: Mutex<Option<Watchdog>> = Mutex::new(None);

/// `tree` prints a process and all below it, also those that left the group. Portable but for `/proc`, without which
/// it prints the process alone.
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
[ -n "${groups# }" ] || exit 0
all=''
for group in $groups; do all="$all $(tree "$group")"; done
for group in $groups; do kill -s TERM -- "-$group"; done
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=''
  for process in $all; do kill -s 0 "$process" && left=1; done
  [ -n "$left" ] || exit 0
  sleep 0.5
done
for group in $groups; do kill -s KILL -- "-$group"; done
for process in $all; do kill -s KILL "$process"; done
"#;
