//! The official SDKs with a wiretap in the agent's place, and with a replay of what it recorded. Slow: they drive the
//! real CLI against a scripted API, and come from npm and PyPI.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use towline_testkit::real_cli::{self, RealCli};

use crate::run::towline;

/// What the model says to the drivers.
pub(crate) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/two-turns.toml");

/// A command in the environment that the CLI has, but for the address of the API.
pub(crate) fn in_the_room(cli: &RealCli, mut command: Command) -> Command {
    command.env_clear().current_dir(cli.project());
    for (name, value) in cli.command("").get_envs() {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            command.env(name, value);
        }
    }
    command
}

/// Who drives the agent.
struct Driver {
    program: PathBuf,
    script: &'static str,
    /// What comes behind the agent and the folder.
    rest: Vec<OsString>,
}

impl Driver {
    /// What the SDK makes of a conversation with that agent, which a scripted API answers.
    fn drive(&self, cli: &RealCli, agent: &Path) -> Vec<Value> {
        let mut command = in_the_room(cli, Command::new(env!("CARGO_BIN_EXE_towline")));
        command
            .args(["script-api", SCRIPT, "--"])
            .arg(&self.program)
            .arg(self.script)
            .arg(agent)
            .arg(cli.project())
            .args(&self.rest);
        let ran = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{}: {stderr}", self.script);
        let room = cli.home();
        let room = room.parent().unwrap().to_str().unwrap();
        let stdout = String::from_utf8(ran.stdout).unwrap().replace(room, "ROOM");
        // How long the room's name is, is told where it is part of a name.
        let dashed = room.replace(['/', '.'], "-");
        let stdout = stdout.replace(&dashed, "ROOM");
        let lines = stdout.lines().filter(|line| line.starts_with('['));
        let lines =
            lines.map(|line| without_ids_and_times("", serde_json::from_str(line).unwrap()));
        lines.collect()
    }
}

/// A value without what is new in every run.
fn without_ids_and_times(name: &str, value: Value) -> Value {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| {
                    let value = without_ids_and_times(&name, value);
                    (name, value)
                })
                .collect(),
        ),
        Value::Array(items) => {
            let items = items.into_iter();
            items
                .map(|item| without_ids_and_times(name, item))
                .collect()
        }
        Value::Number(_) if ends(&["_ms", "pid"]) => Value::from(0),
        Value::String(_) if ends(&["uuid", "session_id", "timestamp", "socket_path"]) => {
            Value::from("")
        }
        other => other,
    }
}

/// A program for the shell.
fn program(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The SDK alone, with the wiretap, and with what the wiretap recorded in place of the CLI: three times the same.
fn check(driver: impl FnOnce(&Path) -> Driver) {
    let cli = RealCli::find().unwrap();
    let agent = PathBuf::from(cli.command("").get_program());
    let driver = driver(&agent);
    let alone = driver.drive(&cli, &agent);
    let kinds: Vec<&str> = alone.iter().filter_map(|line| line[0].as_str()).collect();
    assert!(
        kinds.contains(&"asked") && kinds.contains(&"hook"),
        "{kinds:?}"
    );
    assert!(kinds.len() >= 9, "{kinds:?}");

    let cli = RealCli::find().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [wrapper, traces] = ["wrapper", "traces"].map(|name| folder.path().join(name));
    let made = towline(
        &[
            "trace",
            "wrapper",
            wrapper.to_str().unwrap(),
            "--out",
            traces.to_str().unwrap(),
            "--",
            agent.to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(made.code, 0, "{made}");
    let recorded = driver.drive(&cli, &wrapper);
    assert_eq!(recorded, alone, "the SDK notices the wiretap");
    let files: Vec<PathBuf> = fs::read_dir(&traces)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [trace] = &files[..] else {
        panic!("one run, one trace: {files:?}");
    };
    let trace = trace.to_str().unwrap();
    let checked = towline(&["trace", "check", trace], b"");
    assert!(
        checked
            .stdout
            .ends_with("unknown 0, malformed 0, changed 0\n"),
        "{checked}"
    );

    let replay = folder.path().join("replay");
    let report = folder.path().join("report");
    program(
        &replay,
        &format!(
            "exec '{}' trace replay '{trace}' -- \"$@\" 2>'{}'",
            env!("CARGO_BIN_EXE_towline"),
            report.display()
        ),
    );
    let replayed = driver.drive(&cli, &replay);
    assert_eq!(replayed, alone, "the SDK notices that nobody is there");
    let report = fs::read_to_string(report).unwrap();
    assert!(
        report.ends_with(", not played 0, differences 0\n"),
        "{report}"
    );
}

#[test]
fn the_python_sdk_notices_neither_wiretap_nor_replay() {
    if !real_cli::is_slow_wanted("the Python SDK with a wiretap") {
        return;
    }
    let python = real_cli::installed("python-sdk").unwrap();
    check(|_| Driver {
        program: python.clone(),
        script: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/drive.py"),
        rest: Vec::new(),
    });
}

#[test]
fn the_typescript_sdk_notices_neither_wiretap_nor_replay() {
    if !real_cli::is_slow_wanted("the TypeScript SDK with a wiretap") {
        return;
    }
    check(|cli| {
        // The CLI and the SDK come from npm together, side by side.
        let packages = cli.parent().and_then(Path::parent).unwrap();
        Driver {
            program: "node".into(),
            script: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/drive.mjs"),
            rest: vec![packages.join("claude-agent-sdk/sdk.mjs").into()],
        }
    });
}
