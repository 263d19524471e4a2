//! A process that is killed while it writes loses nothing that it was told is written.

use std::{
    env,
    io::{BufRead, BufReader, Write as _},
    process::Command,
};

use towline_bridge::log::{Log, SqliteLog};

use crate::made::{again, all_frames, given_folder, line, of, session};

#[test]
fn a_killed_process_loses_nothing_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut next = 1;
    for round in 0..3 {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([
            "--exact",
            "killed::writes_until_it_is_killed",
            "--nocapture",
        ]);
        let mut child = again(command, &folder);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        let mut told = 0;
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(seq) = line.strip_prefix("wrote ") {
                told = seq.parse().unwrap();
                if told >= next + 40 + round * 17 {
                    break;
                }
            }
        }
        // On Unix that is SIGKILL.
        child.0.kill().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(seq) = line.strip_prefix("wrote ") {
                told = seq.parse().unwrap_or(told);
            }
        }
        drop(child);
        assert!(told >= next + 40, "the child wrote to {told} only");
        let log = SqliteLog::open(folder.path()).unwrap();
        let frames = all_frames(&log, "s");
        let written = frames.len() as u64;
        assert!(written >= told, "{told} was written, {written} are there");
        assert!(
            frames
                .into_iter()
                .eq((1..=written).map(|seq| line(seq, 300)))
        );
        next = written + 1;
    }
}

/// Does something only in the child process of the test above.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = given_folder() else {
        return;
    };
    let mut log = SqliteLog::open(folder).unwrap();
    log.write(&[session("s", 1)]).unwrap();
    let mut last = log.sessions().unwrap()[0].last_seq;
    let mut out = std::io::stdout().lock();
    // It ends at the latest when nobody reads any more.
    loop {
        let batch: Vec<_> = (last + 1..=last + 1 + last % 4)
            .map(|seq| of("s", line(seq, 300)))
            .collect();
        log.write(&batch).unwrap();
        last += batch.len() as u64;
        writeln!(out, "\nwrote {last}").unwrap();
        out.flush().unwrap();
    }
}
