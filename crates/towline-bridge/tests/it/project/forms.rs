//! Repositories of every form that git knows, and files that git converts on their way.

use std::{fs, os::unix::fs::PermissionsExt as _, os::unix::fs::symlink, path::Path};

use towline_protocol::dialect::pocket::{GetDiff, RemoveWorktree};

use super::{Place, git};

async fn diff(place: &Place, project: &str, staged: Option<bool>) -> String {
    let request = GetDiff {
        project_path: place.path(project),
        staged,
        ..GetDiff::default()
    };
    let result = place.projects.diff(&request).await;
    assert_eq!(result.error, None);
    result.diff.to_string()
}

/// A repository made with these words behind `git init`.
fn made(words: &[&str]) -> Place {
    let place = Place::new();
    fs::create_dir(place.project()).unwrap();
    git(
        &place.project(),
        &[&["init", "-q", "-b", "main"], words].concat(),
    );
    place.write("a", "1\n");
    commit(&place.project());
    place
}

fn commit(project: &Path) {
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", "next"]);
}

#[tokio::test]
async fn every_form_of_repository_is_shown() {
    // What follows `git init`, and what is done then.
    for (form, then) in [
        ("", ""),
        ("--object-format=sha256", ""),
        ("--ref-format=reftable", ""),
        ("", "pack-refs --all"),
        ("", "gc -q"),
        ("", "checkout -q --detach"),
        ("", "update-index --split-index"),
        ("", "update-index --force-untracked-cache"),
        ("", "update-index --index-version 4"),
    ] {
        let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let place = made(&words(form));
        if !then.is_empty() {
            git(&place.project(), &words(then));
        }
        let form = format!("{form} {then}");
        git(
            &place.project(),
            &["worktree", "add", "-q", "-b", "side", "../side"],
        );
        for project in ["root/project", "root/side"] {
            let folder = place.base.join(project);
            fs::write(folder.join("a"), "2\n").unwrap();
            fs::write(folder.join("new"), "3\n").unwrap();
            let shown = diff(&place, project, None).await;
            assert!(shown.contains("-1\n+2\n"), "{form}: {shown}");
            assert!(
                shown.contains("+++ b/new\n@@ -0,0 +1 @@\n+3\n"),
                "{form}: {shown}"
            );
            git(&folder, &["add", "a"]);
            let staged = diff(&place, project, Some(true)).await;
            assert!(staged.contains("-1\n+2\n"), "{form}: {staged}");
        }
        let branch = place
            .projects
            .current_branch(&place.path("root/side"))
            .await;
        assert_eq!(branch.unwrap(), "side", "{form}");
    }
}

#[tokio::test]
async fn a_sparse_checkout_shows_nothing_as_deleted() {
    let place = made(&[]);
    place.write("in/b", "1\n");
    place.write("out/c", "1\n");
    commit(&place.project());
    for index in ["--no-sparse-index", "--sparse-index"] {
        git(
            &place.project(),
            &["sparse-checkout", "set", "--cone", index, "in"],
        );
        assert!(!place.project().join("out/c").exists());
        assert_eq!(diff(&place, "root/project", None).await, "");
        place.write("in/b", "2\n");
        place.write("in/new", "3\n");
        let shown = diff(&place, "root/project", None).await;
        assert!(
            shown.contains("-1\n+2\n") && shown.contains("+3\n"),
            "{shown}"
        );
        place.write("in/b", "1\n");
        fs::remove_file(place.project().join("in/new")).unwrap();
    }
}

#[tokio::test]
async fn a_shallow_and_a_partial_clone_are_shown_and_nothing_is_fetched() {
    let place = made(&[]);
    place.write("a", "2\n");
    commit(&place.project());
    git(
        &place.project(),
        &["config", "uploadpack.allowFilter", "true"],
    );
    let address = format!("file://{}", place.project().display());
    for (name, word) in [("shallow", "--depth=1"), ("partial", "--filter=blob:none")] {
        git(
            &place.base.join("root"),
            &["clone", "-q", word, &address, name],
        );
        let project = format!("root/{name}");
        fs::write(place.base.join(&project).join("a"), "3\n").unwrap();
        let shown = diff(&place, &project, None).await;
        assert!(shown.contains("-2\n+3\n"), "{name}: {shown}");
    }
    // What is not there is not fetched, and that is said.
    let partial = place.base.join("root/partial");
    git(&partial, &["update-ref", "--no-deref", "HEAD", "HEAD~1"]);
    let request = GetDiff {
        project_path: place.path("root/partial"),
        ..GetDiff::default()
    };
    let error = place.projects.diff(&request).await.error.unwrap();
    assert!(error.contains("not fetched for a look"), "{error}");
}

