//! Every flag that the official SDKs pass is taken: Python 0.2.182 and TypeScript 0.3.325, as they were seen to call.

use std::process::Stdio;

use crate::driven::{block_on, towline_room};

/// What an option of an SDK adds to the command line. `NEW` stands for the id of a session that is not there.
const PASSED: &[&[&str]] = &[
    // Python.
    &["--tools", "Read"],
    &["--tools", ""],
    &["--tools", "default"],
    &["--allowedTools", "Read,Bash(ls:*)"],
    &["--system-prompt", "S"],
    &["--system-prompt", ""],
    &["--append-system-prompt", "A"],
    &["--system-prompt-file", "prompt.txt"],
    &["--mcp-config", r#"{"mcpServers": {"s": {"command": "x"}}}"#],
    &["--mcp-config", "servers.json"],
    &["--strict-mcp-config"],
    &["--permission-mode", "plan"],
    &["--continue"],
    &["--session-id=NEW"],
    &["--max-turns", "3"],
    &["--max-budget-usd", "1.5"],
    &["--disallowedTools", "Bash"],
    &["--model", "offline"],
    &["--fallback-model", "m2"],
    &["--betas", "b"],
    &["--permission-prompt-tool", "mcp__a__b"],
    &["--permission-prompt-tool", "stdio"],
    &["--settings", "settings.json"],
    &["--settings", r#"{"sandbox": {"enabled": true}}"#],
    &["--add-dir", "/a", "--add-dir", "/b"],
    &["--include-partial-messages"],
    &["--include-hook-events"],
    &["--setting-sources=user,project"],
    &["--setting-sources="],
    &["--allowedTools", "Skill(a),Skill(b)"],
    &["--plugin-dir", "/pl"],
    &["--max-thinking-tokens", "100"],
    &["--thinking", "adaptive", "--thinking-display", "summarized"],
    &["--thinking", "disabled"],
    &["--effort", "high"],
    &["--json-schema", r#"{"type": "object"}"#],
    &["--session-mirror"],
    &["--task-budget", "1000"],
    // TypeScript, where it writes them in another way or others.
    &["--add-dir=/a", "--add-dir=/b"],
    &["--project-config-root=/p"],
    &[
        "--agents",
        r#"{"x":{"description":"d","prompt":"p"}}"#,
        "--agent=x",
    ],
    &["--allowedTools=Read,Bash(ls:*)"],
    &["--permission-prompt-tool=stdio"],
    &["--disallowedTools=Bash"],
    &["--tools=Read"],
    &["--tools="],
    &["--tools=default"],
    &["--fallback-model=m2"],
    &["--betas=context-1m-2025-08-07"],
    &["--no-session-persistence"],
    &["--thinking=adaptive", "--thinking-display=summarized"],
    &["--max-thinking-tokens=2000"],
    &["--effort=high"],
    &["--max-turns=3"],
    &["--max-budget-usd=1.5"],
    &["--task-budget=1000"],
    &["--model=offline"],
    &[r#"--json-schema={"type":"object"}"#],
    &["--permission-mode=plan"],
    &["--allow-dangerously-skip-permissions"],
    &["--permission-prompts=none"],
    &["--plugin-dir=/pl"],
    &["--managed-settings", r#"{"model":"q"}"#],
    &["--debug-file=debug.txt"],
    &["--await-initialize"],
    &["--system-prompt-snapshot", "on"],
    &["--replay-user-messages"],
];

/// Flags for a session that is there: it is made first.
const RESUMED: &[&[&str]] = &[
    &["--resume=OLD"],
    &["--resume=OLD", "--fork-session"],
    &["--resume=OLD", "--resume-session-at=LAST"],
    &[
        "--resume=OLD",
        "--resume-session-at=LAST",
        "--resume-drops-turn=LAST",
    ],
];

const BASE: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--model",
    "offline",
];

#[test]
fn every_flag_that_an_sdk_passes_is_taken() {
    let room = towline_room();
    let write = |name: &str, text: &str| std::fs::write(room.project().join(name), text).unwrap();
    write("prompt.txt", "S");
    write("servers.json", r#"{"mcpServers":{}}"#);
    write("settings.json", "{}");
    for flags in PASSED {
        let new = format!(
            "{:08x}-2222-4333-8444-555555555555",
            flags.as_ptr() as usize as u32
        );
        let flags: Vec<String> = flags.iter().map(|flag| flag.replace("NEW", &new)).collect();
        let (code, stderr) = run(&room, &flags, "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{flags:?}");
    }
}

#[test]
fn every_flag_that_an_sdk_passes_to_go_on_is_taken() {
    let room = towline_room();
    let old = "11111111-2222-4333-8444-555555555555";
    let last = "22222222-2222-4333-8444-555555555555";
    let prompt = format!(
        r#"{{"type":"user","uuid":"{last}","message":{{"role":"user","content":"hello"}}}}"#
    );
    let (code, stderr) = run(&room, &["--session-id".to_owned(), old.to_owned()], &prompt);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for flags in RESUMED {
        let flags: Vec<String> = flags
            .iter()
            .map(|flag| flag.replace("OLD", old).replace("LAST", last))
            .collect();
        let (code, stderr) = run(&room, &flags, "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{flags:?}");
    }
}

/// Runs to the end with that input; the exit code and what it complained of.
fn run(
    room: &towline_testkit::real_cli::RealCli,
    flags: &[String],
    input: &str,
) -> (Option<i32>, String) {
    block_on(async {
        use tokio::io::AsyncWriteExt as _;
        let mut command = tokio::process::Command::from(room.command("http://127.0.0.1:9"));
        let mut child = command
            .args(BASE)
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        let output = child.wait_with_output().await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    })
}

#[test]
fn flags_without_a_meaning_here_are_in_the_help() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_towline"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let kebab = |flag: &str| {
        let name = flag.split('=').next().unwrap_or(flag);
        name.replace("Tools", "-tools")
    };
    for flag in PASSED.iter().chain(RESUMED).flat_map(|flags| flags.iter()) {
        if flag.starts_with("--") {
            let name = kebab(flag);
            assert!(
                help.contains(&format!("{name} "))
                    || help.contains(&format!("{name}\n"))
                    || help.contains(&format!("{name}[")),
                "{name}"
            );
        }
    }
}
