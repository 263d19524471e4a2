//! Both ways of opening say the same, and neither follows a link.

use std::{fs, os::unix::fs::symlink};

use super::*;

#[test]
fn a_kernel_without_openat2_opens_and_refuses_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), "").unwrap();
    symlink("b", root.join("a/link")).unwrap();
    symlink("file", root.join("a/b/link")).unwrap();
    symlink("nothing", root.join("a/b/dangling")).unwrap();
    for (path, expected) in [
        ("a/b/file", Ok(())),
        ("a/b", Ok(())),
        ("a/b/missing", Err(Errno::NOENT)),
        ("a/missing/file", Err(Errno::NOENT)),
        ("a/b/file/below", Err(Errno::NOTDIR)),
        ("a/link/file", Err(Errno::LOOP)),
        ("a/link", Err(Errno::LOOP)),
        ("a/b/link", Err(Errno::LOOP)),
        ("a/b/dangling", Err(Errno::LOOP)),
    ] {
        let path = root.join(path);
        let found = step_by_step(&path, OFlags::RDONLY).map(drop);
        assert_eq!(found, expected, "{}", path.display());
        // Where this system has it.
        match at_once(&path, OFlags::RDONLY).map(drop) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            found => assert_eq!(found, expected, "{}", path.display()),
        }
    }
    for flags in [OFlags::RDONLY, FOLDER] {
        assert!(step_by_step("/".as_ref(), flags).is_ok());
        assert_eq!(
            step_by_step(&root.join("a/link"), FOLDER).map(drop),
            Err(Errno::LOOP)
        );
    }
}
