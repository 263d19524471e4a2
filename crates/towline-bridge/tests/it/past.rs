//! Sessions that were held elsewhere: listed, searched, read, and what was said since.

use std::{collections::HashSet, fs, ops::ControlFlow, path::PathBuf, time::Duration};

use tempfile::TempDir;
use towline_bridge::{
    access::Roots,
    log::Page,
    past::{Past, Recent},
};
use towline_host::store::Home;
use towline_protocol::{SessionId, Text, Uuid};

struct Elsewhere {
    home: Home,
    past: Past,
    _folder: TempDir,
}

impl Elsewhere {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        Self {
            past: Past::new(home.clone()),
            home,
            _folder: folder,
        }
    }

    /// A session with a transcript; later numbers are newer.
    fn session(&self, project: &str, number: u32, records: &[String]) -> SessionId {
        let session = self.home.session_in(project, key(number).parse().unwrap());
        fs::create_dir_all(session.project_folder()).unwrap();
        fs::write(session.path(), records.join("\n") + "\n").unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(u64::from(number));
        let file = fs::File::options()
            .append(true)
            .open(session.path())
            .unwrap();
        file.set_modified(time).unwrap();
        key(number).into()
    }

    /// The first digits of the sessions that are found, and whether the words were in what was said.
    fn recent(&self, query: &Recent) -> Vec<(u32, bool)> {
        let listed = self.past.recent(query, &anywhere()).unwrap();
        assert!(
            listed.problems.is_empty() && !listed.is_cut_short,
            "{listed:?}"
        );
        let sessions = listed.sessions.iter().map(|found| {
            let number = &found.summary.session.key().as_str()[..8];
            (
                u32::from_str_radix(number, 16).unwrap(),
                found.excerpt.is_some(),
            )
        });
        sessions.collect()
    }
}

fn anywhere() -> Roots {
    Roots::new(["/"]).unwrap()
}

