//! Ignore files that are none, and those that are.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;

/// A folder with `.git` and these files.
fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join(".git/info")).unwrap();
    for (path, text) in files {
        let path = top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (folder, top)
}

fn check(ignored: Ignored, top: &Path, cases: &[(&str, bool)]) {
    let mut ignored = ignored;
    for (path, expected) in cases {
        let (path, is_directory) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (*path, false),
        };
        let found = ignored.look(&top.join(path), is_directory);
        assert_eq!(found.is_ignore(), *expected, "{path}");
    }
}

#[test]
fn the_nearest_rule_counts_and_each_repository_has_its_own() {
    let (_folder, top) = repository(&[
        (".gitignore", "\u{feff}*.log\r\nbuilt/\n# no\n"),
        (".git/info/exclude", "*.tmp\n*.log\n"),
        ("in/.gitignore", "!keep.log\n/only\n"),
        ("other/.git/HEAD", ""),
        ("other/.gitignore", "*.o\n"),
        (".ignore", "*.md\n"),
    ]);
    let cases = [
        ("a.log", true),
        ("built/", true),
        ("built", false),
        ("a.tmp", true),
        ("in/keep.log", false),
        ("in/a.log", true),
        ("in/only", true),
        ("in/deep/only", false),
        ("in/deep/keep.log", false),
        ("other/a.log", false),
        ("other/a.o", true),
        ("a.o", false),
    ];
    check(Ignored::default(), &top, &cases);
    check(Ignored::default(), &top, &[("a.md", false)]);
    let with = || Ignored::default().with_ignore_files();
    check(with(), &top, &[("a.md", true), ("other/a.md", true)]);
    fs::remove_dir_all(top.join(".git")).unwrap();
    check(with(), &top, &[("a.log", false), ("a.md", true)]);
}

#[test]
fn a_link_or_a_pipe_in_place_of_an_ignore_file_is_not_read() {
    let (_folder, top) = repository(&[("real", "*.log\n")]);
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        let path = top.join(name);
        for target in ["/dev/zero", top.join("real").to_str().unwrap()] {
            symlink(target, &path).unwrap();
            let ignored = Ignored::default().with_ignore_files();
            check(ignored, &top, &[("a.log", false)]);
            fs::remove_file(&path).unwrap();
        }
        mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).unwrap();
        let ignored = Ignored::default().with_ignore_files();
        check(ignored, &top, &[("a.log", false)]);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_folder_that_is_a_link_says_nothing() {
    let (_folder, top) = repository(&[("out/.gitignore", "*.log\n")]);
    symlink("out", top.join("way")).unwrap();
    check(
        Ignored::default(),
        &top,
        &[("way/a.log", false), ("out/a.log", true)],
    );
}

#[test]
fn so_many_lines_that_they_fill_the_memory_do_not_count() {
    let many: String = (0..20_000).map(|number| format!("f{number}\n")).collect();
    let long = format!("{}\na.log\n", "x".repeat(LONGEST_LINE + 1));
    let (_folder, top) = repository(&[
        (".gitignore", &many),
        ("in/.gitignore", "a.log\n"),
        ("huge/.gitignore", &"# much\n".repeat(200_000)),
    ]);
    let cases = [("f9999", true), ("f10000", false), ("in/a.log", false)];
    check(Ignored::default(), &top, &cases);
    fs::write(top.join(".gitignore"), long).unwrap();
    check(Ignored::default(), &top, &[("a.log", true)]);
}

#[test]
fn a_linked_work_tree_has_the_excludes_of_its_repository_alone() {
    let (_folder, top) = repository(&[("main/a", "")]);
    fs::remove_dir_all(top.join(".git")).unwrap();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
            .args(arguments)
            .current_dir(top.join("main"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", "../tree"]);
    fs::write(top.join("main/.git/info/exclude"), "*.log\n").unwrap();
    fs::create_dir(top.join("claims")).unwrap();
    fs::copy(top.join("tree/.git"), top.join("claims/.git")).unwrap();
    let cases = [("tree/a.log", true), ("claims/a.log", false)];
    check(Ignored::default(), &top, &cases);
}
