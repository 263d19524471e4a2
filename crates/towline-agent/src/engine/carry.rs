//! What the turn wants done, done.

use std::{path::Path, time::Instant};

use tokio::sync::mpsc;
use towline_protocol::{
    AbandonedBlocks, Block, BlockDelta, Content, Delta, Extra, Json, MessageId, ModelRefusal,
    Nullable, StreamEvent, System, Text, ThinkingTokens, ToHost, ToolUseBlock, User, Wire,
};

use super::{
    Engine, Phase,
    clock::millis,
    inbox::Prompt,
    lines::{made_event, new_uuid, system, timestamp},
    mention::mentioned,
    model_call::ModelCall,
    running::{Running, text_block},
    slash::Command,
};
use crate::{
    history::prompt_blocks,
    model::{USUAL_DISPLAY, cost::BYTES_IN_TOKEN},
    tools::{Change, Hidden, ToolCall, structured_output},
    turn::{Call, Complete, Ended, Note, Output, Said, TurnOptions},
};

/// How many events of the model may wait for the loop.
const EVENTS: usize = 64;

impl Engine {
    /// A turn begins with all prompts that wait.
    pub(super) fn start_turn(&mut self) {
        if let Some(title) = self.config.session.title.take() {
            self.rename(&title.into());
        }
        let batch = self.inbox.next_batch();
        if let [prompt] = &batch[..]
            && let Some(command) = Command::of(prompt)
            && (command == Command::Blank || !self.config.prompt.no_commands)
        {
            return self.command(prompt, command);
        }
        self.introduce();
        let ids: Vec<_> = batch
            .iter()
            .filter_map(|prompt| prompt.uuid.clone())
            .collect();
        let query = batch.iter().any(|prompt| prompt.query);
        if self.config.output.replay_user_messages {
            // Of several only the last stands for what becomes of them together.
            let said: Vec<&Prompt> = batch.iter().filter(|prompt| !prompt.is_own).collect();
            for prompt in said.iter().rev().skip(1).rev() {
                let echo = self
                    .lines()
                    .replay(prompt.content.as_ref(), prompt.uuid.clone());
                self.send(ToHost::User(Box::new(echo)));
            }
        }
        for id in &ids {
            let started = self.lines().lifecycle(id, "started");
            self.send(started);
        }
        let options = TurnOptions {
            max_steps: self.config.limits.max_turns,
            wants_answer: self.config.tools.answer.is_some(),
        };
        let mut running = Running::new(ids, options);
        running.origin = Prompt::origin_of(&batch);
        self.running = Some(running);
        tracing::debug!(prompts = batch.len(), "a turn begins");
        self.note_state();
        let init = self.init_line();
        self.send(init);
        self.tell_notices();
        self.take_in(&batch);
        let said: Vec<Prompt> = batch.into_iter().filter(|prompt| !prompt.is_own).collect();
        if self.config.output.replay_user_messages && !said.is_empty() {
            let content = Prompt::joined(&said);
            let uuid = said.last().and_then(|prompt| prompt.uuid.clone());
            let mut echo = self.lines().replay(content.as_ref(), uuid);
            echo.timestamp = Some(timestamp());
            if let Some(running) = &mut self.running {
                running.echo = Some(echo);
            }
        }
        if !query {
            self.finish_without_query();
        }
    }

    /// Puts prompts into the conversation, with the files that they mention.
    fn take_in(&mut self, batch: &[Prompt]) {
        let content = Prompt::joined(batch);
        let mut blocks = prompt_blocks(content.as_ref());
        let said = batch.iter().filter(|prompt| !prompt.is_own);
        let said: Vec<Prompt> = said.cloned().collect();
        if !said.iter().any(|prompt| prompt.verbatim) {
            let readable = |path: &Path| self.readable(path);
            blocks.extend(mentioned(
                Prompt::joined(&said).as_ref(),
                &self.session.current(),
                readable,
            ));
        }
        self.session.history.push_user(blocks);
        let content = content.unwrap_or_else(|| Content::from(""));
        let uuid = said.last().and_then(|prompt| prompt.uuid.clone());
        let own = said.is_empty().then(|| Prompt::origin_of(batch)).flatten();
        self.record_taken(batch.len());
        self.record_prompt(&content, uuid, own.as_ref());
    }

