//! Agents that `npx` fetches, with an `npx` of our own: what it is told, and that the agent behind it is one like any other.

use std::{env, ffi::OsString, fs, os::unix::fs::symlink};

use towline_host::{AgentCommand, Event, ToHost, process::Exit};
use towline_testkit::fake_agent::PROGRAM;

use crate::{
    agents::{ScriptedAgent, in_short},
    examples::{AGENT, built},
};

/// An `npx` that notes what it is told, and becomes the fake agent instead of fetching one.
struct Npx {
    script: ScriptedAgent,
}

impl Npx {
    fn new() -> Self {
        let agent = built(AGENT);
        let script = ScriptedAgent::new(&format!(
            r#"
            echo "$*" >> "${{0%/*}}/told"
            shift 2
            if [ "$1" = code ]; then shift; fi
            if [ "$1" = --version ]; then exec '{PROGRAM}' --version; fi
            exec '{}' "$@""#,
            agent.display()
        ));
        symlink(&script.program, script.file("npx")).unwrap();
        Self { script }
    }

    /// The command finds it before any other, and nobody else finds it.
    fn first_on_the_path(&self, command: AgentCommand) -> AgentCommand {
        let mut path = OsString::from(self.script.program.parent().unwrap());
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path)
    }

    fn told(&self) -> String {
        fs::read_to_string(self.script.file("told")).unwrap()
    }
}

/// Each with what it is called by.
fn packages() -> [(AgentCommand, &'static str); 2] {
    [
        (
            AgentCommand::npx("2.1.325"),
            "-y @anthropic-ai/claude-code@2.1.325",
        ),
        (
            AgentCommand::router("latest"),
            "-y @musistudio/claude-code-router@latest code",
        ),
    ]
}

#[tokio::test]
async fn a_turn_goes_through_npx_and_through_the_router() {
    for (command, words) in packages() {
        let npx = Npx::new();
        let command = npx.first_on_the_path(command).model("m");
        let mut session = command.spawn().await.unwrap();
        session.send("run ls").await.unwrap();
        let mut heard = Vec::new();
        loop {
            let event = session.next().await.unwrap();
            heard.push(in_short(&event));
            match event {
                Event::Permission(question) => question.allow(),
                Event::Message(frame) => {
                    if let ToHost::Result(result) = &frame.message {
                        let said = result.result.as_option().and_then(|said| said.as_text());
                        assert_eq!(said.unwrap(), "ran ls", "{words}");
                        break;
                    }
                }
                other => panic!("{words}: {other:?}"),
            }
        }
        assert!(heard.contains(&"may Bash run?".to_owned()), "{heard:?}");
        assert_eq!(session.close().await.exit, Some(Exit::Code(0)), "{words}");
        assert_eq!(
            npx.told(),
            format!(
                "{words} --output-format stream-json --verbose --permission-prompt-tool stdio --model m \
                 --input-format stream-json\n"
            )
        );
    }
}

#[tokio::test]
async fn the_version_is_asked_for_through_npx_and_through_the_router() {
    for (command, words) in packages() {
        let npx = Npx::new();
        let version = npx.first_on_the_path(command).version().await.unwrap();
        assert_eq!(version.to_string(), "2.1.325", "{words}");
        assert_eq!(npx.told(), format!("{words} --version\n"));
    }
}
