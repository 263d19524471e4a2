//! Messages in progress: what stream events build agrees with the final lines, usage goes to its thread, and calls
//! form a tree.

use towline_protocol::{
    Accumulator, Block, CallState, Calls, Growth, StreamEvent, Tally, Text, ToHost, ToolUseId,
    Usages, Wire, trace::Direction,
};

use crate::data;

fn feed(accumulator: &mut Accumulator, lines: &[&str]) {
    feed_and_see(accumulator, lines, |_| {});
}

fn feed_and_see(accumulator: &mut Accumulator, lines: &[&str], mut see: impl FnMut(Growth<'_>)) {
    for line in lines {
        if let Some(growth) = accumulator.handle(&ToHost::from_json(*line).unwrap()) {
            see(growth);
        }
    }
}

fn lines(trace: &str) -> Vec<ToHost> {
    let rows = data::trace(trace)
        .into_iter()
        .filter(|row| row.direction == Direction::Out);
    rows.map(|row| ToHost::from_json(row.text()).unwrap())
        .collect()
}

#[test]
fn what_the_events_build_agrees_with_the_final_lines() {
    let mut compared = 0;
    for trace in [
        "control-13_partial_tool_thinking",
        "sessions-sub_partial",
        "sessions-sub_fg_partial",
    ] {
        let mut accumulator = Accumulator::default();
        for line in lines(trace) {
            if let ToHost::StreamEvent(event) = &line
                && matches!(event.event, StreamEvent::MessageStop(_))
            {
                let draft = accumulator.draft(None).unwrap();
                for block in draft.blocks() {
                    assert!(block.is_complete(), "{trace}");
                    let settled = block
                        .settled()
                        .unwrap_or_else(|| panic!("{trace}: no final line"));
                    let value =
                        |block: &Block| block.to_json().parse::<serde_json::Value>().unwrap();
                    assert_eq!(value(&block.built()), value(settled), "{trace}");
                    compared += 1;
                }
                assert!(draft.stop_reason().is_some());
            }
            accumulator.handle(&line);
        }
        assert_eq!(
            accumulator.drafts().count(),
            0,
            "{trace}: nothing is in progress at the end"
        );
    }
    assert!(compared >= 6, "only {compared} blocks");
}

#[test]
fn a_message_in_progress_keeps_no_line_in_memory() {
    const EVENTS: [&str; 6] = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"begun"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    ];
    let mut accumulator = Accumulator::default();
    for event in EVENTS {
        let line = Text::from(format!(
            r#"{{"type":"stream_event","event":{event},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}}"#
        ));
        accumulator.handle(&ToHost::from_json(line.clone()).unwrap());
        assert!(line.bytes().is_unique(), "{event}");
    }
    let draft = accumulator.draft(None).unwrap();
    let built = |block: usize| draft.blocks()[block].built().to_json();
    assert_eq!(draft.text(), "onebegun");
    assert_eq!(
        built(2).as_str(),
        r#"{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}"#
    );
}

#[test]
fn an_interrupted_message_is_closed_and_shows_what_was_there() {
    let mut accumulator = Accumulator::default();
    let mut longest = 0;
    for line in lines("control-05a_interrupt_streaming_partial") {
        accumulator.handle(&line);
        longest = longest.max(
            accumulator
                .draft(None)
                .map_or(0, |draft| draft.text().len()),
        );
    }
    assert!(longest > 0);
    assert_eq!(accumulator.drafts().count(), 0);
}

const SUB: &str = r#","parent_tool_use_id":"toolu_task""#;

