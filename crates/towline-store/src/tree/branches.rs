//! Which branch is live, and which others there are.
//!
//! The rules are those of CLI 2.1.325, found by resuming transcripts made for the purpose and looking at what it sent
//! to the API.

use std::collections::HashSet;

use super::{NodeId, Tree};

/// One way from a root to a leaf.
///
/// ```
/// # towline_testkit::in_home!(|tree| {
/// let branches = tree.branches();
/// assert_eq!(branches.iter().map(|branch| branch.length).collect::<Vec<_>>(), [5, 6]);
/// let live = branches.iter().find(|branch| branch.is_live).unwrap();
/// assert_eq!(tree.uuid(live.leaf), "a3");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its last record.
    pub leaf: NodeId,
    /// How many records it has.
    pub length: usize,
    /// Whether a resumed session would go on from it.
    pub is_live: bool,
}

impl Tree {
    /// The record that a resumed session would go on from.
    ///
    /// The newest record, unless the latest `last-prompt` names one that the newest does not come from: that is how the
    /// CLI notes that somebody went back to another branch.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// assert_eq!(tree.live_leaf(), tree.find("a3"));
    /// assert_eq!(Tree::default().live_leaf(), None);
    /// # });
    /// ```
    pub fn live_leaf(&self) -> Option<NodeId> {
        let newest = self.nodes().rev().find(|id| !self.is_aside(*id))?;
        let named = self
            .named_leaf
            .and_then(|name| self.resolve(name))
            .filter(|id| !self.is_aside(*id));
        match named {
            Some(named) if !self.ancestors(newest).any(|id| id == named) => Some(named),
            _ => Some(newest),
        }
    }

    /// The records from a root to this one.
    ///
    /// It ends at a compaction, behind which the CLI does not go; [`Tree::history`] does.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let chain = tree.chain(tree.find("u2").unwrap());
    /// let ids: Vec<String> = chain.into_iter().map(|id| tree.uuid(id)).collect();
    /// assert_eq!(ids, ["u1", "a1", "r1", "a2", "u2"]);
    /// # });
    /// ```
    pub fn chain(&self, leaf: NodeId) -> Vec<NodeId> {
        let mut chain: Vec<_> = self.ancestors(leaf).collect();
        chain.reverse();
        chain
    }

    /// All that was said on the way to this record, also before compactions.
    ///
    /// ```
    /// # towline_testkit::in_home!(|compacted| {
    /// let leaf = compacted.live_leaf().unwrap();
    /// let ids = |nodes: Vec<NodeId>| nodes.into_iter().map(|id| compacted.uuid(id)).collect::<Vec<_>>();
    /// assert_eq!(ids(compacted.chain(leaf)), ["c1", "s1", "u2", "a4"]);
    /// assert_eq!(ids(compacted.history(leaf)), ["u1", "a1", "a2", "r2", "a3", "c1", "s1", "u2", "a4"]);
    /// # });
    /// ```
    pub fn history(&self, leaf: NodeId) -> Vec<NodeId> {
        let mut history = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(leaf);
        while let Some(leaf) = next {
            let root = self
                .ancestors(leaf)
                .take_while(|id| seen.insert(*id))
                .inspect(|id| history.push(*id))
                .last();
            next = root.and_then(|root| self.logical_parent(root));
        }
        history.reverse();
        history
    }

    /// The ways to all leaves, in the order of the file; asides are left out.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let leaves: Vec<String> = tree.branches().iter().map(|branch| tree.uuid(branch.leaf)).collect();
    /// assert_eq!(leaves, ["u2", "a3"]);
    /// # });
    /// ```
    pub fn branches(&self) -> Vec<Branch> {
        let live = self.live_leaf();
        let mut has_children = vec![false; self.nodes.len()];
        for id in self.nodes() {
            if let Some(parent) = self.bridged_parent(id) {
                has_children[parent.index()] = true;
            }
        }
        let mut lengths = vec![0; self.nodes.len()];
        self.nodes()
            .filter(|id| !has_children[id.index()] && !self.is_aside(*id))
            .map(|leaf| Branch {
                leaf,
                length: self.chain_length(leaf, &mut lengths),
                is_live: live == Some(leaf),
            })
            .collect()
    }

