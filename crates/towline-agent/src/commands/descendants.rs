//! Processes that commands started, also those that have since left their group. Linux says so; elsewhere there is
//! nothing to see.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Processes as they were found, each with the time it started, so that a new process under an old id is left alone.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    found: Vec<(Pid, String)>,
}

impl Descendants {
    /// Everything that `ancestor` started and that still runs, itself left out.
    pub(super) fn of(ancestor: Pid) -> Self {
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

    /// Everything that has a variable in its environment that begins like this.
    pub(super) fn marked(beginning: &str) -> Self {
        let is_marked = |process: &Pid| {
            let environment = fs::read(format!("/proc/{}/environ", process.as_raw_pid()));
            environment.is_ok_and(|environment| {
                let mut variables = environment.split(|byte| *byte == 0);
                variables.any(|variable| variable.starts_with(beginning.as_bytes()))
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

    /// A signal to those that still run.
    pub(super) fn signal(&self, signal: Signal) {
        for (process, started) in &self.found {
            if start_time(*process).as_ref() == Some(started) {
                // It may have ended in between.
                kill_process(*process, signal).ok();
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

/// More than any session starts; a bound for a fork bomb.
const MOST: usize = 10_000;
