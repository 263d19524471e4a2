//! Owns what the system says of this process's memory, and of how busy the machine
//! is with others.

use std::fs;
use std::io;
use std::ops::Range;

/// The most that was ever resident, in million bytes.
pub fn peak_megabytes() -> io::Result<f64> {
    status("VmHWM:")
}

/// What is resident now, in million bytes.
pub fn resident_megabytes() -> io::Result<f64> {
    status("VmRSS:")
}

fn status(key: &str) -> io::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: f64 = kibibytes
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("/proc/self/status has no {key}")))?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// Processor time up to now, in ticks of the system's clock.
#[derive(Clone, Copy)]
pub struct Ticks {
    /// Of the whole machine, idle or not.
    all: u64,
    idle: u64,
    /// Of this process and of the children it waited for.
    ours: u64,
}

impl Ticks {
    pub fn now() -> io::Result<Self> {
        let machine = fs::read_to_string("/proc/stat")?;
        let machine = numbers(machine.lines().next().unwrap_or(""), 1..9);
        let process = fs::read_to_string("/proc/self/stat")?;
        // Behind the name, which may hold anything: `utime` to `cstime`.
        let process = numbers(process.rsplit(')').next().unwrap_or(""), 11..15);
        match (machine.get(..8), process.get(..4)) {
            (Some(machine), Some(process)) => Ok(Self {
                all: machine.iter().sum(),
                // Idle, and waiting for a disk.
                idle: machine[3] + machine[4],
                ours: process.iter().sum(),
            }),
            _ => Err(io::Error::other("/proc/stat is in another form")),
        }
    }

    /// How much of the machine others have used since then, in percent.
    pub fn used_by_others(self) -> io::Result<f64> {
        let now = Self::now()?;
        let all = now.all - self.all;
        let idle = now.idle - self.idle;
        let ours = now.ours - self.ours;
        let others = all.saturating_sub(idle + ours);
        Ok(100.0 * others as f64 / all.max(1) as f64)
    }
}

/// Some of the words of a line, if they are numbers.
fn numbers(line: &str, words: Range<usize>) -> Vec<u64> {
    line.split_whitespace()
        .skip(words.start)
        .take(words.len())
        .map_while(|word| word.parse().ok())
        .collect()
}
