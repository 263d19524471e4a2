//! Repositories that want to run something, or to show what is not theirs; and a `git` that hangs.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use towline_bridge::{access::Roots, project::Projects};
use towline_protocol::dialect::pocket::{
    DiffSide, GetDiff, GetDiffImage, ListWorktrees, RemoveWorktree,
};

use super::{Place, git};

/// A program that leaves a mark when it runs, and then does what a filter does.
fn trap(place: &Place) -> (String, std::path::PathBuf) {
    let mark = place.base.join("it-ran");
    let program = place.base.join("trap");
    fs::write(
        &program,
        format!(
            "#!/bin/sh\necho \"$0 $*\" >> '{}'\nexec cat\n",
            mark.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), mark)
}

/// Names the program wherever a repository can name one.
fn set_traps(project: &Path, program: &str) {
    let hooks = project.join(".git/hooks/post-index-change");
    fs::create_dir_all(hooks.parent().unwrap()).unwrap();
    fs::copy(program, hooks).unwrap();
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "credential.helper",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.e=v.il.clean",
        "pager.diff",
    ] {
        git(project, &["config", name, program]);
    }
    git(project, &["config", "filter.evil.required", "true"]);
}

fn request(place: &Place) -> GetDiff {
    GetDiff {
        project_path: place.path("root/project"),
        ..GetDiff::default()
    }
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let place = Place::with_commit(&[("a.png", "1\n"), ("a.txt", "1\n")]);
    let (program, mark) = trap(&place);
    let project = place.project();
    git(
        &project,
        &["worktree", "add", "-q", "-b", "side", "../side"],
    );
    place.write(
        ".gitattributes",
        "* filter=evil diff=evil\n*.png filter=e=v.il\n",
    );
    set_traps(&project, &program);
    place.write("a.png", "2\n");
    place.write("a.txt", "2\n");
    place.write("new.txt", "3\n");
    for staged in [None, Some(false), Some(true)] {
        let result = place
            .projects
            .diff(&GetDiff {
                staged,
                ..request(&place)
            })
            .await;
        assert_eq!(result.error, None);
        assert_eq!(
            result.diff.contains("+2\n"),
            staged != Some(true),
            "{}",
            result.diff
        );
    }
    let picture = GetDiffImage {
        project_path: place.path("root/project"),
        file_path: "a.png".into(),
        version: DiffSide::Both,
        request_id: None,
        extra: towline_protocol::Extra::default(),
    };
    assert_eq!(place.projects.diff_image(&picture).await.error, None);
    let list = ListWorktrees {
        project_path: place.path("root/project"),
        ..ListWorktrees::default()
    };
    assert_eq!(
        place.projects.list_worktrees(&list).await.worktrees.len(),
        1
    );
    assert_eq!(
        place
            .projects
            .current_branch(&place.path("root/project"))
            .await
            .unwrap(),
        "main"
    );
    let remove = RemoveWorktree {
        project_path: place.path("root/project"),
        worktree_path: place.path("root/side"),
        ..RemoveWorktree::default()
    };
    assert_eq!(place.projects.remove_worktree(&remove).await.error, None);
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    // The trap is a good one: git by itself runs it, and fails over what it says.
    let mut plain = std::process::Command::new("git");
    plain.arg("diff").current_dir(&project).output().unwrap();
    assert!(mark.exists());
}

#[tokio::test]
async fn a_repository_elsewhere_is_not_shown_as_this_one() {
    let place = Place::with_commit(&[("a", "1\n")]);
    let elsewhere = place.base.join("private");
    fs::create_dir(&elsewhere).unwrap();
    git(&elsewhere, &["init", "-q"]);
    fs::write(elsewhere.join("secret"), "secret\n").unwrap();
    git(&elsewhere, &["add", "-A"]);
    git(&elsewhere, &["commit", "-q", "-m", "secret"]);
    let refused = async |place: &Place| {
        let result = place.projects.diff(&request(place)).await;
        assert_eq!(&*result.diff, "");
        let error = result.error.unwrap();
        assert!(error.contains("none of the folders"), "{error}");
    };
    // A work tree that is said to be elsewhere.
    git(
        &place.project(),
        &["config", "core.worktree", elsewhere.to_str().unwrap()],
    );
    refused(&place).await;
    // A repository that is said to be elsewhere.
    fs::remove_dir_all(place.project().join(".git")).unwrap();
    place.write(
        ".git",
        format!("gitdir: {}\n", elsewhere.join(".git").display()),
    );
    refused(&place).await;
}

