//! `towline trace show`.

use std::io::{BufRead, BufReader, Read, Write};

use crate::run::{start, towline};

const TRACE: &str = r#"{"t":0,"dir":"argv","line":["-p","--verbose"]}
{"t":2,"dir":"in","line":{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","hooks":null}}}
{"t":700,"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"commands":[],"models":[]}}}}
{"t":701,"dir":"in","line":{"type":"user","message":{"role":"user","content":"list the files\nplease"}}}
{"t":800,"dir":"out","line":{"type":"system","subtype":"init","cwd":"/project","tools":["Bash","Read"],"model":"opus","permissionMode":"default","session_id":"s"}}
{"t":900,"dir":"out","line":{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will"}},"session_id":"s"}}
{"t":1000,"dir":"out","line":{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls -l","description":"List"}}]},"session_id":"s"}}
{"t":1001,"dir":"out","line":{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls -l"}}}}
{"t":1100,"dir":"in","line":{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{}}}}}
{"t":1200,"dir":"out","line":{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.txt","is_error":false}]},"session_id":"s"}}
{"t":1300,"dir":"out","line":{"type":"assistant","message":{"role":"assistant","content":[{"type":"hologram","size":3},{"type":"thinking","thinking":"hm"}]},"session_id":"s"}}
{"t":1301,"dir":"err","line":"a warning"}
{"t":1350,"dir":"out","line":"Segmentation fault"}
{"t":1400.5,"dir":"out","line":{"type":"result","subtype":"success","is_error":false,"num_turns":2,"duration_ms":699,"total_cost_usd":0.0123,"usage":{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":5},"result":"One file."}}
"#;

fn show(arguments: &[&str], trace: &str) -> String {
    let arguments = [&["trace", "show", "-"], arguments].concat();
    towline(&arguments, trace.as_bytes()).to_string()
}

#[test]
fn a_trace_is_shown_one_line_a_row() {
    insta::assert_snapshot!(show(&["--width", "100"], TRACE), @r"
       1    0.000 · argv                     -p --verbose
       2    0.002 → control_request/initialize hooks (r1)
       3    0.700 ← control_response/success initialize (r1): commands models
       4    0.701 → user                     list the files\nplease
       5    0.800 ← system/init              opus, mode default, 2 tools, in /project
       6    0.900 ← stream_event/content_block_delta [0] I will
       7    1.000 ← assistant                Bash ls -l
       8    1.001 ← control_request/can_use_tool Bash ls -l (q1)
       9    1.100 → control_response/success can_use_tool (q1): behavior=allow
      10    1.200 ← user                     ok: a.txt
      11    1.300 ← assistant                unknown: message.content[].type=hologram  hologram size=3 …
      12    1.301 · err                      a warning
      13    1.350 ← ?                        malformed: expected a value at byte 0  Segmentation fault
      14    1.401 ← result/success           2 turns, 699 ms, $0.0123: One file.

    rows       14  (→ 3  ← 9  · 2)
    unknown    1
    malformed  1
    duration   1.401 s
    results    1, tokens: 10 input, 20 output, 5 cache read, 0 cache write; $0.0123
       rows       bytes  kind
          2         318  assistant
          2         245  control_response/success
          2         223  user
          1          20  ?
          1          18  argv
          1         128  control_request/can_use_tool
          1          92  control_request/initialize
          1          11  err
          1         206  result/success
          1         135  stream_event/content_block_delta
          1         134  system/init
      calls  tool
          1  Bash
    -- exit 0
    ");
}

#[test]
fn rows_can_be_picked_by_kind() {
    insta::assert_snapshot!(
        show(&["--no-stats", "--kind", "user", "--kind", "control_request"], TRACE),
        @r"
           2    0.002 → control_request/initialize hooks (r1)
           4    0.701 → user                     list the files\nplease
           8    1.001 ← control_request/can_use_tool Bash ls -l (q1)
          10    1.200 ← user                     ok: a.txt
        -- exit 0
        "
    );
    insta::assert_snapshot!(
        show(&["--no-stats", "--kind", "control_*/success"], TRACE),
        @"
           3    0.700 ← control_response/success initialize (r1): commands models
           9    1.100 → control_response/success can_use_tool (q1): behavior=allow
        -- exit 0
        "
    );
}

#[test]
fn rows_can_be_picked_by_text() {
    insta::assert_snapshot!(show(&["--text", "LS -l"], TRACE), @"
       7    1.000 ← assistant                Bash ls -l
       8    1.001 ← control_request/can_use_tool Bash ls -l (q1)

    rows       2 of 14  (→ 0  ← 2  · 0)
    unknown    0
    malformed  0
    duration   0.001 s
       rows       bytes  kind
          1         173  assistant
          1         128  control_request/can_use_tool
      calls  tool
          1  Bash
    -- exit 0
    ");
}

#[test]
fn rows_can_be_had_as_json() {
    let trace = TRACE.replace(r#""line":{"type":"user""#, r#""line":{ "type" : "user""#);
    let kinds = ["--kind", "user", "--kind", "assistant", "--kind", "?"];
    let arguments = [&["--json"], &kinds[..]].concat();
    insta::assert_snapshot!(show(&arguments, &trace), @r#"
    {"row":4,"t":701,"dir":"in","kind":"user","line":{ "type" : "user","message":{"role":"user","content":"list the files\nplease"}}}
    {"row":7,"t":1000,"dir":"out","kind":"assistant","line":{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls -l","description":"List"}}]},"session_id":"s"}}
    {"row":10,"t":1200,"dir":"out","kind":"user","line":{ "type" : "user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.txt","is_error":false}]},"session_id":"s"}}
    {"row":11,"t":1300,"dir":"out","kind":"assistant","problem":"unknown: message.content[].type=hologram","line":{"type":"assistant","message":{"role":"assistant","content":[{"type":"hologram","size":3},{"type":"thinking","thinking":"hm"}]},"session_id":"s"}}
    {"row":13,"t":1350,"dir":"out","kind":"?","problem":"malformed: expected a value at byte 0","line":"Segmentation fault"}
    -- stderr

    rows       5 of 14  (→ 1  ← 4  · 0)
    unknown    1
    malformed  1
    duration   0.649 s
       rows       bytes  kind
          2         318  assistant
          2         229  user
          1          20  ?
      calls  tool
          1  Bash
    -- exit 0
    "#);
}

#[test]
fn a_bad_line_is_a_row_and_the_rest_goes_on() {
    let mut trace = b"{\"type\":\"keep_alive\",\"note\":\"\xff\"}\n\n".to_vec();
    trace.extend([b'x'; 100]);
    trace.extend(b"\r\n{\"type\":\"no_such\",\"size\":3}\r\n{\"type\":\"keep_alive\"}");
    let arguments = ["trace", "show", "--no-stats", "--max-line", "60", "-"];
    insta::assert_snapshot!(towline(&arguments, &trace), @r#"
       1        - · keep_alive               malformed: not UTF-8 at byte 29  {"type":"keep_alive","note":"�"}
       3        - · ?                        malformed: longer than 60 bytes  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
       4        - · no_such                  unknown: type=no_such  size=3
       5        - · keep_alive
    -- exit 0
    "#);
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let trace = "\
        {\"dir\":\"out\",\"line\":\"\\u001b]0;title\\u0007\\r\\u009b2J\"}\n\
        {\"type\":\"\\u001b[31mred\",\"\\u001bkey\":\"\\u001b[2Jvalue \\u202e\"}\n\
        \u{1b}[2J raw \u{9b}1m\n\
        {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"\\u001bc\",\"input\":{\"command\":\"\\u001b[H\"}}]}}\n";
    for arguments in [
        &["--width", "0"][..],
        &["--width", "60"],
        &["--color", "never"],
    ] {
        let shown = show(arguments, trace);
        let bad = shown
            .chars()
            .find(|c| *c != '\n' && c.is_control() || *c == '\u{202e}');
        assert_eq!(bad, None, "{shown}");
    }
    let in_json = show(&["--json"], trace);
    assert!(!in_json.contains('\u{1b}'), "{in_json}");
    insta::assert_snapshot!(show(&["--width", "0", "--no-stats"], trace), @r"
       1        - ← ?                        malformed: expected a value at byte 0  \u{1b}]0;title\u{7}\r\u{9b}2J
       2        - · \u{1b}[31mred                 unknown: type=\u{1b}[31mred  \u{1b}key=\u{1b}[2Jvalue \u{202e}
       3        - · ?                        malformed: expected a value at byte 0  \u{1b}[2J raw \u{9b}1m
       4        - · assistant                \u{1b}c \u{1b}[H
    -- exit 0
    ");
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    assert!(!show(&[], TRACE).contains('\u{1b}'));
    assert!(!show(&["--color", "never"], TRACE).contains('\u{1b}'));
    let colored = show(&["--color", "always", "--kind", "system"], TRACE);
    let row = colored.lines().next().unwrap();
    insta::assert_snapshot!(row.replace('\u{1b}', "␛"), @"␛[2m   5    0.800 ␛[0m␛[32m← system/init␛[0m              opus, mode default, 2 tools, in /project");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = start(&["trace", "show", "-"]);
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // Far more than fits into the pipes. The end of it may not be read any more.
        pipe.write_all(TRACE.repeat(2000).as_bytes()).ok();
    });
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();
    drop(output);

    let mut stderr = String::new();
    let mut errors = child.stderr.take().unwrap();
    errors.read_to_string(&mut stderr).unwrap();
    writer.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(stderr, "");
    assert_eq!(
        first,
        "   1    0.000 · argv                     -p --verbose\n"
    );
}

#[test]
fn rows_appear_while_the_trace_is_still_being_recorded() {
    let mut child = start(&["trace", "show", "--no-stats", "-"]);
    let mut pipe = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    pipe.write_all(b"{\"type\":\"keep_alive\"}\n").unwrap();
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    assert_eq!(first, "   1        - · keep_alive\n");
    drop(pipe);
    assert!(child.wait().unwrap().success());
}
