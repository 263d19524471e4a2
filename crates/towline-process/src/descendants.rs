//! Processes that were started by others, also those that have since left their group. Linux says so; elsewhere there
//! is nothing to see.

use std::{
    collections::{HashMap, HashSet},
    fs, thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// Processes as they were found, each with the time it started, so that a new process under an old id is left alone.
///
/// ```
/// use std::process::{Command, id};
/// use towline_process::{Descendants, Pid, Signal};
///
/// let mut child = Command::new("sleep").arg("1000").spawn()?;
/// let descendants = Descendants::of(Pid::from_raw(id().cast_signed()).unwrap());
/// descendants.signal(Signal::KILL);
/// # if !cfg!(target_os = "linux") { child.kill()?; }
/// assert!(!child.wait()?.success());
/// assert!(!descendants.any_runs());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Descendants {
    found: HashMap<Pid, String>,
}

impl Descendants {
    /// Everything that `ancestor` started and that still runs, itself left out.
    pub fn of(ancestor: Pid) -> Self {
        let mut found = HashMap::new();
        let mut open = vec![ancestor];
        while let Some(parent) = open.pop() {
            for child in children(parent) {
                if found.len() < MOST
                    && !found.contains_key(&child)
                    && let Some(stat) = Stat::of(child)
                {
                    found.insert(child, stat.started);
                    open.push(child);
                }
            }
        }
        Self { found }
    }

    /// Everything that has a variable in its environment that begins like this, but for these. To look into the
    /// environments of a thousand takes long.
    pub(crate) fn marked(beginning: &str, others: &HashSet<Pid>) -> Self {
        let is_marked = |process: &Pid| {
            let environment = environment(*process);
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable.starts_with(beginning.as_bytes()))
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes
            .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?));
        let found = ids
            .filter(|process| !others.contains(process) && is_marked(process))
            .filter_map(|process| Some((process, Stat::of(process)?.started)));
        Self {
            found: found.take(MOST).collect(),
        }
    }

    /// `SIGKILL` to what a look finds, until one finds nobody: what is killed may have started another in between.
    pub(crate) fn kill_all(look: impl Fn() -> Self) {
        for _ in 0..MOST_LOOKS {
            let found = look();
            if !found.any_runs() {
                return;
            }
            found.signal(Signal::KILL);
            thread::sleep(A_MOMENT);
        }
    }

    /// Both together.
    #[must_use]
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.found.extend(others.found);
        self
    }

    /// A signal to those that still run.
    pub fn signal(&self, signal: Signal) {
        self.signal_where(signal, |_| true);
    }

    /// Whether any of them still runs. One that has ended and waits for its parent to hear of it does not.
    pub fn any_runs(&self) -> bool {
        let mut found = self.found.iter();
        found.any(|(process, started)| {
            Stat::of(*process).is_some_and(|stat| stat.started == *started && !stat.has_ended)
        })
    }

    /// The same to some of them.
    pub(crate) fn signal_where(&self, signal: Signal, is_meant: impl Fn(Pid) -> bool) {
        for (process, started) in &self.found {
            if Stat::of(*process).is_some_and(|stat| stat.started == *started) && is_meant(*process)
            {
                // It may have ended in between.
                kill_process(*process, signal).ok();
            }
        }
    }
}

/// What `/proc/PID/stat` tells of a process.
struct Stat {
    started: String,
    has_ended: bool,
    /// Whether it has just let go of the program it was, and not become the next one yet.
    is_in_between: bool,
}

impl Stat {
    /// The second field, the name in parentheses, may hold anything.
    fn of(process: Pid) -> Option<Self> {
        let stat = fs::read(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let fields: Vec<_> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
        // By their numbers in proc_pid_stat(5), of which the first here is 3.
        let field = |number: usize| fields.get(number - 3).copied();
        let has_ended = matches!(field(3)?, "Z" | "X");
        let is_of_the_kernel = field(9)?.parse::<u32>().ok()? & PF_KTHREAD != 0;
        let has_environment = field(51).is_some_and(|end| end != "0");
        Some(Self {
            has_ended,
            started: field(22)?.to_owned(),
            is_in_between: !has_ended && !is_of_the_kernel && !has_environment,
        })
    }
}

/// The environment of a process; empty where it has none, or none for us. Whoever is about to become another program has
/// none for a moment, and is waited for: that moment must not hide it.
fn environment(process: Pid) -> Vec<u8> {
    for _ in 0..MOST_LOOKS {
        let environment = fs::read(format!("/proc/{}/environ", process.as_raw_pid()));
        let Ok(environment) = environment else { break };
        if !environment.is_empty() || !Stat::of(process).is_some_and(|stat| stat.is_in_between) {
            return environment;
        }
        thread::sleep(A_MOMENT);
    }
    Vec::new()
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

/// Of a thread of the kernel, in the flags of `/proc/PID/stat`.
const PF_KTHREAD: u32 = 0x0020_0000;
/// How often one looks again, and how long one waits in between.
const MOST_LOOKS: usize = 50;
const A_MOMENT: Duration = Duration::from_millis(1);
/// More than anybody starts; a bound for a fork bomb.
const MOST: usize = 10_000;
