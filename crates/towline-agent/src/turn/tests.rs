//! Turns from what goes in to what comes out.

use serde_json::{Value, json};
use towline_protocol::{Block, StreamEvent, Wire as _};

use super::{Ending, Interrupt, Note, Output, Refusal, Turn, TurnOptions, Verdict, rejected};
use crate::{
    model::{ApiError, ModelEvent},
    tools::{Change, Outcome},
};

/// Plays inputs, one word each, and writes down what comes out.
fn played(max_steps: Option<u64>, inputs: &str) -> String {
    let options = TurnOptions {
        max_steps,
        ..TurnOptions::default()
    };
    played_with(options, inputs)
}

fn played_with(options: TurnOptions, inputs: &str) -> String {
    let mut turn = Turn::new(options);
    let mut seen = Vec::new();
    drain(&mut turn, &mut seen);
    for input in inputs.split_whitespace() {
        let (verb, rest) = input.split_once(':').unwrap_or((input, ""));
        match verb {
            "start" => stream(
                &mut turn,
                &json!({"type": "message_start", "message": {
                "id": "m", "role": "assistant", "model": "some", "content": [],
                "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            ),
            "text" => block(&mut turn, rest, &json!({"type": "text", "text": "words"})),
            "open" => stream(
                &mut turn,
                &json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": "half"}}),
            ),
            "read" => block(&mut turn, rest, &call(rest, "LS", &json!({"path": "/"}))),
            "write" => block(&mut turn, rest, &call(rest, "Other", &json!({}))),
            "answer" => block(&mut turn, rest, &call(rest, "StructuredOutput", &json!({}))),
            "taken" => turn.handle_outcome(
                &rest.into(),
                Outcome {
                    changes: vec![Change::Answer(Box::new(json!({"n": 1})))],
                    ..Outcome::new("taken", Value::Null)
                },
            ),
            "wrong" => turn.handle_outcome(&rest.into(), Outcome::error("/n: must be integer")),
            "stop" => stream(
                &mut turn,
                &json!({"type": "message_delta",
                "delta": {"stop_reason": rest}, "usage": {"output_tokens": 5}}),
            ),
            "done" => turn.handle_model(ModelEvent::Done { request_id: None }),
            "whole" => turn.handle_model(ModelEvent::Whole),
            "fail" => turn.handle_model(ModelEvent::Failed(ApiError::without_status(
                "server_error",
                "down",
            ))),
            "allow" => turn.handle_verdict(
                &rest.into(),
                Verdict::Run {
                    input: json!({}),
                    meta: None,
                },
            ),
            "deny" => turn.handle_verdict(&rest.into(), refusal(false)),
            "deny-and-stop" => turn.handle_verdict(&rest.into(), refusal(true)),
            "gives" => turn.handle_outcome(&rest.into(), Outcome::new("gave", Value::Null)),
            "interrupt" => turn.handle_interrupt(Interrupt::Stop),
            "urgent" => turn.handle_interrupt(Interrupt::GiveWay),
            "broke" => turn.handle_budget_spent(),
            other => panic!("no such input: {other}"),
        }
        drain(&mut turn, &mut seen);
    }
    seen.join(" ")
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn refusal(stop: bool) -> Verdict {
    Verdict::Refuse(Refusal {
        outcome: rejected(),
        meta: None,
        denied: true,
        stop,
    })
}

fn stream(turn: &mut Turn, event: &Value) {
    let event = Box::new(StreamEvent::from_json(event.to_string()).unwrap());
    turn.handle_model(ModelEvent::Stream { event });
}

fn block(turn: &mut Turn, id: &str, block: &Value) {
    let index = id.bytes().map(u64::from).sum::<u64>();
    stream(
        turn,
        &json!({"type": "content_block_start", "index": index, "content_block": block}),
    );
    stream(turn, &json!({"type": "content_block_stop", "index": index}));
}

fn drain(turn: &mut Turn, seen: &mut Vec<String>) {
    while let Some(output) = turn.poll_output() {
        seen.push(match output {
            Output::Event(_) => continue,
            Output::CallModel => "model".into(),
            Output::StopModel => "stop-model".into(),
            Output::Said(said) => format!(
                "said-{}{}",
                said.block.kind(),
                if said.aborted { "-cut" } else { "" }
            ),
            Output::Complete(complete) => format!("complete-{}", complete.indices.len()),
            Output::CloseStream { .. } => "close".into(),
            Output::Retried(_) => "retried".into(),
            Output::FellBack { .. } => "fell-back".into(),
            Output::Consider(call) => format!("consider-{}", call.id),
            Output::Withdraw(id) => format!("withdraw-{id}"),
            Output::Run(call) => format!("run-{}", call.id),
            Output::StopCalls => "stop-calls".into(),
            Output::Result(ended) => format!("result-{}", ended.call.id),
            Output::Results(blocks) => format!("results-{}", results(&blocks)),
            Output::Note(note) => format!("note-{}", name(note)),
            Output::ApiFailed(_) => "api-failed".into(),
            Output::Refused => "refused".into(),
            Output::Finished(ending) => format!("END-{}", ended(&ending)),
        });
    }
}

fn results(blocks: &[Block]) -> String {
    let ids = blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(result.tool_use_id.as_str()),
        _ => None,
    });
    ids.collect::<Vec<_>>().join("+")
}

fn name(note: Note) -> &'static str {
    match note {
        Note::Interrupted => "interrupted",
        Note::InterruptedForToolUse => "interrupted-for-tool-use",
        Note::GoOn => "go-on",
        Note::Safety => "safety",
        Note::Answer => "answer",
    }
}

fn ended(ending: &Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::AbortedStreaming => "aborted-streaming",
        Ending::AbortedTools => "aborted-tools",
        Ending::GaveWay => "gave-way",
        Ending::ApiError(_) => "api-error",
        Ending::Refused => "refused",
        Ending::MaxTurns(_) => "max-turns",
        Ending::Budget => "budget",
        Ending::NoAnswer(_) => "no-answer",
    }
}

/// What goes in, and what comes out after the first `model`.
#[track_caller]
fn check(inputs: &str, expected: &str) {
    let found = played(Some(2), inputs);
    assert_eq!(
        found.strip_prefix("model ").unwrap_or(&found),
        expected,
        "{inputs}"
    );
}

#[test]
fn words_end_a_turn() {
    check(
        "start text:a stop:end_turn done",
        "said-text complete-1 END-completed",
    );
}

#[test]
fn a_call_is_considered_at_once_and_runs_when_the_message_is_complete() {
    check("start write:a", "said-tool_use consider-a");
    check("start write:a allow:a", "said-tool_use consider-a");
    check(
        "start write:a allow:a stop:tool_use done",
        "said-tool_use consider-a complete-1 run-a",
    );
}

#[test]
fn calls_that_only_read_are_considered_side_by_side_and_others_wait() {
    check(
        "start read:a read:b",
        "said-tool_use consider-a said-tool_use consider-b",
    );
    check(
        "start write:a read:b",
        "said-tool_use consider-a said-tool_use",
    );
    check(
        "start write:a write:b stop:tool_use done allow:a gives:a allow:b gives:b",
        "said-tool_use consider-a said-tool_use complete-2 run-a result-a consider-b run-b result-b results-a+b model",
    );
}

#[test]
fn results_are_told_as_they_come_and_given_in_order() {
    check(
        "start read:a read:b stop:tool_use done allow:a allow:b gives:b gives:a",
        "said-tool_use consider-a said-tool_use consider-b complete-2 run-a run-b result-b result-a results-a+b model",
    );
}

#[test]
fn a_denial_lets_the_turn_go_on() {
    check(
        "start write:a stop:tool_use done deny:a",
        "said-tool_use consider-a complete-1 result-a results-a model",
    );
}

#[test]
fn a_denial_that_stops_ends_it() {
    check(
        "start write:a stop:tool_use done deny-and-stop:a",
        "said-tool_use consider-a complete-1 stop-calls result-a results-a note-interrupted-for-tool-use END-aborted-tools",
    );
}

#[test]
fn the_last_step_is_not_followed_by_another() {
    check(
        "start write:a stop:tool_use done allow:a gives:a start write:b stop:tool_use done allow:b gives:b",
        "said-tool_use consider-a complete-1 run-a result-a results-a model \
         said-tool_use consider-b complete-1 run-b result-b results-b END-max-turns",
    );
}

#[test]
fn an_interrupt_ends_a_turn_in_each_of_its_states() {
    check(
        "interrupt",
        "stop-model note-interrupted END-aborted-streaming",
    );
    check(
        "start open interrupt",
        "stop-model said-text-cut complete-1 note-interrupted close END-aborted-streaming",
    );
    check(
        "start write:a interrupt",
        "said-tool_use consider-a stop-model complete-1 withdraw-a stop-calls result-a results-a \
         note-interrupted-for-tool-use END-aborted-tools",
    );
    check(
        "start write:a stop:tool_use done interrupt",
        "said-tool_use consider-a complete-1 withdraw-a stop-calls result-a results-a \
         note-interrupted-for-tool-use END-aborted-tools",
    );
    check(
        "start write:a stop:tool_use done allow:a interrupt",
        "said-tool_use consider-a complete-1 run-a stop-calls result-a results-a \
         note-interrupted-for-tool-use END-aborted-tools",
    );
}

#[test]
fn after_its_end_nothing_happens_any_more() {
    check(
        "interrupt start text:a done fail interrupt gives:a allow:a broke",
        "stop-model note-interrupted END-aborted-streaming",
    );
}

#[test]
fn an_urgent_message_ends_a_turn_without_a_mark() {
    check(
        "start open urgent",
        "stop-model said-text-cut complete-1 close END-gave-way",
    );
}

#[test]
fn what_was_said_before_a_new_try_does_not_count() {
    check(
        "start write:a whole start text:b stop:end_turn done",
        "said-tool_use consider-a withdraw-a said-text complete-1 END-completed",
    );
}

#[test]
fn a_failure_of_the_api_ends_it() {
    check("fail", "api-failed END-api-error");
    check(
        "start write:a fail",
        "said-tool_use consider-a withdraw-a api-failed END-api-error",
    );
}

#[test]
fn a_model_that_runs_out_of_room_goes_on_three_times() {
    let piece = " start text:a stop:max_tokens done";
    let found = played(None, &piece.repeat(4));
    let step = "model said-text complete-1 note-go-on ";
    assert_eq!(
        found,
        format!(
            "{}model said-text complete-1 api-failed END-api-error",
            step.repeat(3)
        )
    );
}

#[test]
fn a_refusal_is_tried_once_more() {
    check(
        "start text:a stop:refusal done start text:b stop:refusal done",
        "said-text complete-1 note-safety model said-text complete-1 refused END-refused",
    );
}

#[test]
fn no_money_no_model() {
    check("broke", "END-budget");
}

/// The same for a turn whose answer has a form, and with all steps in sight.
#[track_caller]
fn check_answer(max_steps: Option<u64>, inputs: &str, expected: &str) {
    let options = TurnOptions {
        max_steps,
        wants_answer: true,
    };
    assert_eq!(played_with(options, inputs), expected, "{inputs}");
}

#[test]
fn an_answer_of_the_form_ends_the_turn() {
    check_answer(
        None,
        "start text:a answer:b stop:tool_use done allow:b taken:b",
        "model said-text said-tool_use consider-b complete-2 run-b result-b results-b END-completed",
    );
}

#[test]
fn other_calls_of_the_message_are_finished_before_the_answer_counts() {
    check_answer(
        None,
        "start answer:a write:b stop:tool_use done allow:a taken:a allow:b gives:b",
        "model said-tool_use consider-a said-tool_use complete-2 run-a result-a consider-b run-b result-b results-a+b \
         END-completed",
    );
}

#[test]
fn words_instead_of_the_answer_are_reminded_of_it_once() {
    let words = "start text:a stop:end_turn done ";
    check_answer(
        None,
        &words.repeat(2),
        "model said-text complete-1 note-answer model said-text complete-1 END-completed",
    );
    // The reminder is a step like any other.
    check_answer(
        Some(1),
        words,
        "model said-text complete-1 note-answer END-max-turns",
    );
}

#[test]
fn five_answers_of_another_form_are_enough() {
    let wrong = "start answer:a stop:tool_use done allow:a wrong:a ";
    let step = "model said-tool_use consider-a complete-1 run-a result-a results-a ";
    let expected = format!("{}END-no-answer", step.repeat(5));
    check_answer(None, &wrong.repeat(5), &expected);
}
