//! Which crate may depend on which, and on what from outside.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use super::Problem;

/// What `cargo metadata` tells of the workspace, as far as the rules need it.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    /// The crates of the workspace.
    pub packages: Vec<Package>,
}

/// One crate of the workspace.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Where its `Cargo.toml` is.
    pub manifest_path: PathBuf,
    /// What it depends on itself, for any reason.
    pub dependencies: Vec<Dependency>,
}

/// One line of a crate's dependencies.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// The crate's real name, also where it is renamed.
    pub name: String,
    /// `dev` or `build`; nothing for a normal one.
    pub kind: Option<String>,
}

/// Asks cargo for the crates of the workspace at `root`.
///
/// # Errors
/// When cargo cannot be run, does not like the workspace, or answers in a form unknown here.
pub fn read_metadata(root: &Path) -> io::Result<Metadata> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("cargo metadata: {complaint}")));
    }
    serde_json::from_slice(&output.stdout).map_err(io::Error::other)
}

/// Every crate is in the table, lies in the folder of its name, and depends on nothing that the table does not allow.
///
/// Dev-dependencies are free: they bind only the tests.
pub fn crate_edges(metadata: &Metadata) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let name = &package.name;
        let folder = package.manifest_path.parent().and_then(Path::file_name);
        if folder.is_none_or(|folder| folder != name.as_str()) {
            problems.push(Problem::new(
                package.manifest_path.display(),
                format!("crate `{name}` is not in a folder of its name"),
                format!("move it to crates/{name}"),
            ));
        }
        let place = format!("crates/{name}/Cargo.toml");
        let Some(wall) = WALLS.iter().find(|wall| wall.name == name) else {
            problems.push(Problem::new(
                place,
                format!("crate `{name}` is not in the table of crates"),
                "make it a module of an existing crate, or add it to WALLS in \
                 crates/towline-testkit/src/tidy/edges.rs and to ARCHITECTURE.md",
            ));
            continue;
        };
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() != Some("dev") {
                problems.extend(wall.check(&place, &dependency.name));
            }
        }
    }
    problems
}

/// What one crate may see of the workspace, and must not see from outside.
struct Wall {
    name: &'static str,
    may_see: &'static [&'static str],
    never: &'static [&'static str],
    because: &'static str,
}

impl Wall {
    fn check(&self, place: &str, dependency: &str) -> Option<Problem> {
        let name = self.name;
        if self.never.contains(&dependency) {
            return Some(Problem::new(
                place,
                format!("`{name}` must never depend on `{dependency}`"),
                format!("remove it: {}; a dev-dependency is allowed", self.because),
            ));
        }
        let ours = dependency == "towline" || dependency.starts_with("towline-");
        if !ours || self.may_see.contains(&dependency) {
            return None;
        }
        Some(Problem::new(
            place,
            format!("`{name}` may not depend on `{dependency}`"),
            match self.may_see {
                [] => "it may depend on no other crate of the workspace".to_owned(),
                allowed => format!(
                    "of the workspace it may depend on {} only",
                    allowed.join(", ")
                ),
            },
        ))
    }
}

/// The table of ARCHITECTURE.md, also for crates that are still to come.
const WALLS: &[Wall] = &[
    Wall {
        name: "towline-protocol",
        may_see: &[],
        never: &[
            "anyhow",
            "async-std",
            "chrono",
            "clap",
            "directories",
            "dirs",
            "dotenvy",
            "env_logger",
            "getrandom",
            "home",
            "hyper",
            "jiff",
            "rand",
            "reqwest",
            "smol",
            "tempfile",
            "time",
            "tokio",
            "tokio-util",
            "tracing-subscriber",
            "ureq",
            "uuid",
            "walkdir",
        ],
        because: "it does no IO and reads no clock, file, environment or random number",
    },
    Wall {
        name: "towline-process",
        may_see: &[],
        never: &["tokio"],
        because: "how a child is waited for is the business of whoever starts it",
    },
    Wall {
        name: "towline-files",
        may_see: &[],
        never: &["hyper", "reqwest", "tokio", "tokio-util"],
        because: "a path is resolved and opened in one place, for programs with and without a runtime",
    },
    Wall {
        name: "towline-permission",
        may_see: &["towline-protocol"],
        never: &["hyper", "reqwest", "tokio", "tokio-util", "ureq"],
        because: "a permission decision is a pure function of policy and call",
    },
    Wall {
        name: "towline-store",
        may_see: &["towline-protocol"],
        never: &[],
        because: "",
    },
    Wall {
        name: "towline-host",
        may_see: &["towline-process", "towline-protocol", "towline-store"],
        never: &[],
        because: "",
    },
    Wall {
        name: "towline-agent",
        may_see: &[
            "towline-files",
            "towline-process",
            "towline-protocol",
            "towline-permission",
            "towline-store",
        ],
        never: &["clap"],
        because: "the agent is a library and gets its configuration passed in",
    },
    Wall {
        name: "towline-bridge",
        may_see: &[
            "towline-files",
            "towline-host",
            "towline-permission",
            "towline-protocol",
        ],
        never: &[],
        because: "",
    },
    Wall {
        name: "towline",
        may_see: &[
            "towline-files",
            "towline-process",
            "towline-protocol",
            "towline-permission",
            "towline-store",
            "towline-host",
            "towline-agent",
            "towline-bridge",
            "towline-testkit",
        ],
        never: &[],
        because: "",
    },
    Wall {
        name: "towline-testkit",
        may_see: &["towline-protocol"],
        never: &[],
        because: "",
    },
];

