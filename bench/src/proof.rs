//! Owns the untimed proof of what each row reads: line by line against the
//! serde_json tree, item by item.

use crate::decoder::{Outcome, Role, Row};
use crate::items::{CheapSum, ItemHashes};
use crate::tree;
use bytes::Bytes;
use serde_json::Value;

/// What one row read of the corpus.
#[derive(Default, Clone)]
pub struct Reading {
    pub lines_read: usize,
    pub lines_skipped: usize,
    pub lines_failed: usize,
    pub items: usize,
    /// Lines read whose items are all items of that line in the reference, none
    /// more often than there.
    pub lines_agreeing: usize,
    pub strong_sum: u64,
}

impl Reading {
    pub fn reads_every_line(&self) -> bool {
        self.lines_skipped == 0 && self.lines_failed == 0
    }

    fn add(&mut self, outcome: Outcome, items: &mut ItemHashes, reference: &[u64]) {
        match outcome {
            Outcome::Skipped => self.lines_skipped += 1,
            Outcome::Failed => self.lines_failed += 1,
            Outcome::Read => {
                self.lines_read += 1;
                self.items += items.0.len();
                self.strong_sum = self.strong_sum.wrapping_add(items.sum());
                items.0.sort_unstable();
                self.lines_agreeing += usize::from(is_part_of(&items.0, reference));
            }
        }
    }
}

/// The reference: what there is to read, in full and in a peek.
#[derive(Default)]
pub struct Reference {
    pub full: Reading,
    pub peek: Reading,
    pub full_cheap: CheapSum,
    pub peek_cheap: CheapSum,
}

impl Reference {
    pub fn of(&self, role: Role) -> (&Reading, u32) {
        match role {
            Role::Peek => (&self.peek, self.peek_cheap.0),
            _ => (&self.full, self.full_cheap.0),
        }
    }
}

pub fn read_all(rows: &[Row], lines: &[Bytes]) -> Result<(Reference, Vec<Reading>), String> {
    let mut reference = Reference::default();
    let mut readings = vec![Reading::default(); rows.len()];
    let (mut full, mut peek) = (ItemHashes::default(), ItemHashes::default());
    let mut items = ItemHashes::default();
    for line in lines {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| format!("the corpus holds a line that is no JSON: {error}"))?;
        full.0.clear();
        peek.0.clear();
        tree::read_line(&value, &mut full);
        tree::read_peek(&value, &mut peek);
        tree::read_line(&value, &mut reference.full_cheap);
        tree::read_peek(&value, &mut reference.peek_cheap);
        full.0.sort_unstable();
        peek.0.sort_unstable();
        let (whole, part) = (full.0.clone(), peek.0.clone());
        reference.full.add(Outcome::Read, &mut full, &whole);
        reference.peek.add(Outcome::Read, &mut peek, &part);
        for (row, reading) in rows.iter().zip(&mut readings) {
            items.0.clear();
            let outcome = (row.hashes)(line, &mut items);
            let expected = if row.role == Role::Peek {
                &part
            } else {
                &whole
            };
            reading.add(outcome, &mut items, expected);
        }
    }
    Ok((reference, readings))
}

/// Whether the sorted `part` is a sub-multiset of the sorted `whole`.
fn is_part_of(part: &[u64], whole: &[u64]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}
