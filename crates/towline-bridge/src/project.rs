//! What the bridge can show of a project: files, folders, what has changed, worktrees.
//!
//! Requests and answers are those of [`dialect::pocket`](towline_protocol::dialect::pocket). Every path goes through
//! [`Roots`], every answer has a bound, and what reads files or waits does not hold up the caller's thread. A repository is somebody else's: `git` is
//! run so that nothing in it is executed.

mod changes;
mod files;
mod filtered;
mod git;
mod large;
mod listing;
mod media;
mod removal;
mod steady;
mod submodules;
mod worktrees;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use thiserror::Error;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task,
    time::{Instant, timeout_at},
};
use towline_protocol::dialect::pocket::{ErrorCode, ToClient};

use crate::access::{RootError, Roots};

/// The projects below some folders.
///
/// ```
/// use towline_bridge::{access::Roots, project::Projects};
/// use towline_protocol::dialect::pocket::ReadFile;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("main.rs"), "fn main() {}\n")?;
/// let projects = Projects::new(Roots::new([folder.path()])?);
/// let answer = projects
///     .read_file(&ReadFile {
///         project_path: folder.path().to_str().unwrap_or_default().into(),
///         file_path: "main.rs".into(),
///         ..ReadFile::default()
///     })
///     .await;
/// assert_eq!(answer.content, "fn main() {}\n");
/// assert_eq!(answer.language.as_deref(), Some("rust"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Projects {
    roots: Arc<Roots>,
    /// How much is looked at at once: a page that asks for a hundred diffs gets them one after the other.
    at_once: Arc<Semaphore>,
    /// How many looks may hang in the system, such as on a disk that does not answer. They take no turn from the others.
    hanging: Arc<Semaphore>,
    time: Duration,
}

/// Why something cannot be shown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The path is none that may be used.
    #[error(transparent)]
    Path(#[from] RootError),
    /// It is not there.
    #[error("{0}")]
    Missing(String),
    /// It is something else than what was asked for, or cannot be read.
    #[error("{0}")]
    Unusable(String),
    /// It took too long.
    #[error("{what} took longer than {} s and was stopped", time.as_secs_f32())]
    TooSlow {
        /// What.
        what: String,
        /// How long it could take.
        time: Duration,
    },
}

impl Projects {
    /// The projects below the folders that may be used.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots: Arc::new(roots),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            hanging: Arc::new(Semaphore::new(MOST_HANGING)),
            time: TIME,
        }
    }

    /// Sets how long a look may take; twenty seconds, unless set.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// The folders that may be used.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Runs what blocks on a thread for that. One that takes too long gives its turn back, but not its thread.
    async fn blocking<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Roots) -> Result<T, ProjectError> + Send + 'static,
    ) -> Result<T, ProjectError> {
        let until = Instant::now() + self.time;
        let thread = self.wait_for(&self.hanging, until).await?;
        let turn = self.wait_for(&self.at_once, until).await?;
        let turn = Arc::new(Mutex::new(Some(turn)));
        let (roots, of_thread) = (Arc::clone(&self.roots), Arc::clone(&turn));
        let looked = task::spawn_blocking(move || {
            let looked = look(&roots);
            give_back(&of_thread);
            drop(thread);
            looked
        });
        match timeout_at(until, looked).await {
            Ok(Ok(looked)) => looked,
            Ok(Err(_)) => Err(ProjectError::Unusable(
                "the look at the files broke off".to_owned(),
            )),
            Err(_) => {
                give_back(&turn);
                Err(self.too_slow())
            }
        }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, ProjectError> {
        let until = Instant::now() + self.time;
        self.wait_for(&self.at_once, until).await
    }

    async fn wait_for(
        &self,
        places: &Arc<Semaphore>,
        until: Instant,
    ) -> Result<OwnedSemaphorePermit, ProjectError> {
        match timeout_at(until, Arc::clone(places).acquire_owned()).await {
            Ok(place) => Ok(place.expect("the semaphore is never closed")),
            Err(_) => Err(self.too_slow()),
        }
    }

    fn too_slow(&self) -> ProjectError {
        ProjectError::TooSlow {
            what: "looking at the files".to_owned(),
            time: self.time,
        }
    }

    async fn project(&self, path: &str) -> Result<std::path::PathBuf, ProjectError> {
        let path = path.to_owned();
        self.blocking(move |roots| {
            let project = roots.existing(Path::new(&path))?;
            let found = towline_files::status(&project);
            if found.is_ok_and(|found| found.kind == towline_files::Kind::Directory) {
                Ok(project.into())
            } else {
                Err(ProjectError::Unusable(format!("{path} is no folder")))
            }
        })
        .await
    }
}

impl ProjectError {
    /// What it is for programs, if they have a word for it.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Path(RootError::Outside { .. }) => Some(ErrorCode::PathNotAllowed),
            _ => None,
        }
    }

    /// The answer to a request whose own answer has no room for errors.
    pub fn to_client(&self) -> ToClient {
        let code = self.code().unwrap_or(ErrorCode::InvalidMessage);
        ToClient::error(code, self.to_string())
    }
}

fn give_back(turn: &Mutex<Option<OwnedSemaphorePermit>>) {
    drop(turn.lock().unwrap_or_else(PoisonError::into_inner).take());
}

const AT_ONCE: usize = 4;
const MOST_HANGING: usize = 32;
const TIME: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn looks_that_hang_take_no_turn_from_those_of_other_projects() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::new([folder.path()]).unwrap();
        let projects = Projects::new(roots).time(Duration::from_millis(50));
        let mut held = Vec::new();
        for _ in 0..=AT_ONCE {
            let (end, wait) = mpsc::channel::<()>();
            held.push(end);
            let hung = projects.blocking(move |_| {
                wait.recv().ok();
                Ok(())
            });
            assert!(matches!(hung.await, Err(ProjectError::TooSlow { .. })));
        }
        assert!(projects.blocking(|_| Ok(1)).await.is_ok());
    }
}
