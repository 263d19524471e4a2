//! `towline dialect session`: document 003's flows, line by line, in front of an agent that speaks stream-json.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use towline_testkit::real_cli::{self, RealCli};

use crate::{
    run::{start, towline},
    sdks::{SCRIPT, in_the_room},
};

/// A host that speaks the dialect to the program.
struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Host {
    fn start(arguments: &[&str]) -> Self {
        Self::of(start(&[&["dialect", "session"], arguments].concat()))
    }

    fn of(mut child: Child) -> Self {
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// With a script for the shell as the agent; `say` writes a line, `hear` reads one and keeps it in the log.
    fn in_front_of(log: &Path, script: &str) -> Self {
        let script = format!(
            r#"say() {{ printf '%s\n' "$1"; }}
hear() {{ read -r line && printf '%s\n' "$line" >>"$log"; }}
log='{}'
printf '%s\n' "$*" >>"$log"
{script}"#,
            log.display()
        );
        let file = log.with_extension("sh");
        fs::write(&file, script).unwrap();
        Self::start(&["--", "/bin/sh", file.to_str().unwrap()])
    }

    fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line:?}"))
    }

    /// Ends the input; gives all that is still said, standard error, and how it ended.
    fn end(mut self) -> (Vec<Value>, String, Option<i32>) {
        drop(self.stdin.take());
        let lines = self.stdout.lines().map(|line| {
            let line = line.unwrap();
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line:?}"))
        });
        let lines = lines.collect();
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        (
            lines,
            stderr,
            status.code().or(status.signal().map(|signal| -signal)),
        )
    }
}

/// What the agent got: its arguments, then each line.
fn log(file: &Path) -> (String, Vec<Value>) {
    let text = fs::read_to_string(file).unwrap();
    let (arguments, lines) = text.split_once('\n').unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (arguments.to_owned(), lines.collect())
}

/// The agent of the document's three flows, as the real CLI does it: `system/init` with each turn, not before.
const AGENT: &str = r#"
for word; do
  if [ "$before" = --session-id ]; then session=$word; fi
  before=$word