    /// The length of a chain; `known` has those of records that were passed before, so that no record is passed twice.
    fn chain_length(&self, leaf: NodeId, known: &mut [usize]) -> usize {
        let mut length = 0;
        let mut passed = Vec::new();
        for id in self.ancestors(leaf) {
            length = known[id.index()];
            if length > 0 {
                break;
            }
            passed.push(id);
        }
        for id in passed.into_iter().rev() {
            length += 1;
            known[id.index()] = length;
        }
        length
    }

    /// Who hangs on whom, for walks from the roots down.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let offspring = tree.offspring();
    /// let fork = tree.find("a2").unwrap();
    /// assert_eq!(offspring.children(fork).len(), 2);
    /// # });
    /// ```
    pub fn offspring(&self) -> Offspring {
        let mut counts = vec![0_u32; self.nodes.len() + 1];
        let parents = || self.nodes().map(|id| (id, self.bridged_parent(id)));
        for (_, parent) in parents() {
            counts[parent.map_or(0, |parent| parent.index() + 1)] += 1;
        }
        let mut start = 0;
        let mut starts: Vec<u32> = counts
            .iter()
            .map(|count| {
                start += count;
                start - count
            })
            .collect();
        let mut children = vec![NodeId(0); start as usize];
        let mut filled = starts.clone();
        for (id, parent) in parents() {
            let slot = &mut filled[parent.map_or(0, |parent| parent.index() + 1)];
            children[*slot as usize] = id;
            *slot += 1;
        }
        starts.push(start);
        Offspring { starts, children }
    }

    /// The record itself, the one before, and so on; each once, also where the links run in a circle.
    pub(super) fn ancestors(&self, from: NodeId) -> impl Iterator<Item = NodeId> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(from), |id| self.bridged_parent(*id))
            .take_while(move |id| seen.insert(*id))
    }

    /// The parent; where a record names one that was lost, the record in front of it in the file, if that is no more
    /// than five seconds older.
    pub(super) fn bridged_parent(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        let name = node.parent?;
        if let Some(parent) = self.resolve(name) {
            return Some(parent);
        }
        let before = self.resolve(self.node(node.before?).name)?;
        let gap = node.time.checked_sub(self.node(before).time)?;
        (0..=BRIDGED_MS).contains(&gap).then_some(before)
    }
}

/// Who hangs on whom.
///
/// ```
/// # towline_testkit::in_home!(|tree| {
/// let offspring = tree.offspring();
/// let mut open = offspring.roots().to_vec();
/// let mut leaves = Vec::new();
/// while let Some(id) = open.pop() {
///     open.extend(offspring.children(id));
///     if offspring.children(id).is_empty() {
///         leaves.push(tree.uuid(id));
///     }
/// }
/// assert_eq!(leaves, ["a3", "u2"]);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Offspring {
    /// Where the children of each node begin in `children`, behind the roots.
    starts: Vec<u32>,
    children: Vec<NodeId>,
}

impl Offspring {
    /// The records that hang on no other.
    ///
    /// ```
    /// # towline_testkit::in_home!(|compacted| {
    /// let offspring = compacted.offspring();
    /// let roots: Vec<String> = offspring.roots().iter().map(|id| compacted.uuid(*id)).collect();
    /// // A compaction begins anew.
    /// assert_eq!(roots, ["u1", "c1"]);
    /// # });
    /// ```
    pub fn roots(&self) -> &[NodeId] {
        self.slice(0)
    }

    /// The records that hang on this one, in the order of the file.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let fork = tree.find("a2").unwrap();
    /// let offspring = tree.offspring();
    /// let children: Vec<String> = offspring.children(fork).iter().map(|id| tree.uuid(*id)).collect();
    /// assert_eq!(children, ["u2", "u3"]);
    /// # });
    /// ```
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        self.slice(id.index() + 1)
    }

    fn slice(&self, index: usize) -> &[NodeId] {
        match self.starts.get(index..index + 2) {
            Some([start, end]) => &self.children[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

const BRIDGED_MS: i64 = 5000;
