//! Links, pipes, folders and permissions where a session should be.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use towline_store::{Error, ListQuery, Pattern, SearchQuery, Transcript};
use towline_testkit::not_run;

use crate::made::{Made, record};

#[test]
fn a_link_in_place_of_a_transcript_is_neither_read_nor_written_nor_followed() {
    let made = Made::new();
    let secret = made.folder.path().join("secret.jsonl");
    let text = format!("{}\n", record("user", 1, 0, "secret", 1));
    fs::write(&secret, &text).unwrap();
    let session = made.session(1);
    symlink(&secret, session.path()).unwrap();
    symlink(made.folder.path(), session.folder()).unwrap();

    assert!(
        made.home
            .list(&ListQuery::default())
            .unwrap()
            .sessions
            .is_empty()
    );
    let query = SearchQuery::new(Pattern::words("secret").unwrap());
    assert_eq!(made.home.search(query).unwrap().count(), 0);
    for error in [
        session.transcript().unwrap_err(),
        session.rename("x").unwrap_err(),
        Transcript::open(session.path()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::NotPlain { .. }), "{error}");
        assert!(error.to_string().contains("00000001-"), "{error}");
    }
    assert!(session.subagents().unwrap().is_empty());
    assert!(session.tool_results().unwrap().is_empty());

    // Deleting takes the links, not what they lead to.
    session.delete().unwrap();
    assert!(fs::symlink_metadata(session.path()).is_err());
    assert!(fs::symlink_metadata(session.folder()).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), text);
}

#[test]
fn a_link_in_place_of_a_project_leads_nowhere() {
    let made = Made::new();
    let outside = Made::new();
    let target = outside.real(1, "compact");
    fs::create_dir_all(made.home.projects_folder()).unwrap();
    let folder = made.home.project_folder("/project");
    symlink(target.project_folder(), &folder).unwrap();
    let session = made.home.session_in("/project", target.key().clone());

    assert!(
        made.home
            .list(&ListQuery::default())
            .unwrap()
            .sessions
            .is_empty()
    );
    assert!(made.home.session(target.key()).is_err());
    assert!(matches!(session.delete(), Err(Error::NotPlain { .. })));
    assert!(session.rename("x").is_err());
    assert!(session.transcript().is_err());
    assert!(target.path().exists());
}

#[test]
fn links_among_the_subagents_are_left_out_and_not_deleted_through() {
    let made = Made::new();
    let session = made.real(1, "compact");
    let outside = made.folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("agent-x.jsonl"), "{}").unwrap();
    let subagents = session.folder().join("subagents");
    fs::create_dir_all(&subagents).unwrap();
    symlink(&outside, subagents.join("folder")).unwrap();
    symlink(
        outside.join("agent-x.jsonl"),
        subagents.join("agent-y.jsonl"),
    )
    .unwrap();
    assert!(session.subagents().unwrap().is_empty());
    session.delete().unwrap();
    assert!(outside.join("agent-x.jsonl").exists());
}

#[test]
fn a_pipe_or_a_folder_in_place_of_a_transcript_does_not_hang() {
    let made = Made::new();
    let pipe = made.session(1);
    let made_pipe = Command::new("mkfifo").arg(pipe.path()).status().unwrap();
    assert!(made_pipe.success());
    let folder = made.session(2);
    fs::create_dir(folder.path()).unwrap();
    for session in [pipe, folder] {
        assert!(matches!(session.transcript(), Err(Error::NotPlain { .. })));
        assert!(matches!(session.rename("x"), Err(Error::NotPlain { .. })));
    }
    assert!(
        made.home
            .list(&ListQuery::default())
            .unwrap()
            .sessions
            .is_empty()
    );
}

/// The test below, as the harness calls it.
const CLOSED: &str = "hostile::a_file_that_may_not_be_read_is_named_and_the_others_are_listed";

#[test]
fn a_file_that_may_not_be_read_is_named_and_the_others_are_listed() {
    let made = Made::new();
    made.real(1, "compact");
    let closed = made.real(2, "forked");
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(closed.path()).is_ok() {
        // Nothing is closed to root: again, as a root that may not read everything.
        let rights = "-dac_override,-dac_read_search";
        let with_less = || {
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set", rights, "--inh-caps", rights]);
            command
        };
        // `cat` must be refused as well: else it would be again and again.
        let mut reads = with_less();
        let read = reads
            .env("LC_ALL", "C")
            .arg("cat")
            .arg(closed.path())
            .output();
        let is_refused = read.as_ref().is_ok_and(|output| {
            String::from_utf8_lossy(&output.stderr).contains("Permission denied")
        });
        if !is_refused {
            not_run::enter_for_lack_of(&format!("`setpriv` that takes rights away: {read:?}"));
            return;
        }
        let program = std::env::current_exe().unwrap();
        let output = with_less()
            .arg(program)
            .args(["--exact", CLOSED])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("1 passed"),
            "{output:?}"
        );
        return;
    }
    let listing = made.home.list(&ListQuery::default()).unwrap();
    assert_eq!(listing.sessions.len(), 1);
    let problem = listing.problems[0].to_string();
    assert!(problem.contains(closed.key().as_str()), "{problem}");
    let error = closed.transcript().unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn strange_names_beside_the_sessions_are_passed_over() {
    let made = Made::new();
    let session = made.real(1, "compact");
    for name in [
        "..jsonl",
        "notes.jsonl",
        "\u{1b}[2J.jsonl",
        "00000002-0000-4000-8000-00000000000.jsonl",
    ] {
        fs::write(session.project_folder().join(name), "{}\n").unwrap();
    }
    fs::write(made.home.projects_folder().join("stray.jsonl"), "{}\n").unwrap();
    let listing = made.home.list(&ListQuery::default()).unwrap();
    assert_eq!(listing.sessions.len(), 1);
}
