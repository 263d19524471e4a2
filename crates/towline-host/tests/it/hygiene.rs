//! No orphan, no zombie: whatever ends the host ends the agent and what the agent started.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use towline_host::Event;

use crate::agents::{ScriptedAgent, all_gone, ids_in, runs};

/// An agent that does not care, with a child in its group and one that left it.
const STUBBORN: &str = r#"
trap '' TERM
sleep 1000 & echo $! >> "${0%/*}/ids"
setsid sleep 1000 & echo $! >> "${0%/*}/ids"
echo $$ >> "${0%/*}/ids"
while :; do sleep 1; done
"#;

#[tokio::test]
async fn a_dropped_session_leaves_nothing() {
    let agent = ScriptedAgent::new(STUBBORN);
    let session = agent.command().spawn().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 3).await;
    drop(session);
    all_gone(&ids).await;
}

#[tokio::test]
async fn a_question_that_is_kept_does_not_keep_the_agent() {
    let agent = ScriptedAgent::new(
        r#"echo $$ > "${0%/*}/ids"
echo '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t1"}}'
cat > /dev/null; sleep 1000"#,
    );
    let mut session = agent.command().spawn().await.unwrap();
    let question = session.next().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 1).await;
    drop(session);
    all_gone(&ids).await;
    drop(question);
}

#[tokio::test]
async fn an_agent_lives_as_long_as_somebody_looks_or_can_speak() {
    for keeps_events in [true, false] {
        let agent = ScriptedAgent::new(
            "echo $$ > \"${0%/*}/ids\"; while read -r _; do echo '{\"type\":\"keep_alive\"}'; done",
        );
        let (control, events) = agent.command().spawn().await.unwrap().split();
        let ids = ids_in(&agent.file("ids"), 1).await;
        if keeps_events {
            control.send("hello").await.unwrap();
            drop(control);
            let mut events = events;
            assert!(matches!(events.next().await, Some(Event::Message(_))));
        } else {
            drop(events);
            control.send("hello").await.unwrap();
            assert!(runs(ids[0]));
            drop(control);
        }
        all_gone(&ids).await;
    }
}

#[tokio::test]
async fn a_closed_session_leaves_nothing() {
    let agent = ScriptedAgent::new(STUBBORN);
    let session = agent.command().spawn().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 3).await;
    session.close().await;
    all_gone(&ids).await;
}

/// Unless it is set otherwise: five seconds after the end of its input, and five more after `SIGTERM`.
#[tokio::test]
async fn a_stubborn_agent_has_ten_seconds() {
    let agent = ScriptedAgent::new(STUBBORN);
    let command = towline_host::AgentCommand::new(&agent.program).without_initialize();
    let session = command.spawn().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 3).await;
    let begun = std::time::Instant::now();
    session.close().await;
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(10), "{took:?}");
    all_gone(&ids).await;
}

#[test]
fn a_runtime_that_is_torn_down_leaves_nothing() {
    let agent = ScriptedAgent::new(STUBBORN);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (session, ids) = runtime.block_on(async {
        let session = agent.command().spawn().await.unwrap();
        (session, ids_in(&agent.file("ids"), 3).await)
    });
    runtime.shutdown_background();
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(all_gone(&ids));
    drop(session);
}

/// Not a test of its own: the program that the next one kills.
#[test]
fn role_of_a_host_that_gets_killed() {
    let Some(program) = std::env::var_os("TOWLINE_TEST_KILLED_HOST") else {
        return;
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let command = towline_host::AgentCommand::new(program).without_initialize();
        let _session = command.spawn().await.unwrap();
        println!("started");
        std::future::pending::<()>().await;
    });
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_nothing() {
    let agent = ScriptedAgent::new(STUBBORN);
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hygiene::role_of_a_host_that_gets_killed",
            "--nocapture",
        ])
        .env("TOWLINE_TEST_KILLED_HOST", &agent.program)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ids = ids_in(&agent.file("ids"), 3).await;
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("started")));
    host.kill().unwrap();
    host.wait().unwrap();
    all_gone(&ids).await;
}

#[tokio::test]
async fn many_sessions_share_one_watchdog() {
    let watchdogs = || {
        let mine = std::process::id();
        let children = std::fs::read_to_string(format!("/proc/{mine}/task/{mine}/children"));
        children
            .unwrap_or_default()
            .split_whitespace()
            .filter(|id| {
                let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains("trap '' HUP INT TERM")
            })
            .count()
    };
    let agent = ScriptedAgent::new("cat > /dev/null");
    let mut sessions = Vec::new();
    for _ in 0..5 {
        sessions.push(agent.command().spawn().await.unwrap());
    }
    assert!(watchdogs() <= 1);
    for session in sessions {
        let ending = tokio::time::timeout(Duration::from_secs(20), session.close())
            .await
            .unwrap();
        assert!(ending.exit.unwrap().success(), "{ending}");
    }
}
