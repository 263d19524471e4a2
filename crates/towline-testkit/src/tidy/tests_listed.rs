//! Test files: a file that no module names is compiled by nobody, and its tests never run.

use std::{collections::BTreeMap, io, path::Path};

use super::{Problem, declared_modules, rust_files};

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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::tests_are_listed;

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