done
init='{"type":"system","subtype":"init","cwd":"/p","session_id":"'$session'","tools":["Bash","Read"],"mcp_servers":[]}'
hear
say '{"type":"control_response","response":{"subtype":"success","request_id":"init-1","response":{"commands":[{"name":"help","description":"h"}],"models":[{"value":"opus","displayName":"Opus"}],"account":{"subscriptionType":"pro","email":"user@example.com"},"output_style":"default","available_output_styles":["default"]}}}'
hear
say "$init"
say '{"type":"assistant","uuid":"u1","session_id":"'$session'","message":{"type":"message","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls -la"}}],"usage":{"input_tokens":100,"output_tokens":50}}}'
say '{"type":"control_request","request_id":"cb-123","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls -la"},"tool_use_id":"t1","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"session"}]}}'
hear
say '{"type":"user","uuid":"u2","session_id":"'$session'","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Command output..."}]}}'
say '{"type":"result","subtype":"success","is_error":false,"session_id":"'$session'","num_turns":2,"duration_ms":5200,"result":"done","usage":{"input_tokens":100,"output_tokens":50}}'
hear
say "$init"
say '{"type":"assistant","uuid":"u3","session_id":"'$session'","message":{"role":"assistant","model":"opus","content":[{"type":"text","text":"more"}]}}'
hear
say '{"type":"control_response","response":{"subtype":"success","request_id":"stop-1","response":{"still_queued":[]}}}'
say '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"'$session'","errors":["interrupted"]}'
hear
exit 0
"#;

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one conversation, line by line, as the document has it"
)]
fn the_flows_of_the_document_come_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let mut host = Host::in_front_of(&file, AGENT);

    host.say(r#"{"type":"control_request","request_id":"init-1","request":{"subtype":"initialize","system_prompt":"be brief","mcp_servers":{},"agents":{},"hooks":{}}}"#);
    assert_eq!(
        host.hear(),
        json!({"type":"control_response","request_id":"init-1","response":{
            "commands":[{"name":"/help","description":"h"}],
            "models":[{"value":"opus","display":"Opus"}],
            "account":{"account_type":"pro","email":"user@example.com"},
            "output_style":"default","available_output_styles":["default"]}})
    );
    let system = host.hear();
    let session = system["session_id"].as_str().unwrap().to_owned();
    let cwd = std::env::current_dir().unwrap();
    assert_eq!(
        system,
        json!({"type":"system","subtype":"init","session_id":session,"cwd":cwd,"tools":[],"mcp_servers":[],
            "slash_commands":["help"],"output_style":"default"})
    );

    host.say(r#"{"type":"session.create","message":{"role":"user","content":"Hello, Claude!"}}"#);
    assert_eq!(
        host.hear(),
        json!({"type":"session.created","session_id":session})
    );
    assert_eq!(
        host.hear(),
        json!({"type":"system","subtype":"init","cwd":"/p","session_id":session,"mcp_servers":[],
            "tools":[{"name":"Bash","description":""},{"name":"Read","description":""}]})
    );
    let assistant = host.hear();
    assert_eq!(assistant["type"], "assistant");
    assert_eq!(assistant["model"], "opus");
    assert_eq!(
        assistant["usage"],
        json!({"input_tokens":100,"output_tokens":50})
    );
    assert_eq!(
        host.hear(),
        json!({"type":"callback.request","request_id":"cb-123","request":{"subtype":"can_use_tool",
            "tool_name":"Bash","input":{"command":"ls -la"},"tool_use_id":"t1",
            "permission_suggestions":[{"type":"bash","action":"allow","pattern":"ls *","scope":"session"}],
            "blocked_path":null}})
    );
    host.say(r#"{"type":"callback.response","response":{"subtype":"success","request_id":"cb-123","response":{"behavior":"allow","updated_input":{"command":"ls"},"updated_permissions":[],"tool_use_id":"t1"}}}"#);
    assert_eq!(
        host.hear(),
        json!({"type":"user","uuid":"u2","session_id":session,"message":{"type":"message","role":"user",
            "content":[{"type":"tool_result","tool_use_id":"t1","content":"Command output..."}]}})
    );
    let result = host.hear();
    assert_eq!(
        (
            &result["type"],
            &result["subtype"],
            &result["turn_count"],
            &result["duration_seconds"]
        ),
        (&json!("result"), &json!("success"), &json!(2), &json!(5.2))
    );

    host.say(
        r#"{"type":"session.send","message":{"role":"user","content":"Follow-up question..."}}"#,
    );
    assert_eq!(host.hear()["subtype"], "init");
    assert_eq!(host.hear()["message"]["content"][0]["text"], "more");
    host.say(
        r#"{"type":"control_request","request_id":"stop-1","request":{"subtype":"interrupt"}}"#,
    );
    assert_eq!(
        host.hear(),
        json!({"type":"control_response","request_id":"stop-1","response":{"still_queued":[]}})
    );
    let result = host.hear();
    assert_eq!(
        (&result["subtype"], &result["error"]),
        (&json!("error_during_execution"), &json!("interrupted"))
    );
    assert_eq!(host.end(), (vec![], String::new(), Some(0)));

    let (arguments, heard) = log(&file);
    assert_eq!(
        arguments,
        format!(
            "--output-format stream-json --input-format stream-json --permission-prompt-tool stdio \
             --verbose --session-id {session}"
        )
    );
    let user = |text: &str| json!({"type":"user","message":{"role":"user","content":text},"parent_tool_use_id":null,"session_id":""});
    let mut heard = heard.into_iter();
    let mut next = || heard.next().unwrap();
    assert_eq!(
        next(),
        json!({"type":"control_request","request_id":"init-1","request":{"subtype":"initialize",
            "systemPrompt":["be brief"],"agents":{},"hooks":{}}})
    );
    let first = next();
    assert_eq!(first["message"], user("Hello, Claude!")["message"]);
    assert_eq!(
        next(),
        json!({"type":"control_response","response":{"subtype":"success","request_id":"cb-123",
            "response":{"behavior":"allow","updatedInput":{"command":"ls"},"updatedPermissions":[],"toolUseID":"t1"}}})
    );
    assert_eq!(next()["message"]["content"], "Follow-up question...");
    assert_eq!(next()["request"]["subtype"], "interrupt");
    assert_eq!(heard.next(), None);
}

#[test]
fn what_is_wrong_with_a_line_is_told_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let mut host = Host::in_front_of(&file, "while hear; do :; done");
    for (line, code, message) in [
        ("{no", "INVALID_MESSAGE", "expected a key at byte 1"),
        ("7", "INVALID_MESSAGE", "expected an object at byte 0"),
        (
            r#"{"type":"session.create"}"#,
            "INVALID_MESSAGE",
            "missing field `message` at byte 0",
        ),
        (
            r#"{"type":"control_request","request_id":"1"}"#,
            "INVALID_MESSAGE",
            "missing field `request` at byte 0",
        ),
        (
            r#"{"type":"session.destroy"}"#,
            "UNKNOWN_TYPE",
            "no message has the type `session.destroy`",
        ),
        (
            r#"{"type":"session.send","message":{"role":"user","content":"x"}}"#,
            "SESSION_NOT_FOUND",
            "no session yet: send session.create first",
        ),
    ] {
        host.say(line);
        let error = json!({"type":"error","error":{"code":code,"message":message}});
        assert_eq!(host.hear(), error, "{line}");
    }
    host.say(r#"{"type":"session.create","message":{"role":"user","content":"now"}}"#);
    host.say(r#"{"type":"session.create","message":{"role":"user","content":"again"}}"#);
    assert_eq!(host.hear()["error"]["code"], "SESSION_EXISTS");
    // The agent said nothing of the message it got, and its end is told.
    let (lines, _, code) = host.end();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["error"]["code"], "AGENT_EXITED");
    assert_eq!(code, Some(0));
    let (_, heard) = log(&file);
    assert_eq!(heard.len(), 1, "nothing wrong reached the agent: {heard:?}");
    assert_eq!(heard[0]["message"]["content"], "now");
}

#[test]
fn lines_that_have_no_other_form_pass_as_they_are_and_garbage_of_the_agent_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let mut host = Host::in_front_of(
        &file,
        r#"say '{ "type" : "stream_event", "event":{"type":"ping"}, "x" : 1e0 }'
say 'npm notice'
say '{"type":"brand_new","n":1}'"#,
    );
    let mut line = String::new();
    host.stdout.read_line(&mut line).unwrap();
    assert_eq!(
        line,
        "{ \"type\" : \"stream_event\", \"event\":{\"type\":\"ping\"}, \"x\" : 1e0 }\n"
    );
    let garbage = host.hear();
    assert_eq!(garbage["error"]["code"], "INVALID_AGENT_LINE");
    assert!(
        garbage["error"]["message"]
            .as_str()
            .unwrap()
            .ends_with(": npm notice")
    );
    assert_eq!(host.hear(), json!({"type":"brand_new","n":1}));
}

#[test]
fn an_agent_that_dies_is_told_of_with_its_last_words() {
    for (script, message, code) in [
        (
            "hear; echo 'out of memory' >&2; exit 3",
            "the agent ended: exit code 3; it said: out of memory",
            Some(3),
        ),
        ("hear; kill -KILL $$", "the agent ended: ", Some(-9)),
        ("hear; exit 0", "the agent ended: exit code 0", Some(0)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Host::in_front_of(&folder.path().join("log"), script);
        host.say(r#"{"type":"session.create","message":{"role":"user","content":"hi"}}"#);
        let error = host.hear();
        assert_eq!(error["error"]["code"], "AGENT_EXITED", "{script}");
        let told = error["error"]["message"].as_str().unwrap();
        assert!(told.starts_with(message), "{told}");
        let (lines, stderr, ended) = host.end();
        assert_eq!((lines, ended), (vec![], code), "{script}");
        assert_eq!(stderr.is_empty(), !script.contains("echo"), "{stderr}");
    }
}

#[test]
fn a_session_that_cannot_be_resumed_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let id = "99999999-9999-4999-8999-999999999999";
    // As the real CLI does it (trace `control-09k7_resume_missing`).
    let script = format!(
        r#"read -r line
printf '%s\n' '{{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"{id}","errors":["No conversation found with session ID: {id}"]}}'
exit 1"#
    );
    let cwd = folder.path().to_str().unwrap();
    let mut host = Host::start(&[
        "--cwd", cwd, "--", "/bin/sh", "-c", &script, "agent", "--resume", id,
    ]);
    host.say(r#"{"type":"session.create","message":{"role":"user","content":"hi"}}"#);
    let message = format!("No conversation found with session ID: {id}");
    assert_eq!(
        host.hear(),
        json!({"type":"error","error":{"code":"SESSION_NOT_FOUND","message":message}})
    );
    assert_eq!(host.hear()["type"], "result");
    assert_eq!(host.hear()["error"]["code"], "AGENT_EXITED");
    assert_eq!(host.end().2, Some(1));
}

#[test]
fn the_agent_works_in_the_folder_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let place = place.to_str().unwrap();
    let script = r#"printf '{"type":"brand_new","cwd":"%s","words":"%s"}\n' "$(pwd -P)" "$*""#;
    let words = ["--", "/bin/sh", "-c", script, "agent", "--model", "opus"];
    let before = [&["--cwd", place, "--bare"], &words[..]].concat();
    let among = [&["--bare"], &words[..], &["--cwd", place]].concat();
    for arguments in [before, among] {
        let mut host = Host::start(&arguments);
        let expected = json!({"type":"brand_new","cwd":place,"words":"--model opus"});
        assert_eq!(host.hear(), expected, "{arguments:?}");
    }

    let ran = towline(
        &["dialect", "session", "--cwd", "/no/such", "--", "true"],
        b"",
    );
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "towline: cannot work in `/no/such`: no such folder; give --cwd one that exists\n"
    );
    let ran = towline(&["dialect", "session", "--", "/no/such/agent"], b"");
    assert_eq!(
        ran.stderr,
        "towline: cannot start `/no/such/agent`: No such file or directory (os error 2)\n"
    );
}

#[test]
fn signals_reach_the_agent_and_nobody_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"trap 'say "{\"type\":\"brand_new\",\"got\":\"TERM\"}"; exit 7' TERM
say '{"type":"brand_new","ready":true}'
while :; do read -r line || sleep 1; done"#;
    let mut host = Host::in_front_of(&folder.path().join("log"), script);
    assert_eq!(host.hear()["ready"], true);
    kill_process(Pid::from_child(&host.child), Signal::TERM).unwrap();
    assert_eq!(host.hear()["got"], "TERM");
    assert_eq!(
        host.hear()["error"]["message"],
        "the agent ended: exit code 7"
    );
    assert_eq!(host.end().2, Some(7));

    let held = folder.path().join("held");
    rustix::fs::mkfifoat(rustix::fs::CWD, &held, 0o600.into()).unwrap();
    let script = format!(
        "exec 3>'{}'; say '{{\"type\":\"brand_new\"}}'; exec sleep 1000",
        held.display()
    );
    let mut host = Host::in_front_of(&folder.path().join("log2"), &script);
    let mut pipe = fs::File::open(&held).unwrap();
    host.hear();
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    assert_eq!(pipe.read(&mut [0]).unwrap(), 0);
}

#[test]
fn the_real_cli_speaks_the_dialect_in_the_documents_order() {
    if !real_cli::is_slow_wanted("the real CLI behind the dialect of document 003") {
        return;
    }
    let cli = RealCli::find().unwrap();
    let towline = env!("CARGO_BIN_EXE_towline");
    let mut command = in_the_room(&cli, Command::new(towline));
    command
        .args([
            "script-api",
            SCRIPT,
            "--",
            towline,
            "dialect",
            "session",
            "--cwd",
        ])
        .arg(cli.project())
        .arg("--")
        .arg(cli.command("").get_program())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut host = Host::of(command.spawn().unwrap());
    let until_result = |host: &mut Host| {
        let mut kinds = Vec::new();
        while kinds.last().is_none_or(|kind| kind != "result") {
            let line = host.hear();
            kinds.push(line["type"].as_str().unwrap().to_owned());
            if line["type"] == "callback.request" {
                let (id, call) = (&line["request_id"], &line["request"]["tool_use_id"]);
                let answer = json!({"type":"callback.response","response":{"subtype":"success","request_id":id,
                    "response":{"behavior":"allow","updated_permissions":[],"tool_use_id":call}}});
                host.say(&answer.to_string());
            }
        }
        kinds.join(" ")
    };

    host.say("{no");
    assert_eq!(host.hear()["error"]["code"], "INVALID_MESSAGE");
    host.say(r#"{"type":"control_request","request_id":"i","request":{"subtype":"initialize","system_prompt":"be brief","mcp_servers":{},"agents":{},"hooks":{}}}"#);
    let answer = host.hear();
    assert_eq!(answer["request_id"], "i");
    assert!(
        answer["response"]["commands"][0]["name"]
            .as_str()
            .unwrap()
            .starts_with('/')
    );
    let system = host.hear();
    assert_eq!(
        (&system["type"], &system["subtype"]),
        (&json!("system"), &json!("init"))
    );
    host.say(r#"{"type":"session.create","message":{"role":"user","content":"make a file"}}"#);
    let created = host.hear();
    assert_eq!(
        created,
        json!({"type":"session.created","session_id":system["session_id"]})
    );
    assert_eq!(
        until_result(&mut host),
        "system assistant callback.request user assistant result"
    );
    assert!(cli.project().join("made").exists());
    host.say(r#"{"type":"session.send","message":{"role":"user","content":"say goodbye"}}"#);
    assert_eq!(until_result(&mut host), "system assistant result");
    let (lines, _, code) = host.end();
    assert_eq!((lines, code), (vec![], Some(0)));
}
