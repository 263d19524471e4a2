//! The inputs of a session: which were taken in, which the agent has not begun with, and which it never will.
//!
//! An agent that is busy keeps what it is told until it has time, and would take that along if it died. So an input counts
//! as unheard until the agent says that it has begun with it. Those of an agent that ended wait for its next start. After
//! a restart of the bridge nobody knows what the agent of that time has begun with, so nothing is said a second time:
//! whoever looks is told, and may send it again.

use std::collections::{HashMap, VecDeque};

use towline_protocol::{ToHost, Uuid, dialect::pocket::ClientMessageId};

use crate::{
    Input, Kind, NoteCode,
    hub::{Order, Output, Reply, Status, Ticket},
};

use super::{Agent, Session, Waiting};

/// What is known of the inputs of a session.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The latest, by what their clients call them.
    taken: HashMap<ClientMessageId, u64>,
    /// Those that this run of the agent was given and has not begun with, by number and name. Their words are in the log.
    given: VecDeque<(u64, Option<Uuid>)>,
    /// Whether the agent says with which of them it begins.
    says_so: bool,
}

impl Inputs {
    /// Another run of the agent has begun.
    pub(super) fn begin_run(&mut self) {
        self.says_so = false;
    }

    /// How many the agent has not begun with.
    pub(super) fn given(&self) -> usize {
        self.given.len()
    }

    fn take(&mut self, id: ClientMessageId, seq: u64) {
        self.taken.insert(id, seq);
        if self.taken.len() > MOST_TAKEN
            && let Some(oldest) = self.taken.values().copied().min()
        {
            self.taken.retain(|_, seq| *seq != oldest);
        }
    }
}

impl Session {
    /// Takes in an input, once.
    pub(in crate::hub) fn input(&mut self, input: &Input, ticket: Ticket, now: u64) {
        let known = input.client_message_id.as_ref();
        if let Some(&seq) = known.and_then(|id| self.inputs.taken.get(id)) {
            let reply = Reply::Accepted {
                seq,
                queued: false,
                repeated: true,
            };
            self.reply(ticket, reply);
            if self.record.unheard.contains(&seq) {
                // Whoever sends it again wants it done.
                self.wake();
            }
            return;
        }
        if let Err(refusal) = self.check_waiting() {
            return self.reply(ticket, Reply::Refused(refusal));
        }
        self.warn_of_forgetting(now);
        let queued = self.status() != Status::Idle && self.status() != Status::Dead;
        let seq = self.record.last_seq + 1;
        if let Some(id) = &input.client_message_id {
            self.inputs.take(id.clone(), seq);
        }
        let reply = Output::Reply(
            ticket,
            Reply::Accepted {
                seq,
                queued,
                repeated: false,
            },
        );
        let mut then = vec![reply];
        self.is_changed |= std::mem::take(&mut self.record.archived);
        if self.agent == Agent::Up {
            self.give(seq, input.uuid.clone());
            let order = Order::Send(input.clone());
            then.push(Output::Agent(self.id().clone(), self.run, order));
        } else {
            let input = input.clone();
            self.waiting.push_back(Waiting::Input(seq, input));
        }
        self.count_unheard();
        self.append(Kind::Input, input, then, now);
        self.wake();
        self.settle();
    }

    /// The agent is given an input.
    pub(super) fn give(&mut self, seq: u64, uuid: Option<Uuid>) {
        self.is_running = true;
        self.inputs.given.push_back((seq, uuid));
    }

    /// The agent says something; perhaps that it has begun with an input.
    pub(super) fn note_begun(&mut self, line: &ToHost) {
        match line {
            ToHost::CommandLifecycle(line) => {
                self.inputs.says_so = true;
                if line.is_over_or_begun() {
                    let is_other =
                        |(_, uuid): &(u64, Option<Uuid>)| uuid.as_ref() != Some(&line.command_uuid);
                    self.inputs.given.retain(is_other);
                    self.count_unheard();
                }
            }
            ToHost::StreamEvent(_) | ToHost::Assistant(_) | ToHost::Result(_) => self.note_speech(),
            _ => {}
        }
    }

    /// An agent that never says with what it begins has begun with everything once it speaks or asks.
    pub(super) fn note_speech(&mut self) {
        if !self.inputs.says_so && !self.inputs.given.is_empty() {
            self.inputs.given.clear();
            self.count_unheard();
        }
    }

    /// What the agent has not begun with waits for its next start.
    pub(super) fn take_back(&mut self) {
        for (seq, uuid) in std::mem::take(&mut self.inputs.given).into_iter().rev() {
            self.waiting.push_front(Waiting::Stored(seq, uuid));
        }
    }

    /// Says what waits for the next start of the agent.
    pub(super) fn tell_of_unheard(&mut self, now: u64) {
        let text = match self.record.unheard.len() {
            0 => return,
            1 => "A message had not reached the agent. It goes to the agent when that is started again."
                .to_owned(),
            count => format!(
                "{count} messages had not reached the agent. They go to the agent when that is started again."
            ),
        };
        self.note(NoteCode::Unheard, &text, now);
    }

    /// These were taken in before the bridge was started; what the agent had not begun with then is not said again.
    pub(super) fn restore_inputs(&mut self, taken: HashMap<ClientMessageId, u64>, now: u64) {
        self.inputs.taken = taken;
        let unheard = std::mem::take(&mut self.record.unheard);
        let text = match unheard.len() {
            0 => None,
            1 => Some("A message had not reached the agent when the bridge ended. Send it again if it is still wanted.".to_owned()),
            count => Some(format!("{count} messages had not reached the agent when the bridge ended. Send them again if they are still wanted.")),
        };
        self.forget_inputs(unheard);
        if let Some(text) = text {
            self.note(NoteCode::Dropped, &text, now);
        }
    }

    /// These never run. Who sends one of them again means it.
    pub(super) fn forget_inputs(&mut self, dropped: impl IntoIterator<Item = u64>) {
        let all = &mut self.record.dropped;
        let before = all.len();
        all.extend(dropped);
        self.is_changed |= all.len() > before;
        let too_many = all.len().saturating_sub(MOST_TAKEN);
        all.drain(..too_many);
        self.inputs
            .taken
            .retain(|_, seq| !self.record.dropped.contains(seq));
    }

    /// Writes down which inputs the agent has not begun with.
    pub(super) fn count_unheard(&mut self) {
        let waiting = self.waiting.iter().filter_map(Waiting::number);
        let given = self.inputs.given.iter().map(|(seq, _)| *seq);
        let unheard: Vec<u64> = given.chain(waiting).collect();
        if unheard != self.record.unheard {
            self.record.unheard = unheard;
            self.is_changed = true;
        }
    }
}

/// How many inputs are remembered, so that one that is sent twice runs once.
const MOST_TAKEN: usize = 1000;