/// A repository whose objects are outside in part, and the path of the part.
fn with_objects_outside(part: &str) -> (Place, std::path::PathBuf) {
    let place = Place::with_commit(&[("a", "SECRET\n")]);
    place.write("a", "changed\n");
    if part.contains("pack") {
        git(&place.project(), &["gc", "-q"]);
    }
    let objects = place.project().join(".git/objects");
    let outside = place.base.join("outside");
    fs::create_dir(&outside).unwrap();
    let blob = git(&place.project(), &["rev-parse", "HEAD:a"]);
    let (folder, file) = blob.trim_end().split_at(2);
    let moved = match part {
        "folder" => objects.join(folder),
        "object" => objects.join(folder).join(file),
        "packs" => objects.join("pack"),
        _ => {
            let mut packs = fs::read_dir(objects.join("pack")).unwrap();
            let is_pack = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "pack");
            packs
                .find_map(|pack| Some(pack.unwrap().path()).filter(is_pack))
                .unwrap()
        }
    };
    fs::rename(&moved, outside.join("part")).unwrap();
    std::os::unix::fs::symlink(outside.join("part"), &moved).unwrap();
    (place, moved)
}

#[tokio::test]
async fn objects_behind_a_link_out_of_the_roots_were_shown() {
    for part in ["folder", "object", "packs", "pack"] {
        let (place, _) = with_objects_outside(part);
        let result = place.projects.diff(&request(&place)).await;
        assert!(!result.diff.contains("SECRET"), "{part}: {}", result.diff);
        let error = result.error.unwrap();
        assert!(error.contains("none of the folders"), "{part}: {error}");
    }
    // The same in objects that are borrowed, and a link that stays inside.
    let (place, moved) = with_objects_outside("folder");
    let objects = place.project().join(".git/objects");
    let lent = place.base.join("root/lent");
    fs::rename(&objects, &lent).unwrap();
    fs::create_dir_all(objects.join("info")).unwrap();
    fs::write(
        objects.join("info/alternates"),
        format!("{}\n", lent.display()),
    )
    .unwrap();
    let result = place.projects.diff(&request(&place)).await;
    assert!(
        result.error.unwrap().contains("none of the folders"),
        "{}",
        result.diff
    );
    let link = lent.join(moved.file_name().unwrap());
    fs::remove_file(&link).unwrap();
    fs::rename(
        place.base.join("outside/part"),
        place.base.join("root/part"),
    )
    .unwrap();
    std::os::unix::fs::symlink("../part", link).unwrap();
    let result = place.projects.diff(&request(&place)).await;
    assert_eq!(result.error, None);
    assert!(result.diff.contains("-SECRET"), "{}", result.diff);
}

#[tokio::test]
async fn what_takes_too_long_is_ended() {
    let place = Place::with_commit(&[("a", "1\n")]);
    let projects = Projects::new(Roots::new([place.base.join("root")]).unwrap())
        .time(Duration::from_millis(300));
    // git waits for whoever writes to the pipe that it takes for its index, which nobody does.
    let index = place.project().join(".git/index");
    fs::remove_file(&index).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &index,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .unwrap();
    let result = projects.diff(&request(&place)).await;
    assert!(
        result.error.unwrap().contains("took longer than 0.3 s"),
        "no time-out"
    );
    let project = place.project();
    let at_work = || {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut directories =
            processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
        directories.any(|directory| directory == project)
    };
    // It was sent its end; that it is gone is a matter of moments.
    let until = std::time::Instant::now() + Duration::from_secs(10);
    while at_work() {
        assert!(std::time::Instant::now() < until, "a git is left over");
        tokio::task::yield_now().await;
    }
}
