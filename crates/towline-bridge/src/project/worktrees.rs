//! Branches and worktrees of a project.

use std::path::{Path, PathBuf};

use towline_files::RealPath;
use towline_protocol::dialect::pocket::{
    ListWorktrees, RemoveWorktree, Worktree, WorktreeList, WorktreeRemoved,
};

use super::{ProjectError, Projects, git::Git, removal::Removal};

impl Projects {
    /// The branch of a project; for a commit without a branch, how its name begins.
    ///
    /// # Errors
    /// When it is no work tree, or may not be looked at.
    pub async fn current_branch(&self, project: &str) -> Result<String, ProjectError> {
        let project = self.project(project).await?;
        let _turn = self.turn().await?;
        let git = Git::at(&project, &self.roots, self.time).await?;
        match git
            .text(&["symbolic-ref", "--quiet", "--short", "HEAD"])
            .await
        {
            Err(ProjectError::Unusable(_)) => git.text(&["rev-parse", "--short", "HEAD"]).await,
            branch => branch,
        }
    }

    /// The worktrees beside the project itself, as far as they may be looked at.
    pub async fn list_worktrees(&self, request: &ListWorktrees) -> WorktreeList {
        let list = match self.worktrees(&request.project_path).await {
            Ok((_, trees)) => {
                let main_branch = trees.first().and_then(|main| main.branch.as_deref());
                let inside = |tree: &&Tree| self.roots.existing(&tree.path).is_ok();
                let others = trees.iter().skip(1).filter(inside);
                WorktreeList {
                    main_branch: main_branch.map(Into::into),
                    worktrees: others
                        .map(|tree| tree.shown(&request.project_path))
                        .collect(),
                    ..WorktreeList::default()
                }
            }
            Err(error) => WorktreeList {
                error: Some(error.to_string().into()),
                ..WorktreeList::default()
            },
        };
        WorktreeList {
            project_path: Some(request.project_path.clone()),
            request_id: request.request_id.clone(),
            ..list
        }
    }

    /// Deletes a worktree of the project, unless something in it would be lost. Its branch stays.
    pub async fn remove_worktree(&self, request: &RemoveWorktree) -> WorktreeRemoved {
        let removed = self
            .remove(&request.project_path, &request.worktree_path)
            .await;
        WorktreeRemoved {
            project_path: Some(request.project_path.clone()),
            request_id: request.request_id.clone(),
            worktree_path: request.worktree_path.clone(),
            error: removed.err().map(|error| error.to_string().into()),
            ..WorktreeRemoved::default()
        }
    }

    async fn remove(&self, project: &str, worktree: &str) -> Result<(), ProjectError> {
        let wanted = self.roots.existing(Path::new(worktree))?;
        let (git, trees) = self.worktrees(project).await?;
        let turn = self.turn().await?;
        let known = trees
            .iter()
            .skip(1)
            .any(|tree| RealPath::resolve(&tree.path).is_ok_and(|path| path == wanted));
        if !known {
            return Err(ProjectError::Unusable(format!(
                "{worktree} is no worktree of {project} that can be removed"
            )));
        }
        let removal = Removal::check(&wanted, &git, &self.roots, self.time).await?;
        drop(turn);
        self.blocking(move |_| removal.carry_out()).await
    }

    async fn worktrees(&self, project: &str) -> Result<(Git, Vec<Tree>), ProjectError> {
        let project = self.project(project).await?;
        let _turn = self.turn().await?;
        let git = Git::at(&project, &self.roots, self.time).await?;
        git.add_work_trees(&self.roots).await?;
        let output = git
            .run(&["worktree", "list", "--porcelain", "-z"], &[], MOST)
            .await?;
        let trees = trees(&String::from_utf8_lossy(&output.bytes));
        Ok((git, trees))
    }
}

/// A worktree as git lists it; the first is the project itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tree {
    path: PathBuf,
    head: Option<String>,
    branch: Option<String>,
}

impl Tree {
    fn shown(&self, project: &towline_protocol::Text) -> Worktree {
        Worktree {
            worktree_path: self.path.to_string_lossy().into_owned().into(),
            branch: self.branch.clone().unwrap_or_default().into(),
            project_path: Some(project.clone()),
            head: self.head.clone().map(Into::into),
            ..Worktree::default()
        }
    }
}

/// Reads `worktree <path>\0HEAD <commit>\0branch refs/heads/<name>\0\0…`.
fn trees(listed: &str) -> Vec<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    for field in listed.split('\0') {
        let (name, value) = field.split_once(' ').unwrap_or((field, ""));
        if name == "worktree" {
            trees.push(Tree {
                path: value.into(),
                ..Tree::default()
            });
        } else if let Some(tree) = trees.last_mut() {
            match name {
                "HEAD" => tree.head = Some(value.to_owned()),
                "branch" => {
                    let short = value.strip_prefix("refs/heads/").unwrap_or(value);
                    tree.branch = Some(short.to_owned());
                }
                _ => {}
            }
        }
    }
    trees
}

const MOST: u64 = 1 << 20;
