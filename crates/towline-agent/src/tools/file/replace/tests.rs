//! Writing all or nothing.

use std::{
    fs::{self, Metadata, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use towline_files::RealPath;

use super::{super::super::blocking::Interrupt, NotReplaced};

fn replace(
    path: &Path,
    bytes: &[u8],
    before: Option<&Metadata>,
    interrupt: &Interrupt,
) -> Result<(), NotReplaced> {
    super::replace(&RealPath::resolve(path).unwrap(), bytes, before, interrupt)
}

fn metadata(path: &Path) -> Metadata {
    fs::symlink_metadata(path).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_made_with_its_directories_and_the_usual_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c.txt");
    replace(&path, b"one", None, &Interrupt::default()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    // What the system gives to any new file here.
    let usual = folder.path().join("usual");
    fs::write(&usual, "").unwrap();
    assert_eq!(metadata(&path).mode(), metadata(&usual).mode());
}

#[test]
fn the_mode_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sh");
    for mode in [0o600, 0o755, 0o444, 0o4755] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        replace(&path, b"new", Some(&metadata(&path)), &Interrupt::default()).unwrap();
        assert_eq!(metadata(&path).mode() & 0o7777, mode);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_was_changed_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "one").unwrap();
    let before = metadata(&path);
    fs::write(&path, "their change").unwrap();
    let refused = replace(&path, b"ours", Some(&before), &Interrupt::default());
    assert!(matches!(refused, Err(NotReplaced::Changed)), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), b"their change");

    fs::remove_file(&path).unwrap();
    let refused = replace(&path, b"ours", Some(&before), &Interrupt::default());
    assert!(matches!(refused, Err(NotReplaced::Changed)), "{refused:?}");

    fs::write(&path, "theirs").unwrap();
    let refused = replace(&path, b"ours", None, &Interrupt::default());
    assert!(matches!(refused, Err(NotReplaced::Changed)), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "old").unwrap();
    // A file cannot take the place of a directory.
    let directory = folder.path().join("d");
    fs::create_dir_all(directory.join("inside")).unwrap();
    let failed = replace(
        &directory,
        b"new",
        Some(&metadata(&directory)),
        &Interrupt::default(),
    );
    assert!(matches!(failed, Err(NotReplaced::Failed(_))), "{failed:?}");
    let below_a_file = replace(&path.join("x"), b"new", None, &Interrupt::default());
    assert!(
        matches!(below_a_file, Err(NotReplaced::Failed(_))),
        "{below_a_file:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a", "d"]);
}

#[test]
fn an_interrupted_write_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let refused = replace(&path, b"new", None, &Interrupt::set());
    assert!(
        matches!(refused, Err(NotReplaced::Interrupted)),
        "{refused:?}"
    );
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn nobody_ever_sees_a_part_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let content = |index: u8| vec![b'a' + index % 26; 200_000 + usize::from(index)];
    fs::write(&path, content(0)).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (path, done) = (path.clone(), Arc::clone(&done));
        thread::spawn(move || {
            let mut looks = 0_u32;
            while !done.load(Ordering::Relaxed) {
                let seen = fs::read(&path).unwrap();
                assert!(seen.len() >= 200_000, "a part of {} bytes", seen.len());
                assert!(seen.iter().all(|byte| *byte == seen[0]), "a mixture");
                looks += 1;
            }
            looks
        })
    };
    for index in 1..40 {
        replace(
            &path,
            &content(index),
            Some(&metadata(&path)),
            &Interrupt::default(),
        )
        .unwrap();
    }
    done.store(true, Ordering::Relaxed);
    assert!(reader.join().unwrap() > 0);
}