    /// Carries out what the turn wants.
    pub(super) fn carry_out(&mut self, output: Output) {
        match output {
            Output::CallModel => self.call_model(),
            Output::StopModel => self.model_call.stop(),
            Output::Event(event) => {
                self.note_thinking(&event);
                self.show_event(*event);
            }
            Output::Said(said) => self.say(&said),
            Output::Complete(complete) => self.complete_message(&complete),
            Output::CloseStream { block, blocks } => self.close_stream(block, blocks),
            Output::Retried(retry) => {
                let line = self.lines().retried(&retry);
                self.send(line);
            }
            Output::FellBack { from, to } => {
                let line = self.lines().fell_back(&from, &to);
                self.session.model = to;
                self.send(line);
            }
            Output::Consider(call) => self.consider(call),
            Output::Withdraw(call) => self.withdraw_question(&call),
            Output::Run(call) => self.run(call),
            Output::StopCalls => {
                self.calls.abort_all();
                self.call_ids.clear();
                self.targets.clear();
            }
            Output::Result(ended) => self.show_result(&ended),
            Output::Results(blocks) => {
                let blocks = blocks
                    .iter()
                    .map(|block| block.to_standard_json().detached());
                self.session.history.push_user(blocks);
            }
            Output::Note(note) => self.note(note),
            Output::ApiFailed(error) => {
                self.model_call.stop();
                let line = self.lines().api_failed(&error);
                if let Some(message) = line.message.clone() {
                    self.record_failure(message, line.uuid.clone(), &error);
                }
                self.send(ToHost::Assistant(Box::new(line)));
            }
            Output::Refused => self.refused(),
            Output::Finished(ending) => self.finish_turn(&ending),
        }
    }

    fn call_model(&mut self) {
        if self.fatal.is_some() {
            // What was done so far is on its way; there will be no result, as with CLI 2.1.325.
            self.record_rest();
            self.running = None;
            self.phase = Phase::Over;
            return;
        }
        let spent = self.config.limits.max_budget_usd;
        if spent.is_some_and(|most| self.session.costs.total_usd() >= most) {
            if let Some(running) = &mut self.running {
                running.turn.handle_budget_spent();
            }
            return;
        }
        self.take_up_waiting();
        self.tell_planning();
        if self.config.output.partial_messages {
            let line = self.lines().requesting();
            self.send(line);
        }
        let request = self.request();
        tracing::debug!(
            model = request.model,
            messages = request.messages.len(),
            "the model is called"
        );
        let (sender, events) = mpsc::channel(EVENTS);
        let model = self.model.clone();
        let task = tokio::spawn(async move { model.call(request, sender).await });
        self.model_call = ModelCall::new(events, task);
        if let Some(running) = &mut self.running {
            let wall = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
            running.clock.request(wall);
            running.requested = true;
        }
    }

    /// What the host said while calls ran goes to the model with their results.
    fn take_up_waiting(&mut self) {
        let Some(running) = &self.running else { return };
        if running.turn.tally().steps < 2 || !self.inbox.joins() {
            return;
        }
        let batch = self.inbox.next_batch();
        for prompt in &batch {
            if let Some(uuid) = &prompt.uuid {
                let line = self.lines().lifecycle(uuid, "started");
                self.send(line);
            }
        }
        self.take_in(&batch);
        if let Some(running) = &mut self.running {
            let ids = batch.into_iter().filter_map(|prompt| prompt.uuid);
            running.taken_up.extend(ids);
        }
    }

    fn show_event(&mut self, event: StreamEvent) {
        if !self.config.output.partial_messages {
            return;
        }
        let Some(running) = &mut self.running else {
            return;
        };
        let since_request = running.clock.event();
        let message = running.message.clone();
        let prompts = running.prompts.clone();
        let begins = matches!(event, StreamEvent::MessageStart(_));
        let thinks = is_thinking(&event);
        if matches!(event, StreamEvent::Ping(_)) {
            return;
        }
        let mut line = self.lines().stream_event(event, message.as_ref());
        if begins || thinks {
            line.thinking_display = Some(self.thinking_display());
        }
        if begins {
            line.ttft_ms = Some(since_request);
            line.user_message_uuid = prompts.last();
            line.user_message_uuids = prompts.all();
            line.owed_rows = prompts.all().and_then(|_| Json::new("[]").ok());
        }
        self.send(ToHost::StreamEvent(Box::new(line)));
    }

    fn say(&mut self, said: &Said) {
        let request_id = self
            .running
            .as_ref()
            .and_then(|running| running.request_id.clone());
        let mut line = self.lines().assistant(said, request_id);
        if let (Block::ToolUse(call), Some(message)) = (&said.block, &mut line.message) {
            message.content = Nullable::Value(Content::Blocks(vec![as_meant(call)]));
        }
        if matches!(said.block, Block::Thinking(_)) {
            let thinking = self
                .running
                .as_mut()
                .and_then(|running| running.thinking.take());
            line.thinking_duration_ms = thinking.map(|(since, _)| millis(since.elapsed()));
            line.thinking_display = Some(self.thinking_display());
        }
        if let Some(running) = &mut self.running {
            running.clock.text();
            running.said.extend(line.uuid.clone());
        }
        self.send(ToHost::Assistant(Box::new(line)));
    }

