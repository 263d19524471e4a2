//! [`Commands`]: the shell commands of a session, those somebody waits for and those in the background.
//!
//! Each is a process group with a task that looks after it: its time, how much it writes, who wants it to end. What they
//! write is in files. Whatever ends the agent ends them too: a stop, a drop, or the [`Watchdog`] where the agent can do
//! nothing any more. What the model gets to read of all that is the business of the tools.

mod entry;
mod event;
mod output;
mod process;
mod supervisor;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::DirBuilder,
    io,
    os::unix::{ffi::OsStrExt as _, fs::DirBuilderExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use towline_process::Watchdog;
use uuid::Uuid;

use entry::{Entry, Placement, Wish, new_id};
pub(crate) use event::{Task, TaskEnd, TaskEvent};
pub(crate) use output::Excerpt;
use process::{Files, Process};

/// The environment of a command.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// The commands of a session. Clones are the same commands; when the last one is dropped, all are ended.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    owner: Arc<Owner>,
}

/// What commands have in common.
#[derive(Clone, Debug)]
pub(crate) struct CommandOptions {
    /// Their environment.
    pub(crate) environment: Environment,
    /// Where their output goes: `ID.output`. Made when it is needed.
    pub(crate) folder: PathBuf,
}

/// A command to start.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The command line.
    pub(crate) command: String,
    /// What it does, in a few words.
    pub(crate) description: Option<String>,
    /// The call that wants it.
    pub(crate) tool_use_id: String,
    /// Where it starts.
    pub(crate) directory: PathBuf,
}

/// What became of a command that somebody waited for.
#[derive(Debug)]
pub(crate) enum Waited {
    /// It is over.
    Ended(Ended),
    /// It goes on in the background, because somebody wanted it to.
    Backgrounded(Task),
}

/// A command that is over. Its output is there as long as this is.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) end: TaskEnd,
    entry: Arc<Entry>,
}

/// A command in the background, and how it is.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    /// The command.
    pub(crate) task: Task,
    /// How it ended; nothing while it runs.
    pub(crate) end: Option<TaskEnd>,
}

impl Commands {
    /// No commands yet, and where what happens to them is told.
    pub(crate) fn new(options: CommandOptions) -> (Self, mpsc::Receiver<TaskEvent>) {
        let (events, receiver) = mpsc::channel(EVENTS);
        let shared = Arc::new(Shared {
            environment: Mutex::new(options.environment),
            folder: options.folder,
            watchdog: Arc::new(Watchdog::new(
                MARK,
                Uuid::new_v4().simple().to_string(),
                supervisor::GRACE,
            )),
            events,
            entries: Mutex::default(),
        });
        let owner = Arc::new(Owner { shared });
        (Self { owner }, receiver)
    }

    /// Commands that are started from now on get this variable.
    pub(crate) fn set_variable(&self, name: &str, value: &str) {
        let environment = &self.owner.shared.environment;
        let mut environment = environment.lock().unwrap_or_else(PoisonError::into_inner);
        environment.insert(name.into(), value.into());
    }

    /// Runs a command and waits for it, no longer than `timeout`. Dropping the future ends the command.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) async fn run(&self, order: Order, timeout: Duration) -> io::Result<Waited> {
        let shared = &self.owner.shared;
        let (entry, process) = shared.start(order, Placement::Foreground)?;
        let mut guard = StopOnDrop(Some(Arc::clone(&entry)));
        let deadline = Some(Instant::now() + timeout);
        tokio::spawn(supervisor::supervise(
            Arc::clone(shared),
            Arc::clone(&entry),
            process,
            deadline,
        ));
        let mut state = entry.state.subscribe();
        let settled = state.wait_for(|state| state.is_backgrounded || state.end.is_some());
        // The entry keeps its end of the channel, so that there is always a last word.
        let end = settled.await.ok().and_then(|state| state.end);
        guard.0 = None;
        Ok(match end {
            Some(end) => Waited::Ended(Ended { end, entry }),
            None => Waited::Backgrounded(entry.task()),
        })
    }

    /// Starts a command that nobody waits for.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) async fn start(&self, order: Order) -> io::Result<Task> {
        let shared = &self.owner.shared;
        let (entry, process) = shared.start(order, Placement::Background)?;
        let task = entry.task();
        let mut guard = StopOnDrop(Some(Arc::clone(&entry)));
        let (told, is_told) = oneshot::channel();
        let started = TaskEvent::Started(task.clone());
        let shared = Arc::clone(shared);
        // All in a task of its own: whoever wanted this may be gone before the host has been told.
        tokio::spawn(async move {
            shared.tell(started).await;
            told.send(()).ok();
            supervisor::supervise(shared, entry, process, None).await;
        });
        is_told.await.ok();
        guard.0 = None;
        Ok(task)
    }

    /// The commands in the background that still run, oldest first (`background_tasks_changed`).
    pub(crate) fn running(&self) -> Vec<Task> {
        let entries = self.owner.shared.entries();
        let running = entries
            .iter()
            .filter(|entry| entry.runs() && entry.is_backgrounded());
        running.map(|entry| entry.task()).collect()
    }

    /// How a command in the background is. Nothing if there is none with this id.
    pub(crate) fn status(&self, id: &str) -> Option<Status> {
        self.owner.shared.find(id).map(|entry| entry.status())
    }

    /// Waits until a command in the background is over, but no longer than this.
    pub(crate) async fn wait(&self, id: &str, timeout: Duration) -> Option<Status> {
        let entry = self.owner.shared.find(id)?;
        entry.over(timeout).await;
        Some(entry.status())
    }

    /// The last `most` bytes that a command in the background wrote (`get_task_output`).
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) async fn output(&self, id: &str, most: u64) -> Option<io::Result<Excerpt>> {
        let entry = self.owner.shared.find(id)?;
        Some(output::last(&entry.files.output, most).await)
    }

    /// What a command in the background wrote since this was last asked, at most `most` bytes of it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) async fn news(&self, id: &str, most: u64) -> Option<io::Result<String>> {
        let entry = self.owner.shared.find(id)?;
        let mut seen = entry.seen.lock().await;
        Some(output::next(&entry.files.output, &mut seen, most).await)
    }

    /// Ends a command in the background, and waits until it is over. Nothing if there is none with this id; how it ended
    /// if it had before.
    pub(crate) async fn stop(&self, id: &str) -> Option<Status> {
        self.owner.shared.find(id)?.wish.send_replace(Wish::End);
        self.wait(id, STOP).await
    }

    /// Ends all commands, and waits until they are over.
    pub(crate) async fn stop_all(&self) {
        let entries = self.owner.shared.entries().clone();
        for entry in &entries {
            entry.wish.send_replace(Wish::End);
        }
        for entry in &entries {
            entry.over(STOP).await;
        }
        self.owner.shared.watchdog.kill_all();
    }

    /// Has the commands that somebody waits for go on in the background (`background_tasks`), of those that the host was
    /// told of.
    pub(crate) fn background_all(&self) {
        for entry in self.owner.shared.entries().iter() {
            if !entry.is_backgrounded() {
                entry.wish.send_if_modified(|wish| {
                    let is_new = *wish == Wish::GoOn;
                    *wish = if is_new { Wish::Background } else { *wish };
                    is_new
                });
            }
        }
    }
}

