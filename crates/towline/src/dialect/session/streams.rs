//! The streams around the relay: the host's lines and the agent's, each read as fast as they are passed on.

use std::{cell::RefCell, collections::VecDeque, io};

use anyhow::Context;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, Stdout},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{Mutex, watch},
};
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
    let streams = Streams {
        relay: RefCell::new(relay),
        host: Mutex::new(tokio::io::stdout()),
        complaints: RefCell::default(),
    };
    let output = streams.agent_to_host(AgentStream::new(stdout, has_ended.clone()));
    let complaints = streams.complaints(AgentStream::new(stderr, has_ended));
    let last_words = async { tokio::join!(output, complaints) };
    let input = streams.host_to_agent(stdin);
    let exit = attend(agent, signals, ended, input, last_words).await?;
    let tail = streams.tail();
    let farewell = streams.relay.borrow_mut().handle_agent_end(exit, &tail);
    if let Some(Say::ToHost(line)) = farewell {
        // A host that is gone needs no farewell.
        streams.write_host(&line).await.ok();
    }
    Ok(exit)
}

struct Streams {
    relay: RefCell<Relay>,
    /// Both directions tell the host something, a line at a time.
    host: Mutex<Stdout>,
    /// The last that the agent wrote to standard error.
    complaints: RefCell<VecDeque<u8>>,
}

impl Streams {
    /// Until the host ends its input, or the agent reads no more.
    async fn host_to_agent(&self, mut agent: ChildStdin) {
        let mut host = tokio::io::stdin();
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

    /// Until the agent closes its output or has ended, or the host reads no more.
    async fn agent_to_host(&self, mut agent: AgentStream<ChildStdout>) {
        let mut decoder = LineDecoder::default();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        loop {
            let heard = agent.read(&mut buffer).await;
            let mut piece = match heard {
                Heard::Bytes(length) => &buffer[..length],
                Heard::Closed | Heard::Ended => &[],
            };
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

async fn write_line(
    writer: &mut (impl tokio::io::AsyncWrite + Unpin),
    line: &str,
) -> io::Result<()> {
    writer.write_all(line.as_bytes()).await?;
    writer.write_all(b"\n").await
}

const PIECE: usize = 64 << 10;
/// How much of what the agent wrote to standard error is told when it dies.
const TAIL: usize = 4 << 10;
