//! A host that does not read, does not answer, or says too much: memory stays within bounds, nothing is lost, nothing
//! hangs.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::is_slow_wanted,
    script_api::{Reply, Script},
    waiting::stands_still,
};

use crate::driven::{Driven, api, block_on, memory, prompt, towline_room};

/// The most memory that the agent may ever have had.
const MOST: u64 = 60 << 20;
/// The most that may wait in it for a host that does not read.
const MOST_WAITING: u64 = 5 << 20;

/// So many answers of 4 MiB, which are far more together than the agent may hold.
const ANSWERS: usize = 150;
const MOST_WITH_ANSWERS: u64 = 200 << 20;

#[test]
fn a_host_that_does_not_read_costs_no_memory_and_misses_nothing() {
    does_not_read(40_000, 10_000_000);
}

#[test]
fn a_host_that_does_not_read_50_mb_misses_nothing() {
    if is_slow_wanted("50 MB that nobody reads") {
        does_not_read(200_000, 50_000_000);
    }
}

/// The model streams a text in so many pieces, which makes at least so many bytes of lines.
fn does_not_read(pieces: usize, least: usize) {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::events(stream(pieces))])).await;
        let mut agent = Driven::start(&room, &api.url(), &["--include-partial-messages"]);
        let process = agent.id();
        agent.say(&prompt("talk")).await;
        agent.hear_kind("stream_event").await;
        let before = memory(process, "VmHWM:");
        stands_still(process).await;
        let held = memory(process, "VmHWM:");
        assert!(held < MOST, "{held} bytes while nobody reads");
        let more = held - before;
        assert!(
            more < MOST_WAITING,
            "{more} bytes wait for a host that does not read"
        );

        let (mut bytes, mut next) = (0, 0);
        let result = loop {
            let (line, length) = agent.measured_line().await.unwrap();
            bytes += length;
            if let Some(text) = line["event"]["delta"]["text"].as_str() {
                assert_eq!(text, piece(next));
                next += 1;
            }
            if line["type"] == "result" {
                break line;
            }
        };
        assert_eq!(next, pieces);
        assert!(bytes > least, "{bytes} bytes are too few to show anything");
        let whole: String = (0..pieces).map(piece).collect();
        assert_eq!(result["result"], whole);
        let held = memory(process, "VmHWM:");
        assert!(held < MOST, "{held} bytes at the end");
        assert_eq!(agent.close_and_end().await.code, Some(0));
    });
}

fn piece(number: usize) -> String {
    format!("{number} ")
}

/// One text in very many pieces.
fn stream(pieces: usize) -> Vec<Value> {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let start = json!({
        "type": "message_start",
        "message": {
            "id": "msg_long", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
        },
    });
    let block = json!({"type": "text", "text": ""});
    let mut events = vec![
        start,
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    events.extend((0..pieces).map(|number| {
        let delta = json!({"type": "text_delta", "text": piece(number)});
        json!({"type": "content_block_delta", "index": 0, "delta": delta})
    }));
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": delta, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    events
}

#[test]
fn large_answers_that_were_asked_for_all_at_once_wait_for_each_other() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        fs::write(room.project().join("large.txt"), "x".repeat(4 << 20)).unwrap();
        let mut lines = String::new();
        for number in 0..ANSWERS {
            let request = json!({"subtype": "read_file", "path": "large.txt"});
            let line = json!({"type": "control_request", "request_id": number.to_string(), "request": request});
            lines.push_str(&format!("{line}\n"));
        }
        agent.write(lines.as_bytes()).await.unwrap();
        stands_still(agent.id()).await;
        let mut answered = [false; ANSWERS];
        for _ in 0..ANSWERS {
            let (line, length) = agent.measured_line().await.unwrap();
            assert!(length > 4 << 20, "{length}");
            let id = line["response"]["request_id"].as_str().unwrap();
            answered[id.parse::<usize>().unwrap()] = true;
        }
        assert!(answered.iter().all(|answered| *answered));
        let held = memory(agent.id(), "VmHWM:");
        assert!(held < MOST_WITH_ANSWERS, "{held} bytes");
    });
}

#[test]
fn a_question_that_nobody_answers_stops_nothing_else() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([
            Reply::message().tool("Bash", json!({"command": "touch asked.txt"})),
            Reply::text("Done."),
        ]))
        .await;
        let arguments = ["--permission-prompt-tool", "stdio"];
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        agent.say(&prompt("touch it")).await;
        let question = agent.hear_kind("control_request").await;
        // The agent hears and answers what is asked of it, however often, and the call waits all the while.
        for number in 0..200 {
            let id = format!("of the host {number}");
            let request = json!({"subtype": "get_binary_version"});
            agent
                .say(&json!({"type": "control_request", "request_id": id, "request": request}))
                .await;
            let answer = agent.line().await.unwrap();
            assert_eq!(answer["response"]["request_id"], id, "{answer}");
        }
        stands_still(agent.id()).await;
        assert!(!room.project().join("asked.txt").exists());
        assert_eq!(api.requests().len(), 1);

        let allow = json!({"behavior": "allow", "updatedInput": question["request"]["input"]});
        let response =
            json!({"subtype": "success", "request_id": question["request_id"], "response": allow});
        agent
            .say(&json!({"type": "control_response", "response": response}))
            .await;
        assert_eq!(agent.hear_kind("result").await["result"], "Done.");
        assert!(room.project().join("asked.txt").exists());
        assert_eq!(agent.close_and_end().await.code, Some(0));
    });
}

#[test]
fn a_host_that_leaves_without_an_answer_leaves_no_agent_behind() {
    block_on(async {
        let room = towline_room();
        let ask = Reply::message().tool("Bash", json!({"command": "touch asked.txt"}));
        let api = api(Script::new([ask]).default_reply(Reply::text("Nobody there."))).await;
        let arguments = ["--permission-prompt-tool", "stdio"];
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        agent.say(&prompt("touch it")).await;
        agent.hear_kind("control_request").await;
        let ended = agent.close_and_end().await;
        assert!(ended.code.is_some(), "{ended:?}");
        assert!(!room.project().join("asked.txt").exists());
    });
}

#[test]
fn a_line_of_more_than_64_mib_is_left_out_and_told() {
    for is_first in [true, false] {
        block_on(async {
            let room = towline_room();
            let api = api(Script::new([]).default_reply(Reply::text("Hello."))).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            if !is_first {
                agent.ask("hello").await;
            }
            let mut long = prompt("never asked").to_string().into_bytes();
            long.resize((64 << 20) + 1, b' ');
            long.push(b'\n');
            agent.write(&long).await.unwrap();
            drop(long);
            let told = agent.hear_kind("error").await;
            let text = told["error"]["message"].as_str().unwrap();
            assert!(text.contains("more than 67108864 bytes"), "{text}");
            assert!(text.len() < 1_000, "{text}");
            assert_eq!(agent.ask("hello").await["result"], "Hello.");
            let held = memory(agent.id(), "VmHWM:");
            // One such line is held, and what it was copied from while it grew.
            assert!(held < 3 * (64 << 20), "{held} bytes");
            assert_eq!(agent.close_and_end().await.code, Some(0));
        });
    }
}
