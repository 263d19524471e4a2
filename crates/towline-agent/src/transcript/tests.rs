//! Records beside those of the real CLI, and the chain that they make.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use towline_protocol::{
    Block, Content, Json, ModelMessage, PermissionMode, Text, Uuid, Wire, transcript::Record,
};

use super::{
    Origin, Past, Persistence, Transcript,
    happenings::{
        AssistantBlock, Attachment, Compacted, Failure, Prompt, Queued, Stamp, ToolResult,
    },
};

/// A session that is told step by step; ids and times count up.
pub(crate) struct Story {
    pub(crate) transcript: Transcript,
    pub(crate) records: Vec<Record>,
    count: u32,
}

impl Story {
    pub(crate) fn new(session_id: &str, past: Past) -> Self {
        Self::with(session_id, past, Persistence::On)
    }

    fn with(session_id: &str, past: Past, persistence: Persistence) -> Self {
        let origin = Origin {
            session_id: session_id.into(),
            entrypoint: "sdk-cli".into(),
            version: "2.1.325".into(),
            cwd: "/project".into(),
            git_branch: "HEAD".into(),
            persistence,
        };
        let first = u32::try_from(past.turns).unwrap() * 1000;
        Self {
            transcript: Transcript::new(origin, past),
            records: Vec::new(),
            count: first,
        }
    }

    fn stamp(&mut self) -> Stamp {
        self.count += 1;
        Stamp {
            uuid: uuid(self.count),
            timestamp: self.now(),
        }
    }

    fn now(&self) -> Text {
        let (minute, second) = (self.count / 60 % 60, self.count % 60);
        format!("2026-11-16T05:{minute:02}:{second:02}.000Z").into()
    }

    /// A turn begins, as the engine would have it.
    pub(crate) fn prompt(&mut self, words: &str) {
        let content = Some(Json::of(words).unwrap());
        let queued = Queued {
            content,
            command_uuid: None,
        };
        let now = self.now();
        self.records
            .extend(self.transcript.enqueue(now.clone(), queued));
        self.records.extend(self.transcript.dequeue(now));
        let prompt = Prompt {
            content: words.into(),
            prompt_id: uuid(900 + self.count).as_str().into(),
            permission_mode: PermissionMode::AcceptEdits,
            source: "sdk".into(),
            origin: None,
        };
        let stamp = self.stamp();
        self.records
            .extend(self.transcript.user_prompt(stamp, prompt));
    }

    /// The blocks of one message of the model; the ids of their records.
    pub(crate) fn answer(&mut self, id: &str, blocks: &Value) -> Vec<Uuid> {
        let mut ids = Vec::new();
        let has_call = blocks.to_string().contains("tool_use");
        for (index, block) in (0..).zip(blocks.as_array().unwrap()) {
            let message = json!({
                "id": id, "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": [block],
                "stop_reason": if has_call { "tool_use" } else { "end_turn" }, "stop_sequence": null,
                "usage": {"input_tokens": 100, "output_tokens": 20},
            });
            let block = AssistantBlock {
                message: ModelMessage::from_json(message.to_string()).unwrap(),
                index: Some(index),
                request_id: Some("req_1".into()),
                requested_model: Some("claude-opus-5-5".into()),
                effort: None,
                failure: None,
            };
            let stamp = self.stamp();
            ids.push(stamp.uuid.clone());
            self.records.extend(self.transcript.assistant(stamp, block));
        }
        ids
    }

    pub(crate) fn result(&mut self, call: &Uuid, id: &str, words: &str) {
        let block =
            json!({"tool_use_id": id, "type": "tool_result", "content": words, "is_error": false});
        let result = ToolResult {
            block: Block::from_json(block.to_string()).unwrap(),
            data: Some(Json::of(&json!({"stdout": words})).unwrap()),
            call: Some(call.clone()),
            decision: Some(Json::of(&json!({"decision": "accept", "source": "config"})).unwrap()),
            denial_kind: None,
        };
        let stamp = self.stamp();
        self.records
            .extend(self.transcript.tool_result(stamp, result));
    }

