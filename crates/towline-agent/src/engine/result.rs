//! The `result` line: how a turn ended.

use towline_protocol::{
    Extra, Json, Map, Nullable, Number, ResultSubtype, StopReason, SubagentStats, TerminalReason,
    Text, TextOrJson, ToHost, TurnResult, Usage,
};

use super::{Engine, Phase, Running, carry::REFUSED, clock::millis, lines::new_uuid};
use crate::{
    model::cost::TurnUsage,
    turn::{Ending, MAX_BAD_ANSWERS},
};

impl Engine {
    /// The turn is over: its result, and what became of its prompts.
    pub(super) fn finish_turn(&mut self, ending: &Ending) {
        self.model_call.stop();
        self.send_echo();
        let Some(mut running) = self.running.take() else {
            return;
        };
        let line = self.result_line(&mut running, ending);
        self.failed = line.is_error == Some(true);
        self.results += 1;
        self.running = Some(running);
        self.record_rest();
        self.send(ToHost::Result(Box::new(line)));
        if self.fatal.is_some() {
            self.phase = Phase::Over;
        }
        let state = match ending {
            Ending::AbortedStreaming | Ending::AbortedTools => "cancelled",
            _ => "completed",
        };
        if let Some(running) = self.running.take() {
            for prompt in running.prompts.0.iter().chain(&running.taken_up) {
                let line = self.lines().lifecycle(prompt, state);
                self.send(line);
            }
        }
    }

    /// A prompt that was only to be added has been.
    pub(super) fn finish_without_query(&mut self) {
        self.send_echo();
        let Some(mut running) = self.running.take() else {
            return;
        };
        let line = TurnResult {
            num_turns: Some(0),
            result: Nullable::Value(TextOrJson::Text(Text::new())),
            terminal_reason: None,
            ..self.result_line(&mut running, &Ending::Completed)
        };
        self.results += 1;
        self.send(ToHost::Result(Box::new(line)));
    }

    pub(super) fn result_line(&mut self, running: &mut Running, ending: &Ending) -> TurnResult {
        let tally = running.turn.tally().clone();
        let success = matches!(
            ending,
            Ending::Completed | Ending::GaveWay | Ending::ApiError(_) | Ending::Refused
        );
        let line = TurnResult {
            duration_api_ms: Some(millis(self.session.api_duration)),
            stop_reason: match ending {
                Ending::GaveWay => Nullable::Null,
                Ending::Refused => Nullable::Value(StopReason::Refusal),
                _ => tally.stop_reason.clone().into(),
            },
            session_id: Some(self.session.id.clone()),
            total_cost_usd: Some(dollars(self.session.costs.total_usd())),
            usage: Nullable::Value(running.usage.usage()),
            model_usage: Some(self.session.costs.model_usages()),
            permission_denials: Some(tally.denials.clone()),
            terminal_reason: Some(terminal_reason(ending)),
            fast_mode_state: Some(Text::from_static("off")),
            fast_mode_disabled_reason: Some(Text::from_static("sdk_opt_in_required")),
            subagent_stats: Some(no_subagents()),
            safety_stops: Some(tally.safety_stops),
            is_error: Some(!matches!(ending, Ending::Completed | Ending::GaveWay)),
            num_turns: Some(1 + tally.user_lines),
            subtype: Some(subtype(ending)),
            errors: self.errors(running, ending),
            duration_ms: Some(running.clock.since_start()),
            uuid: Some(new_uuid()),
            structured_output: tally
                .answer
                .as_ref()
                .and_then(|answer| Json::of(answer).ok()),
            queued_turn_count: Some(0),
            result_index: Some(self.results),
            origin: running.origin.clone(),
            user_message_uuid: running.prompts.last(),
            user_message_uuids: running.prompts.all(),
            ..TurnResult::default()
        };
        let line = if success {
            succeeded(line, running, ending, &tally.text)
        } else {
            line
        };
        let since = self.session.costs.take_since_result();
        TurnResult {
            model_usage_since_last_result: Some(since),
            ..line
        }
    }

    fn errors(&self, running: &Running, ending: &Ending) -> Option<Vec<Text>> {
        let text = match ending {
            Ending::MaxTurns(most) => format!("Reached maximum number of turns ({most})"),
            Ending::Budget => {
                let most = self.config.limits.max_budget_usd.unwrap_or_default();
                format!("Reached maximum budget (${most})")
            }
            Ending::NoAnswer(wrong) => format!(
                "Failed to provide valid structured output after {MAX_BAD_ANSWERS} attempts — last StructuredOutput error: {wrong}"
            ),
            Ending::AbortedStreaming | Ending::AbortedTools => {
                let stop_reason = running.turn.tally().stop_reason.as_ref();
                let stop_reason = stop_reason.map_or("null", StopReason::as_str);
                format!(
                    "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop_reason}"
                )
            }
            Ending::Completed | Ending::GaveWay | Ending::ApiError(_) | Ending::Refused => {
                return None;
            }
        };
        Some(vec![text.into()])
    }
}

