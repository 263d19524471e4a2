//! [`Group`]: a child, its process group and everything they started, to be ended together.

use std::{collections::HashSet, fmt, io, sync::Arc};

use rustix::{
    io::Errno,
    process::{
        Pid, Signal, getpgid, kill_process, kill_process_group, test_kill_process,
        test_kill_process_group,
    },
};

use crate::{Descendants, Mark, Watch, Watchdog};

/// The group of a child that bears a mark and leads a process group. The watchdog has its eye on it until it is killed
/// or dropped.
///
/// ```
/// use std::{os::unix::process::CommandExt, process::Command, sync::Arc, time::Duration};
/// use towline_process::{Group, Watchdog};
///
/// let watchdog = Arc::new(Watchdog::new("EXAMPLE_MARK", "a-token", Duration::from_secs(2)));
/// let mark = watchdog.mark()?;
/// let mut command = Command::new("sleep");
/// mark.put_on(command.arg("1000").process_group(0));
/// let mut child = command.spawn()?;
/// let mut group = Group::of(&watchdog, mark, child.id())?;
/// let members = group.terminate();
/// assert!(!child.wait()?.success());
/// group.kill(&members); // whatever did not listen
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    reach: Reach,
    mark: Mark,
    watch: Option<Watch>,
}

/// Whom a signal goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The process group that the child leads.
    Group(Pid),
    /// The child alone: we are in its group ourselves.
    Child(Pid),
}

impl Group {
    /// The group that the child with this process id leads.
    ///
    /// # Errors
    /// When this is no process id.
    pub fn of(watchdog: &Arc<Watchdog>, mark: Mark, leader: u32) -> io::Result<Self> {
        Ok(Self::new(watchdog, mark, Reach::Group(process(leader)?)))
    }

    /// The child with this process id, which was left in the group of this program: it has the terminal as we do. A signal
    /// reaches it alone; what it started is known by its mark and its parents.
    ///
    /// ```
    /// use std::{process::Command, sync::Arc, time::Duration};
    /// use towline_process::{Descendants, Group, Watchdog};
    ///
    /// let watchdog = Arc::new(Watchdog::new("EXAMPLE_MARK", "ours", Duration::from_secs(2)));
    /// let mark = watchdog.mark()?;
    /// let mut command = Command::new("sh");
    /// mark.put_on(command.args(["-c", "sleep 1000; true"]));
    /// let mut child = command.spawn()?;
    /// let mut group = Group::within_ours(&watchdog, mark, child.id())?;
    /// group.kill(&Descendants::default());
    /// assert!(!child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// When this is no process id.
    pub fn within_ours(watchdog: &Arc<Watchdog>, mark: Mark, child: u32) -> io::Result<Self> {
        Ok(Self::new(watchdog, mark, Reach::Child(process(child)?)))
    }

    fn new(watchdog: &Arc<Watchdog>, mark: Mark, reach: Reach) -> Self {
        Self {
            reach,
            mark,
            watch: Some(watchdog.watch(reach)),
        }
    }

    /// Its id, which is the process id of the child.
    pub fn id(&self) -> Pid {
        self.reach.id()
    }

    /// A signal to the group. Nothing happens where it is gone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match self.reach.signal(signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// `SIGTERM` to the group and to everything that left it; who that was.
    pub fn terminate(&self) -> Descendants {
        let others = self.watch.as_ref().map(Watch::others).unwrap_or_default();
        let members = self.members(&others);
        // The group may be gone; there is nobody to tell about any other failure.
        self.signal(Signal::TERM).ok();
        // Not twice: a program may take a second signal for impatience.
        members.signal_where(Signal::TERM, |process| !self.reach.includes(process));
        members
    }

    /// `SIGKILL` to the group, to everything that left it, and to those that were `known` before. Only once: the id of
    /// the group may be somebody else's later.
    pub fn kill(&mut self, known: &Descendants) {
        let Some(watch) = self.watch.take() else {
            return;
        };
        let others = watch.others();
        let members = self.members(&others);
        // The group first: a shell that sees its child killed could still end by itself, with another exit.
        let is_gone = self.reach.signal(Signal::KILL) == Err(Errno::SRCH);
        if is_gone && !members.any_runs() && !known.any_runs() {
            // There is nobody who could have started another.
            return;
        }
        members.signal(Signal::KILL);
        known.signal(Signal::KILL);
        // What was started between the look and the signal.
        Descendants::kill_all(|| self.mark.bearers(&others));
    }

    /// Whether anything is left in the group itself, if only a process that has ended and that nobody asks about.
    pub fn is_there(&self) -> bool {
        match self.reach {
            Reach::Group(id) => test_kill_process_group(id).is_ok(),
            Reach::Child(id) => test_kill_process(id).is_ok(),
        }
    }

    fn members(&self, others: &HashSet<Pid>) -> Descendants {
        Descendants::of(self.id()).and(self.mark.bearers(others))
    }
}

impl Reach {
    pub(crate) fn id(self) -> Pid {
        match self {
            Self::Group(id) | Self::Child(id) => id,
        }
    }

    fn signal(self, signal: Signal) -> Result<(), Errno> {
        match self {
            Self::Group(id) => kill_process_group(id, signal),
            Self::Child(id) => kill_process(id, signal),
        }
    }

    fn includes(self, process: Pid) -> bool {
        match self {
            Self::Group(id) => getpgid(Some(process)) == Ok(id),
            Self::Child(id) => process == id,
        }
    }
}

impl fmt::Display for Reach {
    /// As `kill` takes it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id().as_raw_pid();
        match self {
            Self::Group(_) => write!(formatter, "-{id}"),
            Self::Child(_) => write!(formatter, "{id}"),
        }
    }
}

fn process(id: u32) -> io::Result<Pid> {
    Pid::from_raw(id.cast_signed()).ok_or_else(|| io::Error::other("the child has no process id"))
}