    pub(crate) fn attach(&mut self, kind: &str, rendered: &str) {
        let added = Attachment {
            attachment: Json::of(&json!({"type": kind})).unwrap(),
            rendered: Some(rendered.to_owned()),
        };
        let stamp = self.stamp();
        self.records
            .extend(self.transcript.attachment(stamp, added));
    }

    pub(crate) fn fail(&mut self) {
        let message = json!({
            "model": "<synthetic>", "role": "assistant", "content": [{"type": "text", "text": "API Error: 529"}],
            "stop_reason": "stop_sequence",
        });
        let block = AssistantBlock {
            message: ModelMessage::from_json(message.to_string()).unwrap(),
            failure: Some(Failure {
                error: Some("overloaded".into()),
                status: Some(529),
                kind: Some("overloaded_error".into()),
            }),
            ..AssistantBlock::default()
        };
        let stamp = self.stamp();
        self.records.extend(self.transcript.assistant(stamp, block));
    }

    pub(crate) fn compact(&mut self, summary: &str) {
        let stamps = [self.stamp(), self.stamp()];
        let compacted = Compacted {
            summary: summary.into(),
            metadata: Json::of(&json!({"trigger": "manual", "preTokens": 138})).unwrap(),
        };
        self.records
            .extend(self.transcript.compacted(stamps, compacted));
    }

    pub(crate) fn rest(&mut self) {
        let cost = towline_protocol::transcript::CostState {
            total_cost_usd: Some(0.25.into()),
            ..Default::default()
        };
        self.records.extend(self.transcript.rest(Some(cost)));
    }
}

pub(crate) fn uuid(number: u32) -> Uuid {
    format!("{number:08x}-1111-4222-8333-444444444444").into()
}

