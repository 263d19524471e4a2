//! Sessions that are gone on with: ours, those of the real CLI, broken ones.

mod real;

use std::{collections::HashSet, fs};

use serde_json::{Value, json};
use tempfile::TempDir;
use towline_protocol::{Content, Json, Wire, transcript::Record};
use towline_store::{Home, Session, TranscriptWriter};

use super::{ResumeError, Resumed, conversation::Conversation, copy_history, resume};
use crate::history::prompt_blocks;
use crate::{
    config::{SessionOptions, SessionStart},
    transcript::{
        Past,
        tests::{Story, told, uuid},
    },
};

pub(super) const ID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "99999999-2222-4333-8444-555555555555";
const CWD: &str = "/project";

struct Disk {
    _folder: TempDir,
    home: Home,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        Self {
            _folder: folder,
            home,
        }
    }

    fn session(&self, id: &str) -> Session {
        self.home.session_in(CWD, id.parse().unwrap())
    }

    fn keep(&self, id: &str, records: &[Record]) -> Session {
        let session = self.session(id);
        let mut writer = TranscriptWriter::create(session.clone()).unwrap();
        writer.append(records).unwrap();
        session
    }

    fn resume(&self, start: SessionStart) -> Result<Option<Resumed>, ResumeError> {
        let options = SessionOptions {
            start,
            ..SessionOptions::default()
        };
        resume(&self.home, CWD.as_ref(), &options)
    }
}

fn by(which: &str) -> SessionStart {
    SessionStart::Resume {
        which: which.to_owned(),
        fork: false,
        at: None,
        drops_turn: None,
    }
}

fn at(record: &str) -> SessionStart {
    SessionStart::Resume {
        which: ID.to_owned(),
        fork: false,
        at: Some(record.to_owned()),
        drops_turn: None,
    }
}

fn values(messages: &[Json]) -> Vec<Value> {
    let messages = messages.iter().map(|message| message.parse().unwrap());
    messages.collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what is given is written right there"
)]
fn user(blocks: Value) -> Value {
    json!({"role": "user", "content": blocks})
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what is given is written right there"
)]
fn assistant(blocks: Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn result(id: &str, words: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": words, "is_error": false})
}

/// What the story of `told` is to the model.
fn told_messages() -> Vec<Value> {
    vec![
        user(json!([
            text("look around"),
            text("<system-reminder>from a hook</system-reminder>")
        ])),
        assistant(json!([
            {"type": "thinking", "thinking": "I must look.", "signature": "c2ln"},
            text("Two at once."),
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/project/a"}},
        ])),
        user(json!([
            result("toolu_1", "a b c"),
            result("toolu_2", "the file")
        ])),
        assistant(json!([text("There it is.")])),
        user(json!([text("thank you é \"quoted\"")])),
        assistant(json!([text("You are welcome.")])),
    ]
}

/// What the API asks of messages.
fn check(messages: &[Value]) {
    assert_eq!(messages[0]["role"], "user");
    let mut open: HashSet<String> = HashSet::new();
    for pair in messages.windows(2) {
        assert_ne!(pair[0]["role"], pair[1]["role"], "{messages:#?}");
    }
    for message in messages {
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "tool_use" => assert!(open.insert(block["id"].to_string())),
                "tool_result" => assert!(open.remove(&block["tool_use_id"].to_string())),
                _ => assert!(
                    open.is_empty() || message["role"] == "assistant",
                    "{messages:#?}"
                ),
            }
        }
        assert!(
            message["role"] == "assistant" || open.is_empty(),
            "{messages:#?}"
        );
    }
    assert!(open.is_empty());
}

#[test]
fn what_was_written_is_what_is_resumed() {
    let disk = Disk::new();
    let mut story = told(ID);
    story.records.extend(story.transcript.title("Look around"));
    let session = disk.keep(ID, &story.records);
    let path = session.path().to_str().unwrap().to_owned();
    for start in [
        by(ID),
        by("look AROUND"),
        by(&path),
        SessionStart::Continue { fork: false },
    ] {
        let resumed = disk.resume(start.clone()).unwrap().unwrap();
        assert_eq!(
            values(&resumed.history.messages()),
            told_messages(),
            "{start:?}"
        );
        assert_eq!(resumed.session, session);
        assert_eq!(resumed.past.last.as_ref(), story.transcript.last());
        assert_eq!(resumed.past.turns, 2);
        assert_eq!(resumed.past.tools_used, ["Bash", "Read"]);
        assert_eq!(resumed.title.as_deref(), Some("Look around"));
        assert_eq!(
            resumed.permission_mode,
            Some(towline_protocol::PermissionMode::AcceptEdits)
        );
        let cost = resumed.cost.unwrap().total_cost_usd.unwrap();
        assert!((cost.as_f64() - 0.25).abs() < f64::EPSILON);
    }
}

