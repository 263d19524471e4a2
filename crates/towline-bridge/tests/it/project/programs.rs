//! Repositories that name a program wherever git's documentation says that one can be named: looking runs none of them.

use std::{path::Path, process::Command};

use towline_bridge::project::Projects;
use towline_protocol::{
    Extra,
    dialect::pocket::{
        DiffSide, GetDiff, GetDiffImage, ListDirectory, ListFiles, ListWorktrees, ReadFile,
        RemoveWorktree,
    },
};
use towline_testkit::hostile_repository::{HostileRepository, Way, unlisted_programs};

use super::Place;

/// Everything that can be asked of a project.
async fn look(projects: &Projects, project: &Path) {
    let path: towline_protocol::Text = project.to_str().unwrap().into();
    for staged in [None, Some(false), Some(true)] {
        let result = projects
            .diff(&GetDiff {
                project_path: path.clone(),
                staged,
                ..GetDiff::default()
            })
            .await;
        assert_eq!(result.error, None, "{}", project.display());
        let shows_new = result.diff.contains("b/new.txt");
        assert_eq!(shows_new, staged != Some(true), "{}", result.diff);
    }
    for version in [DiffSide::Old, DiffSide::New, DiffSide::Both] {
        let request = GetDiffImage {
            project_path: path.clone(),
            file_path: "c.png".into(),
            version,
            request_id: None,
            extra: Extra::default(),
        };
        projects.diff_image(&request).await;
    }
    let files = projects
        .list_files(&ListFiles {
            project_path: path.clone(),
            ..ListFiles::default()
        })
        .await;
    assert_eq!(files.error, None);
    let directory = ListDirectory {
        path: path.clone(),
        include_files: Some(true),
        include_hidden: Some(true),
        ..ListDirectory::default()
    };
    projects.list_directory(&directory).await.unwrap();
    let file = projects
        .read_file(&ReadFile {
            project_path: path.clone(),
            file_path: "a.txt".into(),
            ..ReadFile::default()
        })
        .await;
    assert_eq!(file.content, "2\n");
    projects.current_branch(&path).await.unwrap();
    let list = ListWorktrees {
        project_path: path.clone(),
        ..ListWorktrees::default()
    };
    let list = projects.list_worktrees(&list).await;
    assert_eq!(list.error, None);
    // The project itself is none that can be removed; others have changes.
    for tree in list.worktrees.iter().map(|tree| &tree.worktree_path) {
        let request = RemoveWorktree {
            project_path: path.clone(),
            worktree_path: tree.clone(),
            ..RemoveWorktree::default()
        };
        projects.remove_worktree(&request).await;
    }
}

#[tokio::test]
async fn a_filter_whose_name_is_no_text_was_run_by_looking_at_changes() {
    for way in Way::ALL {
        let place = Place::new();
        let hostile = HostileRepository::new(&place.base).unwrap();
        let project = hostile.make(way, &place.base.join("root")).unwrap();
        hostile.forget().unwrap();
        look(&place.projects, &project).await;
        assert_eq!(hostile.marks(), [""; 0], "{way:?}");
        // The trap is a good one: git by itself runs programs here, and fails over what they say.
        hostile.look_with_git(&project).unwrap();
        let marks = hostile.marks();
        for expected in way.expected_marks() {
            let is_there = marks.iter().any(|mark| mark == expected);
            assert!(is_there, "{way:?}: {expected}: {marks:?}");
        }
    }
}

#[tokio::test]
async fn a_worktree_is_removed_without_the_programs_that_its_repository_names() {
    let place = Place::new();
    let hostile = HostileRepository::new(&place.base).unwrap();
    let side = hostile.make(Way::Linked, &place.base.join("root")).unwrap();
    let request = RemoveWorktree {
        project_path: place.path("root/linked"),
        worktree_path: place.path("root/linked-side"),
        ..RemoveWorktree::default()
    };
    hostile.forget().unwrap();
    let refused = place.projects.remove_worktree(&request).await.error;
    let refused = refused.unwrap();
    assert!(refused.contains("modified or untracked"), "{refused}");
    for path in ["a.txt", "b.txt", "c.png"] {
        std::fs::write(side.join(path), "1\n").unwrap();
    }
    std::fs::remove_file(side.join("new.txt")).unwrap();
    assert_eq!(place.projects.remove_worktree(&request).await.error, None);
    assert!(!side.exists());
    let own = place.base.join("root/linked/.git/worktrees");
    assert!(!own.exists(), "the repository knows it still");
    assert_eq!(hostile.marks(), [""; 0]);
}

#[test]
fn every_setting_that_git_documents_as_a_program_is_in_the_hostile_repository() {
    let help = Command::new("git").args(["help", "--config"]).output();
    let listed = String::from_utf8(help.unwrap().stdout).unwrap();
    assert!(listed.lines().count() > 500, "{listed}");
    assert_eq!(unlisted_programs(&listed), [""; 0]);
}
