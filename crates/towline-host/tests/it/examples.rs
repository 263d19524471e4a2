//! The examples, each run as a person would, with the example `fake_agent` for an agent.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{io::AsyncWriteExt as _, process::Command};

/// Each example: its arguments behind the agent, what the person types, and what is printed.
const RUNS: &[(&str, &[&str], &str, &str)] = &[
    (
        "hello",
        &[],
        "",
        "Some(\"Which of these files are not needed?\") ($0.0100)\n",
    ),
    (
        "chat",
        &[],
        "stream once upon a time\nfail no luck\n",
        "> once upon a time\n> no luck\n> ",
    ),
    (
        "approve",
        &[],
        "run ls\ny\nrun ls\na\nrun ls\nnot now\nask Shall we?\nyes\nplan 1. Rest.\ny\nplan 2. Work.\nrest first\n",
        r#"> Bash {"command":"ls"}
  always: {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"localSettings"}
[y]es, [a]lways, or why not: ran ls
> Bash {"command":"ls"}
  always: {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"localSettings"}
[y]es, [a]lways, or why not: ran ls, with 1 changed permissions
> Bash {"command":"ls"}
  always: {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"localSettings"}
[y]es, [a]lways, or why not: denied: not now
> Shall we? [yes, no]: heard {"Shall we?":"yes"}
> 1. Rest.
[y]es, or why not: begins
> 2. Work.
[y]es, or why not: denied: rest first
> "#,
    ),
    (
        "hooks",
        &["hook guard"],
        "",
        r#"[guard] ls
{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"it only looks"}}
"#,
    ),
    ("hooks", &["hook end"], "", "[end] ls\n{}\n"),
    (
        "mcp_tool",
        &[r#"call calculator add {"terms":[17.5,24.5]}"#],
        "",
        "[mcp__calculator__add]\n42\n",
    ),
    (
        "mcp_tool",
        &[r#"call calculator add {"terms":[]}"#],
        "",
        "[mcp__calculator__add]\nthere is nothing to add\n",
    ),
    (
        "resume_and_fork",
        &[],
        "",
        "fake-session
  Think of an animal.
  Think of an animal.
fake-session
  What does it eat?
  What does it eat?
fake-session-copy
  Think of another one.
  Think of another one.
resumed: the same session
forked: another session
",
    ),
    (
        "many_sessions",
        &["1"],
        "",
        "1: Say the number 1 in French.\n10 tokens in, 5 out, 0.0100 dollars\n",
    ),
];

#[tokio::test]
async fn every_example_does_what_it_says() {
    for (name, arguments, typed, printed) in RUNS {
        let output = run(name, arguments, typed).await;
        assert_eq!(output, *printed, "{name} {arguments:?}");
    }
}

#[tokio::test]
async fn many_sessions_are_added_up() {
    let output = run("many_sessions", &["9"], "").await;
    let mut lines: Vec<_> = output.lines().collect();
    assert_eq!(
        lines.pop(),
        Some("90 tokens in, 45 out, 0.0900 dollars"),
        "{output}"
    );
    lines.sort_unstable();
    let expected: Vec<_> = (1..=9)
        .map(|number| format!("{number}: Say the number {number} in French."))
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn no_example_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = fs::read_dir(folder).unwrap();
    let mut found: Vec<_> = files
        .map(|file| file.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != AGENT)
        .collect();
    found.sort();
    let mut run: Vec<_> = RUNS.iter().map(|(name, ..)| *name).collect();
    run.sort_unstable();
    run.dedup();
    assert_eq!(found, run);
}

/// What an example prints. The agent is its first argument, and what is called `claude`.
async fn run(name: &str, arguments: &[&str], typed: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    symlink(built(AGENT), folder.path().join("claude")).unwrap();
    let inherited = env::var_os("PATH").unwrap_or_default();
    let mut path = folder.path().as_os_str().to_owned();
    path.push(":");
    path.push(inherited);
    let mut child = Command::new(built(name))
        .arg(built(AGENT))
        .args(arguments)
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).await.unwrap();
    drop(stdin);
    let output = tokio::time::timeout(Duration::from_secs(30), child.wait_with_output())
        .await
        .unwrap_or_else(|_| panic!("{name} does not end"))
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// An example as `cargo test` has built it, beside the tests.
pub(crate) fn built(name: &str) -> PathBuf {
    let tests = env::current_exe().unwrap();
    let path = tests.parent().unwrap().join("../examples").join(name);
    assert!(
        path.is_file(),
        "{} is not built; `cargo build -p towline-host --examples` does that",
        path.display()
    );
    path
}

pub(crate) const AGENT: &str = "fake_agent";
