//! Which reply a request gets. Pure: it knows the script, what was used of it, and nothing of connections.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::{
    Reply, Script,
    script::{Refusals, SideRules},
    seen::{Seen, Side},
};

/// The script and what was used of it.
#[derive(Debug)]
pub(super) struct Desk {
    script: Script,
    slots: Vec<Slot>,
    default: Option<Arc<Reply>>,
}

#[derive(Debug)]
struct Slot {
    name: String,
    reply: Arc<Reply>,
    used: u64,
}

/// The reply to a request.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) reply: Arc<Reply>,
    pub(super) is_side: bool,
}

/// How far a reply was used, for whoever asks.
#[derive(Debug, Serialize)]
pub(super) struct Used {
    name: String,
    used: u64,
    /// Nothing is forever.
    times: Option<u64>,
}

impl Desk {
    pub(super) fn of(script: Script) -> Self {
        let mut desk = Self {
            default: script.default.clone().map(Arc::new),
            slots: Vec::new(),
            script,
        };
        desk.add(desk.script.replies.clone());
        desk
    }

    /// Back to the script as it was at the start.
    pub(super) fn reset(&mut self) {
        *self = Self::of(std::mem::take(&mut self.script));
    }

    pub(super) fn add(&mut self, replies: Vec<Reply>) {
        for reply in replies {
            let number = self.slots.len() + 1;
            self.slots.push(Slot {
                name: reply
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("reply {number}")),
                reply: Arc::new(reply),
                used: 0,
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether side requests count as part of the conversation.
    pub(super) fn side_rules(&self) -> SideRules {
        self.script.side_rules
    }

    /// Whether requests are refused that the API would refuse.
    pub(super) fn refusals(&self) -> Refusals {
        self.script.refusals
    }

    /// Conditions first, in order; then the replies without one, in order; then the default.
    pub(super) fn choose(&mut self, seen: &Seen) -> Option<Choice> {
        let marked = self.slots.iter().position(|slot| {
            !slot.reply.when.is_empty() && slot.is_left() && slot.reply.when.holds(seen)
        });
        if let (None, Some(side)) = (marked, seen.side) {
            return Some(side_choice(side));
        }
        let next = || {
            let mut slots = self.slots.iter();
            slots.position(|slot| slot.reply.when.is_empty() && slot.is_left())
        };
        if let Some(at) = marked.or_else(next) {
            let slot = &mut self.slots[at];
            slot.used += 1;
            return Some(Choice {
                name: slot.name.clone(),
                is_side: slot.reply.side || seen.side.is_some(),
                reply: Arc::clone(&slot.reply),
            });
        }
        self.default.as_ref().map(|reply| Choice {
            name: "default".to_owned(),
            is_side: reply.side,
            reply: Arc::clone(reply),
        })
    }

    /// Why a request got nothing, and what to do.
    pub(super) fn nothing_left(&self, index: u64, seen: &Seen) -> String {
        let total = self.slots.len();
        let left = self.slots.iter().filter(|slot| slot.is_left()).count();
        let replies = match (total, left) {
            (0, _) => "the script has no reply".to_owned(),
            (_, 0) => format!("all {total} replies of the script are used up"),
            _ => format!("none of the {left} replies that are left answers it"),
        };
        let prompt: String = seen
            .prompt
            .iter()
            .flat_map(|prompt| prompt.chars())
            .take(80)
            .collect();
        format!(
            "script: request {index} found no reply (model {}, prompt {}): {replies}; add a reply, `times` or a [default]",
            seen.model,
            json!(prompt)
        )
    }

    pub(super) fn used(&self) -> Vec<Used> {
        let slots = self.slots.iter().map(|slot| Used {
            name: slot.name.clone(),
            used: slot.used,
            times: slot.reply.times,
        });
        slots.collect()
    }
}

impl Slot {
    fn is_left(&self) -> bool {
        self.reply.times.is_none_or(|times| self.used < times)
    }
}

/// What an agent gets that asks for itself: an answer that fits and changes nothing.
fn side_choice(side: Side) -> Choice {
    let (name, text) = match side {
        Side::Title => ("side title", r#"{"title":"Scripted session"}"#),
        Side::Suggestion => ("side suggestion", "go on"),
        Side::Quota => ("side quota", "ok"),
    };
    Choice {
        name: name.to_owned(),
        reply: Arc::new(Reply::text(text)),
        is_side: true,
    }
}
