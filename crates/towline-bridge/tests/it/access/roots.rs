//! Paths that must not lead outside, by any way there is.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use towline_bridge::access::{RootError, Roots};

/// `root` with a file, a folder and links, beside `outside` with a file and `root-2`.
fn place() -> (TempDir, PathBuf, Roots) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for directory in ["root/sub", "outside", "root-2"] {
        fs::create_dir_all(base.join(directory)).unwrap();
    }
    for file in [
        "root/file",
        "root/sub/file",
        "outside/secret",
        "root-2/file",
    ] {
        fs::write(base.join(file), "x").unwrap();
    }
    for (link, target) in [
        ("root/out", "../outside"),
        ("root/out-file", "../outside/secret"),
        ("root/in", "sub"),
        ("root/dangling-out", "../outside/new"),
        ("root/dangling-in", "sub/new"),
        ("root/loop", "loop"),
        ("way-in", "root"),
    ] {
        symlink(target, base.join(link)).unwrap();
    }
    let roots = Roots::new([base.join("root")]).unwrap();
    (folder, base, roots)
}

#[test]
fn a_path_is_inside_if_it_really_is() {
    let (_folder, base, roots) = place();
    for (path, expected) in [
        ("root", Some("root")),
        ("root/", Some("root")),
        ("root/file", Some("root/file")),
        ("root/./sub/../file", Some("root/file")),
        ("root/in/file", Some("root/sub/file")),
        ("way-in/file", Some("root/file")),
        ("outside/../root/file", Some("root/file")),
        ("root/new", Some("root/new")),
        ("root/new/deep/file", Some("root/new/deep/file")),
        ("root/in/new", Some("root/sub/new")),
        ("outside/secret", None),
        ("root-2/file", None),
        ("root/../outside/secret", None),
        ("root/sub/../../outside/secret", None),
        ("root/out", None),
        ("root/out/secret", None),
        ("root/out/new", None),
        ("root/out/new/deep", None),
        ("root/out-file", None),
        ("root/in/../../outside/secret", None),
        ("root/dangling-out", None),
        ("root/dangling-out/below", None),
        ("root/dangling-in", None),
        ("root/loop", None),
        ("root/loop/x", None),
        ("root/new/../../outside/secret", None),
        ("root/new/..", None),
        ("root/file/below", None),
        ("", None),
    ] {
        let found = roots.resolve(&base.join(path)).ok().map(PathBuf::from);
        let expected = expected.map(|expected| base.join(expected));
        assert_eq!(found, expected.filter(|_| !path.is_empty()), "{path}");
    }
}

#[test]
fn what_is_no_absolute_path_is_refused_with_the_reason() {
    let (_folder, base, roots) = place();
    let broken = base.join(OsStr::from_bytes(b"root/\xff"));
    for (path, problem) in [
        (Path::new(""), "is empty"),
        (Path::new("root/file"), "is not absolute"),
        (Path::new("../etc"), "is not absolute"),
        (Path::new("~/x"), "is not absolute"),
        (Path::new("/tmp/a\0b"), "holds a zero byte"),
        (&broken, "is not UTF-8"),
        (
            &base.join("root/new/../x"),
            "goes up from what is not there",
        ),
        (
            &base.join("root/dangling-out"),
            "is a link that leads nowhere",
        ),
    ] {
        let error = roots.resolve(path).unwrap_err();
        assert!(matches!(error, RootError::Malformed { .. }), "{error:?}");
        assert!(error.to_string().ends_with(problem), "{error}");
    }
}

#[test]
fn an_error_names_the_folders_that_there_are_and_tells_nothing_of_others() {
    let (_folder, base, roots) = place();
    let (root, outside) = (base.join("root"), base.join("outside"));
    for name in ["secret", "is-not-there"] {
        let path = outside.join(name);
        let expected = format!(
            "{} is in none of the folders that this bridge may use: {}",
            path.display(),
            root.display()
        );
        assert_eq!(roots.existing(&path).unwrap_err().to_string(), expected);
    }
    let missing = roots.existing(&root.join("missing")).unwrap_err();
    assert!(matches!(missing, RootError::Io { .. }), "{missing}");
}

#[test]
fn a_file_of_a_project_stays_in_the_project() {
    let (_folder, base, roots) = place();
    let root = base.join("root");
    let absolute = root.join("sub/file");
    for (project, file, expected) in [
        ("root/sub", "file", Some("root/sub/file")),
        (
            "root/sub",
            absolute.to_str().unwrap(),
            Some("root/sub/file"),
        ),
        ("root/in", "file", Some("root/sub/file")),
        ("root", "in/file", Some("root/sub/file")),
        ("root/sub", "../file", None),
        ("root/sub", "/etc/passwd", None),
        ("root/sub", "", None),
        ("root", "out/secret", None),
        ("outside", "secret", None),
        ("root/missing", "file", None),
    ] {
        let found = roots.in_project(&base.join(project), Path::new(file));
        let found = found.ok().map(PathBuf::from);
        assert_eq!(
            found,
            expected.map(|path| base.join(path)),
            "{project} {file}"
        );
    }
}

#[test]
fn a_root_must_be_a_folder_and_counts_once() {
    let (_folder, base, _) = place();
    for wrong in ["root/file", "missing", "root/loop"] {
        let error = Roots::new([base.join(wrong)]).unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
    assert!(Roots::new(["relative"]).is_err());
    let roots = Roots::new([base.join("root"), base.join("way-in"), base.join("root/")]).unwrap();
    assert_eq!(roots.folders(), [base.join("root")]);
    let none = Roots::new(Vec::<PathBuf>::new()).unwrap();
    assert!(none.resolve(&base.join("root/file")).is_err());
}
