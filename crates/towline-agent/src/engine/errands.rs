//! Answers to the host that take a while: worked out off the loop, and none is ever owed.

use std::{collections::HashMap, future::Future};

use tokio::task::{Id, JoinSet};
use towline_protocol::Ticket;

use super::control::{Answered, plain};

/// The errands that are under way.
#[derive(Debug, Default)]
pub(super) struct Errands {
    running: JoinSet<Answered>,
    tickets: HashMap<Id, Ticket>,
}

impl Errands {
    /// Has a request answered by `work`.
    pub(super) fn send(
        &mut self,
        ticket: Ticket,
        work: impl Future<Output = Answered> + Send + 'static,
    ) {
        let id = self.running.spawn(work).id();
        self.tickets.insert(id, ticket);
    }

    /// The same for work that blocks.
    pub(super) fn send_blocking(
        &mut self,
        ticket: Ticket,
        work: impl FnOnce() -> Answered + Send + 'static,
    ) {
        let id = self.running.spawn_blocking(work).id();
        self.tickets.insert(id, ticket);
    }

    /// The next one that is done; nothing if there is none. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Option<(Ticket, Answered)> {
        let (id, answer) = match self.running.join_next_with_id().await? {
            Ok(done) => done,
            // Whoever asked waits, whatever happened here.
            Err(error) => (
                error.id(),
                Err(plain(
                    "the request broke down; this is a mistake in towline",
                )),
            ),
        };
        Some((self.tickets.remove(&id)?, answer))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether to wait for some before there are more.
    pub(super) fn is_full(&self) -> bool {
        self.running.len() >= MOST
    }
}

/// Each may bring an answer of some megabytes.
const MOST: usize = 8;

#[cfg(test)]
mod tests {
    use towline_protocol::{
        ControlLine, ControlRequest, Event, Output, Peer, Request, control::request::GetUsage,
    };

    use super::*;

    /// Tickets as a peer gives them out.
    fn tickets(many: usize) -> Vec<Ticket> {
        let mut peer = Peer::new("test-");
        let mut tickets = Vec::new();
        for number in 0..many {
            let request = Request::GetUsage(GetUsage::default());
            let id = number.to_string();
            peer.handle(ControlLine::Request(ControlRequest::new(
                id.as_str(),
                request,
            )));
            while let Some(output) = peer.poll_output() {
                if let Output::Event(Event::Asked { ticket, .. }) = output {
                    tickets.push(ticket);
                }
            }
        }
        tickets
    }

    #[tokio::test]
    async fn an_errand_that_panics_is_answered_too() {
        let tickets = tickets(2);
        let mut errands = Errands::default();
        errands.send(tickets[0], async { panic!("torn") });
        errands.send_blocking(tickets[1], || panic!("torn"));
        let mut answered = Vec::new();
        while let Some((ticket, answer)) = errands.next().await {
            let failure = answer.unwrap_err();
            assert!(failure.error.contains("broke down"), "{failure:?}");
            answered.push(ticket);
        }
        answered.sort();
        assert_eq!(answered, tickets);
        assert!(errands.is_empty() && errands.tickets.is_empty());
    }

    #[tokio::test]
    async fn there_is_an_end_to_how_many_run_at_once() {
        let mut errands = Errands::default();
        for ticket in tickets(MOST) {
            assert!(!errands.is_full());
            errands.send(ticket, std::future::pending());
        }
        assert!(errands.is_full());
    }
}
