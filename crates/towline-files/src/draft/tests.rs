//! Drafts with a name and without one.

use std::{fs, io::Write as _, path::Path};

use super::*;
use crate::RealPath;

fn directory(folder: &Path) -> Directory {
    Directory::open(&RealPath::resolve(folder).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_draft_is_not_seen_before_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, handle) = (folder.path(), directory(folder.path()));
    for expected in ["new", "newer"] {
        let before = names(folder);
        let draft = handle.draft(0o600).unwrap();
        draft.file().write_all(expected.as_bytes()).unwrap();
        assert_eq!(names(folder), before);
        match before.as_slice() {
            [] => draft.become_new("a".as_ref()).unwrap(),
            _ => draft.take_place_of("a".as_ref()).unwrap(),
        }
        assert_eq!(names(folder), ["a"]);
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), expected);
    }
}

#[test]
fn a_draft_with_a_name_works_where_one_without_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, handle) = (folder.path(), directory(folder.path()));
    let draft = named(&handle, Mode::from_raw_mode(0o644)).unwrap();
    draft.file().write_all(b"one").unwrap();
    draft.become_new("a".as_ref()).unwrap();
    let draft = named(&handle, Mode::from_raw_mode(0o644)).unwrap();
    let taken = draft.become_new("a".as_ref()).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    let draft = named(&handle, Mode::from_raw_mode(0o600)).unwrap();
    draft.take_place_of("a".as_ref()).unwrap();
    drop(named(&handle, Mode::from_raw_mode(0o600)).unwrap());
    assert_eq!(names(folder), ["a"]);
}

#[test]
fn what_the_dead_left_behind_is_cleared_away_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, handle) = (folder.path(), directory(folder.path()));
    for name in [".towline-dead.tmp", ".towline-note", "towline-x.tmp"] {
        fs::write(folder.join(name), "").unwrap();
    }
    fs::create_dir(folder.join(".towline-folder.tmp")).unwrap();
    let alive = File::create(folder.join(".towline-alive.tmp")).unwrap();
    flock(&alive, FlockOperation::NonBlockingLockExclusive).unwrap();
    drop(handle.draft(0o644).unwrap());
    assert_eq!(
        names(folder),
        [
            ".towline-alive.tmp",
            ".towline-folder.tmp",
            ".towline-note",
            "towline-x.tmp"
        ]
    );
}

#[test]
fn a_draft_stays_in_its_folder_whatever_becomes_of_the_path() {
    let base = tempfile::tempdir().unwrap();
    let (inside, outside) = (base.path().join("inside"), base.path().join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(inside.join("a"), "old").unwrap();
    let handle = directory(&inside);
    let draft = handle.draft(0o600).unwrap();
    draft.file().write_all(b"new").unwrap();
    fs::rename(&inside, base.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    draft.take_place_of("a".as_ref()).unwrap();
    assert_eq!(names(&outside), [""; 0]);
    assert_eq!(fs::read(base.path().join("moved/a")).unwrap(), b"new");
}

#[test]
fn a_name_that_leads_to_another_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let handle = directory(folder.path());
    for name in ["..", ".", "", "a/b", "/a", "../a", "a/"] {
        let draft = handle.draft(0o600).unwrap();
        assert!(draft.become_new(name.as_ref()).is_err(), "{name}");
        let draft = handle.draft(0o600).unwrap();
        assert!(draft.take_place_of(name.as_ref()).is_err(), "{name}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}
