//! [`Calls`]: the tree of tool calls, subagents' calls under the call that started the subagent.

use crate::{ids::ToolUseId, json::Json, tool::ToolName};

/// The tool calls of a session, in the order they began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    calls: Vec<Call>,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The call.
    pub id: ToolUseId,
    /// The call whose subagent made it. The wire names the immediate parent only.
    pub parent: Option<ToolUseId>,
    /// The tool.
    pub name: ToolName,
    /// Its input, once it is whole.
    pub input: Option<Json>,
    /// How far it is.
    pub state: CallState,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Being written, asked about, or running.
    Open,
    /// Done.
    Done,
    /// Failed, denied or interrupted.
    Failed,
}

impl Calls {
    /// How many calls are kept. Past that the oldest finished ones are forgotten.
    pub const MAX_KEPT: usize = 4096;

    /// One call.
    pub fn get(&self, id: &ToolUseId) -> Option<&Call> {
        self.calls.iter().rev().find(|call| call.id == *id)
    }

    /// All calls in the order they began.
    pub fn iter(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter()
    }

    /// The calls that a subagent made; those of the main thread if nothing is given.
    pub fn children<'a>(&'a self, parent: Option<&'a ToolUseId>) -> impl Iterator<Item = &'a Call> {
        self.calls
            .iter()
            .filter(move |call| call.parent.as_ref() == parent)
    }

    /// `parent:child`, the id under which document 001 §6.3 shows a nested call.
    pub fn composite_id(&self, id: &ToolUseId) -> ToolUseId {
        id.composite(self.get(id).and_then(|call| call.parent.as_ref()))
    }

    /// The whole way from the main thread to a call, outermost first.
    pub fn ancestry(&self, id: &ToolUseId) -> Vec<&ToolUseId> {
        let mut way = Vec::new();
        let mut next = self.get(id);
        // A call that claims to be its own ancestor must not lead in a circle.
        while let Some(call) = next.filter(|call| !way.contains(&&call.id)) {
            way.push(&call.id);
            next = call.parent.as_ref().and_then(|parent| self.get(parent));
        }
        way.reverse();
        way
    }

    pub(super) fn begin(
        &mut self,
        id: &ToolUseId,
        parent: Option<&ToolUseId>,
        name: &ToolName,
        input: Option<&Json>,
    ) {
        if let Some(known) = self.calls.iter_mut().rev().find(|call| call.id == *id) {
            known.input = input.cloned().or_else(|| known.input.take());
            return;
        }
        if self.calls.len() >= Self::MAX_KEPT {
            let oldest = self
                .calls
                .iter()
                .position(|call| call.state != CallState::Open)
                .unwrap_or(0);
            self.calls.remove(oldest);
        }
        self.calls.push(Call {
            id: id.clone(),
            parent: parent.cloned(),
            name: name.clone(),
            input: input.cloned(),
            state: CallState::Open,
        });
    }

    pub(super) fn finish(&mut self, id: &ToolUseId, failed: bool) {
        if let Some(call) = self.calls.iter_mut().rev().find(|call| call.id == *id) {
            call.state = if failed {
                CallState::Failed
            } else {
                CallState::Done
            };
        }
    }
}
