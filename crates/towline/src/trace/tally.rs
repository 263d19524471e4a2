//! [`Tally`]: counts by name that stay small whatever is counted.

use std::collections::BTreeMap;

/// Counts by name. Once there are too many names, new ones are counted together.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: BTreeMap<String, Count>,
    others: Count,
    most_names: usize,
}

/// How many, and how large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    pub(crate) fn new(most_names: usize) -> Self {
        Self {
            counts: BTreeMap::new(),
            others: Count::default(),
            most_names,
        }
    }

    pub(crate) fn add(&mut self, name: &str, bytes: usize) {
        let name = start_of(name);
        let count = if let Some(count) = self.counts.get_mut(name) {
            count
        } else if self.counts.len() < self.most_names {
            self.counts.entry(name.to_owned()).or_default()
        } else {
            &mut self.others
        };
        count.rows += 1;
        count.bytes += bytes as u64;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The counts, the highest first; those counted together come last.
    pub(crate) fn sorted(&self) -> Vec<(&str, Count)> {
        let mut sorted: Vec<_> = self
            .counts
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(count.rows));
        if self.others.rows > 0 {
            sorted.push(("(others)", self.others));
        }
        sorted
    }
}

/// A name may be as long as a line; its start is enough to tell it.
fn start_of(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}

const LONGEST_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_are_counted_together_once_there_are_too_many() {
        let mut tally = Tally::new(2);
        for name in ["a", "b", "c", "b", "d", "a", "b"] {
            tally.add(name, 10);
        }
        let count = |rows| Count {
            rows,
            bytes: rows * 10,
        };
        assert_eq!(
            tally.sorted(),
            [("b", count(3)), ("a", count(2)), ("(others)", count(2))]
        );
    }
}
