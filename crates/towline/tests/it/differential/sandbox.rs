//! A program inside of bubblewrap: it sees the machine, writes to a scratch folder in memory, and reaches no network but
//! its own loopback.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output, Stdio},
};

/// Runs this test program again inside of the sandbox, with one test and a file for it.
///
/// # Panics
/// When there is no bubblewrap, or it cannot be used here.
pub(crate) fn run(test: &str, file: &Path, programs: &[(&Path, &str)]) -> Output {
    let own = env::current_exe().unwrap();
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    command.args(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    for (size, folder) in [
        ("67108864", "/tmp"),
        ("268435456", "/srv"),
        ("1048576", "/run"),
    ] {
        command.args(["--size", size, "--tmpfs", folder]);
    }
    let parts = [(own.as_path(), INSIDE), (file, INPUT)];
    for (outside, inside) in parts.iter().chain(programs) {
        command.arg("--ro-bind").arg(outside).arg(inside);
    }
    command.args(["--chdir", "/srv", "--clearenv"]);
    for (name, value) in [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        (VARIABLE, INPUT),
    ] {
        command.args(["--setenv", name, value]);
    }
    command
        .args([
            "prlimit",
            "--nproc=2000",
            "--fsize=67108864",
            "--core=0",
            "--",
        ])
        .args([INSIDE, "--exact", test, "--nocapture", "--test-threads=1"])
        .stdin(Stdio::null());
    let output = command.output();
    output.unwrap_or_else(|error| {
        panic!("bwrap cannot be run (Debian's package is `bubblewrap`): {error}")
    })
}

/// The input of this program inside of the sandbox; `None` outside of it.
pub(crate) fn input() -> Option<String> {
    let path = env::var_os(VARIABLE)?;
    Some(fs::read_to_string(path).unwrap())
}

const VARIABLE: &str = "TOWLINE_SANDBOX_INPUT";
const INSIDE: &str = "/srv/programs/test";
const INPUT: &str = "/srv/programs/input";