fn key(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// A message: kind, number, number of the one before (0 for none), text.
fn said(kind: &str, number: u32, parent: u32, text: &str) -> String {
    let parent = match parent {
        0 => "null".to_owned(),
        parent => format!("\"{}\"", key(parent)),
    };
    let content = match kind {
        "user" => format!("\"{text}\""),
        _ => format!(r#"[{{"type":"text","text":"{text}"}}]"#),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"{}","timestamp":"2026-11-16T05:00:{number:02}.000Z","cwd":"/project","message":{{"role":"{kind}","content":{content}}}}}"#,
        key(number)
    )
}

fn query() -> Recent {
    Recent {
        limit: 10,
        offset: 0,
        project: None,
        words: None,
        time: Duration::from_secs(60),
    }
}

const ALL: Page = Page {
    frames: 1000,
    bytes: 1 << 20,
};

#[test]
fn sessions_are_listed_and_searched_the_latest_first() {
    let elsewhere = Elsewhere::new();
    elsewhere.session(
        "/one",
        1,
        &[
            said("user", 1, 0, "about cats"),
            said("assistant", 2, 1, "and   Dogs"),
        ],
    );
    elsewhere.session("/two", 2, &[said("user", 1, 0, "about dogs")]);
    elsewhere.session(
        "/two",
        3,
        &[
            said("user", 1, 0, "about birds"),
            r#"{"type":"custom-title","customTitle":"Not and dogs"}"#.to_owned(),
        ],
    );
    let said = |words: &str| Recent {
        words: Some(words.to_owned()),
        ..query()
    };
    let of_one = |query: Recent| Recent {
        project: Some(PathBuf::from("/one")),
        ..query
    };
    let page = |query: Recent, limit, offset| Recent {
        limit,
        offset,
        ..query
    };
    for (query, expected) in [
        (query(), vec![(3, false), (2, false), (1, false)]),
        (page(query(), 1, 1), vec![(2, false)]),
        (page(query(), 0, 0), vec![]),
        (of_one(query()), vec![(1, false)]),
        (said("dogs"), vec![(3, false), (2, true), (1, true)]),
        (said(" and dogs "), vec![(3, false), (1, true)]),
        (page(said("dogs"), 1, 2), vec![(1, true)]),
        (of_one(said("dogs")), vec![(1, true)]),
        (said("(dogs"), vec![]),
        (page(said("  "), 1, 0), vec![(3, false)]),
    ] {
        assert_eq!(elsewhere.recent(&query), expected, "{query:?}");
    }
}

#[test]
fn newer_sessions_outside_the_roots_do_not_push_older_ones_out_of_the_list() {
    let elsewhere = Elsewhere::new();
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().canonicalize().unwrap();
    let roots = Roots::new([&inside]).unwrap();
    let held_in = |directory: &str, number| {
        let record = said("user", number, 0, "about cats");
        elsewhere.session(directory, number, &[record.replace("/project", directory)]);
    };
    // A folder that is gone was inside all the same.
    let gone = inside.join("gone");
    held_in(inside.to_str().unwrap(), 1);
    held_in("/elsewhere", 2);
    held_in(gone.to_str().unwrap(), 3);
    held_in("/elsewhere", 4);
    held_in("/", 5);
    for words in [None, Some("cats".to_owned())] {
        for (limit, offset, expected) in [(10, 0, vec![3, 1]), (1, 0, vec![3]), (1, 1, vec![1])] {
            let query = Recent {
                limit,
                offset,
                words: words.clone(),
                ..query()
            };
            let listed = elsewhere.past.recent(&query, &roots).unwrap();
            let found: Vec<_> = listed
                .sessions
                .iter()
                .map(|found| found.summary.session.key().to_string())
                .collect();
            let expected: Vec<_> = expected.into_iter().map(key).collect();
            assert_eq!(found, expected, "{limit} after {offset}: {words:?}");
        }
    }
}

#[test]
fn a_search_without_time_says_that_it_was_cut_short() {
    let elsewhere = Elsewhere::new();
    elsewhere.session("/one", 1, &[said("user", 1, 0, "about cats")]);
    let query = Recent {
        words: Some("cats".to_owned()),
        time: Duration::ZERO,
        ..query()
    };
    let listed = elsewhere.past.recent(&query, &anywhere()).unwrap();
    assert!(
        listed.is_cut_short && listed.sessions.is_empty(),
        "{listed:?}"
    );
}

#[test]
fn the_end_of_the_live_branch_is_read_within_bounds() {
    let elsewhere = Elsewhere::new();
    let id = elsewhere.session(
        "/one",
        1,
        &[
            said("user", 1, 0, "first"),
            said("assistant", 2, 1, "left behind"),
            said("assistant", 3, 1, "second"),
            said("user", 4, 3, "third"),
        ],
    );
    for (page, expected, earlier) in [
        (ALL, vec!["first", "second", "third"], 0),
        (Page { frames: 2, ..ALL }, vec!["second", "third"], 1),
        (Page { bytes: 300, ..ALL }, vec!["third"], 2),
        (
            Page {
                frames: 0,
                bytes: 0,
            },
            vec!["third"],
            2,
        ),
    ] {
        let history = elsewhere.past.history(&id, page).unwrap();
        assert_eq!(history.earlier, earlier, "{page:?}");
        let contents: Vec<_> = history
            .messages
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        assert_eq!(contents.len(), expected.len(), "{contents:?}");
        for (content, text) in contents.iter().zip(expected) {
            assert!(content.contains(text), "{content}");
        }
    }
    let history = elsewhere.past.history(&id, ALL).unwrap();
    let second = &history.messages[1];
    assert_eq!(second.role, "assistant");
    assert_eq!(
        second.content.as_str(),
        r#"[{"type":"text","text":"second"}]"#
    );
    assert_eq!(second.uuid.as_ref().unwrap(), key(3).as_str());
    assert_eq!(
        second.timestamp.as_ref().unwrap(),
        "2026-11-16T05:00:03.000Z"
    );
}

#[test]
fn what_was_said_since_comes_as_lines_of_an_agent() {
    let elsewhere = Elsewhere::new();
    let id = elsewhere.session(
        "/one",
        1,
        &[
            said("user", 1, 0, "first"),
            said("assistant", 2, 1, "second"),
            said("user", 3, 2, "third"),
            said("assistant", 4, 3, "fourth"),
        ],
    );
    let user = format!(
        r#"{{"type":"user","message":{{"role":"user","content":"third"}},"parent_tool_use_id":null,"session_id":"{}","uuid":"{}"}}"#,
        key(1),
        key(3),
    );
    let assistant = format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"fourth"}}]}},"parent_tool_use_id":null,"session_id":"{}","uuid":"{}"}}"#,
        key(1),
        key(4),
    );
    let since = |known: &[u32], page: Page| {
        // What is known is asked for set by set; the first has nothing of this session.
        let known = known.iter().map(|number| key(*number).into());
        let known = [HashSet::from([Uuid::from("another")]), known.collect()];
        let mut pages: Vec<Vec<String>> = Vec::new();
        let give = |lines: Vec<Text>| {
            pages.push(lines.iter().map(ToString::to_string).collect());
            ControlFlow::Continue(())
        };
        elsewhere.past.since(&id, known, page, give).unwrap();
        pages
    };
    let both = vec![user.clone(), assistant.clone()];
    assert_eq!(since(&[1, 2], ALL), [both]);
    // The latest one that is known counts, not each.
    assert_eq!(since(&[3], ALL), [[assistant.clone()]]);
    let one = Page { frames: 1, ..ALL };
    assert_eq!(since(&[1, 2], one), [[user], [assistant]], "page by page");
    assert!(since(&[4], ALL).is_empty());
    assert_eq!(since(&[99], ALL)[0].len(), 4);
}

