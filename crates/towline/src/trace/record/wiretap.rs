//! The wiretap: three streams, each passed on as it comes, and recorded.
//!
//! Bytes are recorded just before they are passed on, never parsed in between and never written anew. Recorded
//! first, so that an answer can never stand in the trace before what it answers. Nothing is read before what was read
//! last has been passed on, so a slow reader slows down its writer, as it would without us.

use std::{cell::RefCell, fs::File, io, os::fd::AsFd};

use anyhow::Context;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    process::ChildStdin,
    sync::watch,
};
use towline_host::process::{Exit, Process};
use towline_protocol::trace::Direction;

use super::recorder::Recorder;
use crate::child::{AgentStream, Heard, Signals, attend};

/// Passes everything on until the agent has ended and its last words are out.
pub(super) async fn run(
    mut agent: Process,
    recorder: Recorder,
    signals: Signals,
    warn: fn(&str),
) -> anyhow::Result<Exit> {
    let no_pipe = "the agent has no pipe";
    let stdin = agent.stdin.take().context(no_pipe)?;
    let stdout = agent.stdout.take().context(no_pipe)?;
    let stderr = agent.stderr.take().context(no_pipe)?;
    let tape = Tape {
        recorder: RefCell::new(recorder),
        warn,
    };
    let (ended, has_ended) = watch::channel(false);

    let stdout = AgentStream::new(stdout, has_ended.clone());
    let stderr = AgentStream::new(stderr, has_ended);
    let output = tape.output(stdout, tokio::io::stdout(), Direction::Out);
    let errors = tape.output(stderr, tokio::io::stderr(), Direction::Err);
    let last_words = async { tokio::join!(output, errors) };
    let exit = attend(agent, signals, ended, tape.input(stdin), last_words).await?;
    tape.finish(&Direction::In);
    Ok(exit)
}

struct Tape {
    recorder: RefCell<Recorder>,
    warn: fn(&str),
}

impl Tape {
    /// From the host to the agent, until one of them ends it.
    async fn input(&self, mut agent: ChildStdin) {
        let mut host = tokio::io::stdin();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        while let Ok(length @ 1..) = host.read(&mut buffer).await {
            self.record(&Direction::In, &buffer[..length]);
            if agent.write_all(&buffer[..length]).await.is_err() {
                // The agent reads no more. The host should learn that from its own pipe, as it would without us.
                replace(rustix::stdio::dup2_stdin);
                return;
            }
        }
        // Dropping the pipe ends the agent's input.
    }

    /// From the agent to the host, until the agent closes it or has ended.
    async fn output(
        &self,
        mut agent: AgentStream<impl AsyncRead + AsFd + Unpin>,
        mut host: impl AsyncWrite + Unpin,
        direction: Direction,
    ) {
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        loop {
            match agent.read(&mut buffer).await {
                Heard::Bytes(length) => {
                    if !self.pass_on(&buffer[..length], &mut host, &direction).await {
                        break;
                    }
                }
                // An agent that closed its output and goes on: the host should see the end of it.
                Heard::Closed if direction == Direction::Out => {
                    replace(rustix::stdio::dup2_stdout);
                    break;
                }
                Heard::Closed | Heard::Ended => break,
            }
        }
        self.finish(&direction);
    }

    /// Whether the host still reads.
    async fn pass_on(
        &self,
        bytes: &[u8],
        host: &mut (impl AsyncWrite + Unpin),
        direction: &Direction,
    ) -> bool {
        self.record(direction, bytes);
        host.write_all(bytes).await.is_ok() && host.flush().await.is_ok()
    }

    fn record(&self, direction: &Direction, bytes: &[u8]) {
        let recorded = self.recorder.borrow_mut().take(direction, bytes);
        self.complain(recorded);
    }

    fn finish(&self, direction: &Direction) {
        let recorded = self.recorder.borrow_mut().finish(direction);
        self.complain(recorded);
    }

    fn complain(&self, recorded: io::Result<()>) {
        if let Err(error) = recorded {
            let recorder = self.recorder.borrow();
            let name = recorder.name().display();
            (self.warn)(&format!(
                "cannot write `{name}`: {error}; the session goes on, the recording does not"
            ));
        }
    }
}

/// Puts nothing in place of one of our own streams, which closes it for whoever is at its other end.
fn replace(stream: impl FnOnce(File) -> rustix::io::Result<()>) {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        // If it cannot be closed, it stays open until we end.
        stream(nothing).ok();
    }
}

const PIECE: usize = 64 << 10;