#[tokio::test]
async fn objects_that_are_borrowed_are_found_where_they_may_be_looked_at() {
    let place = made(&[]);
    let root = place.base.join("root");
    git(
        &root,
        &["clone", "-q", "--shared", "project", "borrower \"é\""],
    );
    fs::write(root.join("borrower \"é\"/a"), "2\n").unwrap();
    let shown = diff(&place, "root/borrower \"é\"", None).await;
    assert!(shown.contains("-1\n+2\n"), "{shown}");
    // Those of a repository elsewhere are not shown as ours, by whatever it is borrowed.
    fs::rename(place.project(), place.base.join("private")).unwrap();
    let private = place.base.join("private/.git");
    for part in [
        "objects/info/alternates",
        "objects",
        "refs",
        "index",
        "HEAD",
    ] {
        let place_of = root.join(part.replace('/', "-"));
        git(
            &root,
            &["init", "-q", "-b", "main", place_of.to_str().unwrap()],
        );
        let path = place_of.join(".git").join(part);
        if part.ends_with("alternates") {
            fs::write(&path, format!("{}\n", private.join("objects").display())).unwrap();
        } else {
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
            } else {
                fs::remove_file(&path).ok();
            }
            symlink(private.join(part), &path).unwrap();
        }
        let request = GetDiff {
            project_path: place_of.to_str().unwrap().into(),
            ..GetDiff::default()
        };
        let error = place.projects.diff(&request).await.error;
        let error = error.unwrap_or_default();
        assert!(error.contains("none of the folders"), "{part}: {error}");
    }
}

#[tokio::test]
async fn a_submodule_is_shown_by_its_commit_and_its_configuration_is_not_read() {
    for form in ["files", "reftable"] {
        let place = made(&[]);
        let sub = place.project().join("sub é");
        fs::create_dir(&sub).unwrap();
        git(
            &sub,
            &["init", "-q", "-b", "main", &format!("--ref-format={form}")],
        );
        fs::write(sub.join("x"), "1\n").unwrap();
        commit(&sub);
        commit(&place.project());
        let old = git(&sub, &["rev-parse", "HEAD"]);
        let before = diff(&place, "root/project", None).await;
        assert_eq!(before, "");
        fs::write(sub.join("x"), "2\n").unwrap();
        assert_eq!(
            diff(&place, "root/project", None).await,
            "",
            "its files are its own"
        );
        commit(&sub);
        let new = git(&sub, &["rev-parse", "HEAD"]);
        // git itself ends here with an error.
        fs::write(sub.join(".git/config"), "[broken\n").unwrap();
        for staged in [None, Some(false)] {
            let shown = diff(&place, "root/project", staged).await;
            let expected = format!("-Subproject commit {old}+Subproject commit {new}");
            assert!(shown.contains(&expected), "{form} {staged:?}: {shown}");
            assert_eq!(
                shown.matches("diff --git a/sub é b/sub é\n").count(),
                1,
                "{shown}"
            );
        }
        assert_eq!(diff(&place, "root/project", Some(true)).await, "");
    }
}

