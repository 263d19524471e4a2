//! The reviewed list of how the engine differs from the real CLI: `tests/data/differences.toml`.
//!
//! An entry is a class with its reason, and what a row must be like to belong to it: each key that is there must fit,
//! and of a list one of its texts.

use toml::{Table, Value};
use towline_permission::Verdict;

use crate::row::Row;

/// The classes, and how many rows belong to each.
pub(crate) struct Differences(Vec<(Table, usize)>);

impl Differences {
    pub(crate) fn read() -> Self {
        let mut file: Table = include_str!("../data/differences.toml").parse().unwrap();
        let Some(Value::Array(classes)) = file.remove("difference") else {
            panic!("differences.toml has no [[difference]]");
        };
        let class = |value| match value {
            Value::Table(class) => {
                for key in class.keys() {
                    assert!(KEYS.contains(&&**key), "a difference has no `{key}`");
                }
                assert!(class.contains_key("class") && class.contains_key("reason"));
                (class, 0)
            }
            other => panic!("{other:?} is no difference"),
        };
        Self(classes.into_iter().map(class).collect())
    }

    /// Whether a stricter decision belongs to a class of the list.
    pub(crate) fn explain(&mut self, row: &Row, expected: Verdict, got: Verdict) -> bool {
        let class = self.0.iter_mut().find(|(class, _)| {
            let fits = |key: &str, fit: &dyn Fn(&str) -> bool| {
                class.get(key).is_none_or(|texts| strings(texts).any(fit))
            };
            let rules = || {
                ["allow", "deny", "ask"]
                    .into_iter()
                    .flat_map(|key| row.texts(key))
            };
            fits("category", &|category| category == row.text("category"))
                && fits("tool", &|tool| tool == row.text("tool"))
                && fits("mode", &|mode| mode == row.text("mode"))
                && fits("rule", &|rule| rules().any(|known| known.starts_with(rule)))
                && fits("command", &|part| {
                    row.command().is_some_and(|command| command.contains(part))
                })
                && class
                    .get("trusted")
                    .is_none_or(|trusted| trusted.as_bool() == Some(row.is_trusted()))
                && fits("expected", &|word| word == name(expected))
                && fits("got", &|word| word == name(got))
        });
        match class {
            Some((_, count)) => {
                *count += 1;
                true
            }
            None => false,
        }
    }

    /// The classes that no row belongs to.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.0.iter().filter(|(_, count)| *count == 0);
        unused.filter_map(|(class, _)| class["class"].as_str())
    }
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    let list = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(Value::as_str)
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

const KEYS: &[&str] = &[
    "class", "reason", "category", "tool", "mode", "rule", "command", "trusted", "expected", "got",
];
