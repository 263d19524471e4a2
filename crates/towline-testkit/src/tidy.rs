//! The house rules as checks: what clippy and rustfmt cannot see, but a reader of the repository relies on.
//!
//! Each rule is a function from the root of the repository to the [`Problem`]s found there. It owns the rules; that
//! they hold is the business of this crate's own tests.

mod checks;
mod edges;
mod examples;
mod history;
mod manifests;
mod snapshots;
mod sources;
mod tests_listed;
mod words;

pub use checks::steps_are_the_same;
pub use edges::{Dependency, Metadata, Package, crate_edges, read_metadata};
pub use examples::examples_run;
pub use history::{Change, History, Version};
pub use manifests::{manifest, manifests};
pub use snapshots::snapshots_are_announced;
pub use sources::{files_are_small, headers, module_names, protocol_is_pure};
pub use tests_listed::{tests_are_listed, tests_enter_themselves, the_list_comes_last};
pub use words::{Counts, record_words, words};

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, and the line where one is meant.
    pub place: String,
    /// What is wrong there.
    pub broken: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    fn new(place: impl fmt::Display, broken: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            place: place.to_string(),
            broken: broken.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    {}", self.place, self.broken, self.remedy)
    }
}

/// A source file of the repository.
struct Source {
    /// Its path from the root, with `/` on every system.
    path: String,
    text: String,
}

/// All Rust files below the given folders of the root, in order of their paths. A folder that is not there has none.
fn rust_files(root: &Path, folders: &[&str]) -> io::Result<Vec<Source>> {
    source_files(root, folders, &["rs"])
}

/// The same for files whose names end in one of the extensions.
fn source_files(root: &Path, folders: &[&str], extensions: &[&str]) -> io::Result<Vec<Source>> {
    let mut paths = Vec::new();
    for folder in folders {
        let folder = root.join(folder);
        if folder.is_dir() {
            collect(&folder, &mut paths)?;
        }
    }
    let is_meant = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|meant| extension == *meant)
    };
    paths.retain(is_meant);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            Ok(Source {
                text: fs::read_to_string(&path)?,
                path: from_root(root, &path),
            })
        })
        .collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_recorded = name == "data" && folder.ends_with("tests");
            if !name.starts_with('.') && !NOT_OURS.contains(&&*name) && !is_recorded {
                collect(&path, found)?;
            }
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// A path as it is shown: from the root, with `/` on every system.
fn from_root(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// The folders of the crates, in order of their names.
fn crate_folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// The names of the modules that a file declares, each with the number of its line.
fn declared_modules(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
            Some(rest) => rest.trim_start(),
            None => line,
        };
        let name = line.strip_prefix("mod ")?.trim_start();
        let end = name
            .find(|character: char| !is_name_part(character))
            .unwrap_or(name.len());
        Some((index + 1, &name[..end]))
    })
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Folders that hold what was built or fetched, not source. `tests/data` holds what was recorded.
const NOT_OURS: &[&str] = &["target", "node_modules"];

#[cfg(test)]
mod tests {
    use super::declared_modules;

    #[test]
    fn modules_are_found_in_every_visibility_and_not_in_comments() {
        let text = "mod a;\npub mod b {\n    pub(crate) mod c;\n// mod d;\nmodest();\n";
        let found: Vec<_> = declared_modules(text).collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (3, "c")]);
    }
}