#[tokio::test]
async fn line_endings_and_encodings_that_git_converts_are_no_change() {
    let place = Place::with_commit(&[
        (
            ".gitattributes",
            "*.crlf text eol=crlf\n*.auto text=auto\n*.u16 text working-tree-encoding=UTF-16LE\n*.id ident\n",
        ),
        ("a.crlf", "1\n2\n"),
        ("a.auto", "1\n2\n"),
        ("a.id", "$Id$\n"),
    ]);
    let wide: Vec<u8> = "1\n2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("a.u16", wide);
    place.write("a.plain", "1\n2\n");
    commit(&place.project());
    git(&place.project(), &["config", "core.autocrlf", "input"]);
    place.write("a.crlf", "1\r\n2\r\n");
    place.write("a.auto", "1\r\n2\r\n");
    place.write("a.plain", "1\r\n2\r\n");
    place.write("a.id", "$Id: 123 $\n");
    let wide: Vec<u8> = "1\n3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("a.u16", wide);
    let shown = diff(&place, "root/project", None).await;
    assert_eq!(shown.matches("diff --git").count(), 1, "{shown}");
    assert!(
        shown.contains("a/a.u16") && shown.contains("-2\n+3\n"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_file_behind_an_lfs_pointer_is_shown_as_filtered() {
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 9\n",
        "4d7a2146".repeat(8)
    );
    let place = Place::with_commit(&[
        (
            ".gitattributes",
            "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        ),
        ("a.bin", &pointer),
        ("sub/b.bin", &pointer),
    ]);
    place.write("a.bin", "the file\n");
    place.write("sub/b.bin", "the file\n");
    for staged in [None, Some(false)] {
        assert_eq!(
            diff(&place, "root/project", staged).await,
            "\\ Filtered by lfs, so not compared: a.bin\n\\ Filtered by lfs, so not compared: sub/b.bin\n"
        );
    }
    assert_eq!(
        diff(&place, "root/project/sub", None).await,
        "\\ Filtered by lfs, so not compared: b.bin\n"
    );
    assert_eq!(diff(&place, "root/project", Some(true)).await, "");
}

#[tokio::test]
async fn a_file_that_a_filter_wrote_is_shown_as_filtered_and_attributes_hide_no_change() {
    let place = Place::with_commit(&[("plain.txt", "1\n")]);
    git(&place.project(), &["config", "filter.wc.clean", "wc -c"]);
    place.write(".gitattributes", "*.txt filter=wc\n");
    place.write("long.txt", "0123456789\n");
    git(&place.project(), &["add", ".gitattributes", "long.txt"]);
    git(&place.project(), &["commit", "-q", "-m", "filtered"]);
    place.write("long.txt", "0123456780\n");
    // This one was never filtered: it is a change that a person must see.
    place.write("plain.txt", "2\n");
    let shown = diff(&place, "root/project", None).await;
    assert!(
        shown.contains("-1\n+2\n") && !shown.contains("0123456780"),
        "{shown}"
    );
    assert!(
        shown.ends_with(
            "\\ Filtered by wc, so not compared: long.txt\n\
             \\ Filtered by wc, which is not run, so compared as it is: plain.txt\n"
        ),
        "{shown}"
    );
}

#[tokio::test]
async fn modes_renames_binaries_conflicts_and_odd_names_are_shown_as_git_does() {
    let place = Place::with_commit(&[("mode", "1\n"), ("old", "a\nb\nc\nd\n"), ("c", "1\n")]);
    let project = place.project();
    git(&project, &["checkout", "-q", "-b", "other"]);
    place.write("c", "theirs\n");
    commit(&project);
    git(&project, &["checkout", "-q", "main"]);
    place.write("c", "ours\n");
    commit(&project);
    let conflict = std::process::Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "merge",
            "other",
        ])
        .current_dir(&project)
        .output();
    assert!(!conflict.unwrap().status.success());
    fs::set_permissions(project.join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(project.join("old"), project.join("renamed")).unwrap();
    place.write("binary", b"\0\x01\x02");
    fs::write(project.join(std::ffi::OsStr::new("tab\tname")), "1\n").unwrap();
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff");
    fs::write(project.join(<&std::ffi::OsStr>::clone(&odd)), "1\n").unwrap();
    let shown = diff(&place, "root/project", None).await;
    for expected in [
        "old mode 100644\nnew mode 100755\n",
        "rename from old\nrename to renamed\n",
        "Binary files /dev/null and b/binary differ\n",
        "b/tab\\tname",
        "b/odd\u{fffd}",
        "<<<<<<< HEAD\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[tokio::test]
async fn a_folder_that_looks_like_a_repository_is_a_folder() {
    let place = made(&[]);
    git(&place.project(), &["init", "-q", "--bare", "docs"]);
    place.write("docs/new", "3\n");
    let shown = diff(&place, "root/project/docs", None).await;
    assert!(
        shown.contains("+++ b/new\n") && shown.contains("+++ b/HEAD\n"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_worktree_that_holds_its_repository_or_submodules_or_is_locked_stays() {
    let place = Place::with_commit(&[("a", "1\n"), (".gitignore", "main\n")]);
    let root = place.base.join("root");
    git(
        &place.project(),
        &["worktree", "add", "-q", "-b", "outer", "../outer"],
    );
    git(
        &place.project(),
        &["worktree", "add", "-q", "-b", "locked", "../locked"],
    );
    git(&place.project(), &["worktree", "lock", "../locked"]);
    git(
        &place.project(),
        &["worktree", "add", "-q", "-b", "modules", "../modules"],
    );
    let commit_of = git(&place.project(), &["rev-parse", "HEAD"]);
    let entry = format!("160000,{},sub", commit_of.trim());
    fs::create_dir(root.join("modules/sub")).unwrap();
    git(
        &root.join("modules"),
        &["update-index", "--add", "--cacheinfo", &entry],
    );
    git(&root.join("modules"), &["commit", "-q", "-m", "module"]);
    fs::rename(place.project(), root.join("outer/main")).unwrap();
    git(
        &root.join("outer/main"),
        &[
            "worktree",
            "repair",
            "../../outer",
            "../../locked",
            "../../modules",
        ],
    );
    for (worktree, problem) in [
        ("root/outer", "the repository itself is in it"),
        ("root/locked", "it is locked"),
        ("root/modules", "it contains submodules"),
    ] {
        let request = RemoveWorktree {
            project_path: place.path("root/outer/main"),
            worktree_path: place.path(worktree),
            ..RemoveWorktree::default()
        };
        let error = place.projects.remove_worktree(&request).await.error;
        let error = error.unwrap_or_default();
        assert!(error.contains(problem), "{worktree}: {error}");
        assert!(place.base.join(worktree).join("a").exists());
    }
}

#[tokio::test]
async fn a_form_of_repository_that_is_not_known_is_an_error_with_its_name() {
    let place = made(&[]);
    git(&place.project(), &["config", "extensions.tomorrow", "true"]);
    let request = GetDiff {
        project_path: place.path("root/project"),
        ..GetDiff::default()
    };
    let error = place.projects.diff(&request).await.error.unwrap();
    assert!(error.contains("extensions.tomorrow"), "{error}");
}
