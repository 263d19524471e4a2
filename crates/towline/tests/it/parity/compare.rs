//! Whether two agents said the same (pure): the same kinds of lines in the same order, with the same fields and values.
//!
//! Values are not compared where they are new in every run (ids, times, costs), where they are an agent's own wording,
//! and where they list what an agent has to offer. All the same they must be there, and be of the same type.

mod order;
#[cfg(test)]
mod tests;
mod values;

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use serde_json::Value;

use super::recording::Line;
use order::in_order;

/// One thing that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The kind of the line.
    pub(crate) kind: String,
    /// The field, such as `$.usage.input_tokens`; `-` for a line that is missing, `+` for one too many.
    pub(crate) path: String,
    /// Both sides, in short.
    pub(crate) what: String,
    /// Which line, from 1: of the first agent, or of the second for one too many.
    pub(crate) line: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            path,
            what,
            line,
        } = self;
        write!(f, "line {line} {kind} {path}: {what}")
    }
}

/// What the second agent did otherwise than the first. Ids of the host must be the same in both.
pub(crate) fn compare(
    first: &[Line],
    second: &[Line],
    ids_of_the_host: &HashSet<String>,
) -> Vec<Difference> {
    let (first, second) = (in_order(first), in_order(second));
    let scope = Scope {
        ids_of_the_host,
        tools: tools(&first),
    };
    let mut differences = Vec::new();
    for pair in aligned(&first, &second) {
        match pair {
            Pair::Both(one, other) => {
                let line = one + 1;
                let (one, other) = (&first[one], &second[other]);
                let found = values::compare(&scope, &one.kind, &one.value, &other.value);
                differences.extend(found.into_iter().map(|(path, what)| Difference {
                    kind: one.kind.clone(),
                    path,
                    what,
                    line,
                }));
            }
            Pair::First(index) => {
                differences.push(alone("-", "is missing", &first[index], index));
            }
            Pair::Second(index) => {
                differences.push(alone("+", "is one too many", &second[index], index));
            }
        }
    }
    differences
}

/// What holds for all lines of a conversation.
#[derive(Debug)]
struct Scope<'a> {
    ids_of_the_host: &'a HashSet<String>,
    /// The tool of each call.
    tools: HashMap<String, String>,
}

fn tools(lines: &[Line]) -> HashMap<String, String> {
    let blocks = lines
        .iter()
        .filter_map(|line| line.value.pointer("/message/content/0"));
    let calls = blocks.filter_map(|block| {
        let (id, name) = (block["id"].as_str()?, block["name"].as_str()?);
        Some((id.to_owned(), name.to_owned()))
    });
    calls.collect()
}

fn alone(path: &str, what: &str, line: &Line, index: usize) -> Difference {
    Difference {
        kind: line.kind.clone(),
        path: path.to_owned(),
        what: format!("{what}: {}", excerpt(&line.value)),
        line: index + 1,
    }
}

/// A value in one short line.
fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

enum Pair {
    Both(usize, usize),
    First(usize),
    Second(usize),
}

/// The longest common run of kinds, and what stands beside it.
fn aligned(first: &[Line], second: &[Line]) -> Vec<Pair> {
    let same = |one: usize, other: usize| first[one].kind == second[other].kind;
    let width = second.len() + 1;
    // How much is common behind both places.
    let mut common = vec![0_usize; (first.len() + 1) * width];
    for one in (0..first.len()).rev() {
        for other in (0..second.len()).rev() {
            common[one * width + other] = if same(one, other) {
                common[(one + 1) * width + other + 1] + 1
            } else {
                common[(one + 1) * width + other].max(common[one * width + other + 1])
            };
        }
    }
    let (mut one, mut other) = (0, 0);
    let mut pairs = Vec::new();
    while one < first.len() || other < second.len() {
        if one < first.len() && other < second.len() && same(one, other) {
            pairs.push(Pair::Both(one, other));
            (one, other) = (one + 1, other + 1);
        } else if other == second.len()
            || one < first.len()
                && common[(one + 1) * width + other] >= common[one * width + other + 1]
        {
            pairs.push(Pair::First(one));
            one += 1;
        } else {
            pairs.push(Pair::Second(other));
            other += 1;
        }
    }
    pairs
}

const EXCERPT: usize = 300;