#[test]
fn a_session_goes_on_where_it_ended() {
    let disk = Disk::new();
    let session = disk.keep(ID, &told(ID).records);
    let resumed = disk.resume(by(ID)).unwrap().unwrap();
    let mut story = Story::new(ID, resumed.past);
    story.prompt("third");
    story.answer("msg_9", &json!([text("Yes.")]));
    TranscriptWriter::open(session)
        .unwrap()
        .append(&story.records)
        .unwrap();
    let resumed = disk.resume(by(ID)).unwrap().unwrap();
    let mut expected = told_messages();
    expected.push(user(json!([text("third")])));
    expected.push(assistant(json!([text("Yes.")])));
    assert_eq!(values(&resumed.history.messages()), expected);
    assert_eq!(resumed.past.turns, 3);
}

#[test]
fn a_transcript_cut_at_any_byte_still_resumes() {
    let disk = Disk::new();
    let session = disk.keep(ID, &told(ID).records);
    let whole = fs::read(session.path()).unwrap();
    let first_prompt = whole
        .windows(11)
        .position(|window| window == b"look around")
        .unwrap();
    let mut resumed_count = 0;
    for cut in (0..whole.len()).step_by(17) {
        fs::write(session.path(), &whole[..cut]).unwrap();
        match disk.resume(by(ID)) {
            Ok(resumed) => {
                check(&values(&resumed.unwrap().history.messages()));
                resumed_count += 1;
            }
            Err(ResumeError::Unknown { .. }) => assert!(cut < first_prompt + 1500, "{cut}"),
            Err(error) => panic!("{cut}: {error}"),
        }
    }
    assert!(resumed_count > 200, "{resumed_count}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_the_api_would_refuse_is_repaired() {
    let record = |kind: &str, rest: Value| {
        let mut record = json!({"type": kind, "uuid": "u"});
        for (name, value) in rest.as_object().unwrap() {
            record[name] = value.clone();
        }
        Record::from_json(record.to_string()).unwrap()
    };
    let said = |content: Value| {
        record(
            "user",
            json!({"message": {"role": "user", "content": content}}),
        )
    };
    let answer = |id: &str, content: Value| {
        record(
            "assistant",
            json!({"message": {"id": id, "role": "assistant", "content": content}}),
        )
    };
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}});
    let interrupted =
        "The call was interrupted before it gave a result. It may have had some effect or none.";
    let repaired = json!({
        "type": "tool_result", "tool_use_id": "t1", "content": interrupted, "is_error": true,
    });
    let cases: Vec<(&str, Vec<Record>, Vec<Value>)> = vec![
        ("nothing", vec![], vec![]),
        (
            "a call without a result",
            vec![
                said(json!("go")),
                answer("m1", json!([call])),
                said(json!("again")),
            ],
            vec![
                user(json!([text("go")])),
                assistant(json!([call])),
                user(json!([repaired, text("again")])),
            ],
        ),
        (
            "a call at the end",
            vec![said(json!("go")), answer("m1", json!([call]))],
            vec![
                user(json!([text("go")])),
                assistant(json!([call])),
                user(json!([repaired])),
            ],
        ),
        (
            "a result without a call",
            vec![
                said(json!("go")),
                said(json!([result("t9", "x")])),
                answer("m1", json!("ok")),
            ],
            vec![user(json!([text("go")])), assistant(json!([text("ok")]))],
        ),
        (
            "an input that is no object",
            vec![
                said(json!("go")),
                answer(
                    "m1",
                    json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": null}]),
                ),
                said(json!([result("t1", "x")])),
            ],
            vec![
                user(json!([text("go")])),
                assistant(json!([call])),
                user(json!([result("t1", "x")])),
            ],
        ),
        (
            "thoughts that led to nothing, and empty texts",
            vec![
                said(json!("go")),
                answer("m1", json!([{"type": "thinking", "thinking": "hm"}])),
                answer("m2", json!(" ")),
                said(json!([text("")])),
                said(json!("on")),
            ],
            vec![user(json!([text("go"), text("on")]))],
        ),
        (
            "a beginning that is lost",
            vec![answer("m1", json!("hello"))],
            vec![
                user(json!([text(
                    "(The beginning of this conversation is not there any more.)"
                )])),
                assistant(json!([text("hello")])),
            ],
        ),
        (
            "a command that ran here",
            vec![
                record(
                    "system",
                    json!({"subtype": "local_command", "content": "<local-command-stdout>x"}),
                ),
                record(
                    "system",
                    json!({"subtype": "informational", "content": "not for the model"}),
                ),
            ],
            vec![user(json!([text("<local-command-stdout>x")]))],
        ),
    ];
    for (name, records, expected) in cases {
        let mut conversation = Conversation::default();
        records.iter().for_each(|record| conversation.add(record));
        assert_eq!(
            values(&conversation.into_history().messages()),
            expected,
            "{name}"
        );
    }
}

