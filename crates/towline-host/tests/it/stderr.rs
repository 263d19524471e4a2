//! What agents write to standard error.

use std::time::{Duration, Instant};

use towline_host::Event;

use crate::agents::ScriptedAgent;

#[tokio::test]
async fn words_that_belong_together_are_one_event_without_escape_sequences() {
    let agent = ScriptedAgent::new(
        r"printf '\033[31mred\033[0m one\n' >&2; printf 'two\n\n' >&2; sleep 0.2; printf 'three\n' >&2; read -r _",
    );
    let mut session = agent.command().spawn().await.unwrap();
    let begun = Instant::now();
    let Some(Event::Stderr(words)) = session.next().await else {
        panic!()
    };
    assert_eq!(words, "red one\ntwo\nthree");
    assert!(
        begun.elapsed() > Duration::from_secs(1),
        "gathered over two seconds"
    );
    session.send("bye").await.unwrap();
    let Some(Event::Ended(ending)) = session.next().await else {
        panic!()
    };
    assert!(ending.stderr.ends_with("three"));
}

#[tokio::test]
async fn last_words_come_before_the_end() {
    let agent = ScriptedAgent::new("echo goodbye >&2; exit 2");
    let mut session = agent.command().spawn().await.unwrap();
    let Some(Event::Stderr(words)) = session.next().await else {
        panic!()
    };
    assert_eq!(words, "goodbye");
    let Some(Event::Ended(ending)) = session.next().await else {
        panic!()
    };
    assert_eq!(ending.stderr, "goodbye");
    assert!(
        ending
            .to_string()
            .ends_with("ended by itself with exit code 2; its last words:\ngoodbye")
    );
}
