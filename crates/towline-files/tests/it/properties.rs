//! For random trees of folders, files and links, and random paths in them: what is opened is what was judged.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::prelude::*;
use tempfile::TempDir;
use towline_files::{Directory, RealPath, open};

/// A part of a tree, and its path. Later ones find earlier ones, and links, in their way.
#[derive(Clone, Debug)]
enum Planted {
    Folder(String),
    File(String),
    /// Where it is, and what it says.
    Link(String, String),
}

/// Few names, so that paths meet; two that differ in case only.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "C", "file"])
}

fn part() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => name(), 2 => Just(".."), 1 => Just(".")]
}

fn inner() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..8).prop_map(|parts| parts.join("/"))
}

fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        path(),
        path().prop_map(|path| format!("BASE/inside/{path}")),
        path().prop_map(|path| format!("BASE/outside/{path}")),
        Just("BASE/outside".to_owned()),
        Just("nowhere/at/all".to_owned()),
    ]
}

fn tree() -> impl Strategy<Value = Vec<Planted>> {
    let planted = prop_oneof![
        2 => inner().prop_map(Planted::Folder),
        2 => inner().prop_map(Planted::File),
        3 => (inner(), target()).prop_map(|(at, target)| Planted::Link(at, target)),
    ];
    prop::collection::vec(planted, 0..14)
}

/// `inside` as planted; `outside` with the same names, so that each way out finds something.
struct Tree {
    _folder: TempDir,
    base: PathBuf,
}

impl Tree {
    fn plant(planted: &[Planted]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for side in ["inside", "outside"] {
            let side = base.join(side);
            fs::create_dir_all(side.join("b/c")).unwrap();
            fs::create_dir_all(side.join("a")).unwrap();
            for file in ["file", "a/file", "b/file", "b/c/file"] {
                let file = side.join(file);
                fs::write(&file, file.to_str().unwrap()).unwrap();
            }
        }
        let tree = Self {
            _folder: folder,
            base,
        };
        // What is in the way of something is left.
        for planted in planted {
            match planted {
                Planted::Folder(at) => {
                    fs::create_dir_all(tree.free(at)).ok();
                }
                Planted::File(at) => {
                    let at = tree.free(at);
                    if let (Some(folder), false) = (at.parent(), at.exists())
                        && let Ok(folder) = folder.canonicalize()
                        && folder.is_dir()
                        && folder.starts_with(tree.base.join("inside"))
                    {
                        let real = folder.join(at.file_name().unwrap());
                        if !real.is_symlink() {
                            fs::write(&real, real.to_str().unwrap()).unwrap();
                        }
                    }
                }
                Planted::Link(at, target) => {
                    let target = target.replace("BASE", tree.base.to_str().unwrap());
                    let at = tree.free(at);
                    let in_tree = at.parent().and_then(|folder| folder.canonicalize().ok());
                    if in_tree.is_some_and(|folder| folder.starts_with(tree.base.join("inside"))) {
                        drop(fs::remove_dir(&at));
                        drop(symlink(target, at));
                    }
                }
            }
        }
        tree
    }

    fn free(&self, at: &str) -> PathBuf {
        self.base.join("inside").join(at)
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(self.base.join("inside"))
    }

    /// All that is outside, with its content.
    fn outside(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.base.join("outside")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path.clone(), fs::read(path).ok()));
            }
        }
        found.sort();
        found
    }
}

fn content(path: &RealPath) -> Option<Vec<u8>> {
    open(path).ok()?.read(4096).ok()?
}

/// Makes or replaces a file as the tools do.
fn write(path: &RealPath) -> Option<()> {
    let folder = Directory::create(&path.folder()?).ok()?;
    let draft = folder.draft(0o600).ok()?;
    draft.file().write_all(path.to_str()?.as_bytes()).ok()?;
    draft.take_place_of(path.file_name()?).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_path_is_resolved_and_opened_as_the_kernel_would(planted in tree(), paths in prop::collection::vec(path(), 1..12)) {
        let tree = Tree::plant(&planted);
        for path in &paths {
            let path = tree.base.join("inside").join(path);
            let real = RealPath::resolve(&path).unwrap();
            let (kernel, ours) = (fs::canonicalize(&path), content(&real));
            if let Ok(kernel) = &kernel {
                prop_assert_eq!(kernel.as_path(), real.as_path(), "{}", path.display());
            }
            prop_assert_eq!(&fs::read(&path).ok(), &ours, "{}", path.display());
            // Each file holds its own path.
            if let Some(ours) = ours {
                prop_assert_eq!(ours.as_slice(), real.to_str().unwrap().as_bytes());
            }
        }
    }

    #[test]
    fn what_is_written_is_where_the_kernel_would_write(planted in tree(), paths in prop::collection::vec(path(), 1..6)) {
        let tree = Tree::plant(&planted);
        for path in &paths {
            let path = tree.base.join("inside").join(path);
            let real = RealPath::resolve(&path).unwrap();
            let before = tree.outside();
            if write(&real).is_some() {
                prop_assert_eq!(fs::read(&path).unwrap(), real.to_str().unwrap().as_bytes());
            }
            if tree.is_inside(&real) {
                prop_assert_eq!(before, tree.outside());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn what_was_judged_inside_is_never_opened_outside_while_folders_and_links_are_swapped(
        planted in tree(),
        paths in prop::collection::vec(path(), 4..8),
        swapped in prop::collection::vec(prop::sample::select(vec!["a", "b", "b/c"]), 1..3),
    ) {
        let tree = Tree::plant(&planted);
        let before = tree.outside();
        let done = AtomicBool::new(false);
        let opened = thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for name in &swapped {
                        let folder = tree.free(name);
                        let aside = folder.with_extension("aside");
                        if fs::rename(&folder, &aside).is_ok() {
                            drop(symlink(tree.base.join("outside").join(name), &folder));
                            drop(fs::remove_file(&folder));
                            drop(fs::rename(&aside, &folder));
                        }
                    }
                }
            });
            let mut opened = Vec::new();
            for _ in 0..40 {
                for path in paths.iter().map(String::as_str).chain(["a/file", "b/c/file"]) {
                    let real = RealPath::resolve(&tree.free(path)).unwrap();
                    if !tree.is_inside(&real) {
                        continue;
                    }
                    if let Some(content) = content(&real) {
                        opened.push((real.clone(), String::from_utf8(content).unwrap()));
                    }
                    let _ = write(&real);
                }
            }
            done.store(true, Ordering::Relaxed);
            opened
        });
        for (judged, content) in opened {
            prop_assert!(tree.is_inside(Path::new(&content)), "{judged:?} opened {content}");
        }
        prop_assert_eq!(before, tree.outside());
    }
}
