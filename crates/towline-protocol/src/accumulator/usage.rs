//! [`Usages`]: tokens of the main thread and of each subagent, kept apart (document 001 §6.4).

use crate::{
    ids::{MessageId, ToolUseId},
    json::Number,
    message::{ModelMessage, Usage},
    result::TurnResult,
};

/// What the threads of a session have used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usages {
    threads: Vec<Thread>,
    cost: Option<Number>,
    context: u64,
}

/// Tokens added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tokens read, without the cached ones.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens taken from the cache.
    pub cache_read: u64,
    /// Tokens put into the cache.
    pub cache_creation: u64,
    /// Model calls.
    pub messages: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Thread {
    parent: Option<ToolUseId>,
    /// Messages that are over.
    past: Tally,
    /// The message that is not.
    current: Option<Current>,
}

/// A message whose counts are replaced as they come, not added. They alone are kept, for there may be many threads.
#[derive(Clone, Debug, Default, PartialEq)]
struct Current {
    id: Option<MessageId>,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
}

impl Usages {
    /// Of how many subagents the tokens are kept. Past that those that began first are forgotten.
    pub const MAX_SUBAGENTS: usize = 1024;

    /// The main thread.
    pub fn main(&self) -> Tally {
        self.thread(None).map(Thread::total).unwrap_or_default()
    }

    /// The subagent that a call started.
    pub fn subagent(&self, call: &ToolUseId) -> Tally {
        self.thread(Some(call))
            .map(Thread::total)
            .unwrap_or_default()
    }

    /// All subagents, each with the call that started it.
    pub fn subagents(&self) -> impl Iterator<Item = (&ToolUseId, Tally)> {
        self.threads.iter().filter_map(|thread| {
            thread
                .parent
                .as_ref()
                .map(|parent| (parent, thread.total()))
        })
    }

    /// Tokens in the context of the main thread after its last model call. Subagents have a context of their own.
    pub fn context_tokens(&self) -> u64 {
        self.context
    }

    /// Cost of the session in US dollars, as the last result has it.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost.as_ref().map(Number::as_f64)
    }

    /// A message begins, or a line of it came: its lines share an id and count once.
    pub(super) fn message(&mut self, parent: Option<&ToolUseId>, message: &ModelMessage) {
        let synthetic = message.model.as_deref() == Some("<synthetic>");
        let Some(usage) = message.usage.as_option().filter(|_| !synthetic) else {
            return;
        };
        let thread = self.thread_mut(parent);
        match &thread.current {
            Some(current) if current.id == message.id && current.id.is_some() => {}
            _ => {
                thread.close();
                thread.current = Some(Current {
                    id: message.id.as_ref().map(MessageId::detached),
                    ..Current::default()
                });
                thread.renew(usage);
                self.note_context(parent);
            }
        }
    }

    /// Newer counts of the message in progress.
    pub(super) fn update(&mut self, parent: Option<&ToolUseId>, newer: &Usage) {
        self.thread_mut(parent).renew(newer);
        self.note_context(parent);
    }

    pub(super) fn result(&mut self, result: &TurnResult) {
        if let Some(cost) = &result.total_cost_usd {
            self.cost = Some(cost.clone());
        }
    }

    fn note_context(&mut self, parent: Option<&ToolUseId>) {
        if parent.is_none() {
            let current = self.thread(None).and_then(|thread| thread.current.as_ref());
            self.context = current.map_or(0, Current::context);
        }
    }

    fn thread(&self, parent: Option<&ToolUseId>) -> Option<&Thread> {
        self.threads
            .iter()
            .find(|thread| thread.parent.as_ref() == parent)
    }

    fn thread_mut(&mut self, parent: Option<&ToolUseId>) -> &mut Thread {
        let place = self
            .threads
            .iter()
            .position(|thread| thread.parent.as_ref() == parent);
        let place = place.unwrap_or_else(|| {
            let past = Tally::default();
            if self.threads.len() > Self::MAX_SUBAGENTS {
                let subagent = |thread: &Thread| thread.parent.is_some();
                let oldest = self.threads.iter().position(subagent).unwrap_or(0);
                self.threads.remove(oldest);
            }
            self.threads.push(Thread {
                parent: parent.map(ToolUseId::detached),
                past,
                current: None,
            });
            self.threads.len() - 1
        });
        &mut self.threads[place]
    }
}

impl Thread {
    /// Takes over the counts that a later line has; what else it says of the usage is not kept.
    fn renew(&mut self, newer: &Usage) {
        let current = self.current.get_or_insert_default();
        let counts = [
            (&mut current.input, newer.input_tokens.as_ref()),
            (&mut current.output, newer.output_tokens.as_ref()),
            (
                &mut current.cache_read,
                newer.cache_read_input_tokens.as_option(),
            ),
            (
                &mut current.cache_creation,
                newer.cache_creation_input_tokens.as_option(),
            ),
        ];
        for (count, newer) in counts {
            *count = newer.copied().unwrap_or(*count);
        }
    }

    fn close(&mut self) {
        self.past = self.total();
        self.current = None;
    }

    fn total(&self) -> Tally {
        let Some(current) = &self.current else {
            return self.past;
        };
        Tally {
            input: self.past.input + current.input,
            output: self.past.output + current.output,
            cache_read: self.past.cache_read + current.cache_read,
            cache_creation: self.past.cache_creation + current.cache_creation,
            messages: self.past.messages + 1,
        }
    }
}

impl Current {
    /// As [`Usage::context_tokens`].
    fn context(&self) -> u64 {
        self.input + self.cache_creation + self.cache_read + self.output
    }
}
