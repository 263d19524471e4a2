//! The checklist beside its earlier versions: a statement that is shown stays shown, and one about the agent or the bridge
//! stays one. Each version that has [`GUARD`] bounds those after it.

use std::{fs, path::Path};

use towline_testkit::{not_run, tidy::History};

use super::{Row, Shown, checklist};
use crate::{documents::ROOT, witnesses::Area};

/// Stands in PROTOCOL.md.
const GUARD: &str =
    "What is shown stays shown: a test compares this table with every earlier version of it.";

#[test]
fn a_statement_that_was_shown_is_shown() {
    let document = fs::read_to_string(format!("{ROOT}PROTOCOL.md")).unwrap();
    assert!(document.contains(GUARD), "PROTOCOL.md has lost: {GUARD}");
    let Some(history) = History::open(Path::new(ROOT)).unwrap() else {
        not_run::enter_for_lack_of("full git history");
        return;
    };
    let mut versions = history.versions("PROTOCOL.md").unwrap();
    versions.retain(|earlier| earlier.text.contains(GUARD));
    assert!(
        !versions.is_empty(),
        "no commit has a PROTOCOL.md with: {GUARD}"
    );
    let (now, _) = checklist(&document);
    for earlier in versions {
        let problems = lost(&checklist(&earlier.text).0, &now);
        assert_eq!(problems, [""; 0], "since {}", earlier.commit);
    }
}

/// Statements that an earlier table shows and this one does not. A statement may get other words, but not fewer of an area may be
/// shown for that.
fn lost(earlier: &[Row], now: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    for row in earlier.iter().filter(|row| row.is_shown()) {
        let is_same = |other: &&Row| other.statement == row.statement;
        let mut same = now.iter().filter(is_same).peekable();
        let is_as_before = |other: &Row| other.is_shown() && other.area == row.area;
        if same.peek().is_some() && !same.any(is_as_before) {
            problems.push(format!("{} ({}) was shown", row.statement, row.area));
        }
    }
    let count = |rows: &[Row], is_meant: &dyn Fn(&Row) -> bool| {
        rows.iter().filter(|row| is_meant(row)).count()
    };
    for area in Area::ALL {
        let is_meant = |row: &Row| row.is_shown() && row.area == area;
        let (before, after) = (count(earlier, &is_meant), count(now, &is_meant));
        if after < before {
            problems.push(format!(
                "{before} statements of {area} were shown, now {after}"
            ));
        }
    }
    let is_meant = |row: &Row| matches!(row.shown, Shown::NotYet);
    let (before, after) = (count(earlier, &is_meant), count(now, &is_meant));
    if after > before {
        problems.push(format!(
            "{before} statements were shown by no test, now {after}"
        ));
    }
    problems
}

impl Row {
    fn is_shown(&self) -> bool {
        matches!(self.shown, Shown::By(_))
    }
}

#[test]
fn a_table_that_shows_less_is_noticed() {
    let rows = |table: &str| checklist(&format!("## The checklist\n{table}")).0;
    let earlier =
        rows("| one | agent | `a::b` |\n| two | host | `a::b` |\n| three | agent | · |\n");
    let fewer = |area: &str| format!("1 statements of {area} were shown, now 0");
    let was = |statement: &str| format!("{statement} was shown");
    for (now, expected) in [
        (
            "| one | agent | `c::d` |\n| two | host | `a::b` |\n| three | agent | `a::b` |",
            vec![],
        ),
        (
            "| one | agent | · |\n| two | host | `a::b` |",
            vec![was("one (agent)"), fewer("agent")],
        ),
        (
            "| one | protocol | `a::b` |\n| two | host | `a::b` |",
            vec![was("one (agent)"), fewer("agent")],
        ),
        (
            "| one | agent | `a::b` |\n| two | host | — |",
            vec![
                was("two (host)"),
                fewer("host"),
                "0 statements were shown by no test, now 1".to_owned(),
            ],
        ),
        // In other words, and shown or not.
        ("| uno | agent | `a::b` |\n| two | host | `a::b` |", vec![]),
        (
            "| uno | agent | · |\n| two | host | `a::b` |",
            vec![fewer("agent")],
        ),
    ] {
        assert_eq!(lost(&earlier, &rows(now)), expected, "{now}");
    }
}
