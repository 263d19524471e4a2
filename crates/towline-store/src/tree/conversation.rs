//! What a resumed session would hold: the live chain, the rest of what ran in parallel, and what a compaction kept.

use std::collections::HashMap;

use super::{KeptMessages, NodeId, Tree};

/// One record of a conversation.
///
/// ```
/// # towline_testkit::in_home!(|compacted| {
/// let Step { id, reason } = compacted.conversation()[0];
/// assert_eq!((compacted.kind(id), reason), (NodeKind::System, Reason::Chain));
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The record.
    pub id: NodeId,
    /// Why it is there.
    pub reason: Reason,
}

/// Why a record is in a conversation.
///
/// ```
/// # towline_testkit::in_home!(|compacted| {
/// let steps = compacted.conversation();
/// let kept = steps.iter().find(|step| step.reason == Reason::Kept).unwrap();
/// assert_eq!(compacted.uuid(kept.id), "a3");
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The leaf hangs on it.
    Chain,
    /// It is a call, or the result of one, that ran beside those of the chain.
    Parallel,
    /// It comes from before a compaction, which kept it.
    Kept,
}

impl Tree {
    /// What a session resumed from this transcript would hold, oldest first: notes, attachments and all.
    /// [`Tree::is_message`] tells which of them are messages.
    ///
    /// ```
    /// # towline_testkit::in_home!(|compacted| {
    /// let steps = compacted.conversation().into_iter();
    /// let ids: Vec<String> = steps.map(|step| compacted.uuid(step.id)).collect();
    /// assert_eq!(ids, ["c1", "s1", "a3", "u2", "a4"]);
    /// # });
    /// ```
    pub fn conversation(&self) -> Vec<Step> {
        self.live_leaf()
            .map(|leaf| self.conversation_at(leaf))
            .unwrap_or_default()
    }

    /// The same for a session that would go on from another record.
    ///
    /// ```
    /// # towline_testkit::in_home!(|compacted| {
    /// let leaf = compacted.find("a3").unwrap();
    /// let steps = compacted.conversation_at(leaf).into_iter();
    /// let ids: Vec<String> = steps.map(|step| compacted.uuid(step.id)).collect();
    /// // The result `r1` is not on the chain: its call ran beside the other.
    /// assert_eq!(ids, ["u1", "a1", "a2", "r1", "r2", "a3"]);
    /// # });
    /// ```
    pub fn conversation_at(&self, leaf: NodeId) -> Vec<Step> {
        let chain = self.chain(leaf);
        let mut is_taken = vec![false; self.nodes.len()];
        for id in &chain {
            is_taken[id.index()] = true;
        }
        let mut inserts = HashMap::new();
        self.keep(&mut is_taken, &mut inserts);
        // A subagent's transcript is shown as its chain by the official SDKs.
        if !self.is_subagent() {
            self.complete_parallel(&chain, &mut is_taken, &mut inserts);
        }
        let mut steps = Vec::with_capacity(chain.len());
        for id in chain {
            let reason = Reason::Chain;
            steps.push(Step { id, reason });
            steps.extend(inserts.remove(&id).into_iter().flatten());
        }
        steps
    }

    /// Adds what a compaction on the chain kept, behind the record that it names.
    fn keep(&self, is_taken: &mut [bool], inserts: &mut Inserts) {
        for kept in &self.kept {
            let anchor = self.resolve(kept.anchor);
            let Some(anchor) = anchor.filter(|anchor| is_taken[anchor.index()]) else {
                continue;
            };
            let ids: Vec<NodeId> = match &kept.which {
                KeptMessages::Each(names) => names
                    .iter()
                    .filter_map(|name| self.resolve(*name))
                    .collect(),
                KeptMessages::Stretch { head, tail } => {
                    let head = self.resolve(*head);
                    let tail = self.resolve(*tail);
                    let mut stretch = Vec::new();
                    for id in tail.into_iter().flat_map(|tail| self.ancestors(tail)) {
                        stretch.push(id);
                        if Some(id) == head {
                            break;
                        }
                    }
                    stretch.reverse();
                    stretch
                }
            };
            for id in ids {
                if !std::mem::replace(&mut is_taken[id.index()], true) {
                    let reason = Reason::Kept;
                    inserts.entry(anchor).or_default().push(Step { id, reason });
                }
            }
        }
    }
}

/// What comes behind which record of the chain.
pub(super) type Inserts = HashMap<NodeId, Vec<Step>>;
