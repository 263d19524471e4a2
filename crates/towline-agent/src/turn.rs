//! One prompt to one result, as a pure machine: what the model says, decisions about its calls and their outcomes go in;
//! what to do next comes out. No clock, no files, no wire: whoever turns the crank carries out what comes out.
//!
//! A call is considered as soon as its block is complete, so that a question reaches the host while the model still
//! writes. It runs only when the whole message is there: a message that is tried again must not have done anything.

mod calls;
mod message;

pub(crate) use calls::{Call, Ended, Refusal, Verdict, rejected, rejected_by_user};
pub(crate) use message::{Complete, Said};

use std::collections::VecDeque;

use serde_json::Value;
use towline_protocol::{Block, PermissionDenial, StopReason, StreamEvent, Text, ToolUseId};

use crate::{
    model::{ApiError, ModelEvent, Retry},
    tools::{Change, Outcome, structured_output},
};
use calls::Calls;
use message::Message;

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct Turn {
    options: TurnOptions,
    state: State,
    message: Message,
    calls: Calls,
    tally: Tally,
    /// Whether the turn is to end with the message that is being written.
    stop_wanted: bool,
    outputs: VecDeque<Output>,
}

/// What a turn is to keep to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnOptions {
    /// The most model calls; nothing for no limit.
    pub(crate) max_steps: Option<u64>,
    /// Whether the answer is to be given by a call of `StructuredOutput`.
    pub(crate) wants_answer: bool,
}

/// What has been going on, for the result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Model calls.
    pub(crate) steps: u64,
    /// Lines of the user: results, marks, what the agent says in the user's place.
    pub(crate) user_lines: u64,
    /// Calls that were denied.
    pub(crate) denials: Vec<PermissionDenial>,
    /// Why the model stopped last.
    pub(crate) stop_reason: Option<StopReason>,
    /// What the model said last.
    pub(crate) text: Text,
    /// How often the model was stopped for safety.
    pub(crate) safety_stops: u64,
    /// The answer, where it was to have a form.
    pub(crate) answer: Option<Box<Value>>,
    /// How often it ran out of room in a row.
    continued: u64,
    /// How often an answer did not have the form.
    bad_answers: u64,
    /// What was wrong with the last of them.
    bad_answer: Text,
    /// Whether the model was reminded to give its answer.
    reminded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The model is called.
    Model,
    /// The message is complete, its calls are not.
    Calls,
    /// It is over.
    Over,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Output {
    /// Call the model with the conversation so far.
    CallModel,
    /// Forget the call of the model.
    StopModel,
    /// Show an event of the stream to those who want them.
    Event(Box<StreamEvent>),
    /// A block is complete.
    Said(Box<Said>),
    /// A message is complete; it goes into the conversation.
    Complete(Box<Complete>),
    /// The stream that was cut off is to be closed for those who watch it.
    CloseStream {
        /// The block that was being written.
        block: Option<u64>,
        /// How many blocks there are.
        blocks: u64,
    },
    /// The API failed and is tried again.
    Retried(Retry),
    /// Another model goes on.
    FellBack {
        /// The model that was asked for.
        from: String,
        /// The model that answers.
        to: String,
    },
    /// Decide about a call: answer with [`Turn::handle_verdict`].
    Consider(Call),
    /// Nobody need decide about it any more.
    Withdraw(ToolUseId),
    /// Run a call: answer with [`Turn::handle_outcome`].
    Run(Call),
    /// Stop what runs.
    StopCalls,
    /// A call is over.
    Result(Box<Ended>),
    /// All calls of the message are over; their results go into the conversation.
    Results(Vec<Block>),
    /// The agent says something in the user's place.
    Note(Note),
    /// The API failed for good.
    ApiFailed(Box<ApiError>),
    /// The model refused, twice.
    Refused,
    /// It is over.
    Finished(Ending),
}

/// What the agent says in the user's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The model was interrupted.
    Interrupted,
    /// A call was interrupted.
    InterruptedForToolUse,
    /// The model ran out of room and is to go on.
    GoOn,
    /// The model was stopped for safety and may try once more.
    Safety,
    /// The model is to give its answer in the form that was asked for.
    Answer,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    /// The model was done.
    Completed,
    /// By an interrupt, while the model wrote.
    AbortedStreaming,
    /// By an interrupt, while calls were open.
    AbortedTools,
    /// For a message that could not wait.
    GaveWay,
    /// The API failed.
    ApiError(Box<ApiError>),
    /// The model refused.
    Refused,
    /// There were as many model calls as allowed.
    MaxTurns(u64),
    /// The money is spent.
    Budget,
    /// The model gave no answer of the form that was asked for; what was wrong last.
    NoAnswer(Text),
}

/// Who ends a turn early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Somebody who wants it to stop.
    Stop,
    /// A message that cannot wait.
    GiveWay,
}

/// How often in a row a model that ran out of room is told to go on.
const MAX_CONTINUED: u64 = 3;

/// How often the model may give an answer that has not the form that was asked for (trace `sessions-schema_allbad`).
pub(crate) const MAX_BAD_ANSWERS: u64 = 5;