    /// What is shown of thoughts.
    fn thinking_display(&self) -> Text {
        let asked = self.config.model.thinking_display.as_deref();
        asked.unwrap_or(USUAL_DISPLAY).into()
    }

    /// The host is told how much the model thinks, about; the API counts only at the end.
    fn note_thinking(&mut self, event: &StreamEvent) {
        let Some(running) = &mut self.running else {
            return;
        };
        let StreamEvent::BlockDelta(BlockDelta {
            delta: Delta::Thinking(delta),
            ..
        }) = event
        else {
            if is_thinking(event) {
                running.thinking = Some((Instant::now(), 0));
            }
            return;
        };
        let thinking = running.thinking.get_or_insert((Instant::now(), 0));
        let more = delta.thinking.len().div_ceil(BYTES_IN_TOKEN) as u64;
        thinking.1 += more;
        let line = ThinkingTokens {
            estimated_tokens: Some(thinking.1),
            estimated_tokens_delta: Some(more),
            session_id: Some(self.session.id.clone()),
            uuid: Some(new_uuid()),
            ..ThinkingTokens::default()
        };
        self.send(system(System::ThinkingTokens(Box::new(line))));
    }

    /// A message is complete, or all that there will be of it.
    fn complete_message(&mut self, complete: &Complete) {
        let usage = complete.message.usage.as_option().cloned();
        if let Some(running) = &mut self.running
            && !complete.aborted
        {
            self.session.api_duration += running.clock.answered();
            if let Some(usage) = &usage {
                running.usage.add(usage);
                self.session.costs.add(&self.session.model, usage);
            }
        }
        self.record_message(complete);
        let blocks = complete
            .message
            .content
            .as_option()
            .map(Content::blocks)
            .unwrap_or_default();
        let blocks = blocks.iter().map(|block| block.to_json().detached());
        self.session.history.push_assistant(blocks);
    }

