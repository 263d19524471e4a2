//! Owns what the system says of this process's memory.

use std::fs;
use std::io;

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
