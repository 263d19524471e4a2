//! Waiting in tests: for something that happens, and for a process that does nothing any more.

use std::{fs, path::Path, time::Duration};

use tokio::time::{sleep, timeout};

use crate::not_run;

/// Longer than a loaded machine takes for anything that comes at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at something that no one reports.
const LOOK: Duration = Duration::from_millis(10);
/// A process that has done nothing for so many looks waits for something from outside.
const QUIET_LOOKS: u32 = 30;

/// Waits until something holds.
///
/// # Panics
/// When it does not within a minute.
pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let waited = timeout(PATIENCE, async {
        while !holds() {
            sleep(LOOK).await;
        }
    });
    assert!(waited.await.is_ok(), "waited in vain: {what}");
}

/// Counters of a process so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Bytes that it has written to files and pipes.
    pub written: u64,
    /// Bytes that it has read from them.
    pub read: u64,
    /// Calls that read or wrote.
    calls: u64,
}

impl Activity {
    /// Reads the counters that the kernel keeps. `None` when the process has ended.
    #[must_use]
    pub fn of(process: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
        let count = |name: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line?.trim().parse().ok()
        };
        Some(Self {
            written: count("wchar:")?,
            read: count("rchar:")?,
            calls: count("syscr:")? + count("syscw:")?,
        })
    }
}

/// Waits until a process waits itself: it sleeps, and reads and writes nothing from one look to the next. Gives what it
/// has done by then; `None` when it has ended. A system without `/proc` cannot tell: there the running test is entered as
/// not run.
///
/// # Panics
/// When it is still active after a minute.
pub async fn stands_still(process: u32) -> Option<Activity> {
    if !Path::new("/proc/self/io").exists() {
        not_run::enter("that a process stands still: there is no /proc");
        return None;
    }
    let quiet = async {
        let (mut last, mut looks) = (Activity::of(process), 0);
        while last.is_some() && looks < QUIET_LOOKS {
            sleep(LOOK).await;
            let now = Activity::of(process);
            looks = if now == last && is_asleep(process) {
                looks + 1
            } else {
                0
            };
            last = now;
        }
        last
    };
    let waited = timeout(PATIENCE, quiet).await;
    waited.unwrap_or_else(|_| panic!("process {process} goes on and on"))
}

/// Whether a process waits for something, or has ended.
fn is_asleep(process: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    let stat = stat.unwrap_or_default();
    // The name before the state may hold anything.
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_none_or(|state| "SZ".contains(state))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::stands_still;

    #[tokio::test]
    async fn a_process_stands_still_when_its_pipe_is_full() {
        let mut child = Command::new("yes").stdout(Stdio::piped()).spawn().unwrap();
        let activity = stands_still(child.id()).await.unwrap();
        assert!(activity.written >= 65_536, "{activity:?}");
        assert!(activity.written < 1_000_000, "{activity:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
