//! Owns the fake agent of the client benchmarks. It bears the name that clients
//! look for on the PATH, takes any arguments, reads no input and writes a file to
//! its output: `BENCH_AGENT_FILE`, in writes as large as a pipe takes, or, where
//! `BENCH_AGENT_PAUSE_MS` is set, in small ones with that pause between them.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

fn main() -> ExitCode {
    match run() {
        // The client has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake agent: {error}");
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn run() -> io::Result<()> {
    let path = env::var_os("BENCH_AGENT_FILE")
        .ok_or_else(|| io::Error::other("BENCH_AGENT_FILE says nothing to write"))?;
    let pause = match env::var("BENCH_AGENT_PAUSE_MS") {
        Ok(pause) => Some(Duration::from_millis(
            pause.parse().map_err(io::Error::other)?,
        )),
        Err(_) => None,
    };
    let mut file = File::open(path)?;
    let mut stdout = io::stdout().lock();
    let mut buffer = vec![0; if pause.is_some() { SMALL } else { LARGE }];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return stdout.flush();
        }
        stdout.write_all(&buffer[..length])?;
        if let Some(pause) = pause {
            stdout.flush()?;
            thread::sleep(pause);
        }
    }
}

/// Larger than a pipe, so that it is always full.
const LARGE: usize = 1 << 20;
/// A few dozen lines.
const SMALL: usize = 16 << 10;
