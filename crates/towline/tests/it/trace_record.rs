//! `towline trace record` and `towline trace wrapper`: a wiretap must not be noticed.

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::{
        fs::PermissionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use proptest::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use towline_protocol::{
    LineDecoder, Text,
    trace::{Direction, Joined, Pieces, TraceEntry},
};
use towline_testkit::waiting::{Activity, eventually, stands_still};

use crate::{
    driven::block_on,
    run::{peak_memory, start, towline},
};

/// Starts a recording of an agent.
fn record(out: &Path, agent: &[&str]) -> Child {
    let out = out.to_str().unwrap();
    start(&[&["trace", "record", out, "--"], agent].concat())
}

/// An agent that is a script for the shell.
fn script(text: &str) -> [&str; 3] {
    ["/bin/sh", "-c", text]
}

/// A folder, and the trace to write in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    (folder, out)
}

/// The recorded lines of a file, each with its direction.
fn rows(file: &Path) -> Vec<(Direction, String)> {
    let mut pieces = Pieces::with_limit(LineDecoder::DEFAULT_LIMIT * 2);
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "a row is cut off");
    let rows = text.lines().filter_map(|line| {
        let TraceEntry::Row(row) = TraceEntry::read(&Text::from(line)).unwrap() else {
            panic!("not a row: {line}");
        };
        match pieces.add(row) {
            Joined::Row(row) => Some((row.direction.clone(), row.text().to_string())),
            Joined::Piece => None,
            Joined::TooLong { .. } => panic!("too long"),
        }
    });
    rows.collect()
}

fn one_way(file: &Path, direction: &Direction) -> Vec<String> {
    let rows = rows(file).into_iter();
    rows.filter(|(found, _)| found == direction)
        .map(|(_, line)| line)
        .collect()
}

/// Runs to the end with that input, written in these pieces.
fn run(mut child: Child, input: &[Vec<u8>]) -> Output {
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = thread::spawn(move || {
        for piece in input {
            match pipe.write_all(&piece) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return,
                written => written.unwrap(),
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Waits for the end, but not for ever.
fn wait(mut child: Child) -> ExitStatus {
    let process = Pid::from_child(&child);
    let (ended, has_ended) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let status = child.wait().unwrap();
        ended.send(()).ok();
        status
    });
    if has_ended.recv_timeout(PATIENCE).is_err() {
        kill_process(process, Signal::KILL).ok();
        panic!("did not end within {PATIENCE:?}");
    }
    waiter.join().unwrap()
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut byte = [0];
    let stdout = child.stdout.as_mut().unwrap();
    while stdout.read(&mut byte).unwrap() == 1 && byte != [b'\n'] {
        line.push(char::from(byte[0]));
    }
    line
}

/// What an agent may be told: lines of JSON, garbage, blanks, bytes that are no text.
fn noise() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        Just(b"{\"type\":\"keep_alive\"}\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just("{\"t\": \"€\u{1f680}\"".as_bytes().to_vec()),
        Just(b"}\n".to_vec()),
        Just(b"\xff\xfe\x00\x1b[2J".to_vec()),
        prop::collection::vec(any::<u8>(), 0..300),
        (1_usize..200_000).prop_map(|length| vec![b'x'; length]),
    ];
    prop::collection::vec(piece, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn every_byte_goes_through_both_ways_and_to_standard_error(input in noise()) {
        let (_folder, out) = place();
        let ran = run(record(&out, &script("tee /dev/stderr")), &input);
        let bytes = input.concat();
        prop_assert!(ran.stdout == bytes, "standard output");
        prop_assert!(ran.stderr == bytes, "standard error");
        prop_assert_eq!(ran.status.code(), Some(0));

        let mut expected = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.trim_ascii().is_empty() {
                expected.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        for direction in [Direction::In, Direction::Out, Direction::Err] {
            prop_assert_eq!(&one_way(&out, &direction), &expected, "{:?}", direction);
        }
    }
}

#[test]
fn a_trace_holds_arguments_lines_and_errors_and_is_read_by_the_other_commands() {
    let (_folder, out) = place();
    let agent = [
        &script("cat; echo oh no >&2; printf '{\"type\":\"keep_alive\"}'")[..],
        &["name", "-p", "--model=\"x\""],
    ]
    .concat();
    let user = r#"{"type":"user", "message":{"role":"user","content":"hi"}}"#;
    let ran = run(record(&out, &agent), &[format!("{user}\n").into_bytes()]);
    assert_eq!(
        String::from_utf8(ran.stdout).unwrap(),
        format!("{user}\n{{\"type\":\"keep_alive\"}}")
    );
    let mut rows: Vec<String> = fs::read_to_string(&out)
        .unwrap()
        .lines()
        .map(|row| row.split_once(",\"dir\"").unwrap().1.to_owned())
        .collect();
    // Standard output and standard error are two streams; between the two there is no order.
    rows[2..].sort();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    :"argv","line":["-c","cat; echo oh no >&2; printf '{\"type\":\"keep_alive\"}'","name","-p","--model=\"x\""]}
    :"in","line":{"type":"user", "message":{"role":"user","content":"hi"}}}
    :"err","line":"oh no"}
    :"out","line":{"type":"keep_alive"}}
    :"out","line":{"type":"user", "message":{"role":"user","content":"hi"}}}
    "#);
    let checked = towline(&["trace", "check", out.to_str().unwrap()], b"");
    insta::assert_snapshot!(checked, @"
    lines 3, unknown 0, malformed 0, changed 0
    -- exit 0
    ");
    let mode = fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else reads it");
}

