//! Transcripts that grow.

use std::{fs, path::Path};

use proptest::prelude::*;
use towline_protocol::{Wire, transcript::Record};
use towline_store::{Entry, Error, Session, TranscriptWriter};

use crate::made::{Made, record};

fn said(number: u32, text: &str) -> Record {
    Record::from_json(record("user", number, number.saturating_sub(1), text, 1)).unwrap()
}

/// The texts of the records that can be read, and how many lines cannot.
fn read(session: &Session) -> (Vec<String>, usize) {
    let mut texts = Vec::new();
    let mut skipped = 0;
    for entry in session.records().unwrap() {
        match entry.unwrap() {
            Entry::Record(located) => match located.record {
                Record::User(record) => {
                    let content = record.message.content.into_option().unwrap();
                    texts.push(content.text().to_string());
                }
                other => panic!("{} was not written", other.kind()),
            },
            Entry::Skipped(_) => skipped += 1,
        }
    }
    (texts, skipped)
}

#[test]
fn a_transcript_is_made_with_its_first_record_and_for_its_owner_alone() {
    let made = Made::new();
    let session = made
        .home
        .session_in("/never/used", crate::made::key(1).parse().unwrap());
    let mut writer = TranscriptWriter::create(session.clone()).unwrap();
    writer.append([]).unwrap();
    assert!(!session.project_folder().exists());
    writer.append([&said(1, "one"), &said(2, "two")]).unwrap();
    writer.append([&said(3, "three")]).unwrap();
    assert_eq!(
        read(&session),
        (vec!["one".into(), "two".into(), "three".into()], 0)
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(session.path()), 0o600);
        assert_eq!(mode(session.project_folder()), 0o700);
    }
}

#[test]
fn an_id_that_is_in_use_is_refused_early_and_late() {
    let made = Made::new();
    let session = made.session(1);
    let mut late = TranscriptWriter::create(session.clone()).unwrap();
    fs::write(session.path(), "").unwrap();
    let early = TranscriptWriter::create(session.clone());
    assert!(matches!(early, Err(Error::InUse { .. })), "{early:?}");
    let refused = late.append([&said(1, "one")]);
    assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(session.path()).unwrap(), "");
}

#[test]
fn a_session_that_is_not_there_cannot_be_gone_on_with() {
    let made = Made::new();
    let opened = TranscriptWriter::open(made.session(1));
    assert!(matches!(opened, Err(Error::NotFound { .. })), "{opened:?}");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let made = Made::new();
    let target = made.folder.path().join("target");
    fs::write(&target, "").unwrap();
    let session = made.session(1);
    symlink(&target, session.path()).unwrap();
    let created = TranscriptWriter::create(session.clone());
    assert!(matches!(created, Err(Error::InUse { .. })), "{created:?}");
    let opened = TranscriptWriter::open(session);
    assert!(matches!(opened, Err(Error::NotPlain { .. })), "{opened:?}");

    let elsewhere = made.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let session = made
        .home
        .session_in("/linked", crate::made::key(2).parse().unwrap());
    symlink(&elsewhere, session.project_folder()).unwrap();
    let created = TranscriptWriter::create(session);
    assert!(
        matches!(created, Err(Error::NotPlain { .. })),
        "{created:?}"
    );
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(&target).unwrap(), "");
}

