//! Where paths really are.

use std::{fs, os::unix::fs::symlink, path::Path};

use towline_files::{RealPath, Refused, Resolved, open, resolve_paths, status};

/// A folder with links of every kind; says what a path in it leads to, and whether that is a folder.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let root = made.root();
        fs::create_dir_all(root.join("real/deep")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        for (link, target) in [
            ("to_folder", "real"),
            ("to_file", "real/file"),
            ("to_link", "to_folder/deep"),
            ("up", "real/deep/../.."),
            ("dangling", "real/not_yet/there"),
            ("ring", "ring_back"),
            ("ring_back", "ring"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        symlink(root.join("real"), root.join("absolute")).unwrap();
        made
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn check(&self, path: &str) -> (Option<String>, bool) {
        let root = self.root();
        let root = root.to_str().unwrap();
        let path = format!("{root}/{path}");
        let found = resolve_paths([path.as_str()]);
        let target = found.links.get(&path);
        let target = target.map(|target| target.replacen(root, "ROOT", 1));
        (target, found.directories.contains(&path))
    }
}

#[test]
fn links_are_followed_wherever_they_stand_and_whether_they_lead_to_something_or_not() {
    let made = Made::new();
    for (path, target, is_folder) in [
        ("real", None, true),
        ("real/", None, true),
        ("real/file", None, false),
        ("real/not/there", None, false),
        ("to_folder", Some("ROOT/real"), true),
        ("to_folder/deep", Some("ROOT/real/deep"), true),
        ("to_folder/new/file", Some("ROOT/real/new/file"), false),
        ("to_file", Some("ROOT/real/file"), false),
        ("to_link/x", Some("ROOT/real/deep/x"), false),
        ("absolute/file", Some("ROOT/real/file"), false),
        ("up", Some("ROOT"), true),
        // Above a link is above where it leads, as for the system.
        ("to_link/..", Some("ROOT/real"), true),
        ("dangling", Some("ROOT/real/not_yet/there"), false),
        ("dangling/x", Some("ROOT/real/not_yet/there/x"), false),
        ("real/file/below", None, false),
    ] {
        let expected = (target.map(str::to_owned), is_folder);
        assert_eq!(made.check(path), expected, "{path}");
    }
}

#[test]
fn a_ring_of_links_ends() {
    assert!(!Made::new().check("ring/x").1);
}

#[test]
fn a_path_that_is_relative_to_nobody_knows_what_is_left_out() {
    let here = Path::new("src");
    assert!(here.is_dir());
    assert_eq!(resolve_paths(["src", "", "~"]), Resolved::default());
}

#[test]
fn what_the_kernel_gives_up_on_is_never_opened() {
    let made = Made::new();
    let root = made.root();
    for path in ["ring", "ring/x", "real/file/..", "real/nothing/../file"] {
        let path = root.join(path);
        let real = RealPath::resolve(&path).unwrap();
        let expected = fs::File::open(&path).unwrap_err().raw_os_error();
        assert_eq!(status(&real).unwrap_err().raw_os_error(), expected);
        match open(&real).unwrap_err() {
            Refused::Failed(error) => assert_eq!(error.raw_os_error(), expected),
            Refused::Missing => assert_eq!(expected, Some(2)),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

#[test]
fn a_path_of_megabytes_is_refused_at_once() {
    for part in ["a/", "../", "./", "/"] {
        let long = format!("/{}", part.repeat(20 << 20));
        let real = RealPath::resolve(Path::new(&long)).unwrap();
        assert_eq!(status(&real).unwrap_err().raw_os_error(), Some(36));
    }
}

#[test]
fn a_chain_of_links_may_be_as_long_as_the_kernel_follows() {
    let made = Made::new();
    let root = made.root();
    fs::write(root.join("link0"), "end").unwrap();
    for number in 1..=41 {
        symlink(
            format!("link{}", number - 1),
            root.join(format!("link{number}")),
        )
        .unwrap();
    }
    for (number, is_followed) in [(40, true), (41, false)] {
        let path = root.join(format!("link{number}"));
        assert_eq!(fs::read(&path).is_ok(), is_followed);
        let real = RealPath::resolve(&path).unwrap();
        assert_eq!(open(&real).is_ok(), is_followed);
    }
}
