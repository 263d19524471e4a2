//! Owns what the benchmark asks of a client, and the list entry made from it.

use crate::decoder::Role;
use crate::items::{CheapSum, ItemHashes};
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

use crate::items::Sink;

/// What a client gave to its caller.
#[derive(Default)]
pub struct Tally<S> {
    /// Lines that came as a message with content.
    pub delivered: usize,
    pub sink: S,
}

impl<S> Tally<S> {
    /// Takes a message: counts it and reads its items, see `items`.
    pub fn read(&mut self, read: impl FnOnce(&mut S)) {
        self.delivered += 1;
        read(&mut self.sink);
    }
}

/// Why a client stopped before the end.
pub type Problem = Box<dyn Error + Send + Sync>;

/// One client: how it starts an agent and gives out what the agent says.
pub trait Client {
    const NAME: &'static str;
    const ROLE: Role;

    /// Starts `agent` and reads its messages to the end, by the client's own call for
    /// streaming.
    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem>;
}

/// A [`Client`] as an entry of a list.
pub struct Row {
    pub name: &'static str,
    pub role: Role,
    /// The timed work.
    pub timed: fn(&Runtime, &Path, &mut Tally<CheapSum>) -> Result<(), Problem>,
    /// The same with a hash of each item.
    pub proof: fn(&Runtime, &Path, &mut Tally<ItemHashes>) -> Result<(), Problem>,
}

impl Row {
    pub fn of<C: Client>() -> Self {
        Self {
            name: C::NAME,
            role: C::ROLE,
            timed: |runtime, agent, tally| runtime.block_on(in_time(C::run(agent, tally))),
            proof: |runtime, agent, tally| runtime.block_on(in_time(C::run(agent, tally))),
        }
    }
}

async fn in_time(run: impl Future<Output = Result<(), Problem>>) -> Result<(), Problem> {
    match tokio::time::timeout(LONGEST, run).await {
        Ok(ended) => ended,
        Err(_) => Err(format!("has not ended after {LONGEST:?}").into()),
    }
}

/// A client that waits for ever must not stop the others.
const LONGEST: Duration = Duration::from_secs(60);
