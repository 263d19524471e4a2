//! What waits for the agent to start: inputs and orders, in the order they came. What is stopped meanwhile never runs.

use towline_protocol::Uuid;

use crate::{
    Input, NoteCode,
    hub::{Change, Control, Order, Output, Refusal, Reply, Ticket},
};

use super::{Agent, Session};

/// Something that waits for the agent to start.
#[derive(Debug)]
pub(super) enum Waiting {
    /// With its number.
    Input(u64, Input),
    /// One that an earlier run was given: its number and its name. Its words are in the log.
    Stored(u64, Option<Uuid>),
    Order(Control, Ticket),
}

impl Waiting {
    /// The number of an input.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Input(seq, _) | Self::Stored(seq, _) => Some(*seq),
            Self::Order(..) => None,
        }
    }
}

impl Session {
    /// Has the agent do something: now, once it is up, or without it.
    pub(in crate::hub) fn control(&mut self, control: Control, ticket: Ticket, now: u64) {
        match (self.agent, control) {
            (Agent::Up, control) => self.order(control, ticket),
            (_, Control::Interrupt) => {
                self.drop_inputs(now);
                self.reply(ticket, Reply::Done(None));
            }
            (Agent::Starting, _) if self.waiting.len() >= MOST_WAITING => {
                self.reply(ticket, Reply::Refused(too_many()));
            }
            (Agent::Starting, control) => self.waiting.push_back(Waiting::Order(control, ticket)),
            (_, Control::SetMode(mode)) => {
                self.change(Change::Mode(mode), now);
                self.reply(ticket, Reply::Done(None));
            }
            (_, Control::SetModel(model)) => {
                self.change(Change::Model(model), now);
                self.reply(ticket, Reply::Done(None));
            }
            (_, Control::RewindFiles { .. } | Control::Other(..)) => {
                let why = "the agent does not run; send a message to start it".to_owned();
                self.reply(ticket, Reply::Refused(Refusal::Agent(why)));
            }
        }
        self.settle();
    }

    fn order(&mut self, control: Control, ticket: Ticket) {
        if let Control::SetMode(mode) = &control {
            self.modes_asked.push(mode.clone());
        }
        // An input that was accepted before it may still be on its way to the log, and goes first.
        self.tell_in_turn(Order::Control(control, ticket));
    }

    fn tell_in_turn(&mut self, order: Order) {
        let order = Output::Agent(self.id().clone(), self.run, order);
        self.sequence.put_out_in_turn(order);
    }

    /// Lets an input wait for the agent, if not too many do.
    pub(super) fn check_waiting(&self) -> Result<(), Refusal> {
        if self.waiting.len() + self.inputs.given() < MOST_WAITING {
            Ok(())
        } else {
            Err(too_many())
        }
    }

    /// Gives an agent that is up what waited for it.
    pub(super) fn deliver(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::Input(seq, input) => {
                    self.give(seq, input.uuid.clone());
                    self.tell_in_turn(Order::Send(input));
                }
                Waiting::Stored(seq, uuid) => {
                    self.give(seq, uuid);
                    // One that was being written when its agent ended may be written only now.
                    self.tell_in_turn(Order::SendStored(seq));
                }
                Waiting::Order(control, ticket) => self.order(control, ticket),
            }
        }
    }

    /// Forgets the inputs that the agent was not given yet, and says so.
    pub(super) fn drop_inputs(&mut self, now: u64) {
        let dropped: Vec<u64> = self.waiting.iter().filter_map(Waiting::number).collect();
        self.waiting
            .retain(|waiting| matches!(waiting, Waiting::Order(..)));
        let count = dropped.len();
        self.forget_inputs(dropped);
        self.count_unheard();
        let text = match count {
            0 => return,
            1 => {
                "Stopped before the agent had begun with it: a message did not reach it.".to_owned()
            }
            count => format!(
                "Stopped before the agent had begun with them: {count} messages did not reach it."
            ),
        };
        self.note(NoteCode::Dropped, &text, now);
    }

    /// Tells whoever waits for the agent to do something that it does not. Inputs wait for its next start.
    pub(super) fn refuse_orders(&mut self, why: &str) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|waiting| match waiting {
            Waiting::Input(..) | Waiting::Stored(..) => true,
            Waiting::Order(_, ticket) => {
                let refusal = Refusal::Agent(why.to_owned());
                self.reply(*ticket, Reply::Refused(refusal));
                false
            }
        });
        self.waiting = waiting;
    }
}

fn too_many() -> Refusal {
    Refusal::Busy("too many messages wait for the agent".to_owned())
}

/// How many inputs and orders may wait for an agent.
const MOST_WAITING: usize = 100;