    /// Those who watch the stream see it end, though the model did not end it.
    fn close_stream(&mut self, block: Option<u64>, blocks: u64) {
        if !self.config.output.partial_messages {
            return;
        }
        let Some(running) = &self.running else { return };
        let message = running.message.clone();
        let input_tokens = running
            .first_usage
            .as_ref()
            .and_then(|usage| usage.input_tokens)
            .unwrap_or(0);
        if let Some(block) = block {
            let event = made_event(&format!(
                r#"{{"type":"content_block_stop","index":{block}}}"#
            ));
            self.show_made(event, message.as_ref());
        }
        self.show_made(made_event(&abandoned(input_tokens)), message.as_ref());
        let stop = made_event(r#"{"type":"message_stop"}"#);
        let mut line = self.lines().stream_event(stop, message.as_ref());
        line.abandoned_blocks = Some(AbandonedBlocks {
            api_message_id: message,
            from_block_index: Some(blocks),
            extra: Extra::default(),
        });
        self.send(ToHost::StreamEvent(Box::new(line)));
    }

    fn show_made(&mut self, event: StreamEvent, message: Option<&MessageId>) {
        let line = self.lines().stream_event(event, message);
        self.send(ToHost::StreamEvent(Box::new(line)));
    }

    fn run(&mut self, call: Call) {
        if let (structured_output::NAME, Some(form)) =
            (call.name.as_str(), &self.config.tools.answer)
        {
            let outcome = form.take(&call.input);
            if let Some(running) = &mut self.running {
                running.turn.handle_outcome(&call.id, outcome);
            }
            return;
        }
        let settled = self.settle_target(&call);
        let mut place = self.place_for(&call.id);
        self.targets.remove(&call.id);
        if matches!(call.name.as_str(), "Glob" | "Grep") {
            place.hidden = Hidden::by(&self.session.policy);
        }
        let read = match settled {
            Ok(()) => ToolCall::read(call.name.as_str(), &call.input),
            Err(refusal) => Some(Err(refusal)),
        };
        let Some(Ok(tool)) = read else {
            // It was read when it was considered; whoever allowed it may have changed it since.
            let outcome = match read {
                Some(Err(outcome)) => outcome,
                _ => super::asking::no_such_tool(call.name.as_str()),
            };
            if let Some(running) = &mut self.running {
                running.turn.handle_outcome(&call.id, outcome);
            }
            return;
        };
        tracing::debug!(tool = call.name.as_str(), "a call runs");
        let handle = self.calls.spawn(async move { tool.run(&place).await });
        self.call_ids.insert(handle.id(), call.id);
    }

    pub(super) fn show_result(&mut self, ended: &Ended) {
        for change in &ended.outcome.changes {
            self.apply(change);
        }
        let line = self.lines().tool_result(ended);
        if let Some(block) = line
            .message
            .content
            .as_option()
            .and_then(|content| content.blocks().first())
        {
            self.record_result(ended, block.clone(), line.uuid.clone());
        }
        self.send(ToHost::User(Box::new(line)));
        if let Some(text) = &ended.outcome.afterwards {
            let line = User {
                is_synthetic: Some(true),
                ..self.lines().user(vec![Block::text(&**text)])
            };
            self.record_aside(text, line.uuid.clone());
            self.send(ToHost::User(Box::new(line)));
        }
    }

    fn apply(&mut self, change: &Change) {
        let before = self.session.mode().clone();
        match change {
            Change::Directory(path) => {
                self.session.policy.places.current = path.to_string_lossy().into_owned();
                self.record_move(path);
            }
            Change::EnterPlan => self.session.policy.enter_plan(),
            Change::LeavePlan => self.session.policy.leave_plan(),
            // The turn ends with it.
            Change::Answer(_) => {}
        }
        self.tell_mode(&before);
    }

    /// Tells the host of the mode, if it has changed.
    pub(super) fn tell_mode(&mut self, before: &towline_protocol::PermissionMode) {
        if self.session.mode() != before {
            let line = self.lines().mode(self.session.mode());
            self.send(line);
        }
    }

    fn note(&mut self, note: Note) {
        let text = match note {
            Note::Interrupted => "[Request interrupted by user]",
            Note::InterruptedForToolUse => "[Request interrupted by user for tool use]",
            Note::GoOn => GO_ON,
            Note::Safety => SAFETY,
            Note::Answer => ANSWER,
        };
        let message = self
            .running
            .as_ref()
            .and_then(|running| running.message.clone());
        if note == Note::Safety {
            let line = self.lines().informational(
                "The answer above was stopped for safety; the model may try once more",
            );
            self.send(line);
        }
        let mut line = self.lines().user(vec![Block::text(text)]);
        line.is_synthetic =
            matches!(note, Note::GoOn | Note::Safety | Note::Answer).then_some(true);
        line.refused_message_id = message.filter(|_| note == Note::Safety);
        self.session.history.push_user([text_block(text)]);
        self.record_aside(text, line.uuid.clone());
        self.send(ToHost::User(Box::new(line)));
    }

    fn refused(&mut self) {
        let message = self
            .running
            .as_ref()
            .and_then(|running| running.message.clone());
        let line = ModelRefusal {
            original_model: Some(self.session.model.as_str().into()),
            request_id: Nullable::Null,
            api_refusal_category: Nullable::Null,
            api_refusal_explanation: Nullable::Null,
            refused_user_message_uuid: Nullable::Value(new_uuid()),
            content: Some(Text::new()),
            session_id: Some(self.session.id.clone()),
            uuid: Some(new_uuid()),
            ..ModelRefusal::default()
        };
        self.send(system(System::ModelRefusalNoFallback(Box::new(line))));
        let line = self.lines().refused(REFUSED, message);
        self.send(ToHost::Assistant(Box::new(line)));
    }
}

/// A call with what its tool assumes filled in, so that whoever shows it need not know.
fn as_meant(call: &ToolUseBlock) -> Block {
    let input = call.input.as_ref().and_then(|input| input.parse().ok());
    let meant = input.and_then(|input| ToolCall::normalised(call.name.as_str(), &input));
    let meant = meant.and_then(|meant| Json::of(&meant).ok());
    Block::ToolUse(ToolUseBlock {
        input: meant.or_else(|| call.input.clone()),
        ..call.clone()
    })
}

fn is_thinking(event: &StreamEvent) -> bool {
    match event {
        StreamEvent::BlockStart(start) => matches!(start.content_block, Block::Thinking(_)),
        StreamEvent::BlockDelta(delta) => matches!(delta.delta, Delta::Thinking(_)),
        _ => false,
    }
}

/// The last counts of a message that was cut off.
fn abandoned(input_tokens: u64) -> String {
    format!(
        r#"{{"type":"message_delta","context_management":null,"delta":{{"container":null,"stop_details":null,"stop_reason":null,"stop_sequence":null}},"usage":{{"output_tokens_details":{{"thinking_tokens":0}},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":{input_tokens},"iterations":[],"output_tokens":1,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"fallback_credit":null}}}}"#
    )
}

/// What a result says of a model that refused.
pub(super) const REFUSED: &str = "API Error: the model's safeguards stopped the answer twice. Ask in other words, or \
                                  try another model with --model";
const GO_ON: &str = "The answer hit the limit of output tokens. Go on right where it stopped, without repeating anything; \
                     break what is left into smaller pieces.";
const ANSWER: &str = "[structured-output-enforce] Nobody reads words here: give the answer by calling the StructuredOutput tool \
                      now.";
const SAFETY: &str = "The answer above was stopped by a safety check; what was left of it is withheld, and calls in it did \
                      not run. Go on if it can be done in another way.";
