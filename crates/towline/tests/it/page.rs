//! The page of `towline serve`: how it is given out, and (slow) what a real browser makes of it, at the size of a phone and
//! of a desk. A flow is a script in `tests/page`; what it sees is kept in `target/page-shots`.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use towline_testkit::real_cli::{self, RealCli};

/// A bridge in a room of its own: a home where nothing is, and a project under git.
struct Bridge {
    child: Child,
    link: String,
    room: TempDir,
    /// What the model says to the real CLI.
    api: Option<ScriptApi>,
}

impl Bridge {
    fn start(arguments: &[&str]) -> Self {
        let room = tempfile::tempdir().unwrap();
        let [home, project] = ["home", "project"].map(|name| room.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&project).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", &home)
            .current_dir(&project);
        commit_something(&project);
        Self::of(room, command, arguments)
    }

    fn of(room: TempDir, mut command: Command, arguments: &[&str]) -> Self {
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let said: Vec<String> = out
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.starts_with("agents:"))
            .collect();
        let link = said.iter().find_map(|line| line.strip_prefix("open "));
        let link = link.unwrap_or_else(|| panic!("said {said:?}")).to_owned();
        Self {
            child,
            link,
            room,
            api: None,
        }
    }

    fn project(&self) -> PathBuf {
        self.room.path().join("project")
    }

    fn token(&self) -> &str {
        self.link.split_once("#token=").unwrap().1
    }

    /// Asks for something and gives the response, head and all.
    fn get(&self, path: &str, headers: &str) -> String {
        let address = self.link.trim_start_matches("http://");
        let address = address.split('/').next().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Asked to end, it ends its agents too.
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process(pid, Signal::TERM).ok();
        }
        self.child.wait().ok();
    }
}

fn commit_something(project: &Path) {
    fs::write(project.join("poem.txt"), "one\ntwo\nthree\n").unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-q", "-m", "begin"],
    ] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        let ran = git
            .args(arguments)
            .current_dir(project)
            .env("HOME", project)
            .status();
        assert!(ran.unwrap().success(), "git {arguments:?}");
    }
}

#[test]
fn the_page_is_given_to_anyone_and_kept_by_nobody() {
    let bridge = Bridge::start(&["--agent", "offline"]);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/assets/main.js", "text/javascript; charset=utf-8"),
        ("/assets/style.css", "text/css; charset=utf-8"),
        ("/assets/vendor/purify.js", "text/javascript; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
    ] {
        let answer = bridge.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        for wanted in [
            format!("content-type: {kind}\r\n"),
            "cache-control: no-cache\r\n".to_owned(),
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'"
                .to_owned(),
        ] {
            assert!(answer.contains(&wanted), "{path}: {wanted} in {answer}");
        }
        let tag = answer.lines().find_map(|line| line.strip_prefix("etag: "));
        let again = bridge.get(path, &format!("if-none-match: {}\r\n", tag.unwrap()));
        assert!(again.starts_with("HTTP/1.1 304"), "{path}: {again}");
        assert!(again.ends_with("\r\n\r\n"), "{path}: {again}");
    }
}

#[test]
fn what_is_no_file_of_the_page_is_not_found() {
    let bridge = Bridge::start(&["--agent", "offline"]);
    for path in [
        "/assets/",
        "/assets/none.js",
        "/assets/package.json",
        "/assets/../Cargo.toml",
        "/assets/..%2fCargo.toml",
        "/assets/%2e%2e/src/lib.rs",
        "/assets//etc/passwd",
    ] {
        let answer = bridge.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}

#[test]
fn figures_are_for_who_has_the_token_and_health_for_anyone() {
    let bridge = Bridge::start(&["--agent", "offline"]);
    assert!(bridge.get("/healthz", "").ends_with("\r\n\r\nok\n"));
    assert!(bridge.get("/metrics", "").starts_with("HTTP/1.1 401"));
    let bearer = format!("authorization: Bearer {}\r\n", bridge.token());
    let figures = bridge.get("/metrics", &bearer);
    assert!(
        figures.contains("\ntowline_sessions{status=\"idle\"} 0\n"),
        "{figures}"
    );
    let description = bridge.get("/openapi.json", &bearer);
    for path in ["/metrics", "/healthz", "/api/events"] {
        assert!(description.contains(&format!("\"{path}\"")), "{path}");
    }
}

/// Plays a flow at both sizes, each with a bridge of its own.
fn play(flow: &str, start: impl Fn() -> Bridge) {
    if !real_cli::is_slow_wanted(flow) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let browser = Command::new("bash")
        .arg(root.join("../../.ci/browser"))
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&browser.stderr);
    assert!(browser.status.success(), ".ci/browser: {complaint}");
    let paths = String::from_utf8(browser.stdout).unwrap();
    let [chromium, driver] = paths.lines().collect::<Vec<_>>()[..] else {
        panic!(".ci/browser said {paths}");
    };
    let shots = root.join("../../target/page-shots");
    fs::create_dir_all(&shots).unwrap();
    for (width, height) in [("360", "740"), ("1600", "900")] {
        let bridge = start();
        let ran = Command::new("node")
            .arg(root.join("tests/page").join(format!("{flow}.mjs")))
            .env("CHROMIUM", chromium)
            .env("DRIVER", driver)
            .env("LINK", &bridge.link)
            .env("WIDTH", width)
            .env("HEIGHT", height)
            .env("SHOTS", &shots)
            .env("FLOW", flow)
            .env("PROJECT", bridge.project())
            .env("API", bridge.api.as_ref().map_or("", |api| &api.url))
            .output()
            .unwrap();
        let seen = String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.success(),
            "{flow} at {width} × {height}:\n{seen}"
        );
    }
}

