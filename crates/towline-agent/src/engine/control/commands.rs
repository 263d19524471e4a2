//! What hosts ask about running commands. The answers take a while, and nobody waits for them but the host.

use towline_protocol::{Ticket, control::answer::TaskOutputAnswer};

use super::{super::Engine, empty, plain, value};

/// How much of a command's output a host gets.
const MOST: u64 = 1 << 20;

impl Engine {
    /// Ends a command in the background. One that is not there needs no end.
    pub(super) fn stop_task(&mut self, ticket: Ticket, id: String) {
        let commands = self.commands.clone();
        self.errands.send(ticket, async move {
            commands.stop(&id).await;
            empty()
        });
    }

    /// What a command in the background has written.
    pub(super) fn task_output(&mut self, ticket: Ticket, id: String) {
        let commands = self.commands.clone();
        self.errands.send(ticket, async move {
            match commands.output(&id, MOST).await {
                None => Err(plain(
                    "get_task_output: no command with that task_id in this session",
                )),
                Some(Err(error)) => Err(plain(format!("get_task_output: {error}"))),
                Some(Ok(excerpt)) => value(&TaskOutputAnswer {
                    output: excerpt.text.into(),
                    total_bytes: Some(excerpt.total_bytes),
                    truncated: Some(excerpt.is_cut),
                    ..TaskOutputAnswer::default()
                }),
            }
        });
    }
}
