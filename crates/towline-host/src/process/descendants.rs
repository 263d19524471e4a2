//! Everything a process started, also what has since left its group. Linux says so; elsewhere there is nothing to see.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use super::watchdog::Mark;

/// Processes as they were found, each with the time it started, so that a new process under an old id is left alone.
#[derive(Debug, Default)]
pub(crate) struct Descendants {
    found: Vec<(Pid, String)>,
}

impl Descendants {
    /// Everything that `ancestor` started and that still runs, itself left out.
    pub(crate) fn of(ancestor: Pid) -> Self {
        let mut found = Vec::new();
        let mut open = vec![ancestor];
        while let Some(parent) = open.pop() {
            for child in children(parent) {
                if found.len() < MOST
                    && let Some(started) = start_time(child)
                {
                    found.push((child, started));
                    open.push(child);
                }
            }
        }
        Self { found }
    }

    /// Everything that has the mark of a child in its environment.
    pub(crate) fn marked(mark: &Mark) -> Self {
        let wanted = mark.variable();
        let is_marked = |process: &Pid| {
            let environment = fs::read(format!("/proc/{}/environ", process.as_raw_pid()));
            environment.is_ok_and(|environment| {
                let mut variables = environment.split(|byte| *byte == 0);
                variables.any(|variable| variable == wanted.as_bytes())
            })
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes
            .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?));
        let found = ids
            .filter(is_marked)
            .filter_map(|process| Some((process, start_time(process)?)));
        Self {
            found: found.take(MOST).collect(),
        }
    }

    /// `SIGKILL` to those that still run.
    pub(crate) fn kill(&self) {
        for (process, started) in &self.found {
            if start_time(*process).as_ref() == Some(started) {
                // It may have ended in between.
                kill_process(*process, Signal::KILL).ok();
            }
        }
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", parent.as_raw_pid()));
    tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            let ids = children.split_whitespace();
            ids.filter_map(|id| Pid::from_raw(id.parse().ok()?))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Field 22 of `/proc/PID/stat`. The second one, the name in parentheses, may hold anything.
fn start_time(process: Pid) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    let after_name = &stat[stat.rfind(')')? + 1..];
    after_name.split_whitespace().nth(19).map(str::to_owned)
}

/// More than any agent starts; a bound for a fork bomb.
const MOST: usize = 10_000;
