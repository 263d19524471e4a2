//! A disk that is full: nothing of a batch is written, the error says so, and the same batch can be written later.

use std::{env, process::Command};

use towline_bridge::log::{Log, SqliteLog, Write};
use towline_testkit::not_run;

use crate::made::{Made, again, all_frames, given_folder, line, of, session};

fn batch(first: u64) -> Vec<Write> {
    (first..first + 10)
        .map(|seq| of("s", line(seq, 4000)))
        .collect()
}

/// Writes batches until the disk is full, checks what is said and what is there, and gives the batch that failed.
fn fill(log: &mut SqliteLog) -> u64 {
    let mut first = 1;
    let error = loop {
        match log.write(&batch(first)) {
            Ok(()) => first += 10,
            Err(error) => break error.to_string(),
        }
        assert!(first < 100_000, "the disk is never full");
    };
    assert!(error.contains("the disk is full"), "{error}");
    assert!(error.contains(&log.file().display().to_string()), "{error}");
    assert_eq!(all_frames(log, "s").len() as u64, first - 1);
    assert!(log.write(&batch(first)).is_err());
    first
}

#[test]
fn a_bound_that_is_reached_is_a_full_disk() {
    let mut made = Made::new();
    made.log.limit_pages(200).unwrap();
    let failed = fill(&mut made.log);
    assert!(failed > 10);
    made.log.limit_pages(1_000_000).unwrap();
    made.log.write(&batch(failed)).unwrap();
    assert_eq!(
        all_frames(&made.reopened().log, "s").len() as u64,
        failed + 9
    );
}

/// In a mount of its own, which ends with the process. Where no such can be made, the test above has to do.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_really_full_gets_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let in_a_small_disk = |command: &str| {
        let mut shell = Command::new("unshare");
        let script = format!("mount -t tmpfs -o size=1m none \"$1\" && {command}");
        shell
            .args(["-rm", "sh", "-c", &script, "sh"])
            .arg(folder.path());
        shell
    };
    let possible = in_a_small_disk("true").output();
    if !possible
        .as_ref()
        .is_ok_and(|output| output.status.success())
    {
        not_run::enter_for_lack_of(&format!("small disk with `unshare -rm`: {possible:?}"));
        return;
    }
    let mut command = in_a_small_disk("exec \"$2\" --exact full_disk::fills_a_small_disk");
    command.arg(env::current_exe().unwrap());
    let mut child = again(command, &folder);
    let status = child.0.wait().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(child.0.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert!(status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// Does something only in the child process of the test above.
#[test]
fn fills_a_small_disk() {
    let Some(folder) = given_folder() else {
        return;
    };
    // Room that can be made later.
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![0; 300_000]).unwrap();
    let mut log = SqliteLog::open(&folder).unwrap();
    log.write(&[session("s", 1)]).unwrap();
    let failed = fill(&mut log);
    std::fs::remove_file(ballast).unwrap();
    log.write(&batch(failed)).unwrap();
    drop(log);
    let log = SqliteLog::open(&folder).unwrap();
    assert_eq!(all_frames(&log, "s").len() as u64, failed + 9);
}
