//! Manifests: what the crates have in common is said once, in the root's `Cargo.toml`.

use std::{fs, io, path::Path};

use toml::{Table, Value};

use super::{Problem, crate_folders, from_root};

/// Every crate takes its version, edition, lints and dependency versions from the workspace.
///
/// # Errors
/// When a file cannot be read.
pub fn manifests(root: &Path) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for folder in crate_folders(root)? {
        let path = folder.join("Cargo.toml");
        let text = fs::read_to_string(&path)?;
        problems.extend(manifest(&from_root(root, &path), &text));
    }
    Ok(problems)
}

/// The same for the text of one manifest.
pub fn manifest(place: &str, text: &str) -> Vec<Problem> {
    let table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            let remedy = error.message().to_owned();
            return vec![Problem::new(place, "not TOML", remedy)];
        }
    };
    let mut problems = Vec::new();
    for key in INHERITED {
        let value = table.get("package").and_then(|package| package.get(key));
        if !is_inherited(value) {
            problems.push(Problem::new(
                place,
                format!("`package.{key}` is not the workspace's"),
                format!("write `{key}.workspace = true`"),
            ));
        }
    }
    if !is_inherited(table.get("lints")) {
        problems.push(Problem::new(
            place,
            "the workspace's lints do not apply",
            "write `[lints]` and `workspace = true`",
        ));
    }
    check_dependencies(place, &table, &mut problems);
    let targets = table.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(Table::values) {
        if let Some(target) = target.as_table() {
            check_dependencies(place, target, &mut problems);
        }
    }
    problems
}

fn check_dependencies(place: &str, table: &Table, problems: &mut Vec<Problem>) {
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let dependencies = table.get(section).and_then(Value::as_table);
        for (name, value) in dependencies.into_iter().flatten() {
            if !is_inherited(Some(value)) {
                problems.push(Problem::new(
                    place,
                    format!("`{name}` has a version of its own"),
                    format!(
                        "give the version in the root's [workspace.dependencies] and write `{name}.workspace = true`"
                    ),
                ));
            }
        }
    }
}

fn is_inherited(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

const INHERITED: &[&str] = &[
    "version",
    "edition",
    "rust-version",
    "license",
    "repository",
    "publish",
];

#[cfg(test)]
mod tests {
    use super::manifest;

    const GOOD: &str = r#"
[package]
name = "towline-host"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
publish.workspace = true

[dependencies]
serde.workspace = true

[target.'cfg(unix)'.dependencies]
rustix = { workspace = true, features = ["process"] }

[lints]
workspace = true
"#;

    /// What is broken in the good manifest with one piece of it replaced.
    fn broken(old: &str, new: &str) -> Vec<String> {
        assert!(GOOD.contains(old));
        manifest("Cargo.toml", &GOOD.replace(old, new))
            .into_iter()
            .map(|problem| problem.broken)
            .collect()
    }

    #[test]
    fn a_manifest_that_inherits_everything_passes() {
        assert_eq!(manifest("Cargo.toml", GOOD), []);
    }

    #[test]
    fn a_value_of_its_own_fails() {
        assert_eq!(
            broken("edition.workspace = true", "edition = \"2021\""),
            ["`package.edition` is not the workspace's"]
        );
        assert_eq!(
            broken("\nversion.workspace = true", ""),
            ["`package.version` is not the workspace's"]
        );
    }

    #[test]
    fn missing_lints_fail() {
        assert_eq!(
            broken("[lints]\nworkspace = true", ""),
            ["the workspace's lints do not apply"]
        );
    }

    #[test]
    fn a_version_of_its_own_fails_in_every_section() {
        assert_eq!(
            broken("serde.workspace = true", "serde = \"1\""),
            ["`serde` has a version of its own"]
        );
        assert_eq!(
            broken(
                "[dependencies]",
                "[dev-dependencies]\ninsta = { version = \"1\" }\n[dependencies]"
            ),
            ["`insta` has a version of its own"]
        );
        assert_eq!(
            broken(
                "rustix = { workspace = true,",
                "rustix = { version = \"1\","
            ),
            ["`rustix` has a version of its own"]
        );
    }

    #[test]
    fn text_that_is_not_toml_fails() {
        assert_eq!(broken("[package]", "[package"), ["not TOML"]);
    }
}
