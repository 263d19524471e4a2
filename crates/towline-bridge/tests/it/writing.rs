//! What is written is there, whole or not at all, and what follows from frames with it.

use towline_bridge::{
    Kind, Outcome, Usage,
    log::{AnswerRecord, Log, Page, QuestionRecord, Write},
};

use crate::made::{Made, all_frames, frame, id, line, of, record, session};

#[test]
fn what_was_written_is_there_after_opening_again() {
    let mut made = Made::new();
    let frames = [
        line(1, 10),
        frame(2, Kind::Note, r#"{"code":"stopped","text":"ü"}"#),
        line(3, 100_000),
    ];
    let batch: Vec<Write> = frames.iter().map(|frame| of("s", frame.clone())).collect();
    made.log.write(&batch).unwrap();
    assert_eq!(all_frames(&made.log, "s"), frames);
    let made = made.reopened();
    assert_eq!(all_frames(&made.log, "s"), frames);
}

#[test]
fn sessions_come_latest_first_with_the_number_of_their_last_frame() {
    let mut made = Made::new();
    let mut named = record("t", 9);
    named.title = Some("named".to_owned());
    made.log
        .write(&[
            session("t", 5),
            session("u", 7),
            of("t", line(1, 1)),
            of("t", line(2, 1)),
        ])
        .unwrap();
    made.log
        .write(&[Write::Session(Box::new(named.clone()))])
        .unwrap();
    named.last_seq = 2;
    let expected = [named, record("u", 7), record("s", 1)];
    assert_eq!(made.log.sessions().unwrap(), expected);
    assert_eq!(made.reopened().log.sessions().unwrap(), expected);
}

#[test]
fn a_batch_that_cannot_be_written_leaves_nothing_behind() {
    let mut made = Made::new();
    made.log.write(&[of("s", line(1, 1))]).unwrap();
    for (bad, why) in [
        (
            of("s", line(4, 1)),
            "frame 4 of session s does not follow the last one, 2",
        ),
        (
            of("s", line(0, 1)),
            "frame 0 of session s does not follow the last one, 2",
        ),
        (
            of("s", line(u64::MAX, 1)),
            "does not follow the last one, 2",
        ),
        (
            of("s", line(1, 50)),
            "frame 1 of session s is written already, and says something else",
        ),
        (
            of("nobody", line(1, 1)),
            "there is no session nobody: its record comes first",
        ),
    ] {
        let error = made
            .log
            .write(&[session("new", 1), of("s", line(2, 1)), bad])
            .unwrap_err();
        assert!(error.why.contains(why), "{error}");
        assert_eq!(
            error.what,
            format!("cannot write to the log `{}`", made.log.file().display())
        );
        assert_eq!(all_frames(&made.log, "s"), [line(1, 1)]);
        assert_eq!(made.log.sessions().unwrap().len(), 1);
    }
    made.log.write(&[of("s", line(2, 1))]).unwrap();
    assert_eq!(all_frames(&made.log, "s"), [line(1, 1), line(2, 1)]);
}

#[test]
fn a_batch_written_twice_is_there_once() {
    let mut made = Made::new();
    let input = r#"{"content":"hello","client_message_id":"c1","by":"ann"}"#;
    let batch = [of("s", frame(1, Kind::Input, input)), of("s", line(2, 1))];
    made.log.write(&batch).unwrap();
    made.log.write(&batch).unwrap();
    let mut made = made.reopened();
    made.log.write(&batch).unwrap();
    assert_eq!(all_frames(&made.log, "s").len(), 2);
    let ids = made.log.reader().unwrap().client_ids(&id("s"), 10).unwrap();
    assert_eq!(ids, [("c1".into(), 1)]);
}

#[test]
fn the_newest_client_ids_are_known_after_a_restart() {
    let mut made = Made::new();
    let body = |n: u64| format!(r#"{{"content":"x","client_message_id":"c{n}","by":"ann"}}"#);
    let batch: Vec<Write> = (1..=5)
        .map(|n| of("s", frame(n, Kind::Input, &body(n))))
        .collect();
    made.log.write(&batch).unwrap();
    made.write(
        6,
        &[
            (Kind::Input, r#"{"content":"without","by":"ann"}"#),
            (Kind::Input, "damaged"),
        ],
    );
    let made = made.reopened();
    let ids = made.log.reader().unwrap().client_ids(&id("s"), 2).unwrap();
    assert_eq!(ids, [("c5".into(), 5), ("c4".into(), 4)]);
}

#[test]
fn questions_are_open_until_the_first_answer() {
    let mut made = Made::new();
    let ask = |id: &str| {
        format!(
            r#"{{"id":"{id}","ask":"permission","tool_name":"Bash","input":{{}},"request":{{}}}}"#
        )
    };
    made.write(
        1,
        &[
            (Kind::Question, &ask("q1")),
            (Kind::Question, &ask("q2")),
            (
                Kind::Answer,
                r#"{"id":"q1","outcome":"denied","by":"ann","message":"no"}"#,
            ),
            (Kind::Answer, r#"{"id":"q1","outcome":"allowed"}"#),
            (Kind::Answer, r#"{"id":"unknown","outcome":"allowed"}"#),
            (Kind::Question, &ask("q1")),
        ],
    );
    let question = |id: &str, seq: u64, answer| QuestionRecord {
        id: id.to_owned(),
        tool: "Bash".to_owned(),
        asked_seq: seq,
        asked_at: 1000 + seq,
        answer,
    };
    let answer = AnswerRecord {
        seq: 3,
        at: 1003,
        outcome: Some(Outcome::Denied),
        by: Some("ann".to_owned()),
        message: Some("no".to_owned()),
    };
    let expected = [
        question("q1", 6, None),
        question("q2", 2, None),
        question("q1", 1, Some(answer)),
    ];
    let reader = made.log.reader().unwrap();
    assert_eq!(reader.questions(&id("s"), 10).unwrap(), expected);
    assert_eq!(reader.questions(&id("s"), 1).unwrap(), expected[..1]);
}

#[test]
fn turns_are_counted_from_totals_that_grow_and_begin_again() {
    let mut made = Made::new();
    let result = |total: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","total_cost_usd":{total},"usage":{{"input_tokens":10,"output_tokens":2,"cache_read_input_tokens":3}}}}"#
        )
    };
    // Two turns, a resume that failed, one more turn, and a new process that begins at nothing.
    let bodies = ["0.5", "0.75", "0", "1", "0.25"].map(result);
    let bodies: Vec<_> = bodies
        .iter()
        .map(|body| (Kind::Line, body.as_str()))
        .collect();
    made.write(1, &bodies);
    let reader = made.log.reader().unwrap();
    let mut costs: Vec<_> = reader
        .turns(&id("s"), 10)
        .unwrap()
        .iter()
        .map(|turn| turn.cost_usd)
        .collect();
    costs.reverse();
    assert_eq!(costs, [0.5, 0.25, 0.0, 0.25, 0.25]);
    let expected = Usage {
        cost_usd: 1.25,
        input_tokens: 50,
        cached_tokens: 15,
        output_tokens: 10,
        turns: 5,
    };
    assert_eq!(reader.usage(&id("s")).unwrap(), expected);
    assert_eq!(reader.usage(&id("nobody")).unwrap(), Usage::default());
}

#[test]
fn a_forgotten_session_is_gone_and_its_name_can_be_used_again() {
    let mut made = Made::new();
    made.log
        .write(&[
            session("t", 2),
            of("t", line(1, 5000)),
            of("s", line(1, 1)),
            of("s", line(2, 1)),
        ])
        .unwrap();
    made.log.forget(&id("s")).unwrap();
    made.log.forget(&id("s")).unwrap();
    assert_eq!(all_frames(&made.log, "s"), []);
    assert!(made.log.write(&[of("s", line(3, 1))]).is_err());
    made.log
        .write(&[session("s", 3), of("s", line(1, 9))])
        .unwrap();
    assert_eq!(all_frames(&made.log, "s"), [line(1, 9)]);
    assert_eq!(all_frames(&made.log, "t"), [line(1, 5000)]);
}

#[test]
fn pages_are_bounded_in_count_and_bytes_and_hold_at_least_one() {
    let mut made = Made::new();
    let batch: Vec<Write> = (1..=10).map(|seq| of("s", line(seq, 1000))).collect();
    made.log.write(&batch).unwrap();
    let length = line(1, 1000).body.len();
    for (after, frames, bytes, expected) in [
        (0, 3, usize::MAX, vec![1, 2, 3]),
        (8, 3, usize::MAX, vec![9, 10]),
        (10, 3, usize::MAX, vec![]),
        (u64::MAX, 3, usize::MAX, vec![]),
        (2, 10, 2 * length, vec![3, 4]),
        (2, 10, 0, vec![3]),
        (2, 0, 0, vec![3]),
    ] {
        let found = made
            .log
            .frames(&id("s"), after, Page { frames, bytes })
            .unwrap();
        let found: Vec<u64> = found.iter().map(|frame| frame.seq).collect();
        assert_eq!(
            found, expected,
            "after {after}, {frames} frames, {bytes} bytes"
        );
    }
}