#[cfg(test)]
mod tests {
    use super::{Metadata, WALLS, crate_edges};

    /// What is broken in a workspace of one crate, given as its name and its dependencies with their kinds.
    fn broken(name: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let dependencies: Vec<_> = dependencies
            .iter()
            .map(|(name, kind)| serde_json::json!({"name": name, "kind": kind, "req": "*"}))
            .collect();
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "version": 1,
            "packages": [{
                "name": name,
                "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
                "dependencies": dependencies,
            }],
        }))
        .unwrap();
        let problems = crate_edges(&metadata);
        problems.into_iter().map(|problem| problem.broken).collect()
    }

    #[test]
    fn edges_of_the_table_pass() {
        for wall in WALLS {
            let allowed: Vec<_> = wall.may_see.iter().map(|name| (*name, None)).collect();
            assert_eq!(broken(wall.name, &allowed), [""; 0]);
        }
    }

    #[test]
    fn every_other_edge_of_the_workspace_fails() {
        for from in WALLS {
            for to in WALLS {
                let allowed = from.may_see.contains(&to.name);
                let found = broken(from.name, &[(to.name, None)]);
                assert_eq!(found.is_empty(), allowed, "{} → {}", from.name, to.name);
            }
        }
    }

    #[test]
    fn the_bridge_must_not_link_the_agent() {
        assert_eq!(
            broken("towline-bridge", &[("towline-agent", None)]),
            ["`towline-bridge` may not depend on `towline-agent`"]
        );
    }

    #[test]
    fn a_library_must_not_link_the_test_kit_but_its_tests_may() {
        assert_eq!(
            broken("towline-host", &[("towline-testkit", None)]),
            ["`towline-host` may not depend on `towline-testkit`"]
        );
        assert_eq!(
            broken("towline-host", &[("towline-testkit", Some("dev"))]),
            [""; 0]
        );
    }

    #[test]
    fn build_dependencies_count_like_normal_ones() {
        assert_eq!(
            broken("towline-protocol", &[("towline-store", Some("build"))]),
            ["`towline-protocol` may not depend on `towline-store`"]
        );
    }

    #[test]
    fn walls_against_the_outside_hold() {
        for (name, outside) in [
            ("towline-protocol", "tokio"),
            ("towline-protocol", "reqwest"),
            ("towline-protocol", "anyhow"),
            ("towline-protocol", "clap"),
            ("towline-protocol", "dirs"),
            ("towline-permission", "tokio"),
            ("towline-permission", "reqwest"),
            ("towline-agent", "clap"),
        ] {
            assert_eq!(
                broken(name, &[(outside, None)]),
                [format!("`{name}` must never depend on `{outside}`")]
            );
            assert_eq!(broken(name, &[(outside, Some("dev"))]), [""; 0]);
        }
        assert_eq!(broken("towline-protocol", &[("serde", None)]), [""; 0]);
    }

    #[test]
    fn an_unknown_crate_fails() {
        assert_eq!(
            broken("towline-common", &[]),
            ["crate `towline-common` is not in the table of crates"]
        );
    }

    #[test]
    fn a_dependency_on_a_crate_that_is_nowhere_in_the_table_fails() {
        assert_eq!(
            broken("towline", &[("towline-common", None)]),
            ["`towline` may not depend on `towline-common`"]
        );
    }

    #[test]
    fn a_crate_in_a_folder_of_another_name_fails() {
        let metadata: Metadata = serde_json::from_str(
            r#"{"packages":[{"name":"towline","manifest_path":"/w/crates/cli/Cargo.toml","dependencies":[]}]}"#,
        )
        .unwrap();
        let problems = crate_edges(&metadata);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].remedy, "move it to crates/towline");
    }
}