impl Turn {
    /// A turn that begins with a call of the model.
    pub(crate) fn new(options: TurnOptions) -> Self {
        let mut turn = Self {
            options,
            state: State::Model,
            message: Message::default(),
            calls: Calls::default(),
            tally: Tally::default(),
            stop_wanted: false,
            outputs: VecDeque::new(),
        };
        turn.call_model();
        turn
    }

    /// What to do next; nothing when all is done.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// What has been going on so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Takes in what the model says.
    pub(crate) fn handle_model(&mut self, event: ModelEvent) {
        if self.state != State::Model {
            return;
        }
        match event {
            ModelEvent::Stream { event, .. } => self.handle_stream(event),
            ModelEvent::Answering { .. } => {}
            ModelEvent::Done { request_id } => {
                self.message.request_id = request_id;
                self.finish_message();
            }
            ModelEvent::Retry(retry) => {
                self.start_over();
                self.emit(Output::Retried(retry));
            }
            ModelEvent::Fallback { from, to } => {
                self.start_over();
                self.emit(Output::FellBack { from, to });
            }
            ModelEvent::Whole => {
                self.start_over();
                self.message.whole = true;
            }
            ModelEvent::Failed(error) => {
                self.abandon_calls();
                self.emit(Output::ApiFailed(Box::new(error.clone())));
                self.tally.stop_reason = Some(StopReason::StopSequence);
                self.tally.text = error.message.as_str().into();
                self.finish(Ending::ApiError(Box::new(error)));
            }
        }
    }

    /// Takes in a decision about a call.
    pub(crate) fn handle_verdict(&mut self, id: &ToolUseId, verdict: Verdict) {
        let stop = matches!(&verdict, Verdict::Refuse(refusal) if refusal.stop);
        if let Some(denial) = self.calls.decide(id, verdict) {
            self.tally.denials.push(denial);
        }
        match self.state {
            State::Calls if stop => self.abort_calls(),
            // The model is heard out: what it says belongs to the conversation.
            State::Model if stop => self.stop_wanted = true,
            _ => self.progress(),
        }
    }

    /// Takes in what a call gave.
    pub(crate) fn handle_outcome(&mut self, id: &ToolUseId, outcome: Outcome) {
        self.calls.end(id, outcome);
        self.progress();
    }

    /// The process ends, and all that it started: the results of the commands that ran, and nothing else any more.
    pub(crate) fn handle_end(&mut self) -> Vec<Ended> {
        self.state = State::Over;
        self.outputs.clear();
        self.calls.kill_commands();
        self.calls.next_to_show()
    }

    /// The money is spent: no more model calls.
    pub(crate) fn handle_budget_spent(&mut self) {
        if self.state != State::Over {
            self.finish(Ending::Budget);
        }
    }

    /// Ends the turn early.
    pub(crate) fn handle_interrupt(&mut self, interrupt: Interrupt) {
        match self.state {
            State::Over => {}
            State::Model => self.abort_message(interrupt),
            State::Calls if interrupt == Interrupt::GiveWay => {
                self.reject_calls();
                self.finish(Ending::GaveWay);
            }
            State::Calls => self.abort_calls(),
        }
    }

    fn handle_stream(&mut self, event: Box<StreamEvent>) {
        let said = self.message.handle(&event);
        if let Some(said) = said {
            let call = said.call();
            if let Block::Text(block) = &said.block {
                self.tally.text = block.text.clone();
            }
            // The line of a block comes before the event that ends it.
            self.emit(Output::Said(Box::new(said)));
            self.emit(Output::Event(event));
            if let Some(call) = call {
                self.calls.add(call);
                self.progress();
            }
        } else {
            self.emit(Output::Event(event));
        }
    }

    /// The model is done with its message.
    fn finish_message(&mut self) {
        let stop_reason = self.message.stop_reason().cloned();
        self.tally.stop_reason.clone_from(&stop_reason);
        self.settle_message();
        if stop_reason == Some(StopReason::Refusal) {
            return self.refused();
        }
        if !self.calls.is_empty() {
            self.state = State::Calls;
            self.tally.continued = 0;
            if self.stop_wanted {
                return self.abort_calls();
            }
            return self.progress();
        }
        match stop_reason {
            Some(StopReason::MaxTokens) if self.tally.continued < MAX_CONTINUED => {
                self.tally.continued += 1;
                self.note(Note::GoOn);
                self.call_model();
            }
            Some(StopReason::MaxTokens) => self.failed_for_good(out_of_room()),
            Some(StopReason::PauseTurn) => self.next_step(),
            _ if self.options.wants_answer && !self.tally.reminded => {
                self.tally.reminded = true;
                self.note(Note::Answer);
                self.next_step();
            }
            _ => self.finish(Ending::Completed),
        }
    }

    fn refused(&mut self) {
        self.abandon_calls();
        self.tally.safety_stops += 1;
        if self.tally.safety_stops == 1 {
            self.note(Note::Safety);
            self.call_model();
        } else {
            self.emit(Output::Refused);
            self.finish(Ending::Refused);
        }
    }