impl Ended {
    /// Where its output is.
    pub(crate) fn output(&self) -> &Path {
        &self.entry.files.output
    }

    /// What names its files.
    pub(crate) fn id(&self) -> &str {
        &self.entry.id
    }

    /// The first `most` bytes of its output.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) async fn first(&self, most: u64) -> io::Result<Excerpt> {
        output::first(self.output(), most).await
    }

    /// The last `most` bytes of its output.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) async fn last(&self, most: u64) -> io::Result<Excerpt> {
        output::last(self.output(), most).await
    }

    /// Where its shell was at the end; nothing where it could not say.
    pub(crate) async fn directory(&self) -> Option<PathBuf> {
        let text = tokio::fs::read(&self.entry.files.directory).await.ok()?;
        let path = Path::new(OsStr::from_bytes(text.strip_suffix(b"\n")?));
        path.is_absolute().then(|| path.to_owned())
    }
}

/// Ends everything when nobody holds the commands any more.
#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        for entry in self.shared.entries().iter() {
            entry.wish.send_replace(Wish::End);
        }
        self.shared.watchdog.kill_all();
    }
}

/// Ends a command when whoever waits for it is gone.
#[derive(Debug)]
struct StopOnDrop(Option<Arc<Entry>>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(entry) = &self.0 {
            entry.wish.send_replace(Wish::End);
        }
    }
}

/// What a session's commands and their supervisors share.
#[derive(Debug)]
struct Shared {
    environment: Mutex<Environment>,
    folder: PathBuf,
    watchdog: Arc<Watchdog>,
    events: mpsc::Sender<TaskEvent>,
    entries: Mutex<Vec<Arc<Entry>>>,
}

impl Shared {
    fn start(&self, order: Order, placement: Placement) -> io::Result<(Arc<Entry>, Process)> {
        if self.entries().iter().filter(|entry| entry.runs()).count() >= MOST_RUNNING {
            return Err(io::Error::other(format!(
                "{MOST_RUNNING} commands run already; end one first"
            )));
        }
        let folder = &self.folder;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let id = new_id();
        let files = Files {
            output: folder.join(format!("{id}.output")),
            directory: folder.join(format!("{id}.directory")),
        };
        let process = Process::spawn(
            &order.command,
            &order.directory,
            &self
                .environment
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            &files,
            &self.watchdog,
        );
        let entry = Arc::new(Entry::new(id, order, files, placement));
        let process = process?;
        self.entries().push(Arc::clone(&entry));
        Ok((entry, process))
    }

    /// Takes a command that is over out of the list, but for the newest that ran in the background.
    fn retire(&self, entry: &Arc<Entry>) {
        let mut entries = self.entries();
        if !entry.is_backgrounded() {
            entries.retain(|other| !Arc::ptr_eq(other, entry));
        }
        let over = entries.iter().filter(|entry| !entry.runs()).count();
        let mut surplus = over.saturating_sub(MOST_REMEMBERED);
        entries.retain(|entry| {
            let goes = surplus > 0 && !entry.runs();
            surplus -= usize::from(goes);
            !goes
        });
    }

    async fn tell(&self, event: TaskEvent) {
        // Nobody listens any more when the session is over.
        self.events.send(event).await.ok();
    }

    fn find(&self, id: &str) -> Option<Arc<Entry>> {
        let entries = self.entries();
        let mut known = entries.iter();
        known.find(|entry| entry.id == id).map(Arc::clone)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        // A panic elsewhere leaves nothing half done here.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What marks a command, its children and theirs. Not the host's name for the same: an agent that runs under a host is to
/// stay known to it.
const MARK: &str = "TOWLINE_COMMAND";

/// So many events wait for whoever listens; then the commands' supervisors wait.
const EVENTS: usize = 256;

/// More at once is a mistake.
const MOST_RUNNING: usize = 100;

/// Commands in the background that are over and can still be asked about.
const MOST_REMEMBERED: usize = 200;

/// How long a stop is waited for: longer than the grace that a command gets.
const STOP: Duration = Duration::from_secs(10);
