//! Files of a project, and folders.

use std::{fs, os::unix::fs::symlink};

use towline_protocol::dialect::pocket::{ErrorCode, ListDirectory, ListFiles, PathEntry, ToClient};

use super::Place;

#[tokio::test]
async fn files_are_listed_with_what_git_ignores_but_not_with_what_is_in_ignored_folders() {
    let place = Place::with_commit(&[
        (".gitignore", "*.log\ntarget/\n"),
        ("src/a.rs", ""),
        ("src/.hidden", ""),
    ]);
    place.write("new", "");
    place.write("src/x.log", "");
    place.write("target/debug/x", "");
    fs::write(place.base.join("secret"), "").unwrap();
    symlink("../../secret", place.project().join("out")).unwrap();
    symlink("src/a.rs", place.project().join("in")).unwrap();
    symlink("src", place.project().join("folder")).unwrap();
    let request = ListFiles {
        project_path: place.path("root/project"),
        ..ListFiles::default()
    };
    let list = place.projects.list_files(&request).await;
    let files: Vec<_> = list
        .files
        .iter()
        .map(|file| &**file)
        .zip(list.ignored.unwrap())
        .collect();
    let expected = [
        (".gitignore", false),
        ("in", false),
        ("new", false),
        ("src/.hidden", false),
        ("src/a.rs", false),
        ("src/x.log", true),
    ];
    assert_eq!(files, expected);
    assert_eq!(
        (list.total_files, list.truncated, list.error),
        (Some(6), Some(false), None)
    );
    let modified = list.modified_at.unwrap();
    assert_eq!(modified.len(), 6);
    let year_2020 = 1_577_836_800_000;
    assert!(
        modified
            .iter()
            .all(|(_, at)| at.as_u64().unwrap() > year_2020)
    );
}

#[tokio::test]
async fn an_ignore_file_that_is_a_link_or_a_pipe_was_read_without_an_end() {
    for name in [".gitignore", "in/.gitignore", ".git/info/exclude"] {
        let place = Place::with_commit(&[("a.log", ""), ("in/b.log", "")]);
        let path = place.project().join(name);
        let lines = place.base.join("outside");
        fs::write(&lines, "*.log\n").unwrap();
        let pipe = place.base.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        fs::remove_file(&path).ok();
        for target in ["/dev/zero".as_ref(), lines.as_path(), pipe.as_path()] {
            if target == pipe {
                fs::rename(target, &path).unwrap();
            } else {
                symlink(target, &path).unwrap();
            }
            let request = ListFiles {
                project_path: place.path("root/project"),
                ..ListFiles::default()
            };
            let list = place.projects.list_files(&request).await;
            assert_eq!(list.error, None, "{name}");
            let ignored: Vec<_> = list.ignored.unwrap();
            assert_eq!(ignored, [false; 2], "{name} {target:?}: {:?}", list.files);
            fs::remove_file(&path).unwrap();
        }
    }
}

#[tokio::test]
async fn a_list_has_a_bound() {
    let place = Place::new();
    fs::create_dir(place.project()).unwrap();
    for number in 0..20_010 {
        fs::write(place.project().join(number.to_string()), "").unwrap();
    }
    let request = ListFiles {
        project_path: place.path("root/project"),
        ..ListFiles::default()
    };
    let list = place.projects.list_files(&request).await;
    assert_eq!(
        (list.files.len(), list.total_files, list.truncated),
        (20_000, Some(20_010), Some(true))
    );
}

#[tokio::test]
async fn only_folders_inside_have_files() {
    let place = Place::new();
    fs::write(place.base.join("root/file"), "").unwrap();
    for (path, problem) in [
        ("", "none of the folders"),
        ("root/file", "is no folder"),
        ("root/missing", "No such file"),
    ] {
        let request = ListFiles {
            project_path: place.path(path),
            ..ListFiles::default()
        };
        let list = place.projects.list_files(&request).await;
        let error = list.error.unwrap();
        assert!(error.contains(problem), "{error}");
        assert_eq!(list.files.len(), 0);
    }
}

fn names(entries: &[PathEntry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.name).collect()
}

#[tokio::test]
async fn a_folder_shows_what_can_be_opened() {
    let place = Place::new();
    for folder in ["root/b", "root/a", "root/.hidden", "outside"] {
        fs::create_dir(place.base.join(folder)).unwrap();
    }
    fs::write(place.base.join("root/file"), "").unwrap();
    symlink("../outside", place.base.join("root/out")).unwrap();
    symlink("a", place.base.join("root/in")).unwrap();
    for (hidden, files, folders, expected) in [
        (None, None, vec!["a", "b", "in"], None),
        (
            Some(true),
            Some(false),
            vec![".hidden", "a", "b", "in"],
            None,
        ),
        (
            Some(false),
            Some(true),
            vec!["a", "b", "in"],
            Some(vec!["file"]),
        ),
    ] {
        let request = ListDirectory {
            path: place.path("root"),
            include_hidden: hidden,
            include_files: files,
            ..ListDirectory::default()
        };
        let listing = place.projects.list_directory(&request).await.unwrap();
        assert_eq!(names(&listing.directories), folders);
        assert_eq!(listing.files.as_deref().map(names), expected);
        assert_eq!(
            listing.directories.last().unwrap().path,
            place.path("root/in")
        );
    }
    let roots = place
        .projects
        .list_directory(&ListDirectory::default())
        .await
        .unwrap();
    assert_eq!(names(&roots.directories), [&*place.path("root")]);
}

#[tokio::test]
async fn a_folder_outside_is_an_error_that_programs_understand() {
    let place = Place::new();
    let request = ListDirectory {
        path: "/etc".into(),
        ..ListDirectory::default()
    };
    let error = place.projects.list_directory(&request).await.unwrap_err();
    let ToClient::Error(problem) = error.to_client() else {
        panic!("{error}")
    };
    assert_eq!(problem.error_code, Some(ErrorCode::PathNotAllowed));
}
