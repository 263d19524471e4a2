//! All that is shown of a project is inside of it, whatever links there are and whenever they come.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::prelude::*;
use towline_protocol::{
    Extra, Wire,
    dialect::pocket::{
        DiffSide, GetDiff, GetDiffImage, ListDirectory, ListFiles, ListWorktrees, ReadFile,
        RemoveWorktree,
    },
};

use super::Place;

/// Every public method that looks at a path; a test reads them from the source.
const METHODS: &[&str] = &[
    "current_branch",
    "diff",
    "diff_image",
    "list_directory",
    "list_files",
    "list_worktrees",
    "read_file",
    "remove_worktree",
];

/// A root with a project of two levels, and the same names outside.
fn scene(links: &[(String, String)]) -> Place {
    let place = Place::new();
    for side in ["root/project", "outside"] {
        for folder in ["a", "b/c"] {
            fs::create_dir_all(place.base.join(side).join(folder)).unwrap();
        }
        let words = if side == "outside" { "SECRET" } else { "shown" };
        for file in ["file", "a/file", "b/file", "b/c/file", "b/c/a.png"] {
            fs::write(place.base.join(side).join(file), words).unwrap();
        }
    }
    for folder in ["", "a", "b", "b/c"] {
        let file = place.base.join("outside").join(folder).join("SECRET-name");
        fs::write(file, "SECRET").unwrap();
    }
    for (at, target) in links {
        let target = target.replace("BASE", place.base.to_str().unwrap());
        symlink(target, place.project().join(at)).ok();
    }
    place
}

/// All that the bridge says of a path.
async fn all_said(place: &Place, path: &str) -> String {
    let project = place.path("root/project");
    let below = place.path(&format!("root/project/{path}"));
    let mut said = Vec::new();
    for (project_path, file_path) in [(&project, path), (&below, "file"), (&below, "a.png")] {
        let file = ReadFile {
            project_path: project_path.clone(),
            file_path: file_path.into(),
            ..ReadFile::default()
        };
        let read = place.projects.read_file(&file).await;
        said.push(read.to_json().text().to_string());
        let base64 = read.base64.unwrap_or_default();
        assert_ne!(base64.as_str(), SECRET_IN_BASE64, "{path}");
        let image = GetDiffImage {
            project_path: project_path.clone(),
            file_path: file_path.into(),
            version: DiffSide::New,
            request_id: None,
            extra: Extra::default(),
        };
        let image = place
            .projects
            .diff_image(&image)
            .await
            .to_json()
            .to_string();
        assert!(!image.contains(SECRET_IN_BASE64), "{path}: {image}");
        said.push(image);
    }
    let files = ListFiles {
        project_path: below.clone(),
        ..ListFiles::default()
    };
    said.push(
        place
            .projects
            .list_files(&files)
            .await
            .to_json()
            .to_string(),
    );
    let folder = ListDirectory {
        path: below.clone(),
        include_files: Some(true),
        include_hidden: Some(true),
        ..ListDirectory::default()
    };
    if let Ok(listing) = place.projects.list_directory(&folder).await {
        said.push(listing.to_json().text().to_string());
    }
    said.join("\n")
}

/// The same by way of git, which is slow.
async fn all_said_with_git(place: &Place, path: &str) -> String {
    let below = place.path(&format!("root/project/{path}"));
    let diff = GetDiff {
        project_path: below.clone(),
        ..GetDiff::default()
    };
    let trees = ListWorktrees {
        project_path: below.clone(),
        ..ListWorktrees::default()
    };
    let remove = RemoveWorktree {
        project_path: place.path("root/project"),
        worktree_path: below.clone(),
        ..RemoveWorktree::default()
    };
    let projects = &place.projects;
    [
        projects.diff(&diff).await.to_json().text().to_string(),
        projects
            .list_worktrees(&trees)
            .await
            .to_json()
            .text()
            .to_string(),
        projects
            .remove_worktree(&remove)
            .await
            .to_json()
            .to_string(),
        projects.current_branch(&below).await.unwrap_or_default(),
    ]
    .join("\n")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

#[test]
fn every_method_that_looks_at_a_path_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/project");
    let mut found = Vec::new();
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        let methods = source.split("    pub async fn ").skip(1);
        found.extend(methods.map(|rest| rest.split('(').next().unwrap().to_owned()));
    }
    found.sort();
    assert_eq!(
        found, METHODS,
        "add it to METHODS and to what the tests here ask"
    );
}

