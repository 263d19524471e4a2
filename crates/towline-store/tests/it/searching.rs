//! Search.

use std::fs;

use towline_store::{Error, Pattern, Scope, SearchQuery, Speaker};

use crate::made::{Made, key, record};

/// The hits as `session/agent line part: before[hit]after`.
fn search(made: &Made, query: SearchQuery) -> Vec<String> {
    let hits = made.home.search(query).unwrap();
    hits.map(|hit| {
        let hit = hit.unwrap();
        let agent = hit
            .agent
            .map(|agent| format!("/{agent}"))
            .unwrap_or_default();
        let excerpt = hit.excerpt;
        format!(
            "{}{agent} {} {}: {}[{}]{}",
            &hit.session.key().as_str()[7..8],
            hit.place.line,
            hit.part.name(),
            excerpt.before,
            excerpt.hit,
            excerpt.after
        )
    })
    .collect()
}

fn words(words: &str) -> SearchQuery {
    SearchQuery::new(Pattern::words(words).unwrap())
}

#[test]
fn prompts_answers_and_what_tools_get_and_give_are_searched() {
    let made = Made::new();
    made.real(1, "parallel");
    assert_eq!(
        search(&made, words("OUT1")),
        [
            "1 17 tool input: sleep 0.2; echo [out1]",
            "1 22 tool result: [out1]"
        ]
    );
    assert_eq!(
        search(&made, words("two  AT\nonce")),
        ["1 15 answer: [two at once]"]
    );
    assert_eq!(
        search(&made, words("parallel")),
        ["1 3 prompt: [PARALLEL] please"]
    );
    let regex = SearchQuery::new(Pattern::regex(r"reply \d$").unwrap());
    assert_eq!(
        search(&made, regex),
        ["1 27 answer: [reply 2]", "1 34 answer: [reply 3]"]
    );
    assert_eq!(search(&made, words("no such words")), [""; 0]);
    // In words nothing is special.
    assert_eq!(search(&made, words("out.")), [""; 0]);
    let exact = SearchQuery::new(Pattern::regex("(?-i)parallel").unwrap());
    assert_eq!(search(&made, exact), [""; 0]);
}

#[test]
fn hits_can_be_limited_to_a_speaker_a_project_and_a_time() {
    let made = Made::new();
    made.with(
        1,
        &[
            record("user", 1, 0, "hello", 1),
            record("assistant", 2, 1, "hello", 2),
        ]
        .join("\n"),
    );
    let other = made.session_in("/other", 2);
    fs::write(other.path(), record("user", 1, 0, "hello", 3)).unwrap();
    let speaker = |speaker| SearchQuery {
        speaker: Some(speaker),
        ..words("hello")
    };
    let count = |query| search(&made, query).len();
    assert_eq!(count(words("hello")), 3);
    assert_eq!(count(speaker(Speaker::User)), 2);
    assert_eq!(count(speaker(Speaker::Assistant)), 1);
    assert_eq!(count(speaker(Speaker::Tool)), 0);
    let scope = Scope::Project("/other".into());
    assert_eq!(
        count(SearchQuery {
            scope,
            ..words("hello")
        }),
        1
    );
    let since = |time: &str| SearchQuery {
        since: Some(time.parse().unwrap()),
        ..words("hello")
    };
    assert_eq!(count(since("2026-11-16T05:00:02Z")), 2);
    assert_eq!(count(since("2000-01-01T00:00:00Z")), 3);
    // Nothing was written to these files in the future, so they are not even read.
    assert_eq!(count(since("9000-01-01T00:00:00Z")), 0);
}

#[test]
fn subagents_are_searched_with_their_session() {
    let made = Made::new();
    let session = made.real(1, "subagent_main");
    let folder = session.folder().join("subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(
        crate::made::data("subagent_side"),
        folder.join("agent-a7.jsonl"),
    )
    .unwrap();
    assert_eq!(
        search(&made, words("SUBTASK"))[..],
        [
            "1 19 tool input: [SUBTASK] one",
            "1/a7 1 prompt: [SUBTASK] one"
        ]
    );
}

#[test]
fn a_hit_has_its_place() {
    let made = Made::new();
    let session = made.with(1, &format!("\n{}\n", record("user", 7, 0, "hello", 9)));
    let hit = made
        .home
        .search(words("hello"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(hit.session, session);
    assert_eq!(hit.path, session.path());
    assert_eq!((hit.place.line, hit.place.offset), (2, 1));
    assert_eq!(hit.uuid, Some(key(7)));
    assert_eq!(hit.time.unwrap().to_string(), "2026-11-16T05:00:09Z");
}

#[test]
fn what_is_no_pattern_is_an_error() {
    let error = Pattern::regex("(").unwrap_err();
    assert_eq!(error.to_string(), "cannot search for `(`: unclosed group");
    let huge = Pattern::regex(&format!(
        "{}{}",
        "(".repeat(5),
        r"\pL{1000}){1000}".repeat(5)
    ));
    assert!(matches!(huge, Err(Error::Pattern { .. })));
}