#[test]
fn failures_of_the_api_are_not_told_to_the_model() {
    let disk = Disk::new();
    let mut story = told(ID);
    story.prompt("once more");
    story.fail();
    disk.keep(ID, &story.records);
    let resumed = disk.resume(by(ID)).unwrap().unwrap();
    let mut expected = told_messages();
    expected.push(user(json!([text("once more")])));
    assert_eq!(values(&resumed.history.messages()), expected);
    // The next prompt joins the one that got no answer.
    let mut history = resumed.history;
    history.push_user(prompt_blocks(Some(&Content::from("and again"))));
    let joined = values(&history.messages());
    assert_eq!(
        joined.last().unwrap(),
        &user(json!([text("once more"), text("and again")]))
    );
    check(&joined);
}

#[test]
fn behind_a_compaction_the_model_sees_the_summary_alone() {
    let disk = Disk::new();
    let mut story = told(ID);
    story.compact("it was nice");
    story.prompt("and now?");
    disk.keep(ID, &story.records);
    let resumed = disk.resume(by(ID)).unwrap().unwrap();
    assert_eq!(
        values(&resumed.history.messages()),
        [user(json!([text("it was nice"), text("and now?")]))]
    );
    assert_eq!(resumed.past.turns, 3);
}

#[test]
fn sessions_of_the_real_cli_resume() {
    let cases: &[(&str, usize, &[&str])] = &[
        (
            "compact",
            6,
            &["reply 2", "after", "reply 4", "resumed after compact"],
        ),
        (
            "parallel",
            6,
            &[
                "PARALLEL please",
                "out0",
                "out1",
                "out2",
                "then this",
                "reply 3",
            ],
        ),
        ("resumed_5x", 10, &["via path"]),
        ("forked", 10, &["first message A", "fork msg2", "reply F2"]),
        ("slash_cost", 0, &["local-command-stdout"]),
        ("hook_all", 0, &[]),
        ("subagent_main", 0, &[]),
    ];
    for (name, count, words) in cases {
        let disk = Disk::new();
        let session = disk.session(ID);
        fs::create_dir_all(session.project_folder()).unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../towline-store/tests/data/");
        fs::copy(format!("{path}{name}.jsonl"), session.path()).unwrap();
        let messages = values(&disk.resume(by(ID)).unwrap().unwrap().history.messages());
        check(&messages);
        assert!(
            *count == 0 || messages.len() == *count,
            "{name}: {messages:#?}"
        );
        let all = json!(messages).to_string();
        for words in *words {
            assert!(all.contains(words), "{name}: {words} is not in {all}");
        }
        assert!(!all.contains("<elided>"), "{name}");
    }
}

