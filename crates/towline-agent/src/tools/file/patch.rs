//! What a change changed, as hunks.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{Algorithm, ChangeTag, TextDiff};

/// The hunks of a change, with three lines around each: `structuredPatch`.
pub(in crate::tools) fn structured_patch(old: &str, new: &str) -> Value {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        // After this the hunks are larger than they need be, but still right.
        .timeout(Duration::from_millis(500))
        .diff_lines(old, new);
    let hunks = diff.grouped_ops(3).into_iter().map(|operations| {
        let (mut lines, mut old_lines, mut new_lines) = (Vec::new(), 0, 0);
        for change in operations
            .iter()
            .flat_map(|operation| diff.iter_changes(operation))
        {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            old_lines += usize::from(change.tag() != ChangeTag::Insert);
            new_lines += usize::from(change.tag() != ChangeTag::Delete);
            let line = change.value();
            lines.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
            if !line.ends_with('\n') {
                lines.push("\\ No newline at end of file".to_owned());
            }
        }
        let start = operations.first();
        json!({
            "oldStart": start.map_or(0, |first| first.old_range().start) + 1,
            "oldLines": old_lines,
            "newStart": start.map_or(0, |first| first.new_range().start) + 1,
            "newLines": new_lines,
            "lines": lines,
        })
    });
    hunks.collect()
}

#[cfg(test)]
mod tests;
