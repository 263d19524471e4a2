//! The calls of one message: which may begin, which run, what they gave.
//!
//! Calls that only read run side by side; any other waits until all before it are over, and holds those after it.

use serde_json::Value;
use towline_protocol::{
    Block, Content, Extra, Json, Nullable, PermissionDenial, ToolName, ToolResultBlock,
    ToolResultMeta, ToolUseBlock, ToolUseId,
};

use crate::tools::{Outcome, ToolCall};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Its id.
    pub(crate) id: ToolUseId,
    /// The tool.
    pub(crate) name: ToolName,
    /// Its input: the model's, or what whoever allowed the call made of it.
    pub(crate) input: Value,
}

/// What was decided about a call.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It runs.
    Run {
        /// With this input.
        input: Value,
        /// Who allowed it.
        meta: Option<ToolResultMeta>,
    },
    /// It does not.
    Refuse(Refusal),
}

/// Why a call does not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What the model is told.
    pub(crate) outcome: Outcome,
    /// Who refused it.
    pub(crate) meta: Option<ToolResultMeta>,
    /// Whether it counts as denied, rather than as wrong.
    pub(crate) denied: bool,
    /// Whether the turn is to end with it.
    pub(crate) stop: bool,
}

/// A call that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The call.
    pub(crate) call: Call,
    /// What it gave.
    pub(crate) outcome: Outcome,
    /// Who decided about it.
    pub(crate) meta: Option<ToolResultMeta>,
}

/// The calls of one message.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    call: Call,
    beside_others: bool,
    meta: Option<ToolResultMeta>,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting,
    Considered,
    Allowed,
    Running,
    /// Over, and not told yet.
    Ended(Box<Outcome>),
    /// Over and told; what the model gets: the result, and what is to be said after all results.
    Shown(Vec<Block>),
}

impl Call {
    pub(super) fn new(block: &ToolUseBlock) -> Self {
        let input = block.input.as_ref().and_then(|input| input.parse().ok());
        Self {
            id: block.id.clone(),
            name: block.name.clone(),
            input: input.unwrap_or(Value::Null),
        }
    }
}

