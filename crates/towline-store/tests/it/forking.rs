//! Forks.

use std::{collections::HashMap, fs};

use towline_protocol::transcript::Record;
use towline_store::{Entry, Error, ForkOptions, Session, SessionSummary};

use crate::made::{Made, key, real, record, texts};

/// Each copied record as `kind original <- original of its parent`, as the record itself tells.
fn copies(session: &Session) -> Vec<String> {
    let mut originals: HashMap<String, String> = HashMap::new();
    let mut rows = Vec::new();
    for entry in session.records().unwrap() {
        let Entry::Record(located) = entry.unwrap() else {
            panic!("a line that cannot be read");
        };
        let from = match &located.record {
            Record::User(record) => &record.forked_from,
            Record::Assistant(record) => &record.forked_from,
            Record::System(record) => &record.forked_from,
            Record::Attachment(record) => &record.forked_from,
            _ => continue,
        };
        let from = from
            .as_ref()
            .unwrap()
            .message_uuid
            .as_ref()
            .unwrap()
            .as_str()[..8]
            .to_owned();
        let (uuid, parent) = located.record.link().unwrap();
        let chain = located.record.chain().unwrap();
        assert_eq!(chain.session_id.unwrap().as_str(), session.key().as_str());
        let parent = parent.map_or("-".to_owned(), |parent| originals[parent.as_str()].clone());
        rows.push(format!("{} {from} <- {parent}", located.record.kind()));
        originals.insert(uuid.to_string(), from);
    }
    rows
}

/// The links of the original in the same form.
fn links(text: &str) -> Vec<String> {
    use towline_protocol::Wire;

    let rows = text.lines().filter_map(|line| {
        let record = Record::from_json(line).unwrap();
        let (uuid, parent) = record.link()?;
        let parent = parent.map_or("-", |parent| &parent.as_str()[..8]);
        Some(format!(
            "{} {} <- {parent}",
            record.kind(),
            &uuid.as_str()[..8]
        ))
    });
    rows.collect()
}

#[test]
fn a_fork_is_the_same_tree_under_new_ids() {
    let made = Made::new();
    for name in ["compact", "resumed_5x", "parallel", "hook_all"] {
        let session = made.real(1, name);
        let fork = session.fork(&ForkOptions::default()).unwrap();
        assert_ne!(fork.key(), session.key());
        assert_eq!(
            fs::read_to_string(session.path()).unwrap(),
            real(name),
            "{name}"
        );
        assert_eq!(copies(&fork), links(&real(name)), "{name}");
        let said = texts(&mut session.transcript().unwrap());
        assert_eq!(texts(&mut fork.transcript().unwrap()), said, "{name}");
        let [own, forked] =
            [session, fork].map(|session| SessionSummary::of(session).unwrap().unwrap());
        assert_eq!(
            forked.title,
            format!("{} (fork)", own.first_prompt.unwrap())
        );
    }
}

#[test]
fn a_fork_may_end_at_a_message_and_have_a_title() {
    let made = Made::new();
    let session = made.real(1, "resumed_5x");
    let fork = session
        .fork(&ForkOptions {
            up_to: Some("530f9fb1-d6bc-4d6e-8329-e4237f4d0229".to_owned()),
            title: Some(" other ".to_owned()),
        })
        .unwrap();
    assert_eq!(
        copies(&fork).last().unwrap(),
        "assistant 530f9fb1 <- d4886c71"
    );
    assert_eq!(
        texts(&mut fork.transcript().unwrap()),
        [
            "first message A",
            "reply A1",
            "second message A",
            "reply A2"
        ]
    );
    assert_eq!(SessionSummary::of(fork).unwrap().unwrap().title, "other");
}

#[test]
fn what_ties_a_record_to_its_session_is_left_behind() {
    let made = Made::new();
    let team = record("user", 3, 2, "x", 3).replace(
        r#""isSidechain""#,
        r#""teamName":"t","slug":"s","sourceToolAssistantUUID":"u","new":[1],"isSidechain""#,
    );
    let aside =
        record("user", 4, 1, "aside", 4).replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let replacement = r#"{"type":"content-replacement","replacements":[{"a":1}]}"#;
    let session = made.with(
        1,
        &[
            record("user", 1, 0, "one", 1),
            record("progress", 2, 1, "", 2),
            team,
            aside,
            replacement.to_owned(),
        ]
        .join("\n"),
    );
    let fork = session.fork(&ForkOptions::default()).unwrap();
    assert_eq!(
        copies(&fork),
        ["user 00000001 <- -", "user 00000003 <- 00000001"]
    );
    let text = fs::read_to_string(fork.path()).unwrap();
    for gone in [
        "teamName",
        "slug",
        "sourceToolAssistantUUID",
        "aside",
        "progress",
    ] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains(r#""new":[1]"#) && text.contains(r#""replacements":[{"a":1}]"#));
}

#[test]
fn nothing_is_left_of_a_fork_that_fails() {
    let made = Made::new();
    let session = made.with(1, &record("user", 1, 0, "one", 1));
    let unknown = ForkOptions {
        up_to: Some(key(9)),
        ..ForkOptions::default()
    };
    assert!(matches!(
        session.fork(&unknown),
        Err(Error::NoMessage { .. })
    ));
    let empty = made.with(2, "{\"type\":\"mode\"}\n");
    let error = empty.fork(&ForkOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NothingToFork { .. }));
    assert_eq!(fs::read_dir(session.project_folder()).unwrap().count(), 2);
}
