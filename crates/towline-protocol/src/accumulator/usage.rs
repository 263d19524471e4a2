//! [`Usages`]: tokens of the main thread and of each subagent, kept apart (document 001 §6.4).
//!
//! Lines tell how a message began: what was written in the end comes with stream events, which the real CLI 2.1.325 sends
//! for the main thread alone, and with the result. So each result puts the sums right.

use crate::{
    ids::{MessageId, ToolUseId},
    json::Number,
    message::{ModelMessage, ModelUsages, Usage},
    result::TurnResult,
};

/// What the threads of a session have used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usages {
    threads: Vec<Thread>,
    /// Subagents that are no longer among the threads.
    forgotten: Tally,
    /// What the last result left: the main thread, and what the lines and the result itself told of all others.
    settled: Settled,
    cost: Option<Number>,
    context: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Settled {
    main: Tally,
    others_by_lines: Tally,
    others: Tally,
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

    /// The main thread: at the end of each turn what the agent counted, in between what is known so far.
    pub fn main(&self) -> Tally {
        self.thread(None).map(Thread::total).unwrap_or_default()
    }

    /// The subagent that a call started. Of what it wrote this is the least: the real CLI tells how a subagent's messages
    /// begin and not how they end. [`Usages::all_subagents`] is exact.
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

    /// All subagents together: at the end of each turn what the agent counted, in between what is known so far. What an
    /// agent asks a model beside the conversation, such as for a title, it counts with them.
    pub fn all_subagents(&self) -> Tally {
        let since = self.others_by_lines().since(self.settled.others_by_lines);
        self.settled.others.plus(since)
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

    /// A turn is over. Its own usage is that of the main thread, and what its models have used is that of all.
    pub(super) fn result(&mut self, result: &TurnResult) {
        if let Some(cost) = &result.total_cost_usd {
            self.cost = Some(cost.clone());
        }
        let told = result
            .usage
            .as_option()
            .map(Tally::told)
            .unwrap_or_default();
        // A turn that failed may count nothing: what lines told was used all the same.
        let turn = self.main().since(self.settled.main).at_least(told);
        let main = self.settled.main.plus(turn);
        let thread = self.thread_mut(None);
        thread.past = main;
        thread.current = None;
        let models = result.model_usage_since_last_result.as_ref();
        let others = models.map(|models| Tally::of_all(models).since(told));
        let by_lines = self.others_by_lines();
        let since = by_lines.since(self.settled.others_by_lines);
        self.settled = Settled {
            main,
            others_by_lines: by_lines,
            others: (self.settled.others).plus(since.at_least(others.unwrap_or_default())),
        };
    }

    fn others_by_lines(&self) -> Tally {
        let totals = self.subagents().map(|(_, total)| total);
        totals.fold(self.forgotten, Tally::plus)
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
                self.forgotten = self.forgotten.plus(self.threads.remove(oldest).total());
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

impl Tally {
    fn told(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            cache_read: (usage.cache_read_input_tokens.as_option()).map_or(0, |count| *count),
            cache_creation: (usage.cache_creation_input_tokens.as_option())
                .map_or(0, |count| *count),
            messages: 0,
        }
    }

    fn of_all(models: &ModelUsages) -> Self {
        models.iter().fold(Self::default(), |sum, (_, model)| {
            sum.plus(Self {
                input: model.input_tokens.unwrap_or_default(),
                output: model.output_tokens.unwrap_or_default(),
                cache_read: model.cache_read_input_tokens.unwrap_or_default(),
                cache_creation: model.cache_creation_input_tokens.unwrap_or_default(),
                messages: 0,
            })
        })
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    fn at_least(self, other: Self) -> Self {
        self.with(other, u64::max)
    }

    fn with(self, other: Self, of: fn(u64, u64) -> u64) -> Self {
        Self {
            input: of(self.input, other.input),
            output: of(self.output, other.output),
            cache_read: of(self.cache_read, other.cache_read),
            cache_creation: of(self.cache_creation, other.cache_creation),
            messages: of(self.messages, other.messages),
        }
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
        self.past.plus(Tally {
            input: current.input,
            output: current.output,
            cache_read: current.cache_read,
            cache_creation: current.cache_creation,
            messages: 1,
        })
    }
}

impl Current {
    /// As [`Usage::context_tokens`].
    fn context(&self) -> u64 {
        [self.cache_creation, self.cache_read, self.output]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }
}
