//! How often the engine agrees with the table, and where it does not.

use serde_json::Value;
use towline_permission::{Decision, Verdict};
use towline_protocol::Wire;

use crate::row::Row;

/// The counts, and the differences as they are printed.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) outside: usize,
    rows: usize,
    agree: usize,
    stricter: usize,
    looser: usize,
    with_suggestions: usize,
    same_suggestions: usize,
    show: Option<String>,
    lines: Vec<String>,
}

impl Tally {
    pub(crate) fn new(show: Option<String>) -> Self {
        Self {
            show,
            ..Self::default()
        }
    }

    pub(crate) fn compare(&mut self, row: &Row, expected: Verdict, decision: &Decision) {
        self.rows += 1;
        let got = decision.verdict;
        match got.cmp(&expected) {
            std::cmp::Ordering::Equal => self.agree += 1,
            std::cmp::Ordering::Greater => {
                self.stricter += 1;
                self.note(
                    row,
                    &format!(
                        "stricter: {got:?}, not {expected:?} ({:?})",
                        decision.reason
                    ),
                );
            }
            std::cmp::Ordering::Less => {
                self.looser += 1;
                self.note(
                    row,
                    &format!("LOOSER: {got:?}, not {expected:?} ({:?})", decision.reason),
                );
            }
        }
        if expected != Verdict::Ask {
            return;
        }
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
        if !same && got == Verdict::Ask {
            self.note(
                row,
                &format!(
                    "suggestions: {} not {}",
                    brief(ours.as_ref()),
                    brief(row.suggestions())
                ),
            );
        }
    }

    pub(crate) fn report(&self) {
        for line in &self.lines {
            println!("{line}");
        }
        println!("outside of the engine: {} rows", self.outside);
        println!(
            "rows {}, agree {}, stricter {}, looser {}, suggestions agree {} of {}",
            self.rows,
            self.agree,
            self.stricter,
            self.looser,
            self.same_suggestions,
            self.with_suggestions
        );
    }

    fn note(&mut self, row: &Row, what: &str) {
        let (id, category) = (row.text("id"), row.text("category"));
        if self
            .show
            .as_deref()
            .is_none_or(|show| show == id || show == category)
        {
            self.lines
                .push(format!("{id} [{category}] {}\n    {what}", row.describe()));
        }
    }
}

fn brief(updates: Option<&Vec<Value>>) -> String {
    updates.map_or_else(
        || "none".to_owned(),
        |updates| Value::from(updates.clone()).to_string(),
    )
}
