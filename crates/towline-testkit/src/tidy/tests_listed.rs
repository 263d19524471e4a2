//! Tests that would run nowhere: in a file that no module names, marked `#[ignore]`, under a condition that no system fulfils,
//! or slow without an entry in the registry of tests that did not run.

use std::{collections::BTreeMap, fs, io, path::Path};

use super::{
    Problem, Source, crate_folders, declared_modules, from_root, is_name_part, rust_files,
};

/// Every file below `tests/it` is declared by its parent module, and `tests` holds no other binary, but for those that
/// people call by name.
///
/// # Errors
/// When a file cannot be read.
pub fn tests_are_listed(root: &Path) -> io::Result<Vec<Problem>> {
    let files = rust_files(root, &["crates"])?;
    let texts: BTreeMap<&str, &str> = files
        .iter()
        .map(|file| (&*file.path, &*file.text))
        .collect();
    let mut problems = Vec::new();
    for path in texts.keys() {
        let mut parts = path.splitn(4, '/').skip(2);
        let (Some("tests"), Some(below)) = (parts.next(), parts.next()) else {
            continue;
        };
        let binary = below.split_once('/').map_or("", |(binary, _)| binary);
        let called_by_name = CALLED_BY_NAME
            .iter()
            .any(|(known, _)| path == known || path.starts_with(&format!("{known}/")));
        if binary != "it" && !called_by_name {
            problems.push(Problem::new(
                path,
                "is a test binary of its own",
                "make it a module of tests/it: one binary a crate is linked once",
            ));
            continue;
        }
        let is_binary = binary.is_empty();
        let Some((parent, name)) = parent_module(path).filter(|_| !is_binary) else {
            continue;
        };
        let declared = texts
            .get(&*parent)
            .is_some_and(|text| declared_modules(text).any(|(_, module)| module == name));
        if !declared {
            problems.push(Problem::new(
                path,
                "is not compiled, so its tests never run",
                format!("write `mod {name};` in {parent}"),
            ));
        }
    }
    Ok(problems)
}

/// A test that is left out enters itself through `not_run`, so that `.ci/run` runs it: none is `#[ignore]`d or compiled under a
/// condition that is not listed, and no file outside of the kit reads the variable for slow tests.
///
/// # Errors
/// When a file cannot be read.
pub fn tests_enter_themselves(root: &Path) -> io::Result<Vec<Problem>> {
    let files = rust_files(root, &["crates", "bench", "fuzz"])?;
    Ok(files.iter().flat_map(left_out_unseen).collect())
}

fn left_out_unseen(file: &Source) -> Vec<Problem> {
    let may_read = file.path.starts_with("crates/towline-testkit/");
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let attribute = code.trim_start().strip_prefix("#[");
        let is_ignored = attribute.is_some_and(|attribute| {
            // Every other piece is the text of a string.
            let pieces = attribute.split('"').step_by(2);
            let mut words = pieces.flat_map(|piece| piece.split(|letter| !is_name_part(letter)));
            words.any(|word| word == "ignore")
        });
        let is_never_compiled = condition(line).is_some_and(|given| !CONDITIONS.contains(&given));
        let is_test_by_chance = attribute.is_some_and(|attribute| {
            attribute.starts_with("cfg_attr") && attribute.contains("test")
        });
        let reads = ASK_FOR_MORE.iter().any(|variable| code.contains(variable));
        if is_ignored || is_never_compiled || is_test_by_chance || !may_read && reads {
            problems.push(Problem::new(
                format!("{}:{}", file.path, index + 1),
                "can leave a test out, and no list has it",
                "ask `real_cli::is_slow_wanted`, or `not_run::enter`: `.ci/run` runs what is entered",
            ));
        }
    }
    problems
}

/// The condition of an attribute that has what follows compiled.
fn condition(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let attribute = line.strip_prefix("#[").or_else(|| line.strip_prefix("#!["));
    let given = attribute?.trim_start().strip_prefix("cfg")?.trim_start();
    let given = given.strip_prefix('(')?;
    Some(given.split_once(")]").map_or(given, |(given, _)| given))
}

/// The program that lists the tests that did not run is the last one that cargo runs, which takes crates, and the test
/// programs of a crate, in the order of their names.
///
/// # Errors
/// When a folder cannot be read.
pub fn the_list_comes_last(root: &Path) -> io::Result<Vec<Problem>> {
    let crates = crate_folders(root)?;
    let last_crate = crates.iter().map(|folder| from_root(root, folder)).max();
    let mut programs = Vec::new();
    for entry in fs::read_dir(root.join(LISTING_CRATE).join("tests"))? {
        programs.push(entry?.path().with_extension(""));
    }
    let last_program = programs.iter().max().and_then(|path| path.file_name());
    let mut problems = Vec::new();
    if last_crate.as_deref() != Some(LISTING_CRATE) || last_program != Some("not_run".as_ref()) {
        problems.push(Problem::new(
            format!("{LISTING_CRATE}/tests/not_run.rs"),
            "is not the last test program, so that what comes behind it is missing in its list",
            "name the new crate or program so that it sorts before, or move the listing behind it",
        ));
    }
    Ok(problems)
}