#[test]
fn a_huge_line_flows_with_flat_memory_and_is_recorded_whole() {
    let (_folder, out) = place();
    let size = 64 << 20;
    let mut child = record(&out, &["cat"]);
    let mut pipe = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        pipe.write_all(b"{\"type\":\"keep_alive\",\"note\":\"")
            .unwrap();
        let piece = "€".repeat(1 << 20);
        for _ in 0..size / piece.len() {
            pipe.write_all(piece.as_bytes()).unwrap();
        }
        pipe.write_all(b"\"}\n").unwrap();
        pipe
    });
    let mut line = Vec::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_until(b'\n', &mut line).unwrap();
    let pipe = writer.join().unwrap();
    let peak = peak_memory(&child);
    drop(pipe);
    assert_eq!(wait(child).code(), Some(0));
    assert!(line.len() > size - (4 << 20), "{} bytes", line.len());
    assert!(peak < 96 << 20, "{peak} bytes for {} of them", line.len());
    line.pop();
    // Joined here, because a library that is built without optimisation takes long for it.
    let mut joined = [String::new(), String::new()];
    for row in fs::read_to_string(&out).unwrap().lines().skip(1) {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let way = usize::from(row["dir"] == "out");
        joined[way].push_str(row["line"].as_str().unwrap());
        let is_last = joined[way].len() == line.len();
        assert_eq!(row.get("more").is_none(), is_last);
    }
    assert!(joined.iter().all(|recorded| recorded.as_bytes() == line));
}

#[test]
fn who_does_not_read_is_not_written_to_without_end() {
    let (_folder, out) = place();
    let mut child = record(&out, &script("echo ready; exec sleep 1000"));
    first_line(&mut child);
    let mut pipe = child.stdin.take().unwrap();
    let (written, has_written) = mpsc::channel();
    let writer = thread::spawn(move || {
        for _ in 0..64 {
            if pipe.write_all(&[b'x'; 1 << 20]).is_err() {
                return;
            }
        }
        written.send(()).ok();
    });
    // It reads as far as the pipes reach, then waits; most of it stays with the host.
    block_on(async {
        let has_read = || Activity::of(child.id()).is_some_and(|activity| activity.read > 1 << 16);
        eventually("the recording reads its input", has_read).await;
        stands_still(child.id()).await;
    });
    assert_eq!(has_written.try_recv(), Err(mpsc::TryRecvError::Empty));
    let peak = peak_memory(&child);
    child.kill().unwrap();
    wait(child);
    writer.join().unwrap();
    assert!(peak < 64 << 20, "{peak} bytes");

    // The same the other way: an agent that could go on for ever is held up by a host that does not read.
    let (_folder, out) = place();
    let mut child = record(&out, &["yes"]);
    first_line(&mut child);
    block_on(stands_still(child.id()));
    let size = fs::metadata(&out).unwrap().len();
    assert!(size < 64 << 20, "{size} bytes");
    let peak = peak_memory(&child);
    child.kill().unwrap();
    wait(child);
    assert!(peak < 64 << 20, "{peak} bytes");
}

#[test]
fn it_ends_as_the_agent_ended() {
    for (agent, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 1", Some(1), None),
        ("exit 255", Some(255), None),
        ("kill -HUP $$", None, Some(1)),
        ("kill -INT $$", None, Some(2)),
        ("kill -QUIT $$", None, Some(3)),
        ("kill -ABRT $$", None, Some(6)),
        ("kill -KILL $$", None, Some(9)),
        ("kill -USR1 $$", None, Some(10)),
        ("kill -SEGV $$", None, Some(11)),
        ("kill -PIPE $$", None, Some(13)),
        ("kill -TERM $$", None, Some(15)),
    ] {
        let (_folder, out) = place();
        let ran = run(record(&out, &script(agent)), &[]);
        let status = ran.status;
        assert_eq!((status.code(), status.signal()), (code, signal), "{agent}");
        assert_eq!(String::from_utf8(ran.stderr).unwrap(), "", "{agent}");
    }
}