#[test]
fn what_cannot_be_written_waits_within_a_bound_and_goes_out_later() {
    let made = Made::new();
    let session = made
        .home
        .session_in("/blocked", crate::made::key(1).parse().unwrap());
    fs::create_dir_all(made.home.projects_folder()).unwrap();
    // A file where the folder has to be.
    fs::write(session.project_folder(), "").unwrap();
    let writer = TranscriptWriter::create(session.clone()).unwrap();
    let mut writer = writer.with_most_waiting(1000);
    let records: Vec<Record> = (1..=5).map(|n| said(n, &"x".repeat(200))).collect();
    for record in &records {
        let failed = writer.append([record]);
        assert!(matches!(failed, Err(Error::Io { .. })), "{failed:?}");
    }
    assert!(writer.waiting() <= 1000);
    assert_eq!(writer.lost(), 3);
    fs::remove_file(session.project_folder()).unwrap();
    writer.append([&said(6, "at last")]).unwrap();
    assert_eq!(writer.waiting(), 0);
    let (texts, skipped) = read(&session);
    assert_eq!((texts.len(), skipped), (3, 0));
    assert_eq!(texts[2], "at last");
}

#[test]
fn two_writers_do_not_mix_their_lines_and_the_second_knows() {
    let made = Made::new();
    let session = made.session(1);
    let mut one = TranscriptWriter::create(session.clone()).unwrap();
    one.append([&said(1, "one")]).unwrap();
    let mut two = TranscriptWriter::open(session.clone()).unwrap();
    two.append([&said(2, "two")]).unwrap();
    one.append([&said(3, "three")]).unwrap();
    assert!(!one.has_company() && two.has_company());
    assert_eq!(
        read(&session),
        (vec!["one".into(), "two".into(), "three".into()], 0)
    );
}

proptest! {
    #[test]
    fn a_transcript_that_was_cut_anywhere_is_gone_on_with(cut in 0_usize..600) {
        let made = Made::new();
        let whole = format!("{}\n{}\n", record("user", 1, 0, "é one", 1), record("user", 2, 1, "two", 2));
        let cut = cut.min(whole.len());
        let session = made.session(1);
        fs::write(session.path(), &whole.as_bytes()[..cut]).unwrap();
        let (before, torn) = read(&session);
        let mut writer = TranscriptWriter::open(session.clone()).unwrap();
        writer.append([&said(3, "three")]).unwrap();
        let (mut after, skipped) = read(&session);
        prop_assert_eq!(after.pop().unwrap(), "three");
        prop_assert_eq!((after, skipped), (before, torn));
    }
}

/// The test runs itself again in a process that may write no more than 8 KiB into a file, like one whose disk is full.
#[cfg(target_os = "linux")]
#[test]
fn a_line_that_a_full_disk_cut_is_written_again_as_a_whole() {
    use std::process::Command;

    if let Some(folder) = std::env::var_os(CHILD) {
        fill(Path::new(&folder));
        return;
    }
    let made = Made::new();
    let program = std::env::current_exe().unwrap();
    let child = Command::new("sh")
        .args([
            "-c",
            r#"trap "" XFSZ; ulimit -S -f 16; exec "$0" --exact "$1""#,
        ])
        .arg(program)
        .arg("appending::a_line_that_a_full_disk_cut_is_written_again_as_a_whole")
        .env(CHILD, made.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}");
    let (texts, skipped) = read(&made.session(1));
    let expected: Vec<String> = (0..40).map(|n| format!("{n}{}", "x".repeat(400))).collect();
    assert_eq!(texts, expected);
    assert_eq!(skipped, 1, "the piece that was cut");
}

#[cfg(target_os = "linux")]
fn fill(folder: &Path) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let home = towline_store::Home::new(folder);
    let session = home.session_in("/project", crate::made::key(1).parse().unwrap());
    let mut writer = TranscriptWriter::create(session).unwrap();
    let mut failures = 0;
    for number in 0..40 {
        let record = said(number, &format!("{number}{}", "x".repeat(400)));
        failures += u32::from(writer.append([&record]).is_err());
    }
    assert!(failures > 5 && writer.waiting() > 2000);
    let limit = getrlimit(Resource::Fsize);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Fsize, raised).unwrap();
    writer.append([]).unwrap();
    assert_eq!((writer.waiting(), writer.lost()), (0, 0));
}

#[cfg(target_os = "linux")]
const CHILD: &str = "TOWLINE_STORE_FULL_DISK";