/// The file that must declare this one, and under which name; nothing for the root of the binary.
fn parent_module(path: &str) -> Option<(String, &str)> {
    let (folder, file) = path.rsplit_once('/')?;
    let name = file.strip_suffix(".rs")?;
    let is_binary = folder.rsplit_once('/')?.0.ends_with("/tests");
    if !is_binary {
        return Some((format!("{folder}.rs"), name));
    }
    (name != "main").then(|| (format!("{folder}/main.rs"), name))
}

/// Test binaries of their own, each with the reason.
const CALLED_BY_NAME: &[(&str, &str)] = &[
    (
        "crates/towline-permission/tests/conformance",
        "takes another table of decisions: `cargo test -p towline-permission --test conformance`",
    ),
    (
        "crates/towline-testkit/tests/not_run.rs",
        "runs behind all others, without a harness, and lists what they left out",
    ),
];

/// Conditions of attributes: a test of one system is compiled there.
const CONDITIONS: &[&str] = &[
    "test",
    "unix",
    "target_os = \"linux\"",
    "not(target_os = \"linux\")",
    "all(test, target_os = \"linux\")",
];

const LISTING_CRATE: &str = "crates/towline-testkit";
/// The variables that ask for slow tests, and name what they need.
const ASK_FOR_MORE: &[&str] = &["TOWLINE_SLOW", "TOWLINE_REAL_CLI"];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LISTING_CRATE, Source, left_out_unseen, tests_are_listed, the_list_comes_last};

    #[test]
    fn a_crate_or_a_test_program_behind_the_list_is_found() {
        let found = |folders: &[&str]| {
            let root = tempfile::tempdir().unwrap();
            for folder in folders {
                fs::create_dir_all(root.path().join(folder)).unwrap();
            }
            the_list_comes_last(root.path()).unwrap().len()
        };
        let sound = format!("{LISTING_CRATE}/tests/not_run");
        let program = |name: &str| format!("{LISTING_CRATE}/tests/{name}");
        assert_eq!(found(&[&sound, &program("it"), "crates/towline-host"]), 0);
        assert_eq!(found(&[&sound, "crates/towline-worker"]), 1);
        assert_eq!(found(&[&sound, &program("other")]), 1);
    }

    #[test]
    fn a_test_that_is_left_out_in_its_own_way_is_found() {
        let count = |path: &str, text: &str| {
            let (path, text) = (path.to_owned(), text.to_owned());
            left_out_unseen(&Source { path, text }).len()
        };
        let reads = "if env::var_os(\"TOWLINE_SLOW\").is_none() {";
        for (text, expected) in [
            (reads, 1),
            ("#[test]\n#[ignore]\n    #[ignore = \"slow\"]", 2),
            ("#[cfg_attr(windows, ignore)]", 1),
            ("#[cfg_attr(any(), test)]", 1),
            ("#[cfg(any())]\n#![cfg(any())]\n#[test]", 2),
            ("#[cfg(\n    any()\n)]\n#[test]", 1),
            ("#[cfg(test)]\n    #[cfg(target_os = \"linux\")]", 0),
            (
                "//! `TOWLINE_SLOW=1`\n// #[ignore]\n#[expect(x, reason = \"ignore\")]",
                0,
            ),
            ("#[tokio::test]\nlet ignore = 1;", 0),
        ] {
            assert_eq!(
                count("crates/towline/tests/it/a.rs", text),
                expected,
                "{text}"
            );
        }
        assert_eq!(count("crates/towline-testkit/src/real_cli.rs", reads), 0);
    }

    #[test]
    fn forgotten_files_are_found_at_every_depth() {
        let root = tempfile::tempdir().unwrap();
        let tests = root.path().join("crates/towline/tests");
        fs::create_dir_all(tests.join("it/deep")).unwrap();
        for (file, text) in [
            ("it/main.rs", "mod listed;\nmod deep;\n// mod forgotten;\n"),
            ("it/listed.rs", ""),
            ("it/forgotten.rs", ""),
            ("it/deep.rs", "mod listed;\n"),
            ("it/deep/listed.rs", ""),
            ("it/deep/forgotten.rs", ""),
            ("other.rs", ""),
        ] {
            fs::write(tests.join(file), text).unwrap();
        }
        let conformance = root
            .path()
            .join("crates/towline-permission/tests/conformance");
        fs::create_dir_all(&conformance).unwrap();
        fs::write(conformance.join("main.rs"), "mod row;\n").unwrap();
        fs::write(conformance.join("row.rs"), "").unwrap();
        fs::write(conformance.join("forgotten.rs"), "").unwrap();
        let problems = tests_are_listed(root.path()).unwrap();
        let found: Vec<_> = problems
            .iter()
            .map(|problem| (&*problem.place, &*problem.remedy))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "crates/towline-permission/tests/conformance/forgotten.rs",
                    "write `mod forgotten;` in crates/towline-permission/tests/conformance/main.rs"
                ),
                (
                    "crates/towline/tests/it/deep/forgotten.rs",
                    "write `mod forgotten;` in crates/towline/tests/it/deep.rs"
                ),
                (
                    "crates/towline/tests/it/forgotten.rs",
                    "write `mod forgotten;` in crates/towline/tests/it/main.rs"
                ),
                (
                    "crates/towline/tests/other.rs",
                    "make it a module of tests/it: one binary a crate is linked once"
                ),
            ]
        );
    }
}
