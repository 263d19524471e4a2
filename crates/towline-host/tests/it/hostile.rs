//! Agents that do everything wrong. Each gives one clear event or error, in time, and leaves no process.

use std::time::{Duration, Instant};

use towline_host::{Error, Event, Problem};
use towline_testkit::waiting::stands_still;

use crate::agents::{HANDSHAKE, ScriptedAgent, all_gone, ids_in, in_short, to_the_end};

/// Runs a script to its end, without saying anything to it, and gives what happened.
async fn check(script: &str, expected: &[&str]) {
    let agent = ScriptedAgent::new(&format!("echo $$ > \"${{0%/*}}/ids\"\n{script}"));
    let mut session = agent.command().spawn().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 1).await;
    let events = tokio::time::timeout(Duration::from_secs(30), to_the_end(&mut session))
        .await
        .expect("the session ends");
    assert_eq!(events, expected, "{script}");
    all_gone(&ids).await;
}

#[tokio::test]
async fn an_agent_that_exits_at_once() {
    check("exit 3", &["ended: exit code 3"]).await;
}

#[tokio::test]
async fn an_agent_that_exits_in_the_middle_of_a_line() {
    check(
        r#"printf '{"type":"keep_alive"}\n{"type":"resu'; exit 1"#,
        &[
            "keep_alive",
            "malformed: the line ends inside a string at byte 13",
            "ended: exit code 1",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_kills_itself() {
    check("kill -9 $$", &["ended: SIGKILL"]).await;
}

#[tokio::test]
async fn an_agent_that_floods_standard_error() {
    let agent = ScriptedAgent::new(
        "echo $$ > \"${0%/*}/ids\"; head -c 20000000 /dev/zero | tr '\\0' 'x' >&2; echo '{\"type\":\"keep_alive\"}'; echo last words >&2; exit 7",
    );
    let mut session = agent.command().spawn().await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = session.next().await {
        if let Event::Stderr(words) = &event {
            assert!(words.len() < 70_000, "{}", words.len());
        }
        if let Event::Ended(ending) = &event {
            assert!(ending.stderr.ends_with("last words"), "{}", ending.stderr);
            assert!(ending.stderr.len() <= 4096);
        }
        events.push(in_short(&event));
    }
    assert!(events.contains(&"keep_alive".to_owned()));
    assert_eq!(events.last().unwrap(), "ended: exit code 7");
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_that_never_answers() {
    let agent = ScriptedAgent::new("echo $$ > \"${0%/*}/ids\"; echo please log in >&2; sleep 1000");
    let command = agent
        .command()
        .with_initialize(|_| ())
        .request_timeout(Some(Duration::from_millis(200)));
    let begun = Instant::now();
    let error = command.spawn().await.unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("the agent did not answer `initialize` within 200ms: `/")
            && message.ends_with("its last words:\nplease log in"),
        "{message}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_that_answers_twice() {
    let agent = ScriptedAgent::new(&format!(
        "echo $$ > \"${{0%/*}}/ids\"\n{HANDSHAKE}\n{}",
        r#"printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s"}}\n' "$id""#
    ));
    let mut session = agent
        .command()
        .with_initialize(|_| ())
        .spawn()
        .await
        .unwrap();
    assert_eq!(
        to_the_end(&mut session).await,
        [
            "malformed: belongs to no open question",
            "ended: exit code 0"
        ]
    );
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_that_writes_200_megabytes_in_one_line() {
    check(
        r#"head -c 200000000 /dev/zero | tr '\0' 'x'; echo; echo '{"type":"keep_alive"}'"#,
        &[
            "malformed: longer than 67108864 bytes",
            "keep_alive",
            "ended: exit code 0",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_writes_garbage() {
    check(
        r#"printf 'hello\n\n[1,2]\n{"type":7}\n{"type":"no_such_type","a":1}\n\377\376\n{"type":"result"}\n{"type":"keep_alive"}\n'"#,
        &[
            "malformed: expected a value at byte 0",
            "malformed: expected an object at byte 0",
            "malformed: expected a string in `type` at byte 8",
            "no_such_type",
            "malformed: not UTF-8 from byte 0 on",
            "result",
            "keep_alive",
            "ended: exit code 0",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_cuts_a_character_between_two_writes() {
    check(
        r#"printf '{"type":"error","error":{"message":"\303'; sleep 0.1; printf '\244"}}\n'"#,
        &["error", "ended: exit code 0"],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_ignores_sigterm_and_the_end_of_its_input() {
    let agent =
        ScriptedAgent::new("trap '' TERM; echo $$ > \"${0%/*}/ids\"; while :; do sleep 1; done");
    let session = agent.command().spawn().await.unwrap();
    let ids = ids_in(&agent.file("ids"), 1).await;
    let begun = Instant::now();
    let ending = session.close().await;
    assert!(ending.closed);
    assert_eq!(ending.exit.unwrap().to_string(), "SIGKILL");
    // Three hundred milliseconds of patience, and as much of grace.
    assert!(begun.elapsed() >= Duration::from_millis(600));
    assert!(begun.elapsed() < Duration::from_secs(10));
    all_gone(&ids).await;
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_stays() {
    let agent = ScriptedAgent::new("trap '' TERM; echo $$ > \"${0%/*}/ids\"; exec >&-; sleep 1000");
    let mut session = agent.command().spawn().await.unwrap();
    assert_eq!(to_the_end(&mut session).await, ["ended: SIGKILL"]);
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_whose_child_holds_its_output_open() {
    let agent = ScriptedAgent::new(
        "sleep 1000 & echo $! > \"${0%/*}/ids\"; echo '{\"type\":\"keep_alive\"}'; exit 0",
    );
    let mut session = agent.command().spawn().await.unwrap();
    assert_eq!(
        to_the_end(&mut session).await,
        ["keep_alive", "ended: exit code 0"]
    );
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_that_does_not_read_its_input() {
    let agent = ScriptedAgent::new("echo $$ > \"${0%/*}/ids\"; sleep 1000");
    let session = agent.command().spawn().await.unwrap();
    let big = "x".repeat(3 << 20);
    session.send(big.as_str()).await.unwrap();
    let agent_id = ids_in(&agent.file("ids"), 1).await[0];
    let second = session.send(big.as_str());
    tokio::select! {
        biased;
        _ = second => panic!("there is no room for a second one"),
        _ = stands_still(agent_id) => {}
    }
    let ending = session.close().await;
    assert_eq!(ending.exit.unwrap().to_string(), "SIGTERM");
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn an_agent_that_dies_instead_of_answering() {
    let agent = ScriptedAgent::new("echo 'no licence' >&2; exit 4");
    let error = agent
        .command()
        .with_initialize(|_| ())
        .spawn()
        .await
        .unwrap_err();
    let message = error.to_string();
    let program = agent.program.display().to_string();
    assert!(
        message.starts_with(&format!("`{program} --output-format stream-json")),
        "{message}"
    );
    assert!(
        message.ends_with("ended by itself with exit code 4; its last words:\nno licence"),
        "{message}"
    );
}

#[tokio::test]
async fn an_agent_that_does_not_exist() {
    let error = towline_host::AgentCommand::new("/no/such/agent")
        .spawn()
        .await
        .unwrap_err();
    let Error::Start { command, problem } = &error else {
        panic!("{error}")
    };
    assert!(command.starts_with("/no/such/agent --output-format"));
    assert_eq!(problem.kind(), std::io::ErrorKind::NotFound);
    let words = error.to_string();
    assert!(
        words.contains("No such file") && words.ends_with("is its path right?"),
        "{words}"
    );
}

#[tokio::test]
async fn a_line_of_exactly_the_bound_is_read_and_one_more_byte_is_not() {
    let line = r#"{"type":"keep_alive"}"#;
    for (limit, expected) in [
        (line.len(), "keep_alive"),
        (line.len() - 1, "malformed: longer than 20 bytes"),
    ] {
        let agent = ScriptedAgent::new(&format!("echo '{line}'"));
        let mut session = agent.command().line_limit(limit).spawn().await.unwrap();
        assert_eq!(
            to_the_end(&mut session).await,
            [expected, "ended: exit code 0"]
        );
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_shown() {
    let agent = ScriptedAgent::new("echo 'warning: old node'");
    let mut session = agent.command().spawn().await.unwrap();
    let Some(Event::Malformed(malformed)) = session.next().await else {
        panic!()
    };
    assert_eq!(malformed.line, "warning: old node");
    assert!(matches!(malformed.problem, Problem::Decode(_)));
}

/// The most that an agent may write and the host leaves unread: its pipe, a buffer, one line.
const MOST_UNREAD: u64 = 8 << 20;

/// The bytes that an agent has written when it can write no more.
async fn written_once_still(agent: &ScriptedAgent) -> u64 {
    let process = ids_in(&agent.file("ids"), 1).await[0];
    let activity = stands_still(process).await;
    activity.expect("the agent runs").written
}

#[tokio::test]
async fn an_agent_that_writes_megabytes_of_what_is_not_utf8_to_nobody() {
    let agent = ScriptedAgent::new(
        r#"
echo $$ > "${0%/*}/ids"
piece=$(head -c 100000 /dev/zero | tr '\0' '\377')
i=0
while [ $i -lt 300 ]; do
  i=$((i + 1))
  for _ in 1 2 3 4 5 6 7 8 9 10; do printf %s "$piece"; done
  echo
done
sleep 1000"#,
    );
    let session = agent.command().spawn().await.unwrap();
    let written = written_once_still(&agent).await;
    assert!(written < MOST_UNREAD, "{written} of 300 MB");
    session.close().await;
}

#[tokio::test]
async fn an_agent_that_asks_without_end_and_reads_no_answer() {
    let agent = ScriptedAgent::new(
        r#"echo $$ > "${0%/*}/ids"; exec yes '{"type":"control_request","request_id":"m1","request":{"subtype":"tell_a_joke"}}'"#,
    );
    let mut session = agent.command().spawn().await.unwrap();
    // The events are read all the time, so that it is not the queue that slows the agent.
    let looking = async { while session.next().await.is_some() {} };
    let written = tokio::select! {
        () = looking => panic!("the agent ended"),
        written = written_once_still(&agent) => written,
    };
    assert!(written < MOST_UNREAD, "{written} bytes of questions");
    session.close().await;
}

#[tokio::test]
async fn an_agent_that_echoes_and_a_host_that_sends_before_it_reads() {
    let agent = ScriptedAgent::new("exec cat");
    let mut session = agent.command().spawn().await.unwrap();
    let big = "x".repeat(300_000);
    for _ in 0..20 {
        session.send(big.as_str()).await.unwrap();
    }
    for _ in 0..20 {
        assert_eq!(in_short(&session.next().await.unwrap()), "user");
    }
    session.close().await;
}

#[tokio::test]
async fn an_agent_that_fills_the_queue_complains_and_hangs() {
    let agent = ScriptedAgent::new(
        r#"i=0; while [ $i -lt 20 ]; do i=$((i + 1)); echo '{"type":"keep_alive"}'; done; echo help >&2; echo $$ > "${0%/*}/ids"; sleep 1000"#,
    );
    let mut session = agent.command().queue_limit(100).spawn().await.unwrap();
    ids_in(&agent.file("ids"), 1).await;
    let mut events = Vec::new();
    while events.len() < 21 {
        let event = tokio::time::timeout(Duration::from_secs(10), session.next()).await;
        events.push(in_short(&event.unwrap().unwrap()));
    }
    assert!(events.contains(&"stderr: help".to_owned()), "{events:?}");
    session.close().await;
}

#[tokio::test]
async fn an_agent_that_exits_and_leaves_a_process_that_left_its_group() {
    let agent =
        ScriptedAgent::new("setsid sleep 1000 & echo $! > \"${0%/*}/ids\"; sleep 0.3; exit 0");
    let mut session = agent.command().spawn().await.unwrap();
    assert_eq!(to_the_end(&mut session).await, ["ended: exit code 0"]);
    all_gone(&ids_in(&agent.file("ids"), 1).await).await;
}

#[tokio::test]
async fn times_without_end_are_no_time_at_all() {
    let agent = ScriptedAgent::new(&format!("{HANDSHAKE}exec cat > /dev/null"));
    let session = agent
        .command()
        .with_initialize(|_| ())
        .request_timeout(Some(Duration::MAX))
        .question_timeout(Some(Duration::MAX))
        .close_grace(Duration::MAX)
        .spawn()
        .await
        .unwrap();
    assert!(session.close().await.exit.unwrap().success());
}

#[tokio::test]
async fn the_end_of_an_agent_does_not_wait_for_someone_who_looks_at_its_events() {
    let agent = ScriptedAgent::new(
        "i=0; while [ $i -lt 5000 ]; do echo '{\"type\":\"keep_alive\",\"of\":\"an agent that says a lot\"}'; i=$((i+1)); done; exit 5",
    );
    let mut session = agent.command().spawn().await.unwrap();
    let control = session.control().clone();
    let ending = tokio::time::timeout(Duration::from_secs(5), control.wait()).await;
    let ending = ending.expect("it is known before anyone looks");
    assert_eq!(
        ending.exit.map(|exit| exit.to_string()).as_deref(),
        Some("exit code 5")
    );
    let events = to_the_end(&mut session).await;
    assert_eq!(events.len(), 5001, "and nothing is lost");
}