#[test]
fn a_link_and_a_step_up_show_nothing_from_outside() {
    let links = [("u", "BASE/outside/b"), ("in", "b/c")];
    let place = scene(&links.map(|(at, target)| (at.to_owned(), target.to_owned())));
    for path in [
        "u",
        "u/c",
        "u/..",
        "u/../a",
        "u/file",
        "u/../file",
        "u/../SECRET-name",
    ] {
        let said = run(all_said(&place, path)) + &run(all_said_with_git(&place, path));
        let said = said.replace("u/../SECRET-name", "");
        assert!(!said.contains("SECRET"), "{path}: {said}");
    }
    let said = run(all_said(&place, "in/file"));
    assert!(said.contains("shown"), "links inside are followed: {said}");
}

/// A person's project with an agent in it that swaps a folder for a link, as fast as it can.
#[test]
fn a_folder_swapped_for_a_link_between_check_and_open_shows_nothing_from_outside() {
    let place = scene(&[]);
    let done = AtomicBool::new(false);
    let shown = thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, aside) = (place.project().join("b"), place.project().join("aside"));
            while !done.load(Ordering::Relaxed) {
                fs::rename(&folder, &aside).unwrap();
                symlink(place.base.join("outside/b"), &folder).unwrap();
                fs::remove_file(&folder).unwrap();
                fs::rename(&aside, &folder).unwrap();
            }
        });
        let read = async {
            let mut shown = Vec::new();
            for round in 0..4_000 {
                let file = ReadFile {
                    project_path: place.path("root/project"),
                    file_path: "b/c/file".into(),
                    ..ReadFile::default()
                };
                shown.push(place.projects.read_file(&file).await.content.to_string());
                if round % 40 == 0 {
                    shown.push(all_said(&place, "b").await);
                }
            }
            shown
        };
        let shown = run(read);
        done.store(true, Ordering::Relaxed);
        shown
    });
    let leaks = shown
        .iter()
        .filter(|shown| shown.contains("SECRET"))
        .count();
    assert_eq!(leaks, 0, "of {} answers", shown.len());
    assert!(
        shown.iter().any(|shown| shown == "shown"),
        "nothing was read at all"
    );
}

/// The same by way of git, which goes by paths itself: its answers had names and contents from outside.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_exchanged_with_a_link_while_git_looks_shows_nothing_from_outside() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let place = scene(&[("x".to_owned(), "../../outside/b".to_owned())]);
    let git = |words: &[&str]| super::git(&place.project(), words);
    git(&["init", "-q"]);
    git(&["add", "b/file"]);
    git(&["commit", "-q", "-m", "first"]);
    let done = AtomicBool::new(false);
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, link) = (place.project().join("b"), place.project().join("x"));
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                // git gets so far as to read between two of them.
                std::hint::black_box((0..20_000).sum::<u64>());
            }
        });
        let diff = GetDiff {
            project_path: place.path("root/project"),
            ..GetDiff::default()
        };
        let look = async {
            let mut said = Vec::new();
            for _ in 0..60 {
                said.push(
                    place
                        .projects
                        .diff(&diff)
                        .await
                        .to_json()
                        .text()
                        .to_string(),
                );
            }
            said
        };
        let said = run(look);
        done.store(true, Ordering::Relaxed);
        said
    });
    for said in said {
        assert!(!said.contains("SECRET"), "{said}");
    }
}

fn path() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "c", "B", "l", "m", "..", ".", "file"]);
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"))
}

fn links() -> impl Strategy<Value = Vec<(String, String)>> {
    let at = prop::sample::select(vec!["l", "m", "a/l", "b/m", "b/c/l"]);
    let target = prop_oneof![
        path(),
        path().prop_map(|path| format!("BASE/outside/{path}")),
        path().prop_map(|path| format!("BASE/root/project/{path}")),
        Just("nowhere".to_owned()),
        Just("l".to_owned()),
    ];
    prop::collection::vec((at.prop_map(str::to_owned), target), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn no_path_shows_anything_from_outside(links in links(), paths in prop::collection::vec(path(), 1..5)) {
        let place = scene(&links);
        for path in &paths {
            let said = run(all_said(&place, path));
            prop_assert!(!said.contains("SECRET"), "{}: {}", path, said);
        }
    }
}

const SECRET_IN_BASE64: &str = "U0VDUkVU";