/// A scripted Messages API, which ends with the test.
struct ScriptApi {
    child: Child,
    url: String,
}

impl ScriptApi {
    fn start(script: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_towline"))
            .arg("script-api")
            .arg(script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut said).unwrap();
        let url = said.trim_start_matches("export ANTHROPIC_BASE_URL=");
        let url = url.split_whitespace().next().unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for ScriptApi {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Plays a flow with the real CLI, started with these flags; what the model says to it is in a script of `tests/data`.
fn play_with_real_cli(flow: &str, script: &str, flags: &[&str]) {
    if !real_cli::is_slow_wanted("the real CLI behind the page") {
        return;
    }
    let cli = RealCli::find().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let script = fs::read_to_string(data.join(script)).unwrap();
    // Each size has a script of its own to play.
    play(flow, || {
        let room = tempfile::tempdir().unwrap();
        let [home, project] = ["home", "project"].map(|name| room.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&project).unwrap();
        commit_something(&project);
        let played = room.path().join("script.toml");
        let place = project.to_str().unwrap();
        fs::write(&played, script.replace("$PROJECT", place)).unwrap();
        let api = ScriptApi::start(&played);
        let clean = cli.command(&api.url);
        let config = room.path().join("serve.toml");
        let agent = clean.get_program().to_str().unwrap();
        fs::write(
            &config,
            format!("[[agents]]\nname = \"claude\"\ncommand = \"{agent}\"\nargs = {flags:?}\n"),
        )
        .unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
        command.env_clear();
        for (name, value) in clean.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.env("HOME", &home).current_dir(&project);
        let config = config.to_str().unwrap().to_owned();
        let mut bridge = Bridge::of(room, command, &["--config", &config, "--agent", "claude"]);
        bridge.api = Some(api);
        bridge
    });
}

#[test]
fn the_real_cli_is_driven_from_the_page() {
    play_with_real_cli("real-cli", "page.toml", &[]);
}

#[test]
fn a_whole_session_with_the_real_cli_is_had_from_the_page() {
    play_with_real_cli("real-session", "page-session.toml", &[]);
}

#[test]
fn what_the_real_cli_does_can_be_seen_and_found_by_who_typed_the_token() {
    play_with_real_cli("real-tools", "page-tools.toml", TASK_TOOLS);
}

#[test]
fn a_dead_real_cli_and_a_connection_cut_in_a_message_lose_nothing() {
    play_with_real_cli("real-trouble", "page-trouble.toml", &[]);
}

#[test]
fn eight_tabs_get_what_happens_and_can_each_say_something() {
    play_with_real_cli("tabs", "page-tabs.toml", &[]);
}

#[test]
fn what_the_pictures_of_the_readme_show_is_there() {
    play_with_real_cli("readme", "page-readme.toml", TASK_TOOLS);
}

/// The CLI has tools to keep a list with, and offers them to who allows them.
const TASK_TOOLS: &[&str] = &["--allowedTools", "TaskCreate,TaskUpdate"];

fn offline() -> Bridge {
    Bridge::start(&["--agent", "offline"])
}

#[test]
fn somebody_who_has_nothing_has_something_done() {
    // Nothing is chosen here either: without an account and without `claude` it is the offline agent.
    play("new-user", || Bridge::start(&[]));
}

#[test]
fn somebody_without_the_link_is_told_where_it_is() {
    play("login", offline);
}

#[test]
fn where_the_bridge_encrypts_the_page_does_all_the_same() {
    let room = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| room.path().join(name));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().unwrap());
    let tls = ["--tls-cert", certificate, "--tls-key", key];
    play("encrypted", || {
        Bridge::start(&[&["--agent", "offline"], &tls[..]].concat())
    });
}

#[test]
fn every_kind_of_question_can_be_answered() {
    play("questions", offline);
}

#[test]
fn a_question_shows_what_is_approved_and_the_end_of_a_long_command() {
    play("hostile-card", offline);
}

#[test]
fn no_card_of_a_question_has_a_part_that_is_neither_in_sight_nor_counted() {
    play("cards", offline);
}

/// A clone with files that want to be trusted, and with characters in them that would hide what they say.
#[test]
fn a_person_says_whether_a_folder_may_be_trusted() {
    play("trust", || {
        let bridge = offline();
        let settings = bridge.project().join(".claude");
        fs::create_dir(&settings).unwrap();
        let permissions = "{\"permissions\": {\"allow\": [\"Bash(node:*)\", \"Bash(\u{202e}<img src=x onerror=alert(1)>\u{200b})\"]}}";
        fs::write(settings.join("settings.local.json"), permissions).unwrap();
        bridge
    });
}

#[test]
fn what_the_agent_does_can_be_seen() {
    play("tools", offline);
}

#[test]
fn sessions_are_found_stopped_ended_and_resumed() {
    play("sessions", offline);
}

#[test]
fn a_lost_connection_loses_and_doubles_nothing() {
    play("reconnect", offline);
}

/// The data of the bridge lie on a disk of their own, which the agent fills and empties again.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    play("full-disk", || {
        let room = tempfile::tempdir().unwrap();
        for name in ["home", "project", "project/disk"] {
            fs::create_dir(room.path().join(name)).unwrap();
        }
        let mut command = Command::new("unshare");
        command
            .args(["-rm", "sh", "-c"])
            .arg("mount -t tmpfs -o size=3m none disk && exec \"$0\" \"$@\"")
            .arg(env!("CARGO_BIN_EXE_towline"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", room.path().join("home"))
            .current_dir(room.path().join("project"));
        Bridge::of(
            room,
            command,
            &["--agent", "offline", "--data", "disk/data"],
        )
    });
}

#[test]
fn a_dead_agent_is_said_to_be_dead_and_long_histories_come_in_pages() {
    play("trouble", offline);
}
