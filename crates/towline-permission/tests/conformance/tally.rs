//! How often the engine agrees with the table, and where it does not.

use std::cmp::Ordering;

use serde_json::Value;
use towline_permission::{Decision, Verdict};
use towline_protocol::Wire;

use crate::{differences::Differences, row::Row};

/// The counts, and the differences as they are printed.
pub(crate) struct Tally {
    pub(crate) outside: usize,
    rows: usize,
    agree: usize,
    stricter: usize,
    looser: usize,
    with_suggestions: usize,
    same_suggestions: usize,
    questions: usize,
    same_reasons: usize,
    same_blocked_paths: usize,
    differences: Differences,
    unexplained: Vec<String>,
    show: Option<String>,
    lines: Vec<String>,
}

impl Tally {
    pub(crate) fn new(show: Option<String>) -> Self {
        Self {
            outside: 0,
            rows: 0,
            agree: 0,
            stricter: 0,
            looser: 0,
            with_suggestions: 0,
            same_suggestions: 0,
            questions: 0,
            same_reasons: 0,
            same_blocked_paths: 0,
            differences: Differences::read(),
            unexplained: Vec::new(),
            show,
            lines: Vec::new(),
        }
    }

    pub(crate) fn compare(&mut self, row: &Row, expected: Verdict, decision: &Decision) {
        self.rows += 1;
        let got = decision.verdict;
        let word = match got.cmp(&expected) {
            Ordering::Equal => {
                self.agree += 1;
                None
            }
            Ordering::Greater => {
                self.stricter += 1;
                if !self.differences.explain(row, expected, got) {
                    self.unexplained.push(row.text("id").to_owned());
                }
                Some("stricter")
            }
            Ordering::Less => {
                self.looser += 1;
                Some("LOOSER")
            }
        };
        if let Some(word) = word {
            let reason = &decision.reason;
            self.note(
                row,
                &format!("{word}: {got:?}, not {expected:?} ({reason:?})"),
            );
        }
        if expected == Verdict::Ask {
            self.compare_suggestions(row, decision);
        }
        if expected == Verdict::Ask && got == Verdict::Ask {
            self.compare_reasons(row, decision);
        }
    }

    /// Why it is asked, and which path stood in the way: they are counted, but nothing hangs on them.
    fn compare_reasons(&mut self, row: &Row, decision: &Decision) {
        self.questions += 1;
        let (ours, theirs) = (
            decision.reason.kind(),
            row.some_text("decision_reason_type"),
        );
        if ours == theirs {
            self.same_reasons += 1;
        } else {
            self.note(row, &format!("reason: {ours:?}, not {theirs:?}"));
        }
        let (ours, theirs) = (
            decision.blocked_path.as_deref(),
            row.some_text("blocked_path"),
        );
        if ours == theirs {
            self.same_blocked_paths += 1;
        } else {
            self.note(row, &format!("blocked path: {ours:?}, not {theirs:?}"));
        }
    }

    fn compare_suggestions(&mut self, row: &Row, decision: &Decision) {
        let ours = decision.suggestions.as_ref().map(|updates| {
            let values = updates
                .iter()
                .map(|update| update.to_standard_json().parse().unwrap());
            values.collect::<Vec<Value>>()
        });
        let same = ours.as_ref() == row.suggestions();
        if row.suggestions().is_some() {
            self.with_suggestions += 1;
            self.same_suggestions += usize::from(same);
        }
        if !same && decision.verdict == Verdict::Ask {
            let (ours, theirs) = (brief(ours.as_ref()), brief(row.suggestions()));
            self.note(row, &format!("suggestions: {ours}, not {theirs}"));
        }
    }

    /// Prints the differences and, last, the figures.
    pub(crate) fn report(&self) {
        for line in &self.lines {
            println!("{line}");
        }
        println!("outside of the engine: {} rows", self.outside);
        println!(
            "questions {}, reasons agree {}, blocked paths agree {}",
            self.questions, self.same_reasons, self.same_blocked_paths
        );
        println!("{}", self.figures());
    }

    /// Fails unless the figures are good enough and every difference is in the reviewed list.
    pub(crate) fn hold(&self, is_own_table: bool) {
        let figures = self.figures();
        assert!(self.rows > 0, "the table is empty");
        assert_eq!(self.looser, 0, "looser than the real CLI: {figures}");
        assert!(
            self.agree * 100 >= self.rows * 98,
            "agrees too seldom: {figures}"
        );
        assert!(
            self.same_suggestions * 100 >= self.with_suggestions * 95,
            "suggests something else too often: {figures}"
        );
        // Another table may well differ in ways that nobody has reviewed yet; they are printed.
        assert!(
            !is_own_table || self.unexplained.is_empty(),
            "stricter in a way that differences.toml does not have: {:?}",
            self.unexplained
        );
        let unused: Vec<_> = self.differences.unused().collect();
        assert!(
            !is_own_table || unused.is_empty(),
            "no row belongs to these classes of differences.toml: {unused:?}"
        );
    }

    /// What is printed of the rows that are decided more loosely.
    pub(crate) fn looser(&self) -> Vec<String> {
        let is_looser = |line: &&String| line.contains("LOOSER");
        self.lines.iter().filter(is_looser).cloned().collect()
    }

    fn figures(&self) -> String {
        format!(
            "rows {}, agree {}, stricter {}, looser {}, suggestions agree {} of {}",
            self.rows,
            self.agree,
            self.stricter,
            self.looser,
            self.same_suggestions,
            self.with_suggestions
        )
    }

    fn note(&mut self, row: &Row, what: &str) {
        let (id, category) = (row.text("id"), row.text("category"));
        let show = self.show.as_deref();
        if show.is_none_or(|show| show == id || show == category) {
            let line = format!("{id} [{category}] {}\n    {what}", row.describe());
            self.lines.push(line);
        }
    }
}

fn brief(updates: Option<&Vec<Value>>) -> String {
    match updates {
        None => "none".to_owned(),
        Some(updates) => Value::from(updates.clone()).to_string(),
    }
}
