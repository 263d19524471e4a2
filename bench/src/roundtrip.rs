//! Owns the second table: the recorded lines, decoded and encoded again.

use crate::decoder::{Outcome, Recoded, Role, Row};
use crate::items::ItemHashes;
use crate::report::Table;
use bytes::Bytes;
use serde_json::Value;

/// What became of the recorded lines in one row.
#[derive(Default)]
struct Counts {
    failed: usize,
    skipped: usize,
    /// Read, but encoded to another JSON value or not at all.
    changed: usize,
    /// Of those, changed in more than keys that hold null or nothing.
    changed_in_content: usize,
    no_encoder: bool,
}

/// The peers and ours over the recorded lines.
pub fn table(rows: &[Row], lines: &[Bytes]) -> serde_json::Result<Table> {
    let mut table = Table::new(&[
        "implementation",
        "not read",
        "skipped",
        "re-encoded differently",
        "beyond null and empty keys",
    ]);
    for row in rows {
        if !matches!(row.role, Role::Peer | Role::Ours) {
            continue;
        }
        let counts = count(row, lines)?;
        let changed = |lines: usize| match counts.no_encoder {
            true => "no encoder".to_string(),
            false => lines.to_string(),
        };
        table.row(vec![
            row.name.to_string(),
            counts.failed.to_string(),
            counts.skipped.to_string(),
            changed(counts.changed),
            changed(counts.changed_in_content),
        ]);
    }
    Ok(table)
}

fn count(row: &Row, lines: &[Bytes]) -> serde_json::Result<Counts> {
    let mut counts = Counts::default();
    for line in lines {
        match (row.hashes)(line, &mut ItemHashes::default()) {
            Outcome::Failed => counts.failed += 1,
            Outcome::Skipped => counts.skipped += 1,
            Outcome::Read => {
                let mut again = match (row.recode)(line) {
                    Recoded::Value(value) => value,
                    Recoded::Nothing => Value::Null,
                    Recoded::NoEncoder => {
                        counts.no_encoder = true;
                        continue;
                    }
                };
                let mut before = serde_json::from_slice(line)?;
                counts.changed += usize::from(!same(&before, &again));
                drop_empty_keys(&mut before);
                drop_empty_keys(&mut again);
                counts.changed_in_content += usize::from(!same(&before, &again));
            }
        }
    }
    Ok(counts)
}

/// Equal as JSON: keys in any order, 1 is 1.0, and doubles may be one unit in the
/// last place apart, as serde_json's default parser is from the nearest one.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let found = |key, value| b.get(key).is_some_and(|other| same(value, other));
            a.len() == b.len() && a.iter().all(|(key, value)| found(key, value))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(x), Value::Number(y)) => {
            let near = |x: f64, y: f64| (x - y).abs() <= f64::EPSILON * x.abs();
            x == y || matches!((x.as_f64(), y.as_f64()), (Some(x), Some(y)) if near(x, y))
        }
        _ => a == b,
    }
}

fn drop_empty_keys(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(drop_empty_keys);
            map.retain(|_, value| !is_empty(value));
        }
        Value::Array(list) => list.iter_mut().for_each(drop_empty_keys),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