#[test]
fn where_nothing_is_known_nothing_was_said_elsewhere() {
    let elsewhere = Elsewhere::new();
    let id = elsewhere.session("/one", 1, &[said("user", 1, 0, "first")]);
    let give = |_| -> ControlFlow<()> { panic!("something was said") };
    let known = [HashSet::new(), HashSet::new()];
    elsewhere.past.since(&id, known, ALL, give).unwrap();
}

#[test]
fn what_was_known_before_a_compaction_is_not_said_again() {
    let elsewhere = Elsewhere::new();
    let boundary = format!(
        r#"{{"parentUuid":null,"logicalParentUuid":"{}","isSidechain":false,"type":"system","subtype":"compact_boundary","uuid":"{}","timestamp":"2026-11-16T05:00:03.000Z","content":"Conversation compacted","compactMetadata":{{"trigger":"manual","preTokens":9}}}}"#,
        key(2),
        key(3),
    );
    let id = elsewhere.session(
        "/one",
        1,
        &[
            said("user", 1, 0, "first"),
            said("assistant", 2, 1, "second"),
            boundary,
            said("user", 4, 3, "a summary"),
            said("assistant", 5, 4, "after it"),
        ],
    );
    let since = |known: u32| {
        let mut count = 0;
        let known = [HashSet::from([Uuid::from(key(known))])];
        let give = |lines: Vec<Text>| {
            count += lines.len();
            ControlFlow::Continue(())
        };
        elsewhere.past.since(&id, known, ALL, give).unwrap();
        count
    };
    assert_eq!((since(2), since(4), since(5)), (2, 1, 0));
}

#[test]
fn sessions_that_are_not_there_are_errors_that_say_so() {
    let elsewhere = Elsewhere::new();
    assert_eq!(elsewhere.recent(&query()), []);
    for (id, says) in [
        (
            key(7),
            "no session 00000007-0000-4000-8000-000000000000 in `",
        ),
        (
            "../../etc/passwd".to_owned(),
            "`../../etc/passwd` is no session id: it has to be a UUID",
        ),
    ] {
        let error = elsewhere
            .past
            .history(&id.as_str().into(), ALL)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(says), "{error}");
        assert!(
            elsewhere
                .past
                .since(&id.as_str().into(), [], ALL, |_| ControlFlow::Continue(()))
                .is_err()
        );
    }
}