fn event(event: &str, more: &str) -> String {
    format!(r#"{{"type":"stream_event","event":{event}{more}}}"#)
}

fn start(id: &str, more: &str) -> String {
    let message = format!(
        r#"{{"id":"{id}","content":[],"usage":{{"input_tokens":100,"output_tokens":1,"cache_read_input_tokens":50}}}}"#
    );
    event(
        &format!(r#"{{"type":"message_start","message":{message}}}"#),
        more,
    )
}

fn delta(index: u64, delta: &str, more: &str) -> String {
    event(
        &format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
        more,
    )
}

#[test]
fn each_growth_says_where_it_goes() {
    let mut accumulator = Accumulator::default();
    let lines = [
        start("m1", ""),
        delta(0, r#"{"type":"text_delta","text":"né"}"#, ""),
        delta(0, r#"{"type":"text_delta","text":"e"}"#, ""),
        delta(1, r#"{"type":"thinking_delta","thinking":"hm"}"#, ""),
        delta(1, r#"{"type":"signature_delta","signature":"s"}"#, ""),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let mut places = Vec::new();
    feed_and_see(&mut accumulator, &lines, |growth| {
        places.push((growth.index, growth.offset, growth.piece.to_string()));
    });
    let expected = [(0, 0, "né"), (0, 3, "e"), (1, 0, "hm")];
    assert_eq!(
        places,
        expected.map(|(index, offset, piece)| (index, offset, piece.to_owned()))
    );
    assert_eq!(accumulator.draft(None).unwrap().text(), "née");
}

#[test]
fn a_tools_input_is_there_once_its_json_is_whole() {
    let mut accumulator = Accumulator::default();
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}}"#;
    feed(&mut accumulator, &[&start("m1", ""), &event(block, "")]);
    feed(
        &mut accumulator,
        &[&delta(
            0,
            r#"{"type":"input_json_delta","partial_json":"{\"comm"}"#,
            "",
        )],
    );
    let partial = accumulator.draft(None).unwrap().blocks()[0].clone();
    assert_eq!((partial.grown(), partial.input()), (r#"{"comm"#, None));
    feed(
        &mut accumulator,
        &[&delta(
            0,
            r#"{"type":"input_json_delta","partial_json":"and\":\"ls\"}"}"#,
            "",
        )],
    );
    let whole = accumulator.draft(None).unwrap().blocks()[0]
        .input()
        .unwrap();
    assert_eq!(whole.as_str(), r#"{"command":"ls"}"#);
}

#[test]
fn the_threads_of_subagents_are_apart() {
    let mut accumulator = Accumulator::default();
    let lines = [
        start("m1", ""),
        start("m2", SUB),
        delta(0, r#"{"type":"text_delta","text":"main"}"#, ""),
        delta(0, r#"{"type":"text_delta","text":"sub"}"#, SUB),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let mut parents = Vec::new();
    feed_and_see(&mut accumulator, &lines, |growth| {
        parents.push(growth.parent.cloned());
    });
    let task = ToolUseId::from("toolu_task");
    assert_eq!(parents, [None, Some(task.clone())]);
    assert_eq!(accumulator.draft(None).unwrap().text(), "main");
    assert_eq!(accumulator.draft(Some(&task)).unwrap().text(), "sub");
}

#[test]
fn what_a_killed_subagent_was_writing_goes_with_its_call() {
    let mut accumulator = Accumulator::default();
    let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_task","content":"killed","is_error":true}]}}"#;
    feed(&mut accumulator, &[&start("m2", SUB), result]);
    assert_eq!(accumulator.drafts().count(), 0);
}

#[test]
fn a_delta_on_an_assistant_line_of_document_000_counts() {
    let mut accumulator = Accumulator::default();
    let line = r#"{"type":"assistant","delta":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"partial text"}}}"#;
    feed(&mut accumulator, &[line]);
    assert_eq!(accumulator.draft(None).unwrap().text(), "partial text");
}

#[test]
fn tokens_of_subagents_are_not_the_main_threads() {
    let mut accumulator = Accumulator::default();
    let usage = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}"#;
    let lines = [
        start("m1", ""),
        event(usage, ""),
        start("m2", SUB),
        event(usage, SUB),
        start("m3", ""),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    feed(&mut accumulator, &lines);
    let usages = accumulator.usages();
    let main = Tally {
        input: 200,
        output: 21,
        cache_read: 100,
        cache_creation: 0,
        messages: 2,
    };
    assert_eq!(usages.main(), main);
    let sub = Tally {
        input: 100,
        output: 20,
        cache_read: 50,
        cache_creation: 0,
        messages: 1,
    };
    assert_eq!(usages.subagent(&"toolu_task".into()), sub);
    assert_eq!(usages.subagents().count(), 1);
    // The context is that of the last call of the main thread: 100 read, 50 cached, 1 written.
    assert_eq!(usages.context_tokens(), 151);
}

/// Without stream events the `assistant` lines carry the usage: one line a block, counted once a message.
#[test]
fn lines_of_one_message_count_once() {
    for (trace, subagents) in [("sessions-sub_fg", true), ("sessions-tool_write", false)] {
        let mut accumulator = Accumulator::default();
        let mut result = None;
        for line in lines(trace) {
            accumulator.handle(&line);
            if let ToHost::Result(line) = line {
                result = Some(line);
            }
        }
        let result = result.unwrap();
        let usage = result.usage.as_option().unwrap();
        let main = accumulator.usages().main();
        let counted = (usage.input_tokens.unwrap(), usage.output_tokens.unwrap());
        assert_eq!((main.input, main.output), counted, "{trace}");
        let models = result.model_usage_since_last_result.unwrap();
        let written: u64 = models
            .iter()
            .filter_map(|(_, model)| model.output_tokens)
            .sum();
        let all = accumulator.usages().all_subagents();
        assert_eq!(all.output, written - counted.1, "{trace}");
        assert_eq!(
            accumulator.usages().subagents().count() > 0,
            subagents,
            "{trace}"
        );
        assert_eq!(
            accumulator.usages().cost_usd(),
            result.total_cost_usd.map(|cost| cost.as_f64())
        );
    }
}

#[test]
fn calls_form_a_tree_with_composite_ids() {
    let mut accumulator = Accumulator::default();
    let call = |id: &str, name: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"x":"{id}"}}}}]}},"parent_tool_use_id":{parent}}}"#
        )
    };
    let done = |id: &str, error: bool| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"","is_error":{error}}}]}}}}"#
        )
    };
    // The nested example of document 001 §6.3.
    let lines = [
        call("toolu_01PARENT", "Task", "null"),
        call("toolu_01CHILD", "Task", r#""toolu_01PARENT""#),
        call("toolu_01GRANDCHILD", "Read", r#""toolu_01CHILD""#),
        done("toolu_01GRANDCHILD", false),
        done("toolu_01CHILD", true),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    feed(&mut accumulator, &lines);
    let calls = accumulator.calls();
    let grandchild = ToolUseId::from("toolu_01GRANDCHILD");
    assert_eq!(
        calls.composite_id(&grandchild),
        "toolu_01CHILD:toolu_01GRANDCHILD"
    );
    let way: Vec<_> = calls
        .ancestry(&grandchild)
        .iter()
        .map(|id| id.as_str())
        .collect();
    assert_eq!(
        way,
        ["toolu_01PARENT", "toolu_01CHILD", "toolu_01GRANDCHILD"]
    );
    let states: Vec<_> = calls.iter().map(|call| call.state).collect();
    assert_eq!(
        states,
        [CallState::Open, CallState::Failed, CallState::Done]
    );
    assert_eq!(calls.children(None).count(), 1);
    assert_eq!(
        calls
            .children(Some(&"toolu_01CHILD".into()))
            .next()
            .unwrap()
            .id,
        grandchild
    );
}

#[test]
fn a_call_that_claims_to_be_its_own_parent_leads_nowhere() {
    let mut accumulator = Accumulator::default();
    let line = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Task","input":{}}]},"parent_tool_use_id":"a"}"#;
    feed(&mut accumulator, &[line]);
    assert_eq!(accumulator.calls().ancestry(&"a".into()).len(), 1);
}

#[test]
fn what_is_kept_of_a_line_does_not_keep_the_line() {
    let line = format!(
        r#"{{"type":"assistant","message":{{"id":"m1","model":"m","usage":{{"output_tokens":1,"service_tier":"standard"}},"content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"ls"}}}}]}}{SUB}}}"#
    );
    let line = Text::from(line);
    let mut accumulator = Accumulator::default();
    accumulator.handle(&ToHost::from_json(line.clone()).unwrap());
    assert!(accumulator.calls().get(&"t1".into()).is_some());
    // Only whoever holds the line alone can take its bytes.
    assert!(line.bytes().is_unique());
}

#[test]
fn of_too_many_calls_the_finished_ones_are_forgotten_first() {
    let begin = |number: usize| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{}}}}]}}}}"#
        )
    };
    let result = |number: usize| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":""}}]}}}}"#
        )
    };
    let most = Calls::MAX_KEPT;
    // How many are over (after the first, which stays open), and which of the others must be there in the end.
    for (finished, first_kept) in [(most - 1, most / 4 + 1), (0, most / 4)] {
        let mut accumulator = Accumulator::default();
        for number in 0..most {
            feed(&mut accumulator, &[&begin(number)]);
            if (1..=finished).contains(&number) {
                feed(&mut accumulator, &[&result(number)]);
            }
        }
        assert_eq!(accumulator.calls().iter().count(), most);
        feed(&mut accumulator, &[&begin(most)]);
        let calls = accumulator.calls();
        let kept: Vec<_> = calls.iter().map(|call| call.id.to_string()).collect();
        let expected = (0..=most)
            .filter(|number| *number >= first_kept || (finished > 0 && *number == 0))
            .map(|number| format!("t{number}"));
        assert_eq!(kept, expected.collect::<Vec<_>>());
        for call in calls.iter() {
            assert_eq!(calls.get(&call.id), Some(call));
        }
    }
}

#[test]
fn of_too_many_subagents_the_first_are_forgotten() {
    let mut accumulator = Accumulator::default();
    feed(&mut accumulator, &[&start("m", "")]);
    let all = Usages::MAX_SUBAGENTS + 1;
    for number in 0..all {
        let parent = format!(r#","parent_tool_use_id":"t{number}""#);
        feed(&mut accumulator, &[&start("m", &parent)]);
    }
    let id = |number: usize| ToolUseId::from(format!("t{number}"));
    let last = all - 1;
    assert_eq!(accumulator.drafts().count(), Accumulator::MAX_WRITING + 1);
    assert!(accumulator.draft(None).is_some(), "the main thread stays");
    assert!(accumulator.draft(Some(&id(last))).is_some());
    assert!(
        accumulator
            .draft(Some(&id(last - Accumulator::MAX_WRITING)))
            .is_none()
    );
    assert_eq!(
        accumulator.usages().subagents().count(),
        Usages::MAX_SUBAGENTS
    );
    assert_eq!(accumulator.usages().subagent(&id(0)), Tally::default());
    assert_ne!(accumulator.usages().subagent(&id(last)), Tally::default());
}
