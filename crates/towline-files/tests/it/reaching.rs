//! Links on the way of a glob and below a directory.

use std::{fs, os::unix::fs::symlink};

use towline_files::{Lookout, Reach};

/// A project with links in it, beside a folder that is outside of it.
fn project() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir_all(base.join("project/src/deep")).unwrap();
    fs::create_dir_all(base.join("outside/inner")).unwrap();
    fs::write(base.join("outside/o.txt"), "").unwrap();
    symlink("../outside", base.join("project/way")).unwrap();
    symlink("src", base.join("project/inside")).unwrap();
    symlink("nothing", base.join("project/dangling")).unwrap();
    symlink("..", base.join("project/src/ring")).unwrap();
    let base = base.to_str().unwrap().to_owned();
    (folder, base)
}

fn check(reach: &Reach, base: &str, expected: &[&str]) {
    assert!(reach.is_whole, "{reach:?}");
    let mut links: Vec<String> = reach
        .links
        .iter()
        .map(|link| link.replace(base, ""))
        .collect();
    links.sort_unstable();
    links.dedup();
    assert_eq!(links, expected);
}

#[test]
fn a_glob_tells_the_links_on_its_way() {
    let (_folder, base) = project();
    let mut lookout = Lookout::default();
    for (glob, expected) in [
        ("project/wa?/o.txt", &["/outside/o.txt"][..]),
        ("project/wa*", &["/outside"]),
        (
            "project/*",
            &["/outside", "/project/nothing", "/project/src"],
        ),
        ("project/*/*.txt", &["/outside/o.txt"]),
        ("project/src/d*", &[]),
        ("project/[a-z]ay/inne?", &["/outside/inner"]),
        ("project/nothing*", &[]),
        ("project/src/deep/*/../x", &[]),
    ] {
        for _ in 0..2 {
            check(&lookout.glob(&format!("{base}/{glob}")), &base, expected);
        }
    }
    for glob in [
        "project/@(way|x)/o.txt",
        "project/[[:alpha:]]*",
        "project/**/o.txt",
    ] {
        assert!(!lookout.glob(&format!("{base}/{glob}")).is_whole, "{glob}");
    }
}

#[test]
fn a_tree_tells_its_links_and_those_behind_them() {
    let (_folder, base) = project();
    symlink("/etc", format!("{base}/outside/inner/far")).unwrap();
    let reach = Lookout::default().tree(&format!("{base}/project"));
    assert!(reach.links.contains(&format!("{base}/outside")));
    assert!(reach.links.contains(&"/etc".to_owned()), "behind a link");
    check(
        &Lookout::default().tree(&format!("{base}/project/src/deep")),
        &base,
        &[],
    );
}

#[test]
fn a_link_that_is_made_later_is_found_by_a_second_look() {
    let (_folder, base) = project();
    let deep = format!("{base}/project/src/deep");
    let mut lookout = Lookout::default();
    check(&lookout.tree(&deep), &base, &[]);
    symlink("/usr", format!("{deep}/new")).unwrap();
    let reach = lookout.tree(&deep);
    assert!(reach.links.contains(&"/usr".to_owned()));
    let found = lookout.glob(&format!("{deep}/n*"));
    check(&found, &base, &["/usr"]);
}

#[test]
fn a_tree_that_is_too_large_is_not_looked_through() {
    let (_folder, base) = project();
    let project = format!("{base}/project");
    let mut lookout = Lookout::with_most_entries(5);
    assert!(!lookout.tree(&project).is_whole);
    assert!(!lookout.glob(&format!("{project}/*/*")).is_whole);
    assert!(lookout.tree(&format!("{project}/src/deep")).is_whole);
}