#[test]
fn a_session_is_resumed_at_a_record_and_branches_there() {
    let disk = Disk::new();
    let story = told(ID);
    let session = disk.keep(ID, &story.records);
    let uuids: Vec<&str> = story
        .records
        .iter()
        .filter_map(|record| Some(record.link()?.0.as_str()))
        .collect();
    // The prompt, its attachments, four blocks, two results, the answer, the second prompt, its answer.
    let all = told_messages();
    let expected: &[(usize, usize)] = &[(0, 1), (9, 4), (10, 5), (11, 6)];
    for (index, count) in expected {
        let resumed = disk.resume(at(uuids[*index])).unwrap().unwrap();
        let messages = values(&resumed.history.messages());
        check(&messages);
        assert_eq!(messages.len(), *count, "{index}");
        assert_eq!(resumed.past.last.unwrap(), uuids[*index]);
        if *index > 0 {
            assert_eq!(messages, all[..*count]);
        }
    }
    // In the middle of a message its later blocks are not there yet.
    let resumed = disk.resume(at(uuids[5])).unwrap().unwrap();
    let messages = json!(values(&resumed.history.messages())).to_string();
    assert!(
        messages.contains("toolu_1") && !messages.contains("toolu_2"),
        "{messages}"
    );

    let past = Past {
        last: Some(uuids[9].into()),
        turns: 1,
        ..Past::default()
    };
    let mut branch = Story::new(ID, past);
    branch.prompt("another way");
    branch.rest();
    TranscriptWriter::open(session)
        .unwrap()
        .append(&branch.records)
        .unwrap();
    let messages = values(&disk.resume(by(ID)).unwrap().unwrap().history.messages());
    assert_eq!(messages[..4], all[..4]);
    assert_eq!(messages[4..], [user(json!([text("another way")]))]);
}

#[test]
fn a_fork_has_the_same_records_under_another_session() {
    let disk = Disk::new();
    let mut story = told(ID);
    story.compact("it was nice");
    story.prompt("and now?");
    let session = disk.keep(ID, &story.records);
    let before = fs::read(session.path()).unwrap();
    let resumed = disk
        .resume(SessionStart::Continue { fork: true })
        .unwrap()
        .unwrap();
    assert!(resumed.is_fork);
    let fork = disk.session(OTHER);
    copy_history(
        &resumed,
        &mut TranscriptWriter::create(fork.clone()).unwrap(),
    )
    .unwrap();
    let copied = fs::read_to_string(fork.path()).unwrap();
    assert!(!copied.contains(ID) && copied.contains(OTHER));
    assert_eq!(fs::read(session.path()).unwrap(), before);
    let forked = disk.resume(by(OTHER)).unwrap().unwrap();
    assert_eq!(forked.history.messages(), resumed.history.messages());
    assert_eq!(forked.past.last, resumed.past.last);
    let mut theirs = disk.resume(by(ID)).unwrap().unwrap();
    theirs.session = fork;
    assert_eq!(theirs.history.messages(), forked.history.messages());
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let disk = Disk::new();
    disk.keep(ID, &told(ID).records);
    let unknown = uuid(77).to_string();
    let message = |start| disk.resume(start).unwrap_err();
    let error = message(by(OTHER));
    assert_eq!(
        error.to_string(),
        format!("No conversation found with session ID: {OTHER}")
    );
    assert_eq!(error.session().unwrap().as_str(), OTHER);
    let error = message(by("no such title"));
    assert!(error.to_string().starts_with(
        "Error: --resume requires a valid session ID or session title when used with --print."
    ));
    assert_eq!(error.session(), None);
    let error = message(at(&unknown));
    assert_eq!(
        error.to_string(),
        format!("No message found with message.uuid of: {unknown}")
    );
    assert_eq!(error.session().unwrap().as_str(), ID);

    let taken = SessionOptions {
        id: Some(ID.parse().unwrap()),
        ..SessionOptions::default()
    };
    let error = resume(&disk.home, CWD.as_ref(), &taken).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("Error: Session ID {ID} is already in use.")
    );

    // Records without ids are no conversation (document 001 has such).
    let session = disk.session(OTHER);
    fs::write(
        session.path(),
        "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n",
    )
    .unwrap();
    assert!(matches!(message(by(OTHER)), ResumeError::Unknown { .. }));
    let none = Disk::new();
    assert!(
        none.resume(SessionStart::Continue { fork: false })
            .unwrap()
            .is_none()
    );
    assert!(none.resume(SessionStart::New).unwrap().is_none());
}