impl Calls {
    pub(super) fn add(&mut self, call: Call) {
        self.slots.push(Slot {
            beside_others: only_reads(&call),
            call,
            meta: None,
            state: State::Waiting,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The calls to decide about now.
    pub(super) fn next_to_consider(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        for place in 0..self.slots.len() {
            if self.may_begin(place) {
                self.slots[place].state = State::Considered;
                calls.push(self.slots[place].call.clone());
            }
        }
        calls
    }

    fn may_begin(&self, place: usize) -> bool {
        let slot = &self.slots[place];
        matches!(slot.state, State::Waiting)
            && self.slots[..place]
                .iter()
                .all(|before| before.is_over() || (before.beside_others && slot.beside_others))
    }

    /// Notes a decision. What is denied goes into the turn's result.
    pub(super) fn decide(&mut self, id: &ToolUseId, verdict: Verdict) -> Option<PermissionDenial> {
        let slot = self.find(id, |state| matches!(state, State::Considered))?;
        match verdict {
            Verdict::Run { input, meta } => {
                slot.call.input = input;
                slot.meta = meta;
                slot.state = State::Allowed;
                None
            }
            Verdict::Refuse(refusal) => {
                slot.meta = refusal.meta;
                slot.state = State::Ended(Box::new(refusal.outcome));
                refusal.denied.then(|| denial(&slot.call))
            }
        }
    }

    /// The calls to run now.
    pub(super) fn next_to_run(&mut self) -> Vec<Call> {
        let allowed = self
            .slots
            .iter_mut()
            .filter(|slot| matches!(slot.state, State::Allowed));
        allowed
            .map(|slot| {
                slot.state = State::Running;
                slot.call.clone()
            })
            .collect()
    }

    /// Notes what a call gave.
    pub(super) fn end(&mut self, id: &ToolUseId, outcome: Outcome) {
        if let Some(slot) = self.find(id, |state| matches!(state, State::Running)) {
            if outcome.is_misuse() {
                // A call that was wrong was never one to decide about.
                slot.meta = None;
            }
            slot.state = State::Ended(Box::new(outcome));
        }
    }

    /// Ends the commands that run, as killed. Other tools leave nothing half done that could be told.
    pub(super) fn kill_commands(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot.state, State::Running) && slot.call.name.as_str() == "Bash" {
                slot.state = State::Ended(Box::new(Outcome::error(KILLED)));
            }
        }
    }

    /// The calls that are over and not told yet.
    pub(super) fn next_to_show(&mut self) -> Vec<Ended> {
        let mut shown = Vec::new();
        for slot in &mut self.slots {
            if !matches!(slot.state, State::Ended(_)) {
                continue;
            }
            let state = std::mem::replace(&mut slot.state, State::Shown(Vec::new()));
            let State::Ended(outcome) = state else {
                continue;
            };
            let mut blocks = vec![result_block(&slot.call, &outcome)];
            blocks.extend(outcome.afterwards.as_deref().map(Block::text));
            slot.state = State::Shown(blocks);
            shown.push(Ended {
                call: slot.call.clone(),
                outcome: *outcome,
                meta: slot.meta.take(),
            });
        }
        shown
    }

    pub(super) fn all_ended(&self) -> bool {
        self.slots
            .iter()
            .all(|slot| matches!(slot.state, State::Shown(_)))
    }

    /// The results for the model, in the order of the calls; other words follow them.
    pub(super) fn take_results(&mut self) -> Vec<Block> {
        let slots = std::mem::take(&mut self.slots);
        let shown = slots.into_iter().filter_map(|slot| match slot.state {
            State::Shown(blocks) => Some(blocks),
            _ => None,
        });
        let (mut results, words): (Vec<_>, Vec<_>) = shown
            .flatten()
            .partition(|block| matches!(block, Block::ToolResult(_)));
        results.extend(words);
        results
    }

    /// The calls that somebody may be deciding about.
    pub(super) fn open_questions(&self) -> Vec<ToolUseId> {
        let open = self
            .slots
            .iter()
            .filter(|slot| matches!(slot.state, State::Considered));
        open.map(|slot| slot.call.id.clone()).collect()
    }

    /// Ends what is not over, as somebody wanted; what counts as denied by that.
    pub(super) fn reject_open(&mut self) -> Vec<PermissionDenial> {
        let mut denials = Vec::new();
        for slot in &mut self.slots {
            if slot.is_over() {
                continue;
            }
            if matches!(slot.state, State::Considered) {
                denials.push(denial(&slot.call));
            }
            slot.meta = Some(rejected_by_user(&slot.call.id));
            slot.state = State::Ended(Box::new(rejected()));
        }
        denials
    }

    fn find(&mut self, id: &ToolUseId, fits: impl Fn(&State) -> bool) -> Option<&mut Slot> {
        self.slots
            .iter_mut()
            .find(|slot| slot.call.id == *id && fits(&slot.state))
    }
}

impl Slot {
    fn is_over(&self) -> bool {
        matches!(self.state, State::Ended(_) | State::Shown(_))
    }
}

/// What the real CLI says of a call that a person rejected by stopping the turn.
pub(crate) fn rejected_by_user(id: &ToolUseId) -> ToolResultMeta {
    ToolResultMeta {
        id: id.clone(),
        permission_decision: None,
        non_execution_kind: Some("user-rejected".into()),
        extra: Extra::default(),
    }
}

/// What a call gives that somebody stopped.
pub(crate) fn rejected() -> Outcome {
    Outcome {
        data: Box::new(Value::String("User rejected tool use".into())),
        is_error: Some(true),
        ..Outcome::new(REJECTED, Value::Null)
    }
}

fn only_reads(call: &Call) -> bool {
    let read = ToolCall::read(call.name.as_str(), &call.input);
    read.is_some_and(|read| read.is_ok_and(|call| call.only_reads()))
}

fn denial(call: &Call) -> PermissionDenial {
    PermissionDenial {
        tool_name: call.name.clone(),
        tool_use_id: Some(call.id.clone()),
        tool_input: Json::of(&call.input).ok(),
        extra: Extra::default(),
    }
}

fn result_block(call: &Call, outcome: &Outcome) -> Block {
    Block::ToolResult(Box::new(ToolResultBlock {
        tool_use_id: call.id.clone(),
        content: Nullable::Value(Content::clone(&outcome.content)),
        is_error: outcome.is_error.map_or(Nullable::Absent, Nullable::Value),
        cache_control: Nullable::Absent,
        extra: Extra::default(),
    }))
}

const REJECTED: &str = "The user doesn't want to proceed with this tool use: it was rejected, and nothing was changed. \
                        Stop, and wait for the user to say how to go on.";

/// What CLI 2.1.325 says of a command that a signal ended with it (trace `control-09j4_sigterm_midtool`).
const KILLED: &str = "Exit code 137";
