//! [`Process`]: a child that never outlives its owner.
//!
//! It leads a process group of its own. Whatever ends the owner (a drop, a panic, `kill -9`), the child and everything
//! it started are ended too: by a watchdog where this program can do nothing any more, by `Drop` in all other cases.
//! What is said to the child is not known here.

use std::{
    fmt, io,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use towline_process::{Descendants, Group, Watchdog};

pub use towline_process::Signal;

/// A running child in a process group of its own, killed with its owner.
///
/// ```
/// # towline_testkit::fake_agent::run_example(async {
/// use std::process::Command;
/// use towline_host::process::{Exit, Process};
///
/// let mut process = Process::spawn(Command::new("cat"))?;
/// drop(process.stdin.take()); // `cat` ends at the end of its input
/// assert_eq!(process.wait().await?, Exit::Code(0));
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Process {
    /// What the child reads.
    pub stdin: Option<ChildStdin>,
    /// What the child writes.
    pub stdout: Option<ChildStdout>,
    /// What the child complains, unless it was told to write that elsewhere.
    pub stderr: Option<ChildStderr>,
    child: Child,
    group: Group,
    exit: Option<Exit>,
}

/// How a process ended.
///
/// ```
/// use towline_host::process::Exit;
///
/// assert_eq!(Exit::Code(1).to_string(), "exit code 1");
/// assert_eq!(Exit::Signal(9).to_string(), "SIGKILL");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Process {
    /// Starts a child that reads and writes pipes.
    ///
    /// Needs a tokio runtime.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let mut process = Process::spawn(Command::new("true"))?;
    /// assert!(process.wait().await?.success());
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the program cannot be started, or the watchdog cannot.
    pub fn spawn(command: std::process::Command) -> io::Result<Self> {
        Self::spawn_with(command, Stdio::piped())
    }

    /// Starts a child whose standard error goes where `stderr` says.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let process = Process::spawn_with(Command::new("cat"), Stdio::null())?;
    /// assert!(process.stderr.is_none());
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the program cannot be started, or the watchdog cannot.
    pub fn spawn_with(mut command: std::process::Command, stderr: Stdio) -> io::Result<Self> {
        let mark = WATCHDOG.mark()?;
        mark.put_on(&mut command);
        let mut child = Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group::of(&WATCHDOG, mark, child.id().unwrap_or_default())?;
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            group,
            exit: None,
        })
    }

    /// The child's process id, which is also the id of its group.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let process = Process::spawn(Command::new("cat"))?;
    /// println!("watch it with: top -p {}", process.id());
    /// # Ok(())
    /// # });
    /// ```
    pub fn id(&self) -> u32 {
        self.group.id().as_raw_pid().cast_unsigned()
    }

    /// Sends a signal to the child and its group.
    ///
    /// Nothing happens once the child has ended.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let mut process = Process::spawn(Command::new("cat"))?;
    /// process.signal(Signal::TERM)?;
    /// assert_eq!(process.wait().await?, Exit::Signal(15));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the system refuses.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.exit.is_some() {
            return Ok(());
        }
        self.group.signal(signal)
    }

    /// Waits until the child has ended, reaps it, and ends what it left behind.
    ///
    /// Can be dropped and called again.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let mut process = Process::spawn(Command::new("false"))?;
    /// assert_eq!(process.wait().await?, Exit::Code(1));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the system cannot say how it ended.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        let exit = Exit::from(self.child.wait().await?);
        // Now, and not later: the id of the group may soon be somebody else's.
        self.group.kill(&Descendants::default());
        self.exit = Some(exit);
        Ok(exit)
    }

    /// Ends the child: `SIGTERM`, then `SIGKILL` to all that is left after `grace`.
    ///
    /// Reaps it.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use std::{process::{Command, Stdio}, time::Duration};
    /// # use towline_host::process::{Exit, Process, Signal};
    /// let mut process = Process::spawn(Command::new("cat"))?;
    /// let exit = process.stop(Duration::from_secs(5)).await?;
    /// assert_eq!(exit, Exit::Signal(15)); // `SIGTERM` was enough
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the system cannot say how it ended.
    pub async fn stop(&mut self, grace: Duration) -> io::Result<Exit> {
        if self.exit.is_none() {
            let members = self.group.terminate();
            tokio::time::timeout(grace, self.wait()).await.ok();
            self.group.kill(&members);
            // Not all of it is in the group, and `wait` may have killed that already.
            members.signal(Signal::KILL);
        }
        self.wait().await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill(&Descendants::default());
    }
}

impl Exit {
    /// Whether all went well, as far as the code says.
    ///
    /// ```
    /// # use towline_host::process::Exit;
    /// assert!(Exit::Code(0).success());
    /// assert!(!Exit::Signal(15).success());
    /// ```
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            // A process that was waited for has one of them; what a stopped one had is in the raw status.
            (None, None) => Self::Code(status.into_raw()),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(signal) => {
                let named = SIGNALS.iter().find(|(number, _)| number == signal);
                match named {
                    Some((_, name)) => formatter.write_str(name),
                    None => write!(formatter, "signal {signal}"),
                }
            }
        }
    }
}

/// Those that end programs and have the same number everywhere.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

/// One for the whole program: it has its eye on every child.
static WATCHDOG: LazyLock<Arc<Watchdog>> = LazyLock::new(|| {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let token = format!("{}-{}", std::process::id(), since.as_nanos());
    Arc::new(Watchdog::new(MARK, token, GRACE))
});

/// What marks a child, its children and theirs.
const MARK: &str = "TOWLINE_LEASH";

/// How long what is left behind has to end by itself.
const GRACE: Duration = Duration::from_secs(5);
