//! Owns the list of measured clients, and how each is called: as its documentation
//! shows it, with as little to do as it can have.

use super::client::{Client, Problem, Row, Tally};
use crate::decoder::Role;
use crate::items::Sink;
use crate::peers::{cc_sdk, claude_code_agent_sdk, claude_codes, claudecode};
use crate::{ours, tree};
use futures::StreamExt;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

pub fn all() -> Vec<Row> {
    vec![
        Row::of::<Pipe>(),
        Row::of::<RawClaudeCodes>(),
        Row::of::<ClaudeCodes>(),
        Row::of::<ClaudeWrapper>(),
        Row::of::<Claudecode>(),
        Row::of::<CcSdk>(),
        Row::of::<ClaudeCodeAgentSdk>(),
        Row::of::<TowlineHost>(),
    ]
}

/// The ceiling: bytes are read and line ends counted, nothing else.
struct Pipe;

impl Client for Pipe {
    const NAME: &'static str = "a bare pipe";
    const ROLE: Role = Role::Context;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        let mut child = Command::new(agent).stdout(Stdio::piped()).spawn()?;
        let mut stdout = child.stdout.take().ok_or("no pipe")?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = stdout.read(&mut buffer).await?;
            if length == 0 {
                break;
            }
            let line_ends = buffer[..length].iter().filter(|byte| **byte == b'\n');
            tally.delivered += line_ends.count();
        }
        child.wait().await?;
        Ok(())
    }
}

/// The client of `claude-codes` that cuts lines and reads nothing of them.
struct RawClaudeCodes;

impl Client for RawClaudeCodes {
    const NAME: &'static str = "claude-codes, raw lines";
    const ROLE: Role = Role::Context;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        let builder = ::claude_codes::ClaudeCliBuilder::new().command(agent);
        let mut client = ::claude_codes::RawAsyncClient::new(builder.spawn().await?)?;
        while let Some(line) = client.next_line().await? {
            tally.read(|_| drop(line));
        }
        Ok(())
    }
}

struct ClaudeCodes;

impl Client for ClaudeCodes {
    const NAME: &'static str = "claude-codes";
    const ROLE: Role = Role::Peer;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        let builder = ::claude_codes::ClaudeCliBuilder::new().command(agent);
        let mut client = ::claude_codes::AsyncClient::from_builder(builder).await?;
        let mut answer = client.query_stream(PROMPT).await?;
        while let Some(output) = answer.next().await {
            let output = output?;
            tally.read(|sink| claude_codes::read_output(&output, sink));
        }
        Ok(())
    }
}

struct ClaudeWrapper;

impl Client for ClaudeWrapper {
    const NAME: &'static str = "claude-wrapper";
    const ROLE: Role = Role::Peer;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        use claude_wrapper::{Claude, OutputFormat, QueryCommand, streaming::stream_query};

        let claude = Claude::builder().binary(agent).build()?;
        let query = QueryCommand::new(PROMPT).output_format(OutputFormat::StreamJson);
        stream_query(&claude, &query, |event| {
            tally.read(|sink| tree::read_line(&event.data, sink));
        })
        .await?;
        Ok(())
    }
}

struct Claudecode;

impl Client for Claudecode {
    const NAME: &'static str = "claudecode";
    const ROLE: Role = Role::Peer;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        use ::claudecode::{Client, Event, OutputFormat, SessionConfig};

        let client = Client::with_path(agent).await?;
        let config = SessionConfig::builder(PROMPT)
            .output_format(OutputFormat::StreamingJson)
            .build()?;
        let mut session = client.launch(config).await?;
        let mut events = session.take_event_stream().ok_or("no events")?;
        while let Some(event) = events.recv().await {
            // Stands for every line of another kind, and holds nothing of it.
            if !matches!(event, Event::Unknown) {
                tally.read(|sink| claudecode::read_event(&event, sink));
            }
        }
        session.wait().await?;
        Ok(())
    }
}

struct CcSdk;

impl Client for CcSdk {
    const NAME: &'static str = "cc-sdk";
    const ROLE: Role = Role::Peer;

    /// It has no option for the path of the agent and looks on the PATH. Its stream does not end with the agent, so a
    /// caller must stop at the result.
    async fn run<S: Sink>(_agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        let mut messages = pin!(::cc_sdk::query(PROMPT, None).await?);
        while let Some(message) = messages.next().await {
            let message = message?;
            tally.read(|sink| cc_sdk::read_message(&message, sink));
            if matches!(message, ::cc_sdk::Message::Result { .. }) {
                break;
            }
        }
        Ok(())
    }
}

struct ClaudeCodeAgentSdk;

impl Client for ClaudeCodeAgentSdk {
    const NAME: &'static str = "claude-code-agent-sdk";
    const ROLE: Role = Role::Peer;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        use ::claude_code_agent_sdk::{ClaudeAgentOptions, query_stream};

        let options = ClaudeAgentOptions {
            cli_path: Some(agent.to_path_buf()),
            // The fake agent has none to show.
            skip_version_check: true,
            ..ClaudeAgentOptions::default()
        };
        let mut messages = query_stream(PROMPT, Some(options)).await?;
        while let Some(message) = messages.next().await {
            let message = message?;
            tally.read(|sink| claude_code_agent_sdk::read_message(&message, sink));
        }
        Ok(())
    }
}

struct TowlineHost;

impl Client for TowlineHost {
    const NAME: &'static str = "towline-host";
    const ROLE: Role = Role::Ours;

    async fn run<S: Sink>(agent: &Path, tally: &mut Tally<S>) -> Result<(), Problem> {
        use towline_host::{AgentCommand, Event};

        // The fake agent answers nothing, and the peers' calls do not introduce themselves either.
        let mut session = AgentCommand::new(agent)
            .without_initialize()
            .spawn()
            .await?;
        session.send(PROMPT).await?;
        while let Some(event) = session.next().await {
            match event {
                Event::Message(frame) => {
                    tally.read(|sink| ours::read_line(&frame.message, sink));
                }
                Event::Malformed(malformed) => return Err(malformed.problem.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

const PROMPT: &str = "Begin.";
