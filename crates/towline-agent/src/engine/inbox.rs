//! What the host has said and the agent has not taken up yet.

use std::collections::{HashSet, VecDeque};

use towline_protocol::{Content, Origin, User, Uuid};

use super::slash::Command;
use crate::history::prompt_blocks;

/// The prompts that wait.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    waiting: VecDeque<Prompt>,
    /// How many bytes of the host's lines that is.
    size: usize,
    /// The ids that were given; a prompt that comes again is not run again.
    known: HashSet<Uuid>,
}

/// Something the host said.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    /// The id the host gave it.
    pub(super) uuid: Option<Uuid>,
    /// The words.
    pub(super) content: Option<Content>,
    /// Whether the model is to answer.
    pub(super) query: bool,
    /// Whether the host means it word for word.
    pub(super) verbatim: bool,
    /// Who wrote it, as the host says.
    pub(super) origin: Option<Origin>,
    /// Whether the agent itself says it, not the host.
    pub(super) is_own: bool,
    /// How long its line is.
    size: usize,
}

/// What becomes of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It waits for its turn.
    Queued,
    /// It cannot wait.
    Urgent,
    /// It was there before.
    Again,
    /// There are too many.
    Full,
}

impl Inbox {
    /// Takes a prompt whose line is `size` bytes long.
    pub(super) fn take(&mut self, line: &User, size: usize) -> Taken {
        let uuid = line.uuid.as_ref().map(Uuid::detached);
        if uuid.as_ref().is_some_and(|uuid| self.known.contains(uuid)) {
            return Taken::Again;
        }
        // One always finds room, however long it is.
        let has_room = self.waiting.len() < MOST_WAITING && self.size + size <= MOST_BYTES;
        if !has_room && !self.waiting.is_empty() {
            return Taken::Full;
        }
        self.size += size;
        self.known.extend(uuid.clone());
        self.waiting.push_back(Prompt {
            uuid,
            content: line.message.content.as_option().cloned(),
            query: line.should_query != Some(false),
            verbatim: line.client_composed == Some(true),
            origin: line.origin.clone(),
            is_own: false,
            size,
        });
        if line.priority.as_deref() == Some("now") {
            Taken::Urgent
        } else {
            Taken::Queued
        }
    }

    /// Adds something that the agent itself has to say. It always finds room: there is no more of it than was set off.
    pub(super) fn add_own(&mut self, content: Content, origin: Origin) {
        self.waiting.push_back(Prompt {
            uuid: None,
            content: Some(content),
            query: true,
            verbatim: true,
            origin: Some(origin),
            is_own: true,
            size: 0,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The prompts of the next turn: all that wait, but what is only to be added stands alone, and so does a command.
    pub(super) fn next_batch(&mut self) -> Vec<Prompt> {
        let alone = self.waiting.iter().position(Prompt::stands_alone);
        let end = match alone {
            None => self.waiting.len(),
            Some(first) => first.max(1),
        };
        let batch = self.waiting.drain(..end).collect();
        self.measure();
        batch
    }

    /// Whether the next prompt can go to the model with the results of calls.
    pub(super) fn joins(&self) -> bool {
        self.waiting
            .front()
            .is_some_and(|prompt| Command::of(prompt).is_none())
    }

    /// The ids of what waits.
    pub(super) fn ids(&self) -> Vec<Uuid> {
        self.waiting
            .iter()
            .filter_map(|prompt| prompt.uuid.clone())
            .collect()
    }

    /// Forgets what the host said and what waits; the ids of it.
    pub(super) fn cancel_all(&mut self) -> Vec<Uuid> {
        let ids = self.ids();
        self.waiting.retain(|prompt| prompt.is_own);
        self.measure();
        ids
    }

    /// Forgets one prompt that waits. Whether there was one.
    pub(super) fn cancel(&mut self, uuid: &Uuid) -> bool {
        let before = self.waiting.len();
        self.waiting
            .retain(|prompt| prompt.uuid.as_ref() != Some(uuid));
        self.measure();
        self.waiting.len() < before
    }

    fn measure(&mut self) {
        self.size = self.waiting.iter().map(|prompt| prompt.size).sum();
    }
}

impl Prompt {
    fn stands_alone(&self) -> bool {
        !self.query || Command::of(self).is_some()
    }

    /// What set off the turn of these prompts, where that was not simply the host.
    pub(super) fn origin_of(prompts: &[Self]) -> Option<Origin> {
        let mut said = prompts.iter().filter(|prompt| !prompt.is_own).peekable();
        match said.peek() {
            Some(_) => said.find_map(|prompt| prompt.origin.clone()),
            None => prompts.first().and_then(|prompt| prompt.origin.clone()),
        }
    }

    /// Several prompts as one. Words alone are joined by line ends, as the real CLI does.
    pub(super) fn joined(prompts: &[Self]) -> Option<Content> {
        let text = |prompt: &Self| match &prompt.content {
            Some(Content::Text(text)) => Some(text.to_string()),
            _ => None,
        };
        match prompts {
            [] => None,
            [only] => only.content.clone(),
            several => match several.iter().map(text).collect::<Option<Vec<_>>>() {
                Some(texts) => Some(Content::from(texts.join("\n").as_str())),
                None => {
                    let blocks = several
                        .iter()
                        .flat_map(|prompt| prompt_blocks(prompt.content.as_ref()))
                        .filter_map(|json| {
                            towline_protocol::Wire::from_json(json.text().clone()).ok()
                        });
                    Some(Content::Blocks(blocks.collect()))
                }
            },
        }
    }
}

/// How many prompts may wait, and how many bytes of them.
const MOST_WAITING: usize = 10_000;
const MOST_BYTES: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_has_a_bound_and_what_is_taken_up_makes_room() {
        for (size, most) in [(1, MOST_WAITING), (MOST_BYTES / 4, 4), (2 * MOST_BYTES, 1)] {
            let mut inbox = Inbox::default();
            for _ in 0..most {
                assert_eq!(inbox.take(&User::say("more"), size), Taken::Queued);
            }
            assert_eq!(inbox.take(&User::say("more"), size), Taken::Full, "{size}");
            assert_eq!(inbox.next_batch().len(), most);
            assert_eq!(inbox.take(&User::say("more"), size), Taken::Queued);
            inbox.cancel_all();
            assert_eq!(inbox.size, 0);
        }
    }
}
