//! Calls that ran beside each other.
//!
//! The CLI writes a record for each block of a message, one behind the other, and hangs each tool result on the record
//! of its own call. A message with three calls therefore forks, the next message hangs on only one of the results, and
//! a walk from the leaf misses the rest. The official SDKs put them back, and so does this.

use std::collections::{HashMap, HashSet};

use super::{
    NodeId, NodeKind, Tree,
    conversation::{Inserts, Reason, Step},
    names::Name,
};

impl Tree {
    /// Adds the calls and results that the chain misses, behind the last record of their message on the chain.
    pub(super) fn complete_parallel(
        &self,
        chain: &[NodeId],
        is_taken: &mut [bool],
        inserts: &mut Inserts,
    ) {
        let mut anchors: Vec<(Name, NodeId)> = Vec::new();
        let mut anchor_of: HashMap<Name, usize> = HashMap::new();
        for id in chain {
            if let Some(message) = self.node(*id).message {
                let index = *anchor_of.entry(message).or_insert_with(|| {
                    anchors.push((message, *id));
                    anchors.len() - 1
                });
                anchors[index].1 = *id;
            }
        }
        let messages = self.messages(&anchor_of);
        let owners = self.call_owners();
        let results = self.results(&owners);
        let mut answered: HashSet<Name> = self.answers_of(chain).collect();
        for (message, anchor) in anchors {
            let group = messages.get(&message).map_or(&[][..], Vec::as_slice);
            let calls = group.iter().copied().filter(|id| !is_taken[id.index()]);
            let mut calls: Vec<NodeId> = calls.collect();
            let (mut found, strays) = self.results_of((message, group), &results, is_taken);
            answered.extend(self.answers_of(&found));
            found.extend(self.accept(message, strays, &owners, &mut answered));
            calls.sort_by_key(|id| self.node(*id).time);
            found.sort_by_key(|id| self.node(*id).time);
            for id in calls.into_iter().chain(found) {
                is_taken[id.index()] = true;
                let reason = Reason::Parallel;
                inserts.entry(anchor).or_default().push(Step { id, reason });
            }
        }
    }

    /// The records of each message that is on the chain.
    fn messages(&self, wanted: &HashMap<Name, usize>) -> HashMap<Name, Vec<NodeId>> {
        let mut messages: HashMap<Name, Vec<NodeId>> = HashMap::new();
        for id in self.nodes() {
            if let Some(message) = self.node(id).message
                && wanted.contains_key(&message)
            {
                messages.entry(message).or_default().push(id);
            }
        }
        messages
    }

    /// Which record makes which call; nothing for a call that two messages claim.
    fn call_owners(&self) -> HashMap<Name, Option<NodeId>> {
        let mut owners: HashMap<Name, Option<NodeId>> = HashMap::new();
        for (id, call) in self.calls.iter().filter(|(id, _)| self.is_current(*id)) {
            let same_message = |owner: NodeId| self.node(owner).message == self.node(*id).message;
            owners
                .entry(*call)
                .and_modify(|owner| {
                    *owner = owner.filter(|owner| same_message(*owner)).and(Some(*id));
                })
                .or_insert(Some(*id));
        }
        owners
    }

    /// The results that may belong to each record: they hang on it, name it as their source, or answer its call.
    fn results(&self, owners: &HashMap<Name, Option<NodeId>>) -> HashMap<NodeId, Vec<NodeId>> {
        let mut results: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut add = |owner: NodeId, result: NodeId| {
            let found = results.entry(owner).or_default();
            if found.last() != Some(&result) {
                found.push(result);
            }
        };
        for (id, call) in &self.answers {
            let node = self.node(*id);
            // Without a parent there is nothing that it would run beside.
            if !self.is_current(*id) || node.parent.is_none() {
                continue;
            }
            if let Some(parent) = self.parent(*id) {
                add(parent, *id);
            }
            let source = node.source.and_then(|name| self.resolve(name));
            let owner = owners.get(call).copied().flatten();
            for owner in source.into_iter().chain(owner) {
                if self.same_writer(owner, *id) {
                    add(owner, *id);
                }
            }
        }
        results
    }

    /// The results of a message's records that are not taken yet: those that hang on one of them, and the others.
    fn results_of(
        &self,
        (message, group): (Name, &[NodeId]),
        results: &HashMap<NodeId, Vec<NodeId>>,
        is_taken: &[bool],
    ) -> (Vec<NodeId>, Vec<NodeId>) {
        let mut collected = HashSet::new();
        group
            .iter()
            .filter_map(|member| results.get(member))
            .flatten()
            .copied()
            .filter(|id| !is_taken[id.index()] && collected.insert(*id))
            .partition(|id| {
                let parent = self.parent(*id).map(|parent| self.node(parent).message);
                parent.flatten().is_some_and(|parent| parent == message)
            })
    }

    /// Those of the results that hang elsewhere that answer a call of the message nobody has answered yet.
    fn accept(
        &self,
        message: Name,
        mut strays: Vec<NodeId>,
        owners: &HashMap<Name, Option<NodeId>>,
        answered: &mut HashSet<Name>,
    ) -> Vec<NodeId> {
        strays.sort();
        strays.retain(|stray| {
            let is_open = self.answers_in(*stray).any(|call| {
                let owner = owners.get(&call).copied().flatten();
                let is_ours = owner.is_some_and(|id| self.node(id).message == Some(message));
                is_ours && !answered.contains(&call)
            });
            if is_open {
                answered.extend(self.answers_in(*stray));
            }
            is_open
        });
        strays
    }

    fn answers_of(&self, ids: &[NodeId]) -> impl Iterator<Item = Name> {
        ids.iter().flat_map(|id| self.answers_in(*id))
    }

    /// The calls that a record answers.
    fn answers_in(&self, id: NodeId) -> impl Iterator<Item = Name> {
        let start = self.answers.partition_point(|(node, _)| *node < id);
        self.answers[start..]
            .iter()
            .take_while(move |(node, _)| *node == id)
            .map(|(_, call)| *call)
    }

    fn same_writer(&self, one: NodeId, other: NodeId) -> bool {
        let (one, other) = (self.node(one), self.node(other));
        one.is_sidechain == other.is_sidechain && one.agent == other.agent
    }

    /// Whether the record is the result of a tool call.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let results: Vec<_> = tree.nodes().filter(|id| tree.is_tool_result(*id)).collect();
    /// assert_eq!(results, [tree.find("r1").unwrap()]);
    /// # });
    /// ```
    pub fn is_tool_result(&self, id: NodeId) -> bool {
        self.kind(id) == NodeKind::User && self.answers_in(id).next().is_some()
    }
}
