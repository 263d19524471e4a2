//! All branches of a transcript in an order that can be read from top to bottom. Pure.

use std::collections::HashSet;

use towline_store::{NodeId, NodeKind, Reason, Tree};

use super::Row;

/// The records of all branches, attachments left out. Where branches part, those that were left come first, set in;
/// then the one that was taken goes on.
pub(super) fn rows(tree: &Tree) -> Vec<Row> {
    let offspring = tree.offspring();
    let live = tree.live_leaf();
    let taken: HashSet<NodeId> = live
        .map(|leaf| tree.history(leaf))
        .into_iter()
        .flatten()
        .collect();
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    // What is on top comes next; so what is to come last is pushed first.
    let mut open: Vec<(NodeId, usize)> = Vec::new();
    push(offspring.roots(), 0, &taken, &mut open);
    // Records in a circle hang on no root: each is started from where it stands in the file.
    let mut rest = tree.nodes();
    while let Some((id, depth)) = open.pop().or_else(|| rest.next().map(|id| (id, 0))) {
        if !seen.insert(id) {
            continue;
        }
        if matches!(
            tree.kind(id),
            NodeKind::User | NodeKind::Assistant | NodeKind::System
        ) {
            rows.push(Row {
                id,
                depth,
                reason: Reason::Chain,
                is_live: live == Some(id),
            });
        }
        push(offspring.children(id), depth, &taken, &mut open);
    }
    rows
}

/// Opens records that part from each other. Those that were taken go on where they part (before and behind a
/// compaction are two of them); if none was, the last does.
fn push(parted: &[NodeId], depth: usize, taken: &HashSet<NodeId>, open: &mut Vec<(NodeId, usize)>) {
    let last = parted
        .last()
        .filter(|_| !parted.iter().any(|id| taken.contains(id)));
    let goes_on = |id: &&NodeId| taken.contains(*id) || Some(*id) == last;
    let main = parted.iter().filter(goes_on);
    open.extend(main.rev().map(|id| (*id, depth)));
    let left = parted.iter().filter(|id| !goes_on(id));
    open.extend(left.rev().map(|id| (*id, depth + 1)));
}
