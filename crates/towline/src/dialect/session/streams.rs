//! The streams around the relay: the host's lines and the agent's, each read as fast as they are passed on.

use std::{cell::RefCell, collections::VecDeque, io, pin::pin};

use anyhow::Context;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Stdout},
    process::ChildStderr,
    sync::{Mutex, mpsc, watch},
};
use towline_agent::{Config, Signal, serve};
use towline_host::process::{Exit, Process};
use towline_protocol::LineDecoder;

use super::relay::{Relay, Say};
use crate::child::{AgentStream, Heard, Signals, attend};

/// Passes lines on until the agent has ended and its last words are out.
pub(super) async fn run(
    mut agent: Process,
    relay: Relay,
    signals: Signals,
) -> anyhow::Result<Exit> {
    let no_pipe = "the agent has no pipe";
    let stdin = agent.stdin.take().context(no_pipe)?;
    let stdout = agent.stdout.take().context(no_pipe)?;
    let stderr = agent.stderr.take().context(no_pipe)?;
    let (ended, has_ended) = watch::channel(false);
    let streams = Streams::new(relay);
    let mut said = AgentStream::new(stdout, has_ended.clone());
    let output = streams.agent_to_host(async |buffer| match said.read(buffer).await {
        Heard::Bytes(length) => length,
        Heard::Closed | Heard::Ended => 0,
    });
    let complaints = streams.complaints(AgentStream::new(stderr, has_ended));
    let last_words = async { tokio::join!(output, complaints) };
    let input = streams.host_to_agent(tokio::io::stdin(), stdin);
    let exit = attend(agent, signals, ended, input, last_words).await?;
    streams.say_farewell(exit).await;
    Ok(exit)
}

/// Passes lines on between a host and an agent in this process until the agent has ended.
pub(super) async fn run_here(
    config: Config,
    relay: Relay,
    host: impl AsyncRead + Unpin,
    signals: mpsc::Receiver<Signal>,
) -> towline_agent::Exit {
    let streams = Streams::new(relay);
    let (agent_reads, to_agent) = tokio::io::duplex(PIECE);
    let (agent_writes, mut said) = tokio::io::duplex(PIECE);
    let mut agent = pin!(serve(config, agent_reads, agent_writes, signals));
    let mut input = pin!(streams.host_to_agent(host, to_agent));
    let mut output =
        pin!(streams.agent_to_host(async |buffer| said.read(buffer).await.unwrap_or(0)));
    let (mut is_input_open, mut is_output_open) = (true, true);
    let exit = loop {
        tokio::select! {
            exit = &mut agent => break exit,
            () = &mut input, if is_input_open => is_input_open = false,
            () = &mut output, if is_output_open => is_output_open = false,
        }
    };
    if is_output_open {
        output.await;
    }
    streams.say_farewell(Exit::Code(exit.code.into())).await;
    exit
}

struct Streams {
    relay: RefCell<Relay>,
    /// Both directions tell the host something, a line at a time.
    host: Mutex<Stdout>,
    /// The last that the agent wrote to standard error.
    complaints: RefCell<VecDeque<u8>>,
}

impl Streams {
    fn new(relay: Relay) -> Self {
        Self {
            relay: RefCell::new(relay),
            host: Mutex::new(tokio::io::stdout()),
            complaints: RefCell::default(),
        }
    }

    /// Until the host ends its input, or the agent reads no more.
    async fn host_to_agent(
        &self,
        mut host: impl AsyncRead + Unpin,
        mut agent: impl AsyncWrite + Unpin,
    ) {
        let mut decoder = LineDecoder::default();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        loop {
            let length = host.read(&mut buffer).await.unwrap_or(0);
            let mut piece = &buffer[..length];
            while let Some(line) = match length {
                0 => decoder.finish(),
                _ => decoder.next_line(&mut piece),
            } {
                let said = self.relay.borrow_mut().handle_host(line);
                for say in said {
                    let written = match say {
                        Say::ToHost(line) => self.write_host(&line).await,
                        Say::ToAgent(line) => write_line(&mut agent, &line).await,
                    };
                    if written.is_err() {
                        return;
                    }
                }
            }
            if length == 0 {
                // Dropping the pipe ends the agent's input.
                return self.relay.borrow_mut().handle_host_end();
            }
        }
    }

    /// Until the agent closes its output or has ended, or the host reads no more. `read` gives 0 in the end.
    async fn agent_to_host(&self, mut read: impl AsyncFnMut(&mut [u8]) -> usize) {
        let mut decoder = LineDecoder::default();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        loop {
            let length = read(&mut buffer).await;
            let mut piece = &buffer[..length];
            let is_over = piece.is_empty();
            while let Some(line) = match is_over {
                true => decoder.finish(),
                false => decoder.next_line(&mut piece),
            } {
                let said = self.relay.borrow_mut().handle_agent(line);
                for say in said {
                    if let Say::ToHost(line) = say
                        && self.write_host(&line).await.is_err()
                    {
                        return;
                    }
                }
            }
            if is_over {
                return;
            }
        }
    }

    /// Standard error goes on as it is; its end is kept for the case that the agent dies.
    async fn complaints(&self, mut agent: AgentStream<ChildStderr>) {
        let mut host = tokio::io::stderr();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        while let Heard::Bytes(length) = agent.read(&mut buffer).await {
            let piece = &buffer[..length];
            {
                let mut kept = self.complaints.borrow_mut();
                kept.extend(piece);
                let surplus = kept.len().saturating_sub(TAIL);
                kept.drain(..surplus);
            }
            // With standard error gone there is nobody left to tell, but the tail is still kept.
            if host.write_all(piece).await.is_ok() {
                host.flush().await.ok();
            }
        }
    }

    /// Tells the host that the agent has ended, if it has to know.
    async fn say_farewell(&self, exit: Exit) {
        let tail = self.tail();
        let farewell = self.relay.borrow_mut().handle_agent_end(exit, &tail);
        if let Some(Say::ToHost(line)) = farewell {
            // A host that is gone needs no farewell.
            self.write_host(&line).await.ok();
        }
    }

    fn tail(&self) -> String {
        let mut kept = self.complaints.borrow_mut();
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    async fn write_host(&self, line: &str) -> io::Result<()> {
        let mut host = self.host.lock().await;
        write_line(&mut *host, line).await?;
        host.flush().await
    }
}

async fn write_line(writer: &mut (impl AsyncWrite + Unpin), line: &str) -> io::Result<()> {
    writer.write_all(line.as_bytes()).await?;
    writer.write_all(b"\n").await
}

const PIECE: usize = 64 << 10;
/// How much of what the agent wrote to standard error is told when it dies.
const TAIL: usize = 4 << 10;