/// What a result has that tells of an answer.
fn succeeded(line: TurnResult, running: &Running, ending: &Ending, text: &Text) -> TurnResult {
    let (status, kind, code) = match ending {
        Ending::ApiError(error) => (error.status, error.kind.as_deref(), error.code),
        _ => (None, None, None),
    };
    let answered = matches!(ending, Ending::Completed | Ending::GaveWay)
        && running.requested
        && !running.came_whole;
    let text = match ending {
        Ending::Refused => Text::from_static(REFUSED),
        _ => text.clone(),
    };
    let told = answered && !running.prompts.0.is_empty() && *ending == Ending::Completed;
    let first = running.first_usage.as_ref();
    TurnResult {
        api_error_status: status.map_or(Nullable::Null, |status| Nullable::Value(status.into())),
        api_error_type: kind.map(Text::from),
        api_error: code.map(Text::from_static),
        result: Nullable::Value(TextOrJson::Text(text)),
        ttft_ms: running
            .clock
            .until_first_text()
            .filter(|_| answered || running.came_whole),
        ttft_stream_ms: running.clock.until_first_event().filter(|_| answered),
        time_to_request_ms: running.clock.until_request().filter(|_| answered),
        first_content_frame_ms: running.clock.until_first_text().filter(|_| answered),
        request_sent_wall_ms: running.clock.request_wall_ms.filter(|_| told),
        first_request_input_tokens: first.map(all_input_tokens).filter(|_| told),
        first_request_cache_read_input_tokens: first
            .and_then(|usage| usage.cache_read_input_tokens.as_option().copied())
            .filter(|_| told),
        ..line
    }
}

/// What was read, cached or not.
fn all_input_tokens(usage: &Usage) -> u64 {
    let cached = |count: &Nullable<u64>| count.as_option().copied().unwrap_or(0);
    usage.input_tokens.unwrap_or(0)
        + cached(&usage.cache_creation_input_tokens)
        + cached(&usage.cache_read_input_tokens)
}

fn subtype(ending: &Ending) -> ResultSubtype {
    match ending {
        Ending::Completed | Ending::GaveWay | Ending::ApiError(_) | Ending::Refused => {
            ResultSubtype::Success
        }
        Ending::AbortedStreaming | Ending::AbortedTools => ResultSubtype::ErrorDuringExecution,
        Ending::MaxTurns(_) => ResultSubtype::ErrorMaxTurns,
        Ending::Budget => ResultSubtype::ErrorMaxBudgetUsd,
        Ending::NoAnswer(_) => ResultSubtype::ErrorMaxStructuredOutputRetries,
    }
}

fn terminal_reason(ending: &Ending) -> TerminalReason {
    match ending {
        Ending::Completed => TerminalReason::Completed,
        Ending::AbortedStreaming | Ending::GaveWay => TerminalReason::AbortedStreaming,
        Ending::AbortedTools => TerminalReason::AbortedTools,
        Ending::ApiError(error) if error.is_prompt_too_long() => TerminalReason::PromptTooLong,
        Ending::ApiError(_) | Ending::Refused => TerminalReason::ApiError,
        Ending::MaxTurns(_) => TerminalReason::MaxTurns,
        Ending::Budget => TerminalReason::BudgetExhausted,
        Ending::NoAnswer(_) => TerminalReason::StructuredOutputRetryExhausted,
    }
}

/// A session that could not begin.
pub(super) fn never_began(session: towline_protocol::SessionId, error: &str) -> ToHost {
    ToHost::Result(Box::new(TurnResult {
        subtype: Some(ResultSubtype::ErrorDuringExecution),
        duration_ms: Some(0),
        duration_api_ms: Some(0),
        is_error: Some(true),
        num_turns: Some(0),
        stop_reason: Nullable::Null,
        session_id: Some(session),
        total_cost_usd: Some(0_u64.into()),
        usage: Nullable::Value(TurnUsage::default().usage()),
        model_usage: Some(Map::default()),
        permission_denials: Some(Vec::new()),
        uuid: Some(new_uuid()),
        errors: Some(vec![error.into()]),
        result_index: Some(0),
        ..TurnResult::default()
    }))
}

/// A sum of money; nothing is written without a fraction.
fn dollars(sum: f64) -> Number {
    if sum == 0.0 { 0_u64.into() } else { sum.into() }
}

fn no_subagents() -> SubagentStats {
    let zeros = |names: &[&'static str]| {
        let mut map = Map::default();
        for name in names {
            map.insert(*name, 0);
        }
        Some(map)
    };
    SubagentStats {
        spawned: Some(0),
        requested: zeros(&["background", "foreground", "unset"]),
        started_in_background: Some(0),
        max_depth: Some(0),
        spawned_by_subagents: Some(0),
        completed: Some(0),
        failed: Some(0),
        killed: zeros(&["parent", "user", "system"]),
        refused: zeros(&["depth_limit", "concurrency_limit", "budget"]),
        by_type: Some(Map::default()),
        extra: Extra::default(),
    }
}
