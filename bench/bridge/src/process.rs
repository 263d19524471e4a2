//! What the system says of a process, and of how busy the machine is.

use std::fs;

use crate::Result;

/// What is resident of a process, in million bytes.
pub fn resident_megabytes(id: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: f64 = kibibytes.ok_or("no VmRSS here")?.trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// The processor time that a process has used, in seconds.
pub fn processor_seconds(id: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // Behind the name, which may hold anything: `utime` and `stime`.
    let mut words = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    let mut ticks = || -> Result<f64> { Ok(words.next().ok_or("no times")?.parse()?) };
    for _ in 0..11 {
        ticks().ok();
    }
    Ok((ticks()? + ticks()?) / TICKS)
}

/// How many processes wanted to run in the last minute.
pub fn load() -> Result<f64> {
    let text = fs::read_to_string("/proc/loadavg")?;
    let word = text.split_whitespace().next().ok_or("no load here")?;
    Ok(word.parse()?)
}

/// Of the clock of `/proc`, a second: the same on every Linux.
const TICKS: f64 = 100.0;
