//! Files for what a person has typed behind an `@`: a walk over the project, off the loop.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use ignore::{Walk, WalkBuilder};
use serde_json::json;
use towline_files::{Ignored, RealPath, Walked};
use towline_protocol::{Json, control::answer::FileSuggestionsAnswer};

/// Files below `folder` whose path holds what was typed, shortest first. What git ignores and what is hidden is left out.
pub(super) fn suggestions(folder: &Path, typed: &str) -> FileSuggestionsAnswer {
    let typed = typed.to_lowercase();
    let Ok(root) = RealPath::resolve(folder) else {
        return FileSuggestionsAnswer::default();
    };
    let until = Instant::now() + LONGEST;
    let mut best = BTreeSet::new();
    for entry in walk(&root, until).take(MOST_LOOKED_AT) {
        if Instant::now() > until {
            break;
        }
        // A directory that may not be read has nothing to suggest.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        let path = path.to_string_lossy();
        if path.to_lowercase().contains(&typed) {
            best.insert((path.len(), path.into_owned()));
        }
        if best.len() > MOST {
            best.pop_last();
        }
    }
    // The walk goes by paths: a folder may have become a link while it was listed.
    let mut walked = Walked::new(root);
    best.retain(|(_, path)| walked.look_below(path.as_ref()).is_ok());
    let shown = best.iter().filter_map(|(_, path)| {
        Json::of(&json!({"id": format!("file-{path}"), "displayText": path})).ok()
    });
    FileSuggestionsAnswer {
        suggestions: Some(shown.collect()),
        cwd: Some(folder.to_string_lossy().into_owned().into()),
        ..FileSuggestionsAnswer::default()
    }
}

/// A walk over what git would see. The walker itself reads no ignore file: one of a project can be a link or a pipe.
fn walk(folder: &Path, until: Instant) -> Walk {
    let ignored = Mutex::new(Ignored::default().with_ignore_files());
    WalkBuilder::new(folder)
        .standard_filters(false)
        .filter_entry(move |entry| {
            if entry.file_name() == "node_modules" || Instant::now() > until {
                return false;
            }
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let mut ignored = ignored.lock().unwrap_or_else(PoisonError::into_inner);
            let found = ignored.look(entry.path(), is_directory);
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            found.is_whitelist() || !(is_hidden || found.is_ignore())
        })
        .build()
}

/// How many files are suggested.
const MOST: usize = 15;

/// How many files and folders are looked at.
const MOST_LOOKED_AT: usize = 200_000;

/// How long that may take: somebody is typing.
const LONGEST: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn suggested(folder: &Path, typed: &str) -> Vec<String> {
        let found = suggestions(folder, typed).suggestions.unwrap();
        let shown = found.iter().map(|one| {
            let value: serde_json::Value = one.parse().unwrap();
            assert_eq!(
                value["id"],
                format!("file-{}", value["displayText"].as_str().unwrap())
            );
            value["displayText"].as_str().unwrap().to_owned()
        });
        shown.collect()
    }

    #[test]
    fn files_are_suggested_by_any_part_of_their_path_shortest_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "Notes.md",
            "deep/notes/a.md",
            "deep/b.md",
            ".hidden/notes.md",
            "node_modules/notes.md",
            "built/notes.md",
            ".git/notes",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "built/\n").unwrap();
        for (typed, expected) in [
            ("notes", &["Notes.md", "deep/notes/a.md"][..]),
            ("deep/b", &["deep/b.md"]),
            ("", &["Notes.md", "deep/b.md", "deep/notes/a.md"]),
            ("missing", &[]),
        ] {
            assert_eq!(suggested(folder.path(), typed), expected, "{typed}");
        }
        assert_eq!(suggested(&folder.path().join("nowhere"), ""), [""; 0]);
    }

    #[test]
    fn only_the_best_are_suggested() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..40 {
            fs::write(folder.path().join(format!("{number:02}")), "").unwrap();
        }
        let expected: Vec<_> = (0..MOST).map(|number| format!("{number:02}")).collect();
        assert_eq!(suggested(folder.path(), ""), expected);
    }
}
