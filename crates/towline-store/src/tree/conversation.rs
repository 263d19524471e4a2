//! What a resumed session would hold: the live chain, the rest of what ran in parallel, and what a compaction kept.

use std::collections::HashMap;

use super::{KeptMessages, NodeId, Tree};

/// One record of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The record.
    pub id: NodeId,
    /// Why it is there.
    pub reason: Reason,
}

/// Why a record is in a conversation.
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
    pub fn conversation(&self) -> Vec<Step> {
        self.live_leaf()
            .map(|leaf| self.conversation_at(leaf))
            .unwrap_or_default()
    }

    /// The same for a session that would go on from another record.
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
