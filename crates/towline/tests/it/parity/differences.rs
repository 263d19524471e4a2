//! The differences that are meant: `parity-differences.toml`. Each must be needed, and PROTOCOL.md must speak of it.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;

use super::compare::Difference;

/// A difference that is meant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The conversation's name; `*` stands for anything.
    trace: String,
    kind: String,
    /// As in [`Difference`].
    path: String,
    /// The reason.
    why: String,
    /// Words of the row in PROTOCOL.md.
    row: String,
}

/// All of them, and which of them were needed.
#[derive(Debug)]
pub(crate) struct Meant {
    entries: Vec<Entry>,
    used: Mutex<HashSet<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Entry>,
}

impl Meant {
    /// The list of the repository, with more entries behind it.
    pub(crate) fn read(more: &str) -> Self {
        let entries = [DIFFERENCES, more].into_iter().flat_map(|text| {
            let file: File = toml::from_str(text)
                .unwrap_or_else(|error| panic!("parity-differences.toml: {error}"));
            file.difference
        });
        Self {
            entries: entries.collect(),
            used: Mutex::default(),
        }
    }

    /// Leaves out what is meant.
    pub(crate) fn without(&self, trace: &str, mut differences: Vec<Difference>) -> Vec<Difference> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        differences.retain(|difference| {
            let mut entries = self.entries.iter();
            let entry = entries.position(|entry| {
                fits(&entry.trace, trace)
                    && fits(&entry.kind, &difference.kind)
                    && entry.path == difference.path
            });
            used.extend(entry);
            entry.is_none()
        });
        differences
    }

    /// What is wrong with the list itself, once all conversations were had.
    pub(crate) fn problems(&self) -> Vec<String> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problems = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let name = format!("{} {} {}", entry.trace, entry.kind, entry.path);
            if !used.contains(&index) {
                problems.push(format!(
                    "{name}: nothing differs like that, take the entry away"
                ));
            }
            if entry.row.is_empty() || !PROTOCOL.contains(&entry.row) {
                problems.push(format!("{name}: PROTOCOL.md has no `{}`", entry.row));
            }
            if entry.why.is_empty() {
                problems.push(format!("{name}: why?"));
            }
        }
        problems
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len())
                .filter(|&end| name.is_char_boundary(end))
                .any(|end| fits(rest, &name[end..]))
        }),
    }
}

const DIFFERENCES: &str = include_str!("../../data/parity-differences.toml");
const PROTOCOL: &str = include_str!("../../../../../PROTOCOL.md");

#[test]
fn a_star_stands_for_anything() {
    for (pattern, name, expected) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a*", "ab", true),
        ("*b", "ab", true),
        ("a*c", "abbc", true),
        ("a*c", "abb", false),
        ("*", "", true),
    ] {
        assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
    }
}
