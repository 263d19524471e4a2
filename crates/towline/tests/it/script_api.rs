//! `towline script-api`, as a shell or a test in another language runs it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Ran, start, towline};

/// A server that runs. It is killed if a test fails half-way.
struct Server {
    child: Child,
    /// Everybody in it holds it open.
    out: Option<BufReader<ChildStdout>>,
    address: String,
}

impl Server {
    /// Starts it and waits for the line that says where it is.
    fn start(arguments: &[&str]) -> (Self, String) {
        let mut child = start(&[&["script-api"], arguments].concat());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.trim_start_matches("export ANTHROPIC_BASE_URL=");
        let address = url.trim_start_matches("http://").split_whitespace().next();
        let address = address
            .unwrap_or_else(|| panic!("said {line:?}"))
            .to_owned();
        let server = Self {
            child,
            out: Some(out),
            address,
        };
        (server, line)
    }

    /// Sends a request and reads the response, head and all.
    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let address = &self.address;
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn prompt(&self, words: &str) -> String {
        let body = format!(
            r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"{words}"}}]}}"#
        );
        self.request("POST", "/v1/messages", &body)
    }

    /// Sends a signal, waits for the end, and gives the exit code with what was still said.
    fn end(mut self, signal: Signal) -> Ran {
        let id = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(id, signal).unwrap();
        let mut stdout = String::new();
        let mut out = self.out.take().unwrap();
        out.read_to_string(&mut stdout).unwrap();
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        Ran {
            code,
            stdout,
            stderr,
        }
    }

    /// Waits until nobody is left, but not for ever.
    fn expect_nobody(&mut self) {
        let said = in_time(self.out.take().unwrap());
        assert!(said.recv_timeout(PATIENCE).is_ok(), "somebody is left");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn script(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn it_says_where_it_is_and_ends_in_order_on_a_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (server, line) = Server::start(&[]);
        let url = format!("http://{}", server.address);
        assert_eq!(
            line,
            format!("{url} (use it with ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=made-up)\n")
        );
        assert!(server.address.starts_with("127.0.0.1:"));
        let answer = server.prompt("hello");
        assert!(
            answer.contains(r#"1 messages, 0 tools, prompt \"hello\""#),
            "{answer}"
        );
        let address = server.address.clone();
        assert_eq!(server.end(signal).to_string(), "-- exit 0");
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn scripts_are_used_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let one = script(directory.path(), "one.toml", "[[reply]]\ntext = 'first'\n");
    let two = script(directory.path(), "two.toml", "[[reply]]\ntext = 'second'\n");
    let (server, _) = Server::start(&[&one, &two]);
    assert!(server.prompt("x").contains(r#""text":"first""#));
    assert!(server.prompt("x").contains(r#""text":"second""#));
    assert!(server.prompt("x").starts_with("HTTP/1.1 400 "));
    assert!(
        server
            .request("GET", "/_script/state", "")
            .contains(r#""requests":3"#)
    );
}

#[test]
fn the_environment_can_be_printed_for_a_shell() {
    let (server, first) = Server::start(&["--print-env"]);
    assert_eq!(
        first,
        format!("export ANTHROPIC_BASE_URL=http://{}\n", server.address)
    );
    let ran = server.end(Signal::TERM);
    assert_eq!(
        ran.to_string(),
        "export ANTHROPIC_API_KEY=made-up\n-- exit 0"
    );
}

#[test]
fn the_port_file_is_there_while_it_runs_and_gone_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("port");
    let (server, _) = Server::start(&["--port-file", file.to_str().unwrap()]);
    let port = fs::read_to_string(&file).unwrap();
    assert_eq!(server.address, format!("127.0.0.1:{}", port.trim_end()));
    assert_eq!(server.end(Signal::TERM).code, 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_record_has_a_line_for_each_request_also_for_one_that_is_held() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.jsonl");
    let held = script(
        directory.path(),
        "held.toml",
        "[[reply]]\ntext = 'x'\n[[reply]]\nhold = 'gate'\ntext = 'y'\n",
    );
    let (server, _) = Server::start(&["--record", file.to_str().unwrap(), &held]);
    server.prompt("one");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let body = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"two"}]}"#;
    let length = body.len();
    write!(
        stream,
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    server.request("GET", "/_script/requests?after=1&wait=60", "");
    assert_eq!(server.end(Signal::TERM).to_string(), "-- exit 0");
    let record = fs::read_to_string(&file).unwrap();
    let ends: Vec<_> = record
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|entry| format!("{} {} {}", entry["index"], entry["reply"], entry["end"]))
        .collect();
    assert_eq!(
        ends,
        [r#"1 "reply 1" "complete""#, r#"2 "reply 2" "client_left""#]
    );
}

#[test]
fn a_command_runs_with_the_environment_and_gives_its_exit_code() {
    let show =
        "echo $ANTHROPIC_API_KEY; echo $NO_PROXY; echo ${ANTHROPIC_BASE_URL%:*}; cat; exit 7";
    let ran = towline(&["script-api", "--", "sh", "-c", show], b"from stdin\n");
    insta::assert_snapshot!(ran, @"
    made-up
    127.0.0.1,localhost,::1
    http://127.0.0.1
    from stdin
    -- exit 7
    ");
    let ran = towline(&["script-api", "--", "sh", "-c", "kill -9 $$"], b"");
    assert_eq!(ran.to_string(), "-- exit 137");
    let ran = towline(&["script-api", "--", "/no/such/command"], b"");
    assert_eq!(
        ran.to_string(),
        "-- stderr\ntowline: cannot run `/no/such/command`: No such file or directory (os error 2)\n-- exit 1"
    );
}

#[test]
fn a_command_is_asked_to_end_with_us() {
    let wait = "trap 'echo asked; exit 5' TERM; echo 127.0.0.1:1; while :; do sleep 0.05; done";
    // The command's first line takes the place of the server's.
    let (server, _) = Server::start(&["--", "sh", "-c", wait]);
    assert_eq!(server.end(Signal::TERM).to_string(), "asked\n-- exit 5");
}

/// A command that has started two others, of which one has left its group.
const THREE: &str = "sleep 100 & setsid sleep 100 & echo 127.0.0.1:1; ";

#[test]
fn a_command_and_all_it_started_end_with_us_however_we_end() {
    for (signal, code) in [
        (Signal::KILL, None),
        (Signal::HUP, Some(143)),
        (Signal::TERM, Some(143)),
    ] {
        let (mut server, _) = Server::start(&["--", "sh", "-c", &format!("{THREE} wait")]);
        kill_process(Pid::from_child(&server.child), signal).unwrap();
        assert_eq!(server.child.wait().unwrap().code(), code, "{signal:?}");
        server.expect_nobody();
    }
}

#[test]
fn a_command_that_does_not_listen_is_ended_too_when_we_are_killed() {
    let deaf = format!("trap '' TERM HUP; {THREE} while :; do sleep 100; done");
    let (mut server, _) = Server::start(&["--", "sh", "-c", &deaf]);
    server.child.kill().unwrap();
    server.expect_nobody();
}

#[test]
fn what_a_command_left_running_is_ended_with_it() {
    let (mut server, _) = Server::start(&["--", "sh", "-c", &format!("{THREE} exit 7")]);
    assert_eq!(server.child.wait().unwrap().code(), Some(7));
    server.expect_nobody();
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_reads_the_terminal() {
    let towline = env!("CARGO_BIN_EXE_towline");
    let read = r#"read line </dev/tty; echo "got $line"; read line; echo "got $line"; exit 7"#;
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("{towline} script-api -- sh -c '{read}'")])
        .arg("/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let screen = in_time(child.stdout.take().unwrap());
    keyboard.write_all(b"one\ntwo\n").unwrap();
    let screen = screen.recv_timeout(PATIENCE);
    // One that may not read was stopped, and would stay so.
    child.kill().ok();
    let screen = String::from_utf8(screen.expect("an end")).unwrap();
    let got = screen.lines().filter(|line| line.starts_with("got "));
    assert_eq!(got.collect::<Vec<_>>(), ["got one", "got two"], "{screen}");
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_was_to_be_ignored_is() {
    let towline = env!("CARGO_BIN_EXE_towline");
    let start = format!("trap '' HUP; exec {towline} script-api");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &start]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    assert_eq!(ignored & 1, 1, "{status}");
}

/// All that comes, once nobody can say any more.
fn in_time(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        // A terminal whose other side is gone says so with an error.
        pipe.read_to_end(&mut said).ok();
        sender.send(said).ok();
    });
    receiver
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn mistakes_are_told_before_anything_runs() {
    let directory = tempfile::tempdir().unwrap();
    let bad = script(
        directory.path(),
        "bad.toml",
        "[[reply]]\ntext = 'a'\n\n[[reply]]\ntxet = 'b'\n",
    );
    let folder = directory.path().to_str().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let ran = towline(&[&["script-api"], arguments].concat(), b"");
        assert_eq!(
            ran.to_string().replace(folder, "DIR"),
            format!("-- stderr\n{expected}\n-- exit 1")
        );
    };
    check(
        &[&bad],
        "towline: DIR/bad.toml:5: reply 2: unknown key `txet`, did you mean `text`?",
    );
    check(
        &["/no/such.toml"],
        "towline: cannot read `/no/such.toml`: No such file or directory (os error 2)",
    );
    check(
        &["--listen", "0.0.0.0:0"],
        "towline: `0.0.0.0:0` can be reached from other machines; listen on 127.0.0.1, or give --allow-remote",
    );
    check(
        &["--record", folder],
        "towline: cannot write `DIR`: Is a directory (os error 21)",
    );
    check(
        &["--port-file", "/no/such/port"],
        "towline: cannot write `/no/such/port`: No such file or directory (os error 2)",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(
        &["--listen", &address],
        &format!("towline: cannot listen on {address}: Address already in use (os error 98)"),
    );
}

#[test]
fn other_machines_are_let_in_only_when_that_is_asked_for() {
    let (server, _) = Server::start(&["--listen", "0.0.0.0:0", "--allow-remote"]);
    // It says where this machine finds it; others know the machine's name.
    assert!(server.address.starts_with("127.0.0.1:"));
    let port: u16 = server.address.split(':').nth(1).unwrap().parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.2", port)).is_ok());
    assert!(server.prompt("x").starts_with("HTTP/1.1 200 "));
}