#[test]
fn signals_reach_the_agent() {
    for (name, signal) in [
        ("HUP", Signal::HUP),
        ("INT", Signal::INT),
        ("QUIT", Signal::QUIT),
        ("TERM", Signal::TERM),
        ("USR1", Signal::USR1),
        ("USR2", Signal::USR2),
    ] {
        let (_folder, out) = place();
        // Read in the shell itself, so that the signal ends the waiting at once.
        let agent = format!("trap 'echo got {name}; exit 5' {name}; echo ready; read line");
        let mut child = record(&out, &script(&agent));
        assert_eq!(first_line(&mut child), "ready");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(first_line(&mut child), format!("got {name}"));
        assert_eq!(wait(child).code(), Some(5), "{name}");
        assert_eq!(
            one_way(&out, &Direction::Out),
            ["ready".to_owned(), format!("got {name}")]
        );
    }
}

#[test]
fn an_agent_that_ends_is_not_waited_for_although_the_input_is_open() {
    let (_folder, out) = place();
    let child = record(&out, &script("echo last words; exit 3"));
    let ran = wait_with_output(child);
    assert_eq!(ran.status.code(), Some(3));
    assert_eq!(ran.stdout, b"last words\n");
}

/// Waits for the end with the input left open.
fn wait_with_output(mut child: Child) -> Output {
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let _input = child.stdin.take();
    let status = wait(child);
    let mut output = Output {
        status,
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    stdout.read_to_end(&mut output.stdout).unwrap();
    stderr.read_to_end(&mut output.stderr).unwrap();
    output
}

#[test]
fn what_an_agent_left_running_does_not_hold_the_end_up_and_is_ended() {
    let (folder, out) = place();
    let held = folder.path().join("held");
    rustix::fs::mkfifoat(rustix::fs::CWD, &held, 0o600.into()).unwrap();
    let agent = format!(
        "(echo begun; exec sleep 1000 3>'{}') & head -c 30000 /dev/zero | tr '\\0' x; exit 4",
        held.display()
    );
    let mut child = record(&out, &script(&agent));
    // Opens once the one left running has opened its end; ends when nobody holds that any more.
    let mut pipe = fs::File::open(&held).unwrap();
    drop(child.stdin.take());
    let ran = wait_with_output(child);
    assert_eq!(ran.status.code(), Some(4));
    assert_eq!(
        ran.stdout.iter().filter(|byte| **byte == b'x').count(),
        30_000
    );
    assert_eq!(pipe.read(&mut [0]).unwrap(), 0);
}

#[test]
fn closed_streams_are_closed_for_the_other_side_too() {
    // The agent reads no more: the host cannot write any more.
    let (_folder, out) = place();
    let mut child = record(&out, &script("exec <&-; echo closed; exec sleep 1000"));
    assert_eq!(first_line(&mut child), "closed");
    let mut pipe = child.stdin.take().unwrap();
    let error = loop {
        if let Err(error) = pipe.write_all(b"x\n") {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(wait(child).signal(), Some(15));

    // The agent writes no more: the host sees the end.
    let (_folder, out) = place();
    let mut child = record(&out, &script("echo last; exec >&-; read line"));
    let mut heard = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "last\n");
    drop(child.stdin.take());
    assert_eq!(wait(child).code(), Some(1));

    // The host reads no more: the agent cannot write any more.
    let (_folder, out) = place();
    let mut child = record(&out, &["yes"]);
    first_line(&mut child);
    drop(child.stdout.take());
    let status = wait(child);
    assert!(
        status.signal() == Some(13) || status.code() == Some(1),
        "{status}"
    );
}

#[test]
fn nobody_is_left_after_the_wiretap_was_killed() {
    let (folder, out) = place();
    let held = folder.path().join("held");
    rustix::fs::mkfifoat(rustix::fs::CWD, &held, 0o600.into()).unwrap();
    let agent = format!(
        "trap '' TERM HUP INT; exec 3>'{}'; echo ready; while :; do sleep 1000; done",
        held.display()
    );
    let mut child = record(&out, &script(&agent));
    let mut pipe = fs::File::open(&held).unwrap();
    assert_eq!(first_line(&mut child), "ready");
    child.kill().unwrap();
    assert_eq!(wait(child).signal(), Some(9));
    // Ends when the agent and its child are gone, although they ignore every signal they can.
    assert_eq!(pipe.read(&mut [0]).unwrap(), 0);
}

#[test]
fn what_was_heard_is_in_the_file_when_the_wiretap_is_killed() {
    let (_folder, out) = place();
    let mut child = record(&out, &["cat"]);
    let mut pipe = child.stdin.take().unwrap();
    for line in ["one", "two", "three"] {
        pipe.write_all(format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(first_line(&mut child), line);
    }
    child.kill().unwrap();
    wait(child);
    for direction in [Direction::In, Direction::Out] {
        assert_eq!(one_way(&out, &direction), ["one", "two", "three"]);
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_known_before_the_agent_starts() {
    let (folder, out) = place();
    let started = folder.path().join("started");
    let agent = format!("touch '{}'", started.display());
    let full = folder.path().join("full.jsonl");
    fs::write(&full, "{}\n").unwrap();
    let missing = folder.path().join("no/such/folder.jsonl");
    for (out, problem) in [
        (
            full.as_path(),
            "`DIR/full.jsonl` exists already: remove it, or record into another file",
        ),
        (
            &missing,
            "cannot write `DIR/no/such/folder.jsonl`: No such file or directory (os error 2)",
        ),
        (
            Path::new("/dev/full"),
            "cannot write `/dev/full`: No space left on device (os error 28)",
        ),
    ] {
        let ran = run(record(out, &script(&agent)), &[]);
        assert_eq!(ran.status.code(), Some(1));
        let stderr = String::from_utf8(ran.stderr).unwrap();
        let place = folder.path().to_str().unwrap();
        assert_eq!(
            stderr.replace(place, "DIR"),
            format!("towline: {problem}\n")
        );
        assert!(!started.exists());
    }
    assert_eq!(fs::read_to_string(&full).unwrap(), "{}\n");

    let ran = run(record(&out, &["/no/such/agent"]), &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(ran.stderr).unwrap(),
        "towline: cannot start `/no/such/agent`: No such file or directory (os error 2)\n"
    );
}

#[test]
fn a_disk_that_is_full_later_ends_the_recording_and_not_the_session() {
    let (_folder, out) = place();
    let line = [&[b'x'; 999][..], b"\n"].concat();
    let towline = env!("CARGO_BIN_EXE_towline");
    let limited = format!("ulimit -f 8; exec '{towline}' trace record \"$0\" -- cat");
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(limited).arg(&out);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = run(command.spawn().unwrap(), &vec![line.clone(); 100]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(ran.stdout == line.repeat(100), "everything is passed on");
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(
        stderr.replace(out.to_str().unwrap(), "OUT"),
        "towline: cannot write `OUT`: File too large (os error 27); \
         the session goes on, the recording does not\n"
    );
    let rows = rows(&out);
    assert!((2..9).contains(&rows.len()), "{}", rows.len());
}

#[test]
fn a_wrapper_takes_the_agents_place_and_records_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("an 'agent'");
    fs::write(
        &agent,
        "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 7\n",
    )
    .unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let wrapper = folder.path().join("wrapper");
    let traces = folder.path().join("100%p traces");
    let [agent, wrapper, traces_name] =
        [&agent, &wrapper, &traces].map(|path| path.to_str().unwrap());
    let make = [
        "trace",
        "wrapper",
        wrapper,
        "--out",
        traces_name,
        "--",
        agent,
        "--first",
    ];
    let made = towline(&make, b"");
    assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{made}");

    for words in [&["--version"][..], &["-p", "a b", "", "--", "$x"]] {
        // A host does not name the program as the script does.
        let mut command = Command::new(wrapper);
        let ran = command.arg0("claude").args(words).output().unwrap();
        let expected: String = ["--first"]
            .iter()
            .chain(words)
            .map(|word| format!("<{word}>\n"))
            .collect();
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected);
        assert_eq!(ran.status.code(), Some(7));
    }
    let recorded: Vec<PathBuf> = fs::read_dir(&traces)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(recorded.len(), 2, "a file for each run: {recorded:?}");
    for file in &recorded {
        assert_eq!(rows(file)[0].0, Direction::Argv);
    }

    let again = towline(&make, b"");
    assert_eq!(again.code, 1, "nothing is written over");
    let other = [
        "trace",
        "wrapper",
        "w",
        "--out",
        traces_name,
        "--",
        "/no/such/agent",
    ];
    assert_eq!(
        towline(&other, b"").stderr,
        "towline: cannot find `/no/such/agent`: no such program\n"
    );
}

const PATIENCE: Duration = Duration::from_secs(30);
