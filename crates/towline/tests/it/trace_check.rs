//! `towline trace check`.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    path::PathBuf,
};

use crate::run::{peak_memory, start, towline};

/// The recorded traces of the real CLI.
fn traces() -> Vec<PathBuf> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../towline-protocol/tests/data/traces"
    );
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn all_that_the_real_cli_wrote_is_read_whole() {
    let files = traces();
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let all = [&["trace", "check", "--all"], &names[..]].concat();
    let ran = towline(&all, b"");

    // Some traces have lines that are wrong on purpose. All of them were written to the real CLI, none by it.
    let mut spoilt = BTreeSet::new();
    for problem in ran.stdout.lines().filter(|line| line.starts_with('/')) {
        let mut parts = problem.split(':');
        let file = parts.next().unwrap();
        let row: usize = parts.next().unwrap().parse().unwrap();
        let text = fs::read_to_string(file).unwrap();
        let line = text.lines().nth(row - 1).unwrap();
        assert!(line.contains(r#""dir":"in""#), "{problem}\n{line}");
        spoilt.insert(file.to_owned());
    }
    assert_eq!(ran.code, 1);
    assert!((1..30).contains(&spoilt.len()), "{spoilt:?}");

    let good = names.into_iter().filter(|name| !spoilt.contains(*name));
    let good: Vec<&str> = ["trace", "check"].into_iter().chain(good).collect();
    let ran = towline(&good, b"");
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.ends_with(", unknown 0, malformed 0, changed 0"),
        "{last}"
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn one_line_is_all_there_is_to_say_of_a_clean_trace() {
    let trace = br#"{"t":0,"dir":"argv","line":["-p"]}
{"t":1,"dir":"err","line":"a warning"}
{"t":2,"dir":"in","line":{"type":"user","message":{"role":"user","content":"hi"}}}
{"t":3,"dir":"in","line":"{\"type\" : \"keep_alive\"}"}
{"type":"session.send","message":{"content":"hi"}}
{"dir":"out","line":{"total_cost_usd":0.30000000000000004,"subtype":"success","type":"result"}}
"#;
    insta::assert_snapshot!(towline(&["trace", "check", "-"], trace), @"
    lines 4, unknown 0, malformed 0, changed 0
    -- exit 0
    ");
}

#[test]
fn every_kind_of_problem_is_counted_and_the_rest_goes_on() {
    let mut trace = Vec::new();
    for line in [
        &b"\xef\xbb\xbf{\"type\":\"keep_alive\"}\r\n"[..],
        b"\r\n",
        b"{\"type\":\"no_such\",\"note\":\"\x1b[2J\"}\n",
        b"{\"type\":\"no_such\",\"note\":1}\n",
        b"{\"type\":\"user\",\"message\":7}\n",
        b"{\"type\":\"user\",\n",
        b"{\"type\":\"keep_alive\",\"note\":\"\xff\"}\n",
        b"{\"type\":\"keep_alive\",\"note\":\"",
        &[b'x'; 500],
        b"\"}\n",
        b"{\"dir\":\"out\",\"t\":1}\n",
        b"{\"dir\":\"sideways\",\"line\":{}}\n",
        b"{\"dir\":\"out\",\"line\":\"Error: \\u001b[31mnot JSON\"}\n",
        b"{\"dir\":\"in\",\"line\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"dance\"}}}\n",
        b"{\"dir\":\"in\",\"line\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"set_permission_mode\",\"mode\":\"odd\",\"why\":1}}}\n",
        b"{\"type\":\"keep_alive\",\"note\":\"\\ud800\"}\n",
        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"hologram\"},{\"type\":\"text\",\"text\":\"hi\"}]}}",
    ] {
        trace.extend_from_slice(line);
    }
    insta::assert_snapshot!(towline(&["trace", "check", "--max-line", "300", "-"], &trace), @"
    -:3: malformed: no_such: control character in a string at byte 26
    -:4: unknown: no_such: type=no_such
    -:5: malformed: user: expected an object in `message` at byte 25
    -:6: malformed: ?: the line ends too early at byte 15
    -:7: malformed: keep_alive: not UTF-8 at byte 29
    -:8: malformed: ?: longer than 300 bytes
    -:9: malformed: ?: not a row: missing field `line` at byte 0
    -:10: malformed: ?: not a row: no direction `sideways`
    -:11: malformed: ?: expected a value at byte 0
    -:12: unknown: control_request/dance: request.subtype=dance
    -:15: unknown: assistant: message.content[].type=hologram
    kept, but held by no named field (count, kind: path):
           1  assistant: message.content[].type=hologram
           1  control_request/dance: request.subtype=dance
           1  control_request/set_permission_mode: request.mode=odd
           1  control_request/set_permission_mode: request.why
           1  keep_alive: note
           1  no_such: type=no_such
    lines 14, unknown 3, malformed 8, changed 0
    -- exit 1
    ");
}

#[test]
fn twenty_problems_of_a_file_are_shown_unless_all_are_wanted() {
    let trace = "{\"type\":\"no_such\"}\n".repeat(25);
    let few = towline(&["trace", "check", "-"], trace.as_bytes()).stdout;
    let all = towline(&["trace", "check", "--all", "-"], trace.as_bytes()).stdout;
    assert_eq!(few.matches(": unknown: ").count(), 20);
    assert_eq!(all.matches(": unknown: ").count(), 25);
    insta::assert_snapshot!(few.lines().skip(19).collect::<Vec<_>>().join("\n"), @"
    -:20: unknown: no_such: type=no_such
    -: … and 5 more
    kept, but held by no named field (count, kind: path):
          25  no_such: type=no_such
    lines 25, unknown 25, malformed 0, changed 0
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_trace() {
    let whole: Vec<u8> = traces()
        .iter()
        .flat_map(|file| fs::read(file).unwrap())
        .collect();
    let mut child = start(&["trace", "check", "-"]);
    let mut pipe = child.stdin.take().unwrap();
    for _ in 0..(64 << 20) / whole.len() {
        pipe.write_all(&whole).unwrap();
    }
    // Only what waits in the pipe has not been read yet.
    let peak = peak_memory(&child);
    drop(pipe);
    let mut stdout = String::new();
    let mut output = child.stdout.take().unwrap();
    output.read_to_string(&mut stdout).unwrap();
    child.wait().unwrap();

    assert!(peak < 64 << 20, "{peak} bytes");
    assert!(stdout.lines().last().unwrap().starts_with("lines "));
}

#[test]
fn a_line_recorded_in_pieces_is_read_as_one() {
    let trace = br#"{"t":1,"dir":"out","more":true,"line":"{\"type\":\"keep"}
{"t":1,"dir":"in","more":true,"line":"{\"type\":\"user\",\"message\":"}
{"t":2,"dir":"out","line":"_alive\"}"}
{"t":3,"dir":"out","more":true,"line":"{\"type\":\"keep_alive\",\"note\":\"0123456789"}
{"t":3,"dir":"out","line":"0123456789\"}"}
"#;
    insta::assert_snapshot!(towline(&["trace", "check", "--max-line", "100", "-"], trace), @r#"
    -:5: malformed: ?: its last piece is missing
    kept, but held by no named field (count, kind: path):
           1  keep_alive: note
    lines 3, unknown 0, malformed 1, changed 0
    -- exit 1
    "#);

    let piece = "{\"dir\":\"out\",\"more\":true,\"line\":\"0123456789\"}\n";
    let long = piece.repeat(11) + "{\"dir\":\"out\",\"line\":\"\"}\n";
    insta::assert_snapshot!(towline(&["trace", "check", "--max-line", "100", "-"], long.as_bytes()), @"
    -:12: malformed: ?: longer than 100 bytes
    lines 1, unknown 0, malformed 1, changed 0
    -- exit 1
    ");
}
