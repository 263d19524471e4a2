//! Snapshots: files that hold in place what others rely on. A commit that changes one says so.

use std::io;

use super::{History, Problem, history::Change};

/// A commit that changes a snapshot, or a log that an earlier version wrote, names it in its message. So does one that
/// changes a list of differences which are meant: an entry too many there, and what it covers is held by nothing.
///
/// # Errors
/// When the history cannot be read.
pub fn snapshots_are_announced(history: History<'_>) -> io::Result<Vec<Problem>> {
    let mut changes = history.changes(FILES)?;
    for list in LISTS {
        changes.extend(changes_since_marked(history, list)?);
    }
    Ok(changes.iter().flat_map(unannounced).collect())
}

/// The changes of a list from the version on that says that they are announced.
fn changes_since_marked(history: History<'_>, list: &str) -> io::Result<Vec<Change>> {
    let mut changes = history.changes(&[list])?;
    if changes.is_empty() {
        return Ok(changes);
    }
    let versions = history.versions(list)?;
    let was_marked = |change: &Change| {
        let place = versions
            .iter()
            .position(|version| version.commit == change.commit);
        let before = place.and_then(|place| versions.get(place + 1));
        before.is_some_and(|version| version.text.contains(MARK))
    };
    changes.retain(was_marked);
    Ok(changes)
}

fn unannounced(change: &Change) -> Vec<Problem> {
    let named = |path: &&String| {
        let file = path.rsplit('/').next().unwrap_or(path);
        !change.message.contains(file)
    };
    let paths = change.paths.iter().filter(named);
    let problems = paths.map(|path| {
        Problem::new(
            format!("commit {:.12}", change.commit),
            format!("changes {path} and does not say so"),
            "make it a commit of its own whose message names the file and says what changes for those who rely on it",
        )
    });
    problems.collect()
}

/// Where snapshots are, as git is asked for them. A star alone would match the folders, and no file is called like them.
const FILES: &[&str] = &[
    ":(glob)crates/*/tests/snapshots/**",
    ":(glob)crates/*/tests/data/logs/**",
];

/// Lists of differences to the real CLI that are meant.
const LISTS: &[&str] = &[
    "crates/towline/tests/data/parity-differences.toml",
    "crates/towline-permission/tests/data/differences.toml",
];

/// Stands in a list whose changes are announced.
const MARK: &str = "A commit that changes this list names it in its message";

#[cfg(test)]
mod tests {
    use super::{Change, snapshots_are_announced, unannounced};
    use crate::tidy::{History, history::tests::repository};

    #[test]
    fn a_snapshot_of_any_crate_that_changes_or_goes_is_found_in_a_repository() {
        let (help, openapi, log) = (
            "crates/towline/tests/snapshots/help.snap",
            "crates/towline-bridge/tests/snapshots/deep/openapi.snap",
            "crates/towline/tests/data/logs/004/shown.json",
        );
        let root = repository(&[
            ("add", &[(help, "1"), (openapi, "1"), (log, "1")]),
            ("one: something else", &[(help, "2")]),
            ("two: something else", &[(openapi, "")]),
            ("three: something else", &[(log, "2")]),
            ("four: help.snap has a flag more", &[(help, "3")]),
            (
                "five: a file beside",
                &[("crates/towline/tests/help.snap", "1")],
            ),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        let broken: Vec<String> = snapshots_are_announced(history)
            .unwrap()
            .into_iter()
            .map(|problem| problem.broken)
            .collect();
        let expected = [log, openapi, help];
        assert_eq!(
            broken,
            expected.map(|path| format!("changes {path} and does not say so"))
        );
    }

    #[test]
    fn a_list_of_differences_that_changes_unannounced_is_found() {
        let list = super::LISTS[0];
        let marked = |text: &str| format!("# {}.\n{text}", super::MARK);
        let (one, two, three) = (marked("one"), marked("two"), marked("three"));
        let root = repository(&[
            ("add", &[(list, "before the mark")]),
            ("mark it", &[(list, &one)]),
            ("agent: something else", &[(list, &two)]),
            (
                "parity-differences.toml: a field of ours",
                &[(list, &three)],
            ),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        let problems = snapshots_are_announced(history).unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(
            problems[0].broken,
            format!("changes {list} and does not say so")
        );
    }

    #[test]
    fn a_change_that_is_not_told_is_found() {
        let change = |message: &str| Change {
            commit: "0123456789abcdef".to_owned(),
            message: message.to_owned(),
            paths: vec!["crates/a/tests/snapshots/openapi.json".to_owned()],
        };
        let told = change(
            "api: sessions have a colour\n\nopenapi.json: `colour` is new; clients may ignore it.",
        );
        assert_eq!(unannounced(&told), []);
        let problems = unannounced(&change("api: sessions have a colour"));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0]
                .broken
                .starts_with("changes crates/a/tests/snapshots/openapi.json")
        );
    }
}
