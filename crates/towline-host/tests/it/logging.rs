//! What can be read in a log: every raw line before it is read, what an agent complains, and what is odd.

use std::{
    io,
    sync::{Arc, Mutex},
};

use towline_host::AgentCommand;
use tracing_subscriber::fmt::MakeWriter;

use crate::agents::{FakeAgent, ScriptedAgent, to_the_end};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Writes down what happens on this thread, as long as the guard lives.
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(log.clone())
            .with_ansi(false)
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn raw_lines_and_complaints_are_logged() {
    let (log, _guard) = Log::begin();
    let agent = ScriptedAgent::new(
        "echo '{\"type\":\"keep_alive\",\"x\": 1}'; echo not json; echo ouch >&2",
    );
    let mut session = agent.command().spawn().await.unwrap();
    to_the_end(&mut session).await;
    let log = log.text();
    assert!(log.contains(r#"TRACE towline_host::driver: the agent says line="{\"type\":\"keep_alive\",\"x\": 1}""#), "{log}");
    assert!(log.contains(r#"the agent says line="not json""#), "{log}");
    assert!(
        log.contains(r#"DEBUG towline_host::driver: the agent complains stderr="ouch""#),
        "{log}"
    );
}

#[tokio::test]
async fn a_permission_without_the_id_of_its_call_is_logged() {
    let (log, _guard) = Log::begin();
    let (mut session, mut agent) = FakeAgent::attach(AgentCommand::new("fake")).await;
    agent
        .write(r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#)
        .await;
    session.next().await.unwrap();
    let log = log.text();
    assert!(log.contains("WARN towline_host::question: a permission is asked for without the id of its call tool=Bash"), "{log}");
}
