//! [`Group`]: a child, its process group and everything they started, to be ended together.

use std::{collections::HashSet, io, sync::Arc};

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group, test_kill_process_group},
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
    id: Pid,
    mark: Mark,
    watch: Option<Watch>,
}

impl Group {
    /// The group that the child with this process id leads.
    ///
    /// # Errors
    /// When this is no process id.
    pub fn of(watchdog: &Arc<Watchdog>, mark: Mark, leader: u32) -> io::Result<Self> {
        let id = Pid::from_raw(leader.cast_signed())
            .ok_or_else(|| io::Error::other("the child has no process id"))?;
        Ok(Self {
            id,
            mark,
            watch: Some(watchdog.watch(id)),
        })
    }

    /// Its id, which is the process id of its leader.
    pub fn id(&self) -> Pid {
        self.id
    }

    /// A signal to the group. Nothing happens where it is gone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match kill_process_group(self.id, signal) {
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
        members.signal_outside(self.id, Signal::TERM);
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
        self.signal(Signal::KILL).ok();
        members.signal(Signal::KILL);
        known.signal(Signal::KILL);
        // What was started between the look and the signal.
        Descendants::kill_all(|| self.mark.bearers(&others));
    }

    /// Whether anything is left in the group itself, if only a process that has ended and that nobody asks about.
    pub fn is_there(&self) -> bool {
        test_kill_process_group(self.id).is_ok()
    }

    fn members(&self, others: &HashSet<Pid>) -> Descendants {
        Descendants::of(self.id).and(self.mark.bearers(others))
    }
}
