//! Snapshots: files that hold in place what others rely on. A commit that changes one says so.

use std::io;

use super::{History, Problem, history::Change};

/// A commit that changes a snapshot, a recorded conversation, or a log that an earlier version wrote, names it in its message.
/// So does one that changes a list of differences which are meant, or what the checks are made of: an entry too many there, and
/// what it covers is held by nothing.
///
/// # Errors
/// When the history cannot be read.
pub fn snapshots_are_announced(history: History<'_>) -> io::Result<Vec<Problem>> {
    let mut changes = history.changes(FILES)?;
    let mut problems = Vec::new();
    for list in LISTS {
        changes.extend(changes_since_marked(history, list)?);
        problems.extend(lost_mark(history, list)?);
    }
    problems.extend(changes.iter().flat_map(unannounced));
    Ok(problems)
}

/// The loss of a mark: without it later changes would not count.
fn lost_mark(history: History<'_>, list: &str) -> io::Result<Option<Problem>> {
    if history.changes(&[list])?.is_empty() {
        return Ok(None);
    }
    let versions = history.versions(list)?;
    let mut marked = versions.iter().map(|version| version.text.contains(MARK));
    let is_lost = marked.next() == Some(false) && marked.any(|is_marked| is_marked);
    Ok(is_lost.then(|| {
        Problem::new(
            list,
            "does not say any more that its changes are announced",
            format!("write `A commit that changes this file {MARK}` into it again"),
        )
    }))
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
    let paths = change
        .paths
        .iter()
        .filter(|path| !names(&change.message, path));
    let problems = paths.map(|path| {
        Problem::new(
            format!("commit {:.12}", change.commit),
            format!("changes {path} and does not say so"),
            "make it a commit of its own whose message names the file and says what changes for those who rely on it",
        )
    });
    problems.collect()
}

/// Whether a message names a file, and not another one whose name ends like it. A name that is a plain word needs its folder.
fn names(message: &str, path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let file = if file.contains('.') { file } else { path };
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    message.match_indices(file).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + file.len()..].chars().next();
        !before.is_some_and(is_of_a_name) && !after.is_some_and(is_of_a_name)
    })
}

/// Where snapshots and recorded conversations are, as git is asked for them. A star alone would match the folders, and no file is
/// called like them.
const FILES: &[&str] = &[
    ":(glob)crates/*/tests/snapshots/**",
    ":(glob)crates/*/tests/data/logs/**",
    ":(glob)crates/*/tests/data/traces/**",
];

/// Lists of differences to the real CLI that are meant, and what decides which checks are made, and how.
const LISTS: &[&str] = &[
    "crates/towline/tests/data/parity-differences.toml",
    "crates/towline/tests/data/parity-setups.toml",
    "crates/towline/tests/data/parity.toml",
    "crates/towline-permission/tests/data/differences.toml",
    ".ci/run",
    ".github/workflows/ci.yml",
];

/// Stands in a file whose changes are announced.
const MARK: &str = "names it in its message";

#[cfg(test)]
mod tests {
    use super::{Change, snapshots_are_announced, unannounced};
    use crate::tidy::{
        History,
        history::tests::{commit, repository},
    };

    #[test]
    fn a_snapshot_of_any_crate_that_changes_or_goes_is_found_in_a_repository() {
        let (help, openapi, log, trace) = (
            "crates/towline/tests/snapshots/help.snap",
            "crates/towline-bridge/tests/snapshots/deep/openapi.snap",
            "crates/towline/tests/data/logs/004/shown.json",
            "crates/towline-protocol/tests/data/traces/queue.jsonl",
        );
        let root = repository(&[
            ("add", &[(help, "1"), (openapi, "1"), (log, "1")]),
            (
                "one: not-help.snap, nor help.snapshot",
                &[(help, "2"), (trace, "1")],
            ),
            ("two: something else", &[(openapi, "")]),
            ("three: something else", &[(log, "2"), (trace, "2")]),
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
        let expected = [trace, log, openapi, help];
        assert_eq!(
            broken,
            expected.map(|path| format!("changes {path} and does not say so"))
        );
    }

    #[test]
    fn a_list_of_differences_that_changes_unannounced_is_found() {
        let list = super::LISTS[0];
        let marked = |text: &str| format!("# A commit that changes this {}.\n{text}", super::MARK);
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
        assert_eq!(super::lost_mark(history, list).unwrap(), None);
        let problems = snapshots_are_announced(history).unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(
            problems[0].broken,
            format!("changes {list} and does not say so")
        );
    }

    #[test]
    fn a_list_that_loses_its_mark_is_found() {
        let list = super::LISTS[0];
        let marked = format!("# A commit that changes this {}.", super::MARK);
        let root = repository(&[
            ("mark it", &[(list, &marked)]),
            ("parity-differences.toml: tidy up", &[(list, "one")]),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        assert_eq!(snapshots_are_announced(history).unwrap().len(), 1);
    }

    #[test]
    fn a_snapshot_that_becomes_a_link_has_changed() {
        let help = "crates/towline/tests/snapshots/help.snap";
        let root = repository(&[("add", &[(help, "1"), ("beside", "1")])]);
        let path = root.path().join(help);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("../../../../beside", path).unwrap();
        commit(root.path(), "agent: something else");
        let history = History::open(root.path()).unwrap().unwrap();
        assert_eq!(snapshots_are_announced(history).unwrap().len(), 1);
    }

    #[test]
    fn a_file_with_a_plain_name_is_named_with_its_folder() {
        for (message, expected) in [
            ("ci: run more", false),
            (".ci/run: one step more", true),
            ("ci: what .ci/runner says", false),
            ("ci: one step more\n\nOf .ci/run.", true),
        ] {
            assert_eq!(super::names(message, ".ci/run"), expected, "{message}");
        }
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
