//! Reading of transcripts: torn, broken, unknown, and while they grow.

use std::{fs, io::Write};

use proptest::prelude::*;
use towline_store::{Entry, Records, SkipReason, Skipped, Transcript};

use crate::made::{Made, real, record, texts};

fn kinds(records: Records) -> Vec<String> {
    records
        .map(|entry| match entry.unwrap() {
            Entry::Record(located) => located.record.kind().to_owned(),
            Entry::Skipped(Skipped { place, reason }) => format!("{}: {reason}", place.line),
        })
        .collect()
}

#[test]
fn a_file_cut_at_every_byte_still_opens() {
    let made = Made::new();
    let text = [
        record("user", 1, 0, "one é😀", 1),
        record("assistant", 2, 1, "two", 2),
        record("user", 3, 2, "three", 3),
    ]
    .join("\n");
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let session = made.session(1);
    for length in 0..=text.len() {
        fs::write(session.path(), &text.as_bytes()[..length]).unwrap();
        let mut transcript = session.transcript().unwrap();
        // A line counts from its last brace on, with its newline or without.
        let whole = ends.iter().filter(|end| length >= **end).count();
        let whole = whole + usize::from(length == text.len());
        let expected = &["one é😀", "two", "three"][..whole];
        assert_eq!(texts(&mut transcript), expected, "cut at {length}");
        let at_line_end = ends.iter().any(|end| length == *end || length == end + 1);
        let is_torn = length > 0 && length < text.len() && !at_line_end;
        assert_eq!(transcript.is_torn(), is_torn, "cut at {length}");
        assert_eq!(transcript.skipped(), [], "cut at {length}");
    }
}

