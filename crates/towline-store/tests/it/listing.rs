//! Lists of sessions.

use std::{
    fs::{self, File},
    time::{Duration, Instant, SystemTime},
};

use towline_store::{ListQuery, Scope, SessionSummary};

use crate::made::{Made, key, record};

fn touch(path: &std::path::Path, second: u64) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(second))
        .unwrap();
}

fn titles(made: &Made, query: &ListQuery) -> Vec<String> {
    let listing = made.home.list(query).unwrap();
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    listing
        .sessions
        .into_iter()
        .map(|session| session.title)
        .collect()
}

#[test]
fn real_sessions_are_listed_as_the_sdks_list_them() {
    let made = Made::new();
    for (number, name) in [
        "compact",
        "resumed_5x",
        "slash_cost",
        "subagent_side",
        "parallel",
    ]
    .into_iter()
    .enumerate()
    {
        let number = u32::try_from(number).unwrap();
        let session = made.real(number, name);
        touch(session.path(), 1000 + u64::from(number));
    }
    let listing = made.home.list(&ListQuery::default()).unwrap();
    let rows: Vec<_> = listing
        .sessions
        .iter()
        .map(|found| {
            (
                found.session.key().as_str()[7..8].to_owned(),
                found.title.as_str(),
                found.first_prompt.as_deref().unwrap(),
                found.cwd.as_deref().unwrap().to_str().unwrap(),
                found.git_branch.as_deref().unwrap(),
                found.created.unwrap().to_string(),
            )
        })
        .collect();
    let row = |number: &str, title, first, cwd, created: &str| {
        (
            number.to_owned(),
            title,
            first,
            cwd,
            "HEAD",
            created.to_owned(),
        )
    };
    // A transcript of a subagent is none of a session.
    assert_eq!(
        rows,
        [
            row(
                "4",
                "then this",
                "PARALLEL please",
                "/project",
                "2026-11-16T05:23:21.236Z"
            ),
            row("2", "hi", "hi", "/project", "2026-11-16T00:03:05.012Z"),
            row(
                "1",
                "via path",
                "first message A",
                "/project x_é",
                "2026-11-16T00:01:31.679Z"
            ),
            row(
                "0",
                "resumed after compact",
                "one",
                "/project",
                "2026-11-16T00:14:33.143Z"
            ),
        ]
    );
    assert_eq!(
        listing.sessions[3].size,
        fs::metadata(crate::made::data("compact")).unwrap().len()
    );
    assert_eq!(listing.sessions[3].modified.as_second(), 1000);
}

