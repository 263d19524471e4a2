//! [`Removal`]: a worktree is deleted here, and not by `git worktree remove`, which reads the configuration of the
//! repository. The conditions are the same: nothing that is not committed is lost.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{ProjectError, git::Git, submodules};
use crate::access::Roots;

/// A worktree that can be deleted.
#[derive(Debug)]
pub(super) struct Removal {
    worktree: PathBuf,
    /// The folder in the repository that stands for it.
    own: PathBuf,
}

impl Removal {
    /// Checks that the worktree is one of this repository and has nothing that would be lost.
    ///
    /// # Errors
    /// When it may not be removed: why.
    pub(super) async fn check(
        worktree: &Path,
        main: &Git,
        roots: &Arc<Roots>,
        time: Duration,
    ) -> Result<Self, ProjectError> {
        let refused = |why: &str| {
            ProjectError::Unusable(format!(
                "the worktree {} is not removed: {why}",
                worktree.display()
            ))
        };
        let git = Git::at(worktree, roots, time).await?;
        let (found, main) = (git.repository(), main.repository());
        let folder = main.shared.join("worktrees");
        // Paths are real ones: a link in their place would lead the deletion elsewhere.
        let is_linked = found.shared == main.shared && found.own.parent() == Some(&folder);
        if found.top != worktree || !is_linked {
            return Err(refused("its .git does not lead to the repository"));
        }
        if main.shared.starts_with(worktree) {
            return Err(refused("the repository itself is in it"));
        }
        if fs::symlink_metadata(found.own.join("locked")).is_ok() {
            return Err(refused("it is locked; `git worktree unlock` opens it"));
        }
        let modules = fs::read_dir(found.own.join("modules"));
        if modules.is_ok_and(|mut modules| modules.next().is_some())
            || submodules::has_any(&git).await?
        {
            return Err(refused("it contains submodules"));
        }
        let status = ["status", "--porcelain", "--untracked-files=normal"];
        let status = [&status[..], &["--ignore-submodules=dirty"]].concat();
        if !git.text(&status).await?.is_empty() {
            return Err(refused("it contains modified or untracked files"));
        }
        Ok(Self {
            worktree: worktree.to_owned(),
            own: found.own.clone(),
        })
    }

    /// Deletes the files, then the repository's folder about them.
    ///
    /// # Errors
    /// When something cannot be deleted.
    pub(super) fn carry_out(&self) -> Result<(), ProjectError> {
        // Links are deleted and not followed.
        for folder in [&self.worktree, &self.own] {
            fs::remove_dir_all(folder).map_err(|error| {
                ProjectError::Unusable(format!("{} cannot be deleted: {error}", folder.display()))
            })?;
        }
        // It stays if there are other worktrees.
        let _kept = self.own.parent().map(fs::remove_dir);
        Ok(())
    }
}
