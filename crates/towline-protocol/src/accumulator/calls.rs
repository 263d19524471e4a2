//! [`Calls`]: the tree of tool calls, subagents' calls under the call that started the subagent.

use std::collections::HashMap;

use crate::{ids::ToolUseId, json::Json, tool::ToolName};

/// The tool calls of a session, in the order they began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    calls: Vec<Call>,
    /// Where in the list a call is.
    places: HashMap<ToolUseId, usize>,
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
    /// How many calls are kept at most. When there are more, the oldest quarter is forgotten, finished ones first.
    pub const MAX_KEPT: usize = 256;

    /// One call.
    pub fn get(&self, id: &ToolUseId) -> Option<&Call> {
        self.places.get(id).map(|place| &self.calls[*place])
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
        let input = input.map(Json::detached);
        if let Some(known) = self.known(id) {
            known.input = input.or_else(|| known.input.take());
            return;
        }
        if self.calls.len() >= Self::MAX_KEPT {
            self.forget();
        }
        let id = id.detached();
        self.places.insert(id.clone(), self.calls.len());
        self.calls.push(Call {
            id,
            parent: parent.map(ToolUseId::detached),
            name: ToolName::from(name.as_str()),
            input,
            state: CallState::Open,
        });
    }

    /// Makes room for many at once, because everything behind what is forgotten moves up.
    fn forget(&mut self) {
        let mut surplus = Self::MAX_KEPT / 4;
        let mut stays = |is_over: bool| {
            let goes = is_over && surplus > 0;
            surplus -= usize::from(goes);
            !goes
        };
        self.calls
            .retain(|call| stays(call.state != CallState::Open));
        // Only if hardly any is over.
        self.calls.retain(|_| stays(true));
        let places = self.calls.iter().enumerate();
        self.places = places
            .map(|(place, call)| (call.id.clone(), place))
            .collect();
    }

    fn known(&mut self, id: &ToolUseId) -> Option<&mut Call> {
        let place = *self.places.get(id)?;
        self.calls.get_mut(place)
    }

    pub(super) fn finish(&mut self, id: &ToolUseId, failed: bool) {
        if let Some(call) = self.known(id) {
            call.state = if failed {
                CallState::Failed
            } else {
                CallState::Done
            };
        }
    }
}
