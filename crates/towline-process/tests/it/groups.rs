//! What is in a group, what has left it, and that none of it stays.
//!
//! Every process of a case holds a pipe open. The pipe is at its end when the last of them is gone: no process ids, no
//! waiting for a while.

use std::{
    io::{self, BufRead as _, BufReader, Read as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use towline_process::{Descendants, Group, Signal, Watchdog};

/// A shell that runs `script`, which says `up` when all is there, in a group of its own.
fn start(watchdog: &Arc<Watchdog>, script: &str) -> (Child, Group, BufReader<io::PipeReader>) {
    start_in(Place::OwnGroup, watchdog, script)
}

#[derive(Clone, Copy)]
enum Place {
    OwnGroup,
    OurGroup,
}

fn start_in(
    place: Place,
    watchdog: &Arc<Watchdog>,
    script: &str,
) -> (Child, Group, BufReader<io::PipeReader>) {
    let (reader, writer) = io::pipe().unwrap();
    let mark = watchdog.mark().unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null());
    if let Place::OwnGroup = place {
        command.process_group(0);
    }
    mark.put_on(&mut command);
    let child = command.spawn().unwrap();
    // The command keeps the writing end of the pipe.
    drop(command);
    let group = match place {
        Place::OwnGroup => Group::of(watchdog, mark, child.id()),
        Place::OurGroup => Group::within_ours(watchdog, mark, child.id()),
    };
    let group = group.unwrap();
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    (child, group, reader)
}

fn watchdog(token: &str) -> Arc<Watchdog> {
    Arc::new(Watchdog::new(
        "TOWLINE_TEST_GROUP",
        token,
        Duration::from_secs(1),
    ))
}

#[test]
fn whatever_a_child_started_is_killed_with_it() {
    let watchdog = watchdog("killed");
    for script in [
        "sleep 1000 & echo up; wait",
        "trap '' TERM; sleep 1000 & echo up; wait; sleep 1000",
        "setsid sleep 1000 & echo up; wait",
        // Its parent is gone: only the mark tells whose it is.
        "(setsid sleep 1000 &) ; echo up; sleep 1000",
        // No mark: only its parent tells.
        "env -i /usr/bin/setsid /bin/sleep 1000 & echo up; wait",
    ] {
        for place in [Place::OwnGroup, Place::OurGroup] {
            let (mut child, mut group, mut pipe) = start_in(place, &watchdog, script);
            group.kill(&Descendants::default());
            child.wait().unwrap();
            pipe.read_to_end(&mut Vec::new()).unwrap();
        }
    }
}

#[test]
fn a_polite_end_reaches_what_left_the_group_and_once_only() {
    let watchdog = watchdog("polite");
    let script = "trap 'echo first; trap \"echo again\" TERM; exit' TERM
        setsid sh -c 'trap \"echo left; exit\" TERM; echo up; while :; do sleep 0.01; done' &
        while :; do sleep 0.01; done";
    for place in [Place::OwnGroup, Place::OurGroup] {
        let (mut child, group, mut pipe) = start_in(place, &watchdog, script);
        let members = group.terminate();
        child.wait().unwrap();
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap();
        let mut said: Vec<_> = said.lines().collect();
        said.sort_unstable();
        assert_eq!(said, ["first", "left"]);
        // The pipe is at its end a moment before whoever held it last has ended.
        let patience = Instant::now() + Duration::from_secs(60);
        while members.any_runs() {
            assert!(Instant::now() < patience, "somebody still runs");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_signal_to_a_child_in_our_group_is_for_it_alone() {
    let watchdog = watchdog("alone");
    let script = "trap 'echo first; exit' USR1
        sh -c 'trap \"echo told; exit\" USR1; echo up; while :; do sleep 0.01; done' &
        while :; do sleep 0.01; done";
    let (mut child, mut group, mut pipe) = start_in(Place::OurGroup, &watchdog, script);
    group.signal(Signal::USR1).unwrap();
    child.wait().unwrap();
    group.kill(&Descendants::default());
    let mut said = String::new();
    pipe.read_to_string(&mut said).unwrap();
    assert_eq!(said, "first\n");
}

#[test]
fn a_watchdog_that_is_dropped_leaves_nobody() {
    let watchdog = watchdog("dropped");
    let (mut child, group, mut pipe) = start(&watchdog, "setsid sleep 1000 & echo up; wait");
    drop(group);
    drop(watchdog);
    child.wait().unwrap();
    pipe.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn whoever_is_becoming_another_program_is_not_overlooked() {
    // Each becomes the same shell again and again, and has no environment in between.
    let script = r#"again='exec sh -c "$0" "$0"'
        for _ in 1 2 3 4 5 6 7 8; do (setsid sh -c "$again" "$again" &); done
        echo up; sleep 1000"#;
    for round in 0..5 {
        let watchdog = watchdog(&format!("becoming-{round}"));
        let (mut child, group, mut pipe) = start(&watchdog, script);
        drop(group);
        drop(watchdog);
        child.wait().unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn a_group_that_is_killed_leaves_the_others() {
    let watchdog = watchdog("others");
    let far = "(setsid sleep 1000 &) ; echo up; sleep 1000";
    let (mut other, mut others_group, mut others_pipe) = start(&watchdog, far);
    let (mut child, mut group, mut pipe) = start(&watchdog, far);
    group.kill(&Descendants::default());
    child.wait().unwrap();
    pipe.read_to_end(&mut Vec::new()).unwrap();
    assert!(other.try_wait().unwrap().is_none());
    others_group.kill(&Descendants::default());
    other.wait().unwrap();
    others_pipe.read_to_end(&mut Vec::new()).unwrap();
}
