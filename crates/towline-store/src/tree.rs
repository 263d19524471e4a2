//! [`Tree`]: how the records of a transcript hang on each other. Pure; holds links, not content.
//!
//! It is filled record by record. What may be said of it (which branch is live, what a resumed session would hold) is
//! in the files below.

mod branches;
mod conversation;
mod names;
mod parallel;

pub use branches::{Branch, Offspring};
pub use conversation::{Reason, Step};

use jiff::Timestamp;
use towline_protocol::{
    Block, Content, Text, ToolUseId, Uuid,
    transcript::{AssistantRecord, Compaction, Record, SystemRecord, UserRecord},
};

use crate::records::Place;
use names::{Name, Names};

/// The links of a transcript.
///
/// ```
/// use towline_protocol::{Wire, transcript::Record};
/// use towline_store::{Place, Tree};
///
/// let mut tree = Tree::default();
/// for line in [
///     r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"hello"}}"#,
///     r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"content":"hi"}}"#,
///     r#"{"type":"assistant","uuid":"a2","parentUuid":"u1","message":{"content":"good day"}}"#,
/// ] {
///     tree.add(Place::default(), &Record::from_json(line)?);
/// }
/// let live = tree.live_leaf().unwrap();
/// assert_eq!(tree.uuid(live), "a2");
/// assert_eq!(tree.branches().len(), 2);
/// # Ok::<(), towline_protocol::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Tree {
    names: Names,
    nodes: Vec<Node>,
    /// The latest node of each name, by [`Name`].
    by_name: Vec<Option<NodeId>>,
    /// Which node makes which tool call, in the order of the nodes.
    calls: Vec<(NodeId, Name)>,
    /// Which node answers which tool call, in the order of the nodes.
    answers: Vec<(NodeId, Name)>,
    /// What compactions kept.
    kept: Vec<Kept>,
    /// The last record of the conversation, as the latest `last-prompt` names it.
    named_leaf: Option<Name>,
    /// The latest record of the conversation and the latest of subagents.
    latest: [Option<NodeId>; 2],
}

/// A record in a [`Tree`].
///
/// ```
/// # towline_testkit::in_home!(|tree| {
/// let [first, last] = [tree.nodes().next(), tree.nodes().last()].map(Option::unwrap);
/// assert!(first < last);
/// assert_eq!((tree.uuid(first), tree.uuid(last)), ("u1".to_owned(), "a3".to_owned()));
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a record is, as far as its place in the conversation goes.
///
/// ```
/// # towline_testkit::in_home!(|tree| {
/// let answers = tree.nodes().filter(|id| tree.kind(*id) == NodeKind::Assistant);
/// assert_eq!(answers.count(), 3);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// What was said to the model, or what a tool gave.
    User,
    /// What the model said.
    Assistant,
    /// What the agent notes.
    System,
    /// What the agent adds to a prompt.
    Attachment,
    /// How far a tool is.
    Progress,
}

#[derive(Clone, Debug)]
struct Node {
    place: Place,
    kind: NodeKind,
    name: Name,
    parent: Option<Name>,
    /// The record in front of it in the file, subagents' apart.
    before: Option<NodeId>,
    logical_parent: Option<Name>,
    /// The API's message that an assistant record is a piece of.
    message: Option<Name>,
    /// The record of the call that a tool result says it answers.
    source: Option<Name>,
    agent: Option<Name>,
    /// Milliseconds since 1970; before everything if unknown.
    time: i64,
    is_sidechain: bool,
    /// A person need not see it.
    is_meta: bool,
    /// It belongs to a team of agents.
    is_team: bool,
}

/// What a compaction kept of the conversation before it.
#[derive(Clone, Debug)]
struct Kept {
    /// The record that the kept ones follow now.
    anchor: Name,
    which: KeptMessages,
}

#[derive(Clone, Debug)]
enum KeptMessages {
    Each(Vec<Name>),
    Stretch { head: Name, tail: Name },
}

