//! Titles and deletion.

use std::fs;

use towline_store::{Error, ListQuery, SessionSummary};

use crate::made::{Made, record, texts};

#[test]
fn a_title_is_appended_as_the_cli_and_the_sdks_do() {
    let made = Made::new();
    let session = made.real(1, "compact");
    let before = fs::read_to_string(session.path()).unwrap();
    session.rename("  A \"new\" title\t").unwrap();
    let after = fs::read_to_string(session.path()).unwrap();
    let line = r#"{"type":"custom-title","customTitle":"A \"new\" title","sessionId":"00000001-0000-4000-8000-000000000000"}"#;
    assert_eq!(after, format!("{before}{line}\n"));
    let summary = SessionSummary::of(session.clone()).unwrap().unwrap();
    assert_eq!(summary.title, "A \"new\" title");

    session.tag("red").unwrap();
    let tagged = fs::read_to_string(session.path()).unwrap();
    let line = r#"{"type":"tag","tag":"red","sessionId":"00000001-0000-4000-8000-000000000000"}"#;
    assert_eq!(tagged, format!("{after}{line}\n"));
}

#[test]
fn a_torn_last_line_does_not_swallow_the_title() {
    let made = Made::new();
    let whole = record("user", 1, 0, "one", 1);
    let session = made.with(1, &format!("{whole}\n{{\"type\":\"us"));
    session.rename("title").unwrap();
    let mut transcript = session.transcript().unwrap();
    assert_eq!(texts(&mut transcript), ["one"]);
    assert_eq!(transcript.skipped_count(), 1);
    let summary = SessionSummary::of(session).unwrap().unwrap();
    assert_eq!(summary.title, "title");
}

#[test]
fn a_blank_title_or_tag_is_refused_and_so_is_a_session_that_is_not_there() {
    let made = Made::new();
    let session = made.with(1, "{}\n");
    for error in [
        session.rename(" \n").unwrap_err(),
        session.tag("\u{200b} \u{202e}").unwrap_err(),
    ] {
        assert!(matches!(error, Error::Blank { .. }), "{error}");
    }
    assert_eq!(fs::read_to_string(session.path()).unwrap(), "{}\n");
    let missing = made.session(2);
    for result in [missing.rename("x"), missing.untag(), missing.delete()] {
        assert!(matches!(result, Err(Error::NotFound { .. })), "{result:?}");
    }
    assert!(!missing.path().exists());
}

#[test]
fn delete_takes_the_session_and_nothing_else() {
    let made = Made::new();
    let session = made.real(1, "subagent_main");
    let neighbour = made.real(2, "compact");
    for file in [
        "subagents/agent-a.jsonl",
        "tool-results/1.txt",
        "archived.json",
    ] {
        for session in [&session, &neighbour] {
            let path = session.folder().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
    }
    let memory = session.project_folder().join("memory");
    fs::create_dir(&memory).unwrap();
    session.delete().unwrap();
    assert!(!session.path().exists() && !session.folder().exists());
    assert!(neighbour.path().exists() && memory.exists());
    assert_eq!(neighbour.subagents().unwrap().len(), 1);
    let left = made.home.list(&ListQuery::default()).unwrap().sessions;
    assert_eq!(left.len(), 1);
    assert!(matches!(session.delete(), Err(Error::NotFound { .. })));
}
