//! Which session is meant.

use std::{
    fs::{self, File},
    time::{Duration, SystemTime},
};

use towline_store::{Error, Session};

use crate::made::{Made, key, record};

/// A session in which something was asked, so many seconds ago.
fn asked(made: &Made, cwd: &str, number: u32, seconds: u64) -> Session {
    let session = made.session_in(cwd, number);
    fs::write(session.path(), record("user", number, 0, "hello", 1) + "\n").unwrap();
    age(&session, seconds);
    session
}

fn age(session: &Session, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    let file = File::options().write(true).open(session.path()).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn the_newest_session_of_a_project_has_a_conversation_and_is_no_subagents() {
    let made = Made::new();
    assert_eq!(made.home.newest("/project").unwrap(), None);
    asked(&made, "/project", 1, 30);
    let newest = asked(&made, "/project", 2, 20);
    asked(&made, "/elsewhere", 3, 1);
    let aside = made.with(
        4,
        &record("user", 1, 0, "sub", 1).replace("\"isSidechain\":false", "\"isSidechain\":true"),
    );
    let empty = made.with(5, "{\"type\":\"mode\",\"mode\":\"normal\"}\n");
    age(&aside, 5);
    age(&empty, 5);
    assert_eq!(made.home.newest("/project").unwrap(), Some(newest));
}

#[test]
fn a_session_is_found_by_id_title_and_path() {
    let made = Made::new();
    let here = asked(&made, "/project", 1, 30);
    let there = asked(&made, "/elsewhere", 2, 20);
    there.rename("Mend the Boat").unwrap();
    let twin = asked(&made, "/third", 3, 10);
    twin.rename("Twice").unwrap();
    let older_twin = asked(&made, "/project", 4, 50);
    older_twin.rename("twice").unwrap();
    age(&older_twin, 50);
    let path = there.path().to_str().unwrap().to_owned();
    let cases = [
        (key(1), &here),
        (key(2), &there),
        (" mend the boat".to_owned(), &there),
        (path, &there),
        // That of the project wins over a newer one elsewhere.
        ("TWICE".to_owned(), &older_twin),
    ];
    for (which, session) in cases {
        assert_eq!(
            &made.home.find("/project", &which).unwrap(),
            session,
            "{which}"
        );
    }
    let relative = format!("./{}.jsonl", key(2));
    let found = made.home.find(there.project_folder(), &relative).unwrap();
    assert_eq!(found, there);
}

#[test]
fn what_means_no_session_says_why() {
    let made = Made::new();
    asked(&made, "/project", 1, 1);
    let gone = made.folder.path().join(format!("{}.jsonl", key(8)));
    for which in [key(9), gone.to_str().unwrap().to_owned()] {
        let found = made.home.find("/project", &which);
        assert!(matches!(found, Err(Error::NotFound { .. })), "{found:?}");
    }
    for which in ["", "hello", "no title", "/etc/passwd.jsonl", "../../x"] {
        let found = made.home.find("/project", which);
        assert!(matches!(found, Err(Error::BadId { .. })), "{found:?}");
    }
}
