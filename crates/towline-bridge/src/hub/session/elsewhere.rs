//! What was said elsewhere, such as in a terminal: it is taken in before anything new is said here, so that the numbers
//! are in the order of the conversation. What a client wants meanwhile waits.

use towline_protocol::{SessionId, Text};

use crate::{
    Kind, NoteCode,
    hub::{Command, Output, Refusal, Ticket},
};

use super::{Agent, Ends, Session};

/// What is known of what was said elsewhere.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    look: Look,
    /// When somebody last looked.
    looked_at: Option<u64>,
    /// What waits until somebody has looked.
    held: Vec<(Command, Ticket)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Look {
    #[default]
    None,
    /// Somebody looks, and has found nothing yet.
    Begun,
    /// Something was found, and said to be.
    Found,
}

/// How sure one has to be that all is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hub) enum Haste {
    /// Something is to be said after it.
    Now,
    /// Somebody looks at the session.
    Lately,
}

impl Session {
    /// Has somebody look for what was said elsewhere, where that can be; whether what is wanted has to wait for it.
    pub(in crate::hub) fn look_elsewhere(&mut self, haste: Haste, now: u64) -> bool {
        if self.elsewhere.look != Look::None {
            return true;
        }
        let is_recent = |at: u64| haste == Haste::Lately && now < at.saturating_add(LATELY);
        let Some(id) = self.transcript_at_rest() else {
            return false;
        };
        if self.elsewhere.looked_at.is_some_and(is_recent) {
            return false;
        }
        self.elsewhere.look = Look::Begun;
        self.elsewhere.looked_at = Some(now);
        let output = Output::Look {
            session: self.id().clone(),
            agent_session_id: id,
            last_seq: self.record.last_seq,
        };
        self.sequence.put_out(output);
        true
    }

    /// Lets something wait until somebody has looked.
    pub(in crate::hub) fn hold(&mut self, command: Command, ticket: Ticket) -> Result<(), Refusal> {
        if self.elsewhere.held.len() >= MOST_HELD {
            let why = "what was said elsewhere is being read; try again in a moment".to_owned();
            return Err(Refusal::Busy(why));
        }
        self.elsewhere.held.push((command, ticket));
        Ok(())
    }

    /// Whether something waits for that.
    pub(in crate::hub) fn holds(&self) -> bool {
        !self.elsewhere.held.is_empty()
    }

    /// These lines were said elsewhere.
    pub(in crate::hub) fn take_in(&mut self, lines: Vec<Text>, now: u64) {
        if self.elsewhere.look == Look::Begun {
            self.elsewhere.look = Look::Found;
            let text = "The session was continued elsewhere.";
            self.note(NoteCode::TakenIn, text, now);
        }
        for line in lines {
            self.append_body(Kind::Line, line, Ends::None, now);
        }
        self.settle();
    }

    /// There is no more; gives what has waited.
    pub(in crate::hub) fn looked(&mut self) -> Vec<(Command, Ticket)> {
        self.elsewhere.look = Look::None;
        self.held()
    }

    /// What waits until somebody has looked, and is not to wait any more.
    pub(in crate::hub) fn held(&mut self) -> Vec<(Command, Ticket)> {
        std::mem::take(&mut self.elsewhere.held)
    }

    /// What the agent calls the session, if its transcript can have grown without the agent of the bridge.
    fn transcript_at_rest(&self) -> Option<SessionId> {
        let is_at_rest = matches!(self.agent, Agent::Asleep | Agent::Dead);
        let id = self.record.agent_session_id.clone();
        id.filter(|_| is_at_rest && self.record.last_seq > 0 && !self.setup.options.forget)
    }
}

/// Milliseconds in which nobody looks again only because a session is looked at.
const LATELY: u64 = 2_000;
/// How much may wait until somebody has looked.
const MOST_HELD: usize = 100;
