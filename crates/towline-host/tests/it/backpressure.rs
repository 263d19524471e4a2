//! A slow reader slows the agent; nothing is lost and memory stays flat.

use std::{
    fs, io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use tokio::io::{AsyncRead, ReadBuf};
use towline_host::{AgentCommand, Event};
use towline_testkit::waiting::stands_still;

use crate::agents::{ScriptedAgent, ids_in, in_short};

/// How far an agent has got, as it writes it down itself.
fn written(agent: &ScriptedAgent) -> u64 {
    let text = fs::read_to_string(agent.file("count")).unwrap_or_default();
    text.trim().parse().unwrap_or_default()
}

#[tokio::test]
async fn an_agent_waits_for_a_reader_that_does_not_look() {
    // Twenty megabytes in pieces of a hundred kilobytes.
    let agent = ScriptedAgent::new(
        r#"
echo $$ > "${0%/*}/ids"
piece=$(head -c 1000 /dev/zero | tr '\0' 'x')
i=0
while [ $i -lt 200 ]; do
  i=$((i + 1))
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do echo "{\"type\":\"error\",\"error\":{\"message\":\"$piece\"}}"; done
  done
  echo $i > "${0%/*}/count.new"; mv "${0%/*}/count.new" "${0%/*}/count"
done
"#,
    );
    let mut session = agent.command().spawn().await.unwrap();
    // It gets as far as the queue and the pipe reach, and no further.
    let process = ids_in(&agent.file("ids"), 1).await[0];
    stands_still(process).await;
    let before = written(&agent);
    assert!(
        (1..30).contains(&before),
        "{before} pieces of 100 kB went through"
    );
    let mut lines = 0;
    let last = loop {
        match session.next().await.unwrap() {
            Event::Message(_) => lines += 1,
            other => break in_short(&other),
        }
    };
    assert_eq!(lines, 20_000);
    assert_eq!(last, "ended: exit code 0");
}

#[tokio::test]
async fn a_long_line_is_left_in_the_pipe_while_somebody_deals_with_another() {
    const LINE: usize = 1 << 20;
    let given = Arc::<AtomicUsize>::default();
    let endless = EndlessLines {
        line: format!("{{\"type\":\"{}\"}}\n", "x".repeat(LINE)).into_bytes(),
        given: Arc::clone(&given),
    };
    let command = AgentCommand::new("fake").without_initialize();
    let mut session = command.attach(endless, tokio::io::sink()).await.unwrap();
    for number in 1..=5 {
        let event = session.next().await.unwrap();
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        let ahead = given.load(Ordering::Relaxed) - number * LINE;
        assert!(ahead < LINE / 2, "{ahead} bytes behind line {number}");
        drop(event);
    }
}

/// Gives out the same line again and again, as fast as it is taken.
struct EndlessLines {
    line: Vec<u8>,
    given: Arc<AtomicUsize>,
}

impl AsyncRead for EndlessLines {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let place = self.given.load(Ordering::Relaxed) % self.line.len();
        let piece = &self.line[place..];
        let piece = &piece[..piece.len().min(room.remaining())];
        room.put_slice(piece);
        self.given.fetch_add(piece.len(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn what_an_agent_wrote_before_its_end_is_not_lost_on_a_late_reader() {
    let agent = ScriptedAgent::new(
        "echo $$ > \"${0%/*}/ids\"; i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo '{\"type\":\"keep_alive\"}'; done; exit 5",
    );
    let mut session = agent.command().queue_limit(1000).spawn().await.unwrap();
    // It has ended, or waits for the reader with its last lines.
    stands_still(ids_in(&agent.file("ids"), 1).await[0]).await;
    let mut lines = 0;
    while let Some(Event::Message(_)) = session.next().await {
        lines += 1;
    }
    assert_eq!(lines, 3000);
}

#[tokio::test]
async fn an_event_is_not_lost_by_a_reader_that_gives_up_and_comes_back() {
    let agent = ScriptedAgent::new(
        "for i in 1 2 3 4 5; do sleep 0.02; echo '{\"type\":\"keep_alive\"}'; done",
    );
    let mut session = agent.command().spawn().await.unwrap();
    let mut lines = 0;
    loop {
        match tokio::time::timeout(Duration::from_millis(3), session.next()).await {
            Err(_) => {}
            Ok(Some(Event::Message(_))) => lines += 1,
            Ok(Some(_)) => {}
            Ok(None) => break,
        }
    }
    assert_eq!(lines, 5);
}

#[test]
fn a_reader_need_not_be_in_the_runtime() {
    let agent = ScriptedAgent::new(
        "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); echo '{\"type\":\"keep_alive\"}'; done",
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut session = runtime.block_on(agent.command().spawn()).unwrap();
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let sent = pin!(session.send("hello")).poll(&mut context);
    assert!(matches!(sent, Poll::Ready(Ok(()))), "nor a writer");
    let mut lines = 0;
    loop {
        match pin!(session.next()).poll(&mut context) {
            Poll::Ready(Some(Event::Message(_))) => lines += 1,
            Poll::Ready(_) => break,
            Poll::Pending => thread::park(),
        }
    }
    assert_eq!(lines, 20_000);
}

/// Wakes a thread that polls by itself.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