#[test]
fn the_title_is_the_best_that_is_known() {
    let made = Made::new();
    let prompt = record("user", 1, 0, "the prompt", 1);
    let custom = r#"{"type":"custom-title","customTitle":"custom"}"#;
    let ai = r#"{"type":"ai-title","aiTitle":"model's"}"#;
    let last = r#"{"type":"last-prompt","lastPrompt":"the last"}"#;
    let summary = r#"{"type":"summary","summary":"the summary"}"#;
    // A title inside of something else is no title.
    let decoy = r#"{"type":"hologram","in":{"customTitle":"decoy"}}"#;
    let command =
        r#"{"type":"user","uuid":"u","message":{"content":"<command-name>/usage</command-name>"}}"#;
    for (lines, expected) in [
        (vec![prompt.as_str()], Some("the prompt")),
        (vec![&prompt, summary], Some("the summary")),
        (vec![&prompt, summary, last], Some("the last")),
        (vec![&prompt, ai, last], Some("model's")),
        (vec![custom, &prompt, ai, last], Some("custom")),
        (
            vec![custom, r#"{"type":"custom-title","customTitle":"newer"}"#],
            Some("newer"),
        ),
        (
            vec![custom, r#"{"type":"custom-title","customTitle":""}"#],
            Some("custom"),
        ),
        (vec![&prompt, decoy], Some("the prompt")),
        (vec![command], Some("/usage")),
        (vec![command, &prompt], Some("the prompt")),
        (vec![r#"{"type":"mode","mode":"normal"}"#], None),
        (vec!["nonsense"], None),
        (vec![], None),
    ] {
        let session = made.with(1, &lines.join("\n"));
        let summary = SessionSummary::of(session).unwrap();
        assert_eq!(
            summary.map(|found| found.title).as_deref(),
            expected,
            "{lines:?}"
        );
    }
}

#[test]
fn lists_come_in_pages_and_by_project() {
    let made = Made::new();
    for number in 0..10 {
        let cwd = if number % 2 == 0 { "/even" } else { "/odd" };
        let session = made.session_in(cwd, number);
        fs::write(session.path(), record("user", 1, 0, &number.to_string(), 1)).unwrap();
        touch(session.path(), 1000 + u64::from(number));
    }
    // One that was copied to another project counts once, the newest.
    let copy = made.session_in("/even", 9);
    fs::write(copy.path(), record("user", 1, 0, "copy", 1)).unwrap();
    touch(copy.path(), 5);
    let page = |offset, limit| ListQuery {
        offset,
        limit,
        ..ListQuery::default()
    };
    assert_eq!(titles(&made, &page(0, None)).concat(), "9876543210");
    assert_eq!(titles(&made, &page(0, Some(3))).concat(), "987");
    assert_eq!(titles(&made, &page(8, Some(3))).concat(), "10");
    assert_eq!(titles(&made, &page(20, Some(3))).concat(), "");
    assert_eq!(titles(&made, &page(0, Some(0))).concat(), "");
    let odd = ListQuery {
        scope: Scope::Project("/odd".into()),
        ..ListQuery::default()
    };
    assert_eq!(titles(&made, &odd).concat(), "97531");
    let none = ListQuery {
        scope: Scope::Project("/none".into()),
        ..ListQuery::default()
    };
    assert_eq!(titles(&made, &none).concat(), "");
}

#[test]
fn a_first_prompt_longer_than_the_window_is_found() {
    let made = Made::new();
    let long = "word ".repeat(100_000);
    let session = made.with(
        1,
        &format!(
            "{}\n{}",
            record("user", 1, 0, &long, 1),
            record("assistant", 2, 1, "A", 2)
        ),
    );
    let summary = SessionSummary::of(session).unwrap().unwrap();
    assert_eq!(summary.title.chars().count(), 200);
    assert!(summary.title.ends_with("word…"), "{}", summary.title);
    assert_eq!(summary.cwd.unwrap().to_str(), Some("/project"));
}

#[test]
fn a_tag_is_the_last_one_and_an_empty_one_takes_it_away() {
    let made = Made::new();
    let session = made.with(1, &format!("{}\n", record("user", 1, 0, "x", 1)));
    let tag = |session| SessionSummary::of(session).unwrap().unwrap().tag;
    session.tag(" one\u{200b} ").unwrap();
    assert_eq!(tag(session.clone()).as_deref(), Some("one"));
    session.tag("two").unwrap();
    assert_eq!(tag(session.clone()).as_deref(), Some("two"));
    session.untag().unwrap();
    assert_eq!(tag(session), None);
}

#[test]
fn thousands_of_sessions_and_a_huge_one_are_listed_at_once() {
    let made = Made::new();
    let text = format!("{}\n", record("user", 1, 0, "hello", 1));
    for number in 0..2000 {
        let session = made.session(number);
        fs::write(session.path(), &text).unwrap();
    }
    // Five gigabytes of nothing between a first and a last line.
    let huge = made.with(2000, &text);
    let title = format!(
        r#"{{"type":"custom-title","customTitle":"huge","sessionId":"{}"}}"#,
        key(2000)
    );
    let file = File::options().write(true).open(huge.path()).unwrap();
    file.set_len(5 << 30).unwrap();
    drop(file);
    fs::write(made.folder.path().join("title"), &title).unwrap();
    let mut file = File::options().append(true).open(huge.path()).unwrap();
    std::io::Write::write_all(&mut file, format!("\n{title}\n").as_bytes()).unwrap();
    drop(file);

    let start = Instant::now();
    let newest = ListQuery {
        limit: Some(20),
        ..ListQuery::default()
    };
    let sessions = made.home.list(&newest).unwrap().sessions;
    assert_eq!(sessions.len(), 20);
    assert_eq!(sessions[0].title, "huge");
    assert!(sessions[0].size > 5 << 30);
    assert_eq!(
        made.home
            .list(&ListQuery::default())
            .unwrap()
            .sessions
            .len(),
        2001
    );
    // Reading the huge one alone would take longer.
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}