/// A session with all that is common in one: thoughts, calls beside each other whose results come out of order, an
/// attachment, two turns.
pub(crate) fn told(session_id: &str) -> Story {
    let mut story = Story::new(session_id, Past::default());
    story.prompt("look around");
    story.attach(
        "environment",
        "<system-reminder>old surroundings</system-reminder>",
    );
    story.attach(
        "hook_additional_context",
        "<system-reminder>from a hook</system-reminder>",
    );
    let calls = story.answer(
        "msg_1",
        &json!([
            {"type": "thinking", "thinking": "I must look.", "signature": "c2ln"},
            {"type": "text", "text": "Two at once."},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/project/a"}},
        ]),
    );
    story.result(&calls[3], "toolu_2", "the file");
    story.result(&calls[2], "toolu_1", "a b c");
    story.answer("msg_2", &json!([{"type": "text", "text": "There it is."}]));
    story.rest();
    story.prompt("thank you é \"quoted\"");
    story.answer(
        "msg_3",
        &json!([{"type": "text", "text": "You are welcome."}]),
    );
    story.rest();
    story
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn value(record: &Record) -> Value {
    record.to_standard_json().parse().unwrap()
}

/// The first record of that kind in a transcript of the real CLI.
fn real(kind: &str, name: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../towline-store/tests/data/");
    let text = std::fs::read_to_string(format!("{path}{name}.jsonl")).unwrap();
    let mut records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.find(|record| record["type"] == kind).unwrap()
}

#[test]
fn records_have_the_fields_of_the_real_ones() {
    let story = told(SESSION);
    // What only the real CLI knows: its own bookkeeping of requests and effort.
    let cases: &[(&str, &str, &[&str])] = &[
        ("user", "parallel", &[]),
        (
            "assistant",
            "forked",
            &[
                "requestRef",
                "promptCacheRequested",
                "effort",
                "perTurnEffort",
            ],
        ),
        // Its words are not in our copy.
        ("attachment", "parallel", &["rendered"]),
        ("queue-operation", "parallel", &[]),
        ("last-prompt", "parallel", &[]),
    ];
    for (kind, name, not_ours) in cases {
        let theirs = real(kind, name);
        let ours = story.records.iter().map(value);
        let ours = ours
            .into_iter()
            .find(|record| record["type"] == *kind)
            .unwrap();
        let fields = |record: &Value| -> BTreeSet<String> {
            let fields = record.as_object().unwrap().keys();
            let fields = fields.filter(|field| !not_ours.contains(&field.as_str()));
            fields.cloned().collect()
        };
        assert_eq!(fields(&ours), fields(&theirs), "{kind}");
    }
    let prompt = story
        .records
        .iter()
        .map(value)
        .find(|record| record["type"] == "user");
    let prompt = prompt.unwrap();
    assert_eq!(prompt["parentUuid"], Value::Null);
    assert_eq!(
        prompt["turnPosition"],
        json!({"promptIndex": 0, "turnIndex": 1})
    );
    assert_eq!(
        prompt["message"],
        json!({"role": "user", "content": "look around"})
    );
    for record in &story.records {
        assert_eq!(record.unnamed_paths(), [] as [&str; 0]);
        assert_eq!(value(record)["sessionId"], SESSION);
    }
}

#[test]
fn the_chain_has_no_gap_and_results_hang_on_their_calls() {
    let story = told(SESSION);
    let mut seen: Vec<&Uuid> = Vec::new();
    for record in &story.records {
        let Some((uuid, parent)) = record.link() else {
            continue;
        };
        match parent {
            None => assert!(seen.is_empty(), "{record:?}"),
            Some(parent) => assert!(seen.contains(&parent), "{record:?}"),
        }
        if let Record::User(user) = record
            && let Some(source) = &user.source_tool_assistant_uuid
        {
            assert_eq!(parent, Some(source));
        }
        seen.push(uuid);
    }
    assert_eq!(story.transcript.last(), seen.last().copied());
    assert_eq!(story.transcript.turns(), 2);
    let used = story
        .records
        .iter()
        .map(value)
        .filter(|record| record["type"] == "tools-used");
    let used: Vec<Value> = used.map(|record| record["tools"].clone()).collect();
    assert_eq!(used, [json!(["Bash"]), json!(["Bash", "Read"])]);
}

#[test]
fn without_persistence_there_are_no_records_but_the_chain_goes_on() {
    let mut story = Story::with(SESSION, Past::default(), Persistence::Off);
    story.prompt("hello");
    let ids = story.answer("msg_1", &json!([{"type": "text", "text": "hi"}]));
    story.rest();
    story.records.extend(story.transcript.title("a title"));
    assert_eq!(story.records, []);
    assert_eq!(story.transcript.last(), ids.last());
}

#[test]
fn a_compaction_begins_anew_and_says_what_was_before() {
    let mut story = told(SESSION);
    let before = story.transcript.last().cloned().unwrap();
    story.compact("it was nice");
    story.prompt("and now?");
    let boundary = story
        .records
        .iter()
        .map(value)
        .find(|record| record["subtype"] == "compact_boundary");
    let boundary = boundary.unwrap();
    assert_eq!(boundary["parentUuid"], Value::Null);
    assert_eq!(boundary["logicalParentUuid"], before.as_str());
    let summary = story
        .records
        .iter()
        .map(value)
        .find(|record| record["isCompactSummary"] == true);
    assert_eq!(summary.unwrap()["parentUuid"], boundary["uuid"]);
}

#[test]
fn titles_and_long_prompts_are_written_for_lists() {
    let mut story = Story::new(SESSION, Past::default());
    assert_eq!(story.transcript.rest(None), []);
    story.prompt(&format!("first\n  line {}", "é".repeat(300)));
    story.rest();
    let last = story
        .records
        .iter()
        .map(value)
        .find(|record| record["type"] == "last-prompt");
    let last = last.unwrap()["lastPrompt"].as_str().unwrap().to_owned();
    assert!(
        last.starts_with("first line é") && last.ends_with("é…"),
        "{last}"
    );
    let titles: Vec<Value> = story.transcript.title("Boat").iter().map(value).collect();
    assert_eq!(titles[0]["customTitle"], "Boat");
    assert_eq!(titles[1]["agentName"], "Boat");
    assert_eq!(value(&story.transcript.mode("normal")[0])["mode"], "normal");
    let aside = story.stamp();
    let aside = story.transcript.aside(aside, Content::from("feedback"));
    assert_eq!(value(&aside[0])["isMeta"], true);
}