impl Tree {
    /// Adds a record; those that hang on no other are passed over.
    ///
    /// ```
    /// use towline_protocol::{Wire, transcript::Record};
    /// use towline_store::{Place, Tree};
    ///
    /// let mut tree = Tree::default();
    /// tree.add(Place::default(), &Record::from_json(r#"{"type":"user","uuid":"u1","message":{}}"#)?);
    /// tree.add(Place::default(), &Record::from_json(r#"{"type":"mode","mode":"plan"}"#)?);
    /// assert_eq!(tree.len(), 1);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn add(&mut self, place: Place, record: &Record) {
        if let Record::LastPrompt(record) = record {
            self.named_leaf = record.leaf_uuid.as_ref().map(|uuid| self.name(uuid));
        }
        let Some((kind, chain)) = kind_of(record).zip(record.chain()) else {
            return;
        };
        // 4 billion records are more than a disk holds.
        let (Some(uuid), Ok(next)) = (chain.uuid, u32::try_from(self.nodes.len())) else {
            return;
        };
        let id = NodeId(next);
        let name = self.name(uuid);
        let node = Node {
            place,
            kind,
            name,
            parent: chain.parent_uuid.map(|uuid| self.name(uuid)),
            before: self.latest[usize::from(chain.is_sidechain)].replace(id),
            logical_parent: chain.logical_parent_uuid.map(|uuid| self.name(uuid)),
            message: None,
            source: None,
            agent: chain
                .agent_id
                .map(|agent| self.names.intern(agent.as_str())),
            time: milliseconds(chain.timestamp),
            is_sidechain: chain.is_sidechain,
            is_meta: record.is_meta(),
            is_team: chain.team_name.is_some(),
        };
        self.nodes.push(node);
        self.by_name.resize(self.names.len(), None);
        self.by_name[name.index()] = Some(id);
        match record {
            Record::User(record) => self.add_answers(id, record),
            Record::Assistant(record) => self.add_calls(id, record),
            Record::System(record) => self.add_kept(record),
            _ => {}
        }
        self.by_name.resize(self.names.len(), None);
    }

    /// How many records there are.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// assert_eq!(tree.len(), 7);
    /// # });
    /// ```
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no record.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// assert!(!tree.is_empty());
    /// assert!(Tree::default().is_empty());
    /// # });
    /// ```
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All records in the order of the file, but for those that a later one of the same id has replaced.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let ids: Vec<String> = tree.nodes().map(|id| tree.uuid(id)).collect();
    /// assert_eq!(ids, ["u1", "a1", "r1", "a2", "u2", "u3", "a3"]);
    /// # });
    /// ```
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> {
        // The count was checked when the records were added.
        (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|id| self.is_current(*id))
    }

    /// The record of that id.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// assert_eq!(tree.find("u1"), tree.nodes().next());
    /// assert_eq!(tree.find("u99"), None);
    /// # });
    /// ```
    pub fn find(&self, uuid: &str) -> Option<NodeId> {
        self.resolve(self.names.find(uuid)?)
    }

    /// The record's id.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let first = tree.nodes().next().unwrap();
    /// assert_eq!(tree.uuid(first), "u1");
    /// # });
    /// ```
    pub fn uuid(&self, id: NodeId) -> String {
        self.names.text(self.node(id).name)
    }

    /// Where the record stands.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let answer = tree.find("a3").unwrap();
    /// assert_eq!(tree.place(answer).line, 7);
    /// # });
    /// ```
    pub fn place(&self, id: NodeId) -> Place {
        self.node(id).place
    }

    /// What the record is.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let answer = tree.find("a3").unwrap();
    /// assert_eq!(tree.kind(answer), NodeKind::Assistant);
    /// # });
    /// ```
    pub fn kind(&self, id: NodeId) -> NodeKind {
        self.node(id).kind
    }

    /// When it was written.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let answer = tree.find("a3").unwrap();
    /// assert_eq!(tree.time(answer), Some("2026-11-16T05:00:07Z".parse()?));
    /// # });
    /// ```
    pub fn time(&self, id: NodeId) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.node(id).time).ok()
    }

    /// Whether the record belongs to somebody else than the rest of the file: a subagent's in a session's transcript.
    ///
    /// ```
    /// use towline_protocol::{Wire, transcript::Record};
    /// use towline_store::{Place, Tree};
    ///
    /// let mut tree = Tree::default();
    /// for line in [
    ///     r#"{"type":"user","uuid":"u1","message":{"content":"hello"}}"#,
    ///     r#"{"type":"user","uuid":"s1","isSidechain":true,"message":{"content":"look around"}}"#,
    /// ] {
    ///     tree.add(Place::default(), &Record::from_json(line)?);
    /// }
    /// let asides: Vec<_> = tree.nodes().filter(|id| tree.is_aside(*id)).collect();
    /// assert_eq!(asides, [tree.find("s1").unwrap()]);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn is_aside(&self, id: NodeId) -> bool {
        self.node(id).is_sidechain != self.is_subagent()
    }

    /// Whether this is the transcript of a subagent: its first record says so.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// assert!(!session.transcript()?.tree().is_subagent());
    /// let subagent = &session.subagents()?[0];
    /// assert!(Transcript::open(&subagent.path)?.tree().is_subagent());
    /// # });
    /// ```
    pub fn is_subagent(&self) -> bool {
        self.nodes.first().is_some_and(|node| node.is_sidechain)
    }

    /// Whether the record is a message that a person would want to see: said by somebody, and not by the agent to
    /// itself.
    ///
    /// ```
    /// # towline_testkit::in_home!(|compacted| {
    /// let [boundary, prompt] = ["c1", "u2"].map(|uuid| compacted.find(uuid).unwrap());
    /// assert!(!compacted.is_message(boundary) && compacted.is_message(prompt));
    /// # });
    /// ```
    pub fn is_message(&self, id: NodeId) -> bool {
        let node = self.node(id);
        let is_said = matches!(node.kind, NodeKind::User | NodeKind::Assistant);
        // The official SDKs show all that was said in a subagent's transcript.
        let is_hidden = node.is_meta || node.is_team;
        is_said && !self.is_aside(id) && (!is_hidden || self.is_subagent())
    }

    /// The record before, as the record itself names it; nothing if it names none, or one that is not there.
    ///
    /// ```
    /// # towline_testkit::in_home!(|tree| {
    /// let [root, prompt, answer] = ["u1", "u3", "a3"].map(|uuid| tree.find(uuid).unwrap());
    /// assert_eq!(tree.parent(answer), Some(prompt));
    /// assert_eq!(tree.parent(root), None);
    /// # });
    /// ```
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.resolve(self.node(id).parent?)
    }

    /// The last record before a compaction, as its boundary names it.
    fn logical_parent(&self, id: NodeId) -> Option<NodeId> {
        self.resolve(self.node(id).logical_parent?)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    fn resolve(&self, name: Name) -> Option<NodeId> {
        self.by_name.get(name.index()).copied().flatten()
    }

    fn is_current(&self, id: NodeId) -> bool {
        self.resolve(self.node(id).name) == Some(id)
    }

    fn name(&mut self, uuid: &Uuid) -> Name {
        self.names.intern(uuid.as_str())
    }

    fn add_calls(&mut self, id: NodeId, record: &AssistantRecord) {
        let message = record
            .message
            .id
            .as_ref()
            .filter(|id| !id.as_str().is_empty());
        self.nodes[id.index()].message = message.map(|message| self.names.intern(message.as_str()));
        for block in blocks(record.message.content.as_option()) {
            if let Block::ToolUse(call) = block {
                let call = self.call(&call.id);
                self.calls.push((id, call));
            }
        }
    }

    fn add_answers(&mut self, id: NodeId, record: &UserRecord) {
        let source = record.source_tool_assistant_uuid.as_ref();
        self.nodes[id.index()].source = source.map(|uuid| self.name(uuid));
        for block in blocks(record.message.content.as_option()) {
            if let Block::ToolResult(result) = block {
                let call = self.call(&result.tool_use_id);
                self.answers.push((id, call));
            }
        }
    }

    fn call(&mut self, id: &ToolUseId) -> Name {
        self.names.intern(id.as_str())
    }

    fn add_kept(&mut self, record: &SystemRecord) {
        let Some(compaction) = record.compaction() else {
            return;
        };
        let Compaction {
            preserved_segment,
            preserved_messages,
            ..
        } = compaction;
        if let Some(messages) = preserved_messages
            && let Some((anchor, uuids)) = messages.anchor_uuid.zip(messages.uuids)
        {
            let anchor = self.name(&anchor);
            let which = KeptMessages::Each(uuids.iter().map(|uuid| self.name(uuid)).collect());
            self.kept.push(Kept { anchor, which });
        } else if let Some(stretch) = preserved_segment
            && let (Some(anchor), Some(head), Some(tail)) =
                (stretch.anchor_uuid, stretch.head_uuid, stretch.tail_uuid)
        {
            let [anchor, head, tail] = [anchor, head, tail].map(|uuid| self.name(&uuid));
            let which = KeptMessages::Stretch { head, tail };
            self.kept.push(Kept { anchor, which });
        }
    }
}

fn kind_of(record: &Record) -> Option<NodeKind> {
    Some(match record {
        Record::User(_) => NodeKind::User,
        Record::Assistant(_) => NodeKind::Assistant,
        Record::System(_) => NodeKind::System,
        Record::Attachment(_) => NodeKind::Attachment,
        Record::Progress(_) => NodeKind::Progress,
        _ => return None,
    })
}

fn blocks(content: Option<&Content>) -> &[Block] {
    content.map(Content::blocks).unwrap_or_default()
}

fn milliseconds(time: Option<&Text>) -> i64 {
    let time = time.and_then(|time| time.parse::<Timestamp>().ok());
    time.map_or(i64::MIN, Timestamp::as_millisecond)
}
