//! Runs the executable and tells what came of it.

use std::{
    fmt,
    io::{ErrorKind, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

/// What a run gave.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(f, "{stdout}")?;
        if !stderr.is_empty() {
            write!(f, "-- stderr\n{stderr}")?;
        }
        write!(f, "-- exit {code}")
    }
}

/// Runs to the end with that standard input.
pub(crate) fn towline(arguments: &[&str], stdin: &[u8]) -> Ran {
    finish(start(arguments), stdin)
}

/// Runs to the end in a folder, with sessions from a configuration folder.
pub(crate) fn towline_with_home(home: &Path, folder: &Path, arguments: &[&str]) -> Ran {
    let child = command(arguments)
        .env("CLAUDE_CONFIG_DIR", home)
        .current_dir(folder)
        .spawn()
        .unwrap();
    finish(child, b"")
}

/// Runs to the end in a folder, with that folder as the person's home.
pub(crate) fn towline_in(folder: &Path, home: &Path, arguments: &[&str]) -> Ran {
    let child = command(arguments)
        .env_remove("CLAUDE_CONFIG_DIR")
        .env("HOME", home)
        .current_dir(folder)
        .spawn()
        .unwrap();
    finish(child, b"")
}

fn finish(mut child: Child, stdin: &[u8]) -> Ran {
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    // Written from a thread of its own, so that neither side waits for the other with a full pipe.
    let writer = std::thread::spawn(move || match pipe.write_all(&stdin) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts it with all three streams as pipes.
pub(crate) fn start(arguments: &[&str]) -> Child {
    command(arguments).spawn().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
    command
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The most memory that a running process ever had, in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    kilobytes.unwrap().trim().parse::<u64>().unwrap() << 10
}
