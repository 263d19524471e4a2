//! Opening, listing and making at a real path, and the refusals.

use std::{fs, os::unix::fs::symlink, path::Path};

use towline_files::{Directory, Kind, RealPath, Refused, is_link_in_the_way, open, status};

struct Made {
    _folder: tempfile::TempDir,
    root: RealPath,
}

fn made() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let root = RealPath::resolve(folder.path()).unwrap();
    fs::create_dir_all(root.join("inside/sub")).unwrap();
    fs::create_dir_all(root.join("outside/sub")).unwrap();
    fs::write(root.join("inside/sub/file"), "inside").unwrap();
    fs::write(root.join("outside/sub/file"), "outside").unwrap();
    Made {
        _folder: folder,
        root,
    }
}

fn real(made: &Made, path: &str) -> RealPath {
    RealPath::resolve(&made.root.join(path)).unwrap()
}

/// Puts a link in place of a folder.
fn swap(made: &Made, folder: &str, target: &str) {
    let folder = made.root.join(folder);
    fs::rename(&folder, folder.with_extension("aside")).unwrap();
    symlink(made.root.join(target), folder).unwrap();
}

#[test]
fn a_folder_swapped_for_a_link_after_the_check_is_not_followed() {
    for swapped in ["inside", "inside/sub"] {
        let made = made();
        let (file, folder) = (real(&made, "inside/sub/file"), real(&made, "inside/sub"));
        let new = real(&made, "inside/sub/new/deep");
        let target = swapped.replacen("inside", "outside", 1);
        swap(&made, swapped, &target);
        let Err(Refused::Failed(error)) = open(&file) else {
            panic!("opened through a link");
        };
        assert!(is_link_in_the_way(&error), "{error}");
        let words = error.to_string();
        assert!(words.contains("a part of it is a link now"), "{words}");
        assert!(is_link_in_the_way(&status(&file).unwrap_err()));
        assert!(is_link_in_the_way(&Directory::open(&folder).unwrap_err()));
        assert!(is_link_in_the_way(&Directory::create(&new).unwrap_err()));
        assert!(!made.root.join("outside/sub/new").exists());
    }
}

#[test]
fn a_file_swapped_for_a_link_after_the_check_is_not_followed() {
    let made = made();
    let file = real(&made, "inside/sub/file");
    fs::remove_file(&file).unwrap();
    symlink(made.root.join("outside/sub/file"), &file).unwrap();
    assert!(matches!(open(&file), Err(Refused::Failed(error)) if is_link_in_the_way(&error)));
    assert!(is_link_in_the_way(&status(&file).unwrap_err()));
    let folder = Directory::open(&real(&made, "inside/sub")).unwrap();
    assert!(folder.file("file".as_ref()).is_err());
    assert_eq!(folder.status("file".as_ref()).unwrap().kind, Kind::Link);
}

#[test]
fn a_handle_stays_where_it_was_opened() {
    let made = made();
    let folder = Directory::open(&real(&made, "inside/sub")).unwrap();
    swap(&made, "inside", "outside");
    let file = folder.file("file".as_ref()).unwrap();
    assert_eq!(file.read(100).unwrap().unwrap(), b"inside");
    for way_out in ["..", "../sub", "/etc", "."] {
        assert!(folder.directory(way_out.as_ref()).is_err(), "{way_out}");
    }
}

#[test]
fn pipes_sockets_and_devices_are_refused_at_once() {
    let made = made();
    let pipe = made.root.join("inside/pipe");
    let made_pipe = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made_pipe.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(made.root.join("inside/s")).unwrap();
    let null = Path::new("/dev/null");
    for path in [pipe.as_path(), &made.root.join("inside/s"), null] {
        let real = RealPath::resolve(path).unwrap();
        assert!(matches!(open(&real), Err(Refused::Special)), "{real:?}");
        assert_eq!(status(&real).unwrap().kind, Kind::Special);
    }
    assert!(matches!(
        open(&real(&made, "inside")),
        Err(Refused::Directory)
    ));
    assert!(matches!(
        open(&real(&made, "inside/no")),
        Err(Refused::Missing)
    ));
}

#[test]
fn folders_are_made_where_they_are_missing_and_listed_without_following() {
    let made = made();
    let folder = Directory::create(&real(&made, "inside/a/b/c")).unwrap();
    drop(Directory::create(&real(&made, "inside/a/b/c/d")).unwrap());
    symlink("/", made.root.join("inside/a/b/c/link")).unwrap();
    fs::write(made.root.join("inside/a/b/c/file"), "12345").unwrap();
    let mut entries: Vec<_> = folder
        .entries()
        .unwrap()
        .map(|entry| entry.map(|entry| (entry.name, entry.kind)).unwrap())
        .collect();
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("d".into(), Kind::Directory),
        ("file".into(), Kind::File),
        ("link".into(), Kind::Link),
    ];
    assert_eq!(entries, expected);
    assert_eq!(folder.status("file".as_ref()).unwrap().size, 5);
    let of_a_file = Directory::create(&real(&made, "inside/sub/file/below"));
    assert_eq!(of_a_file.unwrap_err().raw_os_error(), Some(20));
}

#[test]
fn a_path_below_a_folder_has_only_names_in_it() {
    let made = made();
    for (path, expected) in [
        ("sub/file", true),
        ("sub/./file", true),
        ("../outside", false),
        ("sub/../x", false),
        ("/etc/passwd", false),
        ("a\0b", false),
    ] {
        let found = real(&made, "inside").below(Path::new(path));
        assert_eq!(found.is_some(), expected, "{path}");
    }
    assert_eq!(RealPath::resolve(Path::new("/")).unwrap().folder(), None);
    for path in ["", "a", "./a", "/a\0b"] {
        assert!(RealPath::resolve(Path::new(path)).is_err());
    }
}

#[test]
fn a_changed_file_is_told_from_the_one_that_was_opened() {
    let made = made();
    let file = real(&made, "inside/sub/file");
    let metadata = open(&file).unwrap().metadata;
    assert!(status(&file).unwrap().is_unchanged_since(&metadata));
    fs::write(&file, "another").unwrap();
    assert!(!status(&file).unwrap().is_unchanged_since(&metadata));
}