    fn failed_for_good(&mut self, error: ApiError) {
        self.emit(Output::ApiFailed(Box::new(error.clone())));
        self.tally.text = error.message.as_str().into();
        self.finish(Ending::ApiError(Box::new(error)));
    }

    /// Lets the calls get on as far as they can.
    fn progress(&mut self) {
        if self.state == State::Over {
            return;
        }
        if self.state == State::Calls {
            self.show_ended();
        }
        for call in self.calls.next_to_consider() {
            self.emit(Output::Consider(call));
        }
        if self.state != State::Calls {
            return;
        }
        for call in self.calls.next_to_run() {
            self.emit(Output::Run(call));
        }
        if self.calls.all_ended() {
            self.hand_over_results();
            if self.tally.answer.is_some() {
                self.finish(Ending::Completed);
            } else if self.tally.bad_answers >= MAX_BAD_ANSWERS {
                self.finish(Ending::NoAnswer(self.tally.bad_answer.clone()));
            } else {
                self.next_step();
            }
        }
    }

    /// Looks for the answer in what a call gave.
    fn note_answer(&mut self, ended: &Ended) {
        if ended.call.name.as_str() != structured_output::NAME {
            return;
        }
        let mut changes = ended.outcome.changes.iter();
        let answer = changes.find_map(|change| match change {
            Change::Answer(answer) => Some(answer.clone()),
            _ => None,
        });
        match answer {
            Some(answer) => {
                self.tally.text = answer.to_string().into();
                self.tally.answer = Some(answer);
            }
            None => {
                self.tally.bad_answers += 1;
                self.tally.bad_answer = ended.outcome.content.text();
            }
        }
    }

    fn show_ended(&mut self) {
        for ended in self.calls.next_to_show() {
            self.tally.user_lines += 1 + u64::from(ended.outcome.afterwards.is_some());
            self.note_answer(&ended);
            self.emit(Output::Result(Box::new(ended)));
        }
    }

    fn hand_over_results(&mut self) {
        let results = self.calls.take_results();
        if !results.is_empty() {
            self.emit(Output::Results(results));
        }
    }

    fn next_step(&mut self) {
        match self.options.max_steps {
            Some(most) if self.tally.steps >= most => self.finish(Ending::MaxTurns(most)),
            _ => self.call_model(),
        }
    }

    fn call_model(&mut self) {
        self.state = State::Model;
        self.message = Message::default();
        self.tally.steps += 1;
        self.emit(Output::CallModel);
    }

    /// What was streamed no longer counts.
    fn start_over(&mut self) {
        self.abandon_calls();
        self.message = Message::default();
    }

    fn abandon_calls(&mut self) {
        for id in self.calls.open_questions() {
            self.emit(Output::Withdraw(id));
        }
        self.calls = Calls::default();
    }

    /// Puts what was said into the conversation.
    fn settle_message(&mut self) {
        if let Some(complete) = self.message.complete() {
            self.emit(Output::Complete(Box::new(complete)));
        }
    }

    fn abort_message(&mut self, interrupt: Interrupt) {
        self.emit(Output::StopModel);
        let open = self.message.open_block();
        if open.is_none() && !self.calls.is_empty() && interrupt == Interrupt::Stop {
            // Only the end of the message was missing: it is the calls that are stopped.
            self.settle_message();
            self.tally.stop_reason = Some(StopReason::ToolUse);
            return self.abort_calls();
        }
        if let Some(said) = self.message.cut_off() {
            if let Block::Text(block) = &said.block {
                self.tally.text = block.text.clone();
            }
            self.emit(Output::Said(Box::new(said)));
        }
        let blocks = self.message.blocks();
        let began = self.message.began();
        self.settle_message();
        self.tally.stop_reason = None;
        self.reject_calls();
        if interrupt == Interrupt::Stop {
            self.note(Note::Interrupted);
        }
        if began {
            self.emit(Output::CloseStream {
                block: open,
                blocks,
            });
        }
        self.finish(match interrupt {
            Interrupt::Stop => Ending::AbortedStreaming,
            Interrupt::GiveWay => Ending::GaveWay,
        });
    }

    fn abort_calls(&mut self) {
        self.reject_calls();
        self.note(Note::InterruptedForToolUse);
        self.finish(Ending::AbortedTools);
    }

    fn reject_calls(&mut self) {
        if self.calls.is_empty() {
            return;
        }
        for id in self.calls.open_questions() {
            self.emit(Output::Withdraw(id));
        }
        self.emit(Output::StopCalls);
        let denials = self.calls.reject_open();
        self.tally.denials.extend(denials);
        self.show_ended();
        self.hand_over_results();
    }

    fn note(&mut self, note: Note) {
        self.tally.user_lines += 1;
        self.emit(Output::Note(note));
    }

    fn finish(&mut self, ending: Ending) {
        self.state = State::Over;
        self.emit(Output::Finished(ending));
    }

    fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }
}

#[cfg(test)]
mod tests;

fn out_of_room() -> ApiError {
    ApiError::without_status(
        "max_output_tokens",
        "API Error: the model ran out of room for its answer again and again; ask for less at once, or raise \
         CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    )
}
