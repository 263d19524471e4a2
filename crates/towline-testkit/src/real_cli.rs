//! The real CLI in a clean room: where it is, and how a slow test runs it so that it reaches nothing but loopback.
//!
//! It is a black box from the npm registry. Slow tests run only with `TOWLINE_SLOW=1`; then a CLI that is missing is a
//! failure, not a skip.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::not_run;

/// Whether the running test does its slow part. If not, the test is entered in [`not_run`].
///
/// ```no_run
/// use towline_testkit::real_cli;
///
/// if !real_cli::is_slow_wanted("the CLI says hello") {
///     return;
/// }
/// ```
#[must_use]
#[track_caller]
pub fn is_slow_wanted(part: &str) -> bool {
    let is_wanted = env::var_os("TOWLINE_SLOW").is_some_and(|value| value == "1");
    if is_wanted {
        not_run::take_away();
    } else {
        not_run::enter(part);
    }
    is_wanted
}

/// The CLI, with a home and a project of its own that go with it.
#[derive(Debug)]
pub struct RealCli {
    program: PathBuf,
    room: TempDir,
}

impl RealCli {
    /// Finds the CLI at `TOWLINE_REAL_CLI`, or installs it with `.ci/fetch-real-cli`.
    ///
    /// # Errors
    /// When it is not where the variable says, or cannot be installed.
    pub fn find() -> io::Result<Self> {
        let program = match env::var_os(VARIABLE) {
            Some(path) => PathBuf::from(path),
            None => installed("fetch-real-cli").map_err(|error| {
                io::Error::other(format!("{error}; or set {VARIABLE} to the CLI"))
            })?,
        };
        if !program.is_file() {
            let what = format!(
                "`{}` is no file; set {VARIABLE} to the CLI",
                program.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        Self::of(program)
    }

    /// Puts another agent into the same clean room, to see whether it does the same.
    ///
    /// # Errors
    /// When the room cannot be made.
    pub fn of(program: PathBuf) -> io::Result<Self> {
        let room = tempfile::tempdir()?;
        for folder in ["home", "project"] {
            std::fs::create_dir(room.path().join(folder))?;
        }
        Ok(Self { program, room })
    }

    /// The file of the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The folder it works in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.room.path().join("project")
    }

    /// Its home, where its settings and transcripts are.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.room.path().join("home")
    }

    /// The CLI against this API: an empty environment but for what it needs, a made-up key, nothing else to talk to.
    #[must_use]
    pub fn command(&self, base_url: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("ANTHROPIC_BASE_URL", base_url)
            .envs(ENVIRONMENT.iter().copied())
            .stdin(Stdio::null());
        command
    }

    /// The same, set up to read and write lines.
    #[must_use]
    pub fn stream_command(&self, base_url: &str) -> Command {
        let mut command = self.command(base_url);
        command
            .args(["-p", "--verbose"])
            .args(["--input-format", "stream-json"])
            .args(["--output-format", "stream-json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Where something is that a script of `.ci` installs: once a clone, then it is there.
///
/// # Errors
/// When it cannot be installed.
pub fn installed(script: &str) -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci");
    let output = Command::new("bash").arg(folder.join(script)).output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!(".ci/{script}: {complaint}")));
    }
    let path = String::from_utf8_lossy(&output.stdout);
    Ok(PathBuf::from(path.trim_end()))
}

const VARIABLE: &str = "TOWLINE_REAL_CLI";

const ENVIRONMENT: &[(&str, &str)] = &[
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("ANTHROPIC_API_KEY", "made-up"),
    ("NO_PROXY", "127.0.0.1,localhost"),
    ("IS_SANDBOX", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];
