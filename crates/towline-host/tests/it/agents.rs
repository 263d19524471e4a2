//! Agents for tests: shell scripts as real processes, and one in memory that a test plays itself.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use towline_host::{AgentCommand, Event, Session, ToAgent, Wire as _};
use towline_testkit::waiting::eventually;

/// A shell script that is started like any agent. It lies in a folder of its own, which goes with it.
pub(crate) struct ScriptedAgent {
    folder: TempDir,
    pub(crate) program: PathBuf,
}

impl ScriptedAgent {
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, program }
    }

    /// Without `initialize`, which these scripts do not answer.
    pub(crate) fn command(&self) -> AgentCommand {
        AgentCommand::new(&self.program)
            .without_initialize()
            .close_grace(Duration::from_millis(300))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Answers `initialize`, then goes on with the script.
pub(crate) const HANDSHAKE: &str = r#"
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"claude_code_version":"2.1.325","commands":[]}}}\n' "$id"
"#;

/// An agent in memory: the test reads what the host writes and writes what the host reads.
pub(crate) struct FakeAgent {
    lines: Lines<BufReader<DuplexStream>>,
    output: DuplexStream,
}

impl FakeAgent {
    /// A session with an agent that has not been asked anything.
    pub(crate) async fn attach(command: AgentCommand) -> (Session, Self) {
        let (session, agent) = Self::pair(command.without_initialize());
        (session.await.unwrap(), agent)
    }

    /// A session to be, and the agent at its other end.
    pub(crate) fn pair(
        command: AgentCommand,
    ) -> (
        impl Future<Output = Result<Session, towline_host::Error>>,
        Self,
    ) {
        let (to_host, from_agent) = tokio::io::duplex(64 << 10);
        let (to_agent, from_host) = tokio::io::duplex(64 << 10);
        let agent = Self {
            lines: BufReader::new(from_host).lines(),
            output: to_host,
        };
        (command.attach(from_agent, to_agent), agent)
    }

    /// The next line of the host.
    pub(crate) async fn read(&mut self) -> ToAgent {
        let line = self.lines.next_line().await.unwrap();
        ToAgent::from_json(line.expect("the host closed the input")).unwrap()
    }

    /// The next line of the host as it is; nothing at the end.
    pub(crate) async fn read_text(&mut self) -> Option<String> {
        self.lines.next_line().await.unwrap()
    }

    pub(crate) async fn write(&mut self, line: &str) {
        self.output.write_all(line.as_bytes()).await.unwrap();
        self.output.write_all(b"\n").await.unwrap();
    }

    /// The next question of the host: its subtype and its id.
    pub(crate) async fn question(&mut self) -> (String, String) {
        match self.read().await {
            ToAgent::ControlRequest(line) => (
                line.request.kind().to_owned(),
                line.request_id.unwrap().to_string(),
            ),
            other => panic!("{other:?} is no question"),
        }
    }

    pub(crate) async fn answer(&mut self, id: &str, response: &str) {
        self.write(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{response}}}}}"#
        ))
        .await;
    }
}

/// Whether a process of this id runs. One that ended and was not waited for counts if that was for us to do.
pub(crate) fn runs(id: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    let mut fields = stat[stat.rfind(')').unwrap() + 1..].split_whitespace();
    let (state, parent) = (fields.next().unwrap(), fields.next().unwrap());
    state != "Z" || parent == std::process::id().to_string()
}

/// Waits until no process of these ids runs.
pub(crate) async fn all_gone(ids: &[u32]) {
    let gone = async {
        while ids.iter().any(|id| runs(*id)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .unwrap_or_else(|_| panic!("some of {ids:?} still run"));
}

/// The process ids that a script wrote to a file, once there are `count` of them.
pub(crate) async fn ids_in(file: &Path, count: usize) -> Vec<u32> {
    let ids = || -> Vec<u32> {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|id| id.parse().ok()).collect()
    };
    eventually("the process ids of a script", || ids().len() >= count).await;
    ids()
}

/// All events to the end, in short.
pub(crate) async fn to_the_end(session: &mut Session) -> Vec<String> {
    let mut events = Vec::new();
    while let Some(event) = session.next().await {
        events.push(in_short(&event));
    }
    events
}

/// What happened, in a word or two.
pub(crate) fn in_short(event: &Event) -> String {
    match event {
        Event::Message(frame) => frame.message.full_kind(),
        Event::Permission(question) => format!("may {} run?", question.tool_name()),
        Event::Choices(question) => format!("{} choices?", question.questions().len()),
        Event::Plan(question) => format!(
            "plan {:?}?",
            question.text().map(towline_host::Text::as_str)
        ),
        Event::Hook(hook) => format!("hook {}", hook.callback_id()),
        Event::Dialog(dialog) => format!("dialog {}", dialog.request().kind()),
        Event::Withdrawn { reason, .. } => format!("withdrawn: {reason:?}"),
        Event::Malformed(malformed) => format!("malformed: {}", malformed.problem),
        Event::Stderr(words) => format!("stderr: {words}"),
        Event::Ended(ending) => match ending.exit {
            Some(exit) => format!("ended: {exit}"),
            None => "ended".to_owned(),
        },
        other => format!("{other:?}"),
    }
}