#[test]
fn a_real_transcript_cut_anywhere_still_opens() {
    let made = Made::new();
    let session = made.session(1);
    let text = real("compact");
    for length in (0..text.len()).step_by(97) {
        fs::write(session.path(), &text.as_bytes()[..length]).unwrap();
        let transcript = session.transcript().unwrap();
        assert_eq!(transcript.skipped(), [], "cut at {length}");
        let conversation = transcript.tree().conversation();
        assert_eq!(conversation.is_empty(), transcript.tree().is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_reported_with_its_line_and_the_rest_goes_on() {
    let made = Made::new();
    let mut bytes = Vec::new();
    writeln!(bytes, "{}", record("user", 1, 0, "one", 1)).unwrap();
    bytes.extend_from_slice(b"\n{\"type\":\n");
    bytes.extend_from_slice(b"{\"type\":\"user\"}\n");
    bytes.extend_from_slice(b"\xff\xfe\n");
    writeln!(bytes, "{}", record("user", 9, 1, &"x".repeat(2000), 1)).unwrap();
    bytes.extend_from_slice(b"[1]\n{\"type\":\"hologram\",\"size\":3}\n{}\n");
    write!(bytes, "{}", record("assistant", 2, 1, "two", 2)).unwrap();
    let session = made.session(1);
    fs::write(session.path(), bytes).unwrap();
    assert_eq!(
        kinds(Records::open_with_limit(session.path(), 1000).unwrap()),
        [
            "user",
            "3: the line ends too early in `type` at byte 8",
            "4: missing field `message` at byte 0",
            "5: not UTF-8 at byte 0",
            "6: longer than 1000 bytes",
            "7: expected an object at byte 0",
            "hologram",
            "?",
            "assistant",
        ]
    );
    let mut transcript = Transcript::open_with_limit(session.path(), 1000).unwrap();
    assert_eq!(texts(&mut transcript), ["one", "two"]);
    let lines: Vec<u64> = transcript
        .skipped()
        .iter()
        .map(|line| line.place.line)
        .collect();
    assert_eq!(lines, [3, 4, 5, 6, 7]);
    assert_eq!(transcript.skipped_count(), 5);
}

#[test]
fn unknown_records_are_kept_as_they_stand() {
    let made = Made::new();
    let line = r#"{ "type" : "hologram", "deep": {"a":[1e0]} }"#;
    let session = made.with(1, &format!("{line}\r\n"));
    let Some(Ok(Entry::Record(located))) = session.records().unwrap().next() else {
        panic!("no record");
    };
    assert_eq!(located.line, line);
}

#[test]
fn a_record_that_is_read_again_is_the_line_it_was() {
    let made = Made::new();
    let first = record("user", 1, 0, "one", 1);
    let second = record("assistant", 2, 1, "two", 2);
    for (mark, end) in [
        ("", "\n"),
        ("", "\r\n"),
        ("\u{feff}", "\n"),
        ("\u{feff}", "\r\n"),
    ] {
        let session = made.with(1, &format!("{mark}{first}{end}{second}{end}"));
        let entries: Vec<Entry> = session.records().unwrap().map(Result::unwrap).collect();
        let mut transcript = session.transcript().unwrap();
        let again: Vec<Entry> = transcript
            .messages(0..2)
            .map(|located| Entry::Record(Box::new(located.unwrap())))
            .collect();
        assert_eq!(again, entries, "{mark:?} {end:?}");
        assert_eq!(entries.len(), 2);
    }
}

#[test]
fn a_transcript_that_grows_is_read_as_far_as_it_was() {
    let made = Made::new();
    let session = made.with(1, &format!("{}\n", record("user", 1, 0, "one", 1)));
    let mut before = session.transcript().unwrap();
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(session.path())
        .unwrap();
    writeln!(file, "{}", record("assistant", 2, 1, "two", 2)).unwrap();
    assert_eq!(texts(&mut before), ["one"]);
    assert_eq!(texts(&mut session.transcript().unwrap()), ["one", "two"]);

    // Cut behind our back: an error that says so, not somebody else's text.
    fs::write(session.path(), "{}\n").unwrap();
    let error = before.messages(0..1).next().unwrap().unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("line 1 changed while it was read"),
        "{error}"
    );
}

#[test]
fn messages_come_in_pages() {
    let made = Made::new();
    let mut transcript = made.real(1, "resumed_5x").transcript().unwrap();
    let all = texts(&mut transcript);
    assert_eq!(all.len(), 10);
    for (range, expected) in [
        (0..3, &all[..3]),
        (3..5, &all[3..5]),
        (8..100, &all[8..]),
        (10..20, &[]),
        (usize::MAX..usize::MAX, &[]),
    ] {
        let page = transcript.messages(range.clone()).count();
        assert_eq!(page, expected.len(), "{range:?}");
    }
}

#[test]
fn a_bad_line_was_once_taken_for_torn_because_it_was_last() {
    let made = Made::new();
    let transcript = made.with(1, "{}\nnonsense\n").transcript().unwrap();
    assert!(!transcript.is_torn());
    assert!(matches!(
        transcript.skipped()[0].reason,
        SkipReason::Malformed(_)
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in a file, it opens, and every record that is listed can be read again.
    #[test]
    fn no_file_makes_it_fail(lines in prop::collection::vec(any_line(), 0..30), torn in any::<bool>()) {
        let made = Made::new();
        let mut text = lines.join("\n");
        if torn {
            text.push('\n');
        }
        let mut transcript = made.with(1, &text).transcript().unwrap();
        let ids: Vec<_> = transcript.tree().nodes().collect();
        for id in ids {
            transcript.read(id).unwrap();
            transcript.tree().history(id);
            transcript.tree().conversation_at(id);
        }
        let tree = transcript.tree();
        prop_assert_eq!(tree.conversation().is_empty(), tree.live_leaf().is_none());
        let live = tree.branches().iter().filter(|branch| branch.is_live).count();
        prop_assert!(live <= 1);
        let offspring = tree.offspring();
        let children: usize = tree.nodes().map(|id| offspring.children(id).len()).sum();
        prop_assert_eq!(offspring.roots().len() + children, tree.nodes().count());
    }
}

/// Lines with few ids, so that they hang on each other in every way: forks, circles, twins, orphans.
fn any_line() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
    ]);
    prop_oneof![
        8 => (kind, 1_u32..9, 0_u32..9, 0_u32..59)
            .prop_map(|(kind, number, parent, second)| record(kind, number, parent, "x", second)),
        1 => (1_u32..9).prop_map(|leaf| format!(
            r#"{{"type":"last-prompt","leafUuid":"{}"}}"#, crate::made::key(leaf)
        )),
        1 => "\\PC{0,20}",
    ]
}
