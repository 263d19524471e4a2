//! Worktrees and branches of real repositories.

use std::fs;

use towline_protocol::dialect::pocket::{
    ListWorktrees, RemoveWorktree, WorktreeList, WorktreeRemoved,
};

use super::{Place, git};

async fn list(place: &Place, project: &str) -> WorktreeList {
    let project_path = place.path(project);
    place
        .projects
        .list_worktrees(&ListWorktrees {
            project_path,
            ..ListWorktrees::default()
        })
        .await
}

async fn remove(place: &Place, worktree: &str) -> WorktreeRemoved {
    let request = RemoveWorktree {
        project_path: place.path("root/project"),
        worktree_path: place.path(worktree),
        ..RemoveWorktree::default()
    };
    place.projects.remove_worktree(&request).await
}

fn place() -> Place {
    let place = Place::with_commit(&[("a", "1\n")]);
    for (branch, path) in [("side", "../side é"), ("far", "../../far")] {
        git(
            &place.project(),
            &["worktree", "add", "-q", "-b", branch, path],
        );
    }
    git(
        &place.project(),
        &["worktree", "add", "-q", "--detach", "../loose"],
    );
    place
}

#[tokio::test]
async fn worktrees_inside_are_listed_with_their_branches() {
    let place = place();
    let head = git(&place.project(), &["rev-parse", "HEAD"]);
    // From the project and from a worktree of it alike.
    for from in ["root/project", "root/side é"] {
        let list = list(&place, from).await;
        assert_eq!(
            (list.error, list.main_branch.as_deref()),
            (None, Some("main"))
        );
        let mut told: Vec<_> = list
            .worktrees
            .iter()
            .map(|tree| (&*tree.worktree_path, &*tree.branch))
            .collect();
        told.sort_unstable();
        let (loose, side) = (place.path("root/loose"), place.path("root/side é"));
        assert_eq!(told, [(&*loose, ""), (&*side, "side")]);
        assert!(
            list.worktrees
                .iter()
                .all(|tree| tree.head.as_deref() == Some(head.trim()))
        );
    }
}

#[tokio::test]
async fn a_worktree_is_removed_and_its_branch_stays() {
    let place = place();
    assert_eq!(remove(&place, "root/side é").await.error, None);
    assert!(!place.base.join("root/side é").exists());
    assert!(git(&place.project(), &["branch"]).contains("side"));
    assert_eq!(list(&place, "root/project").await.worktrees.len(), 1);
}

#[tokio::test]
async fn nothing_is_removed_that_would_be_lost_or_is_no_worktree() {
    let place = place();
    fs::write(place.base.join("root/side é/new"), "work").unwrap();
    fs::create_dir(place.base.join("root/other")).unwrap();
    for (path, problem) in [
        ("root/side é", "contains modified or untracked files"),
        ("root/project", "is no worktree"),
        ("root/other", "is no worktree"),
        ("root", "is no worktree"),
        ("far", "none of the folders"),
        ("root/missing", "No such file"),
    ] {
        let error = remove(&place, path).await.error.unwrap();
        assert!(error.contains(problem), "{error}");
    }
    for path in ["root/side é/new", "root/project/a", "root/other", "far/a"] {
        assert!(place.base.join(path).exists(), "{path}");
    }
}

#[tokio::test]
async fn the_branch_is_told_also_before_the_first_commit_and_without_one() {
    let place = place();
    let branch = async |project: &str| place.projects.current_branch(&place.path(project)).await;
    assert_eq!(branch("root/project").await.unwrap(), "main");
    assert_eq!(branch("root/side é").await.unwrap(), "side");
    let short = git(&place.project(), &["rev-parse", "--short", "HEAD"]);
    assert_eq!(branch("root/loose").await.unwrap(), short.trim());
    fs::create_dir(place.base.join("root/empty")).unwrap();
    git(
        &place.base.join("root/empty"),
        &["init", "-q", "-b", "trunk"],
    );
    assert_eq!(branch("root/empty").await.unwrap(), "trunk");
    assert!(
        branch("root")
            .await
            .unwrap_err()
            .to_string()
            .contains("not a git repository")
    );
}
