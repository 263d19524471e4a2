//! The agent as a child of a command that stands in for it: started as it would be, signalled as we are. The command
//! ends the way the agent did.

use std::{
    ffi::OsString,
    future::poll_fn,
    io,
    os::fd::AsFd,
    path::Path,
    pin::pin,
    process::{Command, ExitCode, Stdio},
    task::Poll,
};

use anyhow::Context;
use rustix::process::{Pid, Resource, Rlimit, kill_process, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use towline_host::process::{Exit, Process, Signal};

/// Runs a future to its end. What still waits for standard input then is left behind: the program ends.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(future);
    runtime.shutdown_background();
    result
}

/// Starts an agent: a program and its arguments, in a folder of its own if there is one.
pub(crate) fn start(
    command: &[OsString],
    folder: Option<&Path>,
    stderr: Stdio,
) -> anyhow::Result<Process> {
    let (program, arguments) = command
        .split_first()
        .context("no agent to start: name it after `--`")?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    Process::spawn_with(command, stderr)
        .with_context(|| format!("cannot start `{}`", program.display()))
}

/// The signals that we get and the agent should.
#[derive(Debug)]
pub(crate) struct Signals {
    heard: Vec<(Signal, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// From now on these signals do not end the program.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |passed_on: &Signal| {
            let stream = signal(SignalKind::from_raw(passed_on.as_raw()));
            stream.map(|stream| (*passed_on, stream))
        };
        let heard: io::Result<Vec<_>> = PASSED_ON.iter().map(listen).collect();
        Ok(Self {
            heard: heard.context("cannot listen for signals")?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            for (passed_on, stream) in &mut self.heard {
                if stream.poll_recv(context).is_ready() {
                    return Poll::Ready(*passed_on);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Passes on what goes into an agent until it has ended, and what comes out of it up to its last words; it gets the
/// signals that we get. `ended` is what its streams wait for.
pub(crate) async fn attend(
    mut agent: Process,
    mut signals: Signals,
    ended: watch::Sender<bool>,
    input: impl Future<Output = ()>,
    output: impl Future,
) -> anyhow::Result<Exit> {
    let mut input = pin!(input);
    let mut output = pin!(output);
    let (mut is_input_open, mut is_output_open) = (true, true);
    let exit = loop {
        tokio::select! {
            exit = agent.wait() => break exit.context("cannot tell how the agent ended")?,
            signal = signals.next() => pass_on(signal, &agent),
            () = &mut input, if is_input_open => is_input_open = false,
            _ = &mut output, if is_output_open => is_output_open = false,
        }
    };
    ended.send_replace(true);
    if is_output_open {
        output.await;
    }
    Ok(exit)
}

/// Sends a signal to the agent alone, as whoever sent it to us would have. What the agent started is its own business.
fn pass_on(signal: Signal, agent: &Process) {
    if let Some(process) = Pid::from_raw(agent.id().cast_signed()) {
        // It may have ended in between.
        kill_process(process, signal).ok();
    }
}

/// One of the streams an agent writes, up to its last words.
///
/// Somebody whom the agent started may hold the stream open after the agent's end and write on; that is not waited for.
#[derive(Debug)]
pub(crate) struct AgentStream<R> {
    stream: R,
    has_ended: watch::Receiver<bool>,
    /// What was in the pipe when the agent had ended.
    left: Option<u64>,
}

/// What came of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// That many bytes.
    Bytes(usize),
    /// The agent closed the stream.
    Closed,
    /// The agent has ended.
    Ended,
}

impl<R: AsyncRead + AsFd + Unpin> AgentStream<R> {
    /// A stream of an agent that has ended once `has_ended` says so.
    pub(crate) fn new(stream: R, has_ended: watch::Receiver<bool>) -> Self {
        Self {
            stream,
            has_ended,
            left: None,
        }
    }

    /// Waits for the next piece. Can be dropped and called again.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> Heard {
        if self.left.is_none() {
            tokio::select! {
                read = self.stream.read(buffer) => return match read {
                    Ok(length @ 1..) => Heard::Bytes(length),
                    Ok(0) | Err(_) => Heard::Closed,
                },
                _ = self.has_ended.wait_for(|ended| *ended) => {}
            }
        }
        let stream = &self.stream;
        let left = self
            .left
            .get_or_insert_with(|| rustix::io::ioctl_fionread(stream).unwrap_or(0));
        let most = buffer
            .len()
            .min(usize::try_from(*left).unwrap_or(usize::MAX));
        if most == 0 {
            return Heard::Ended;
        }
        match self.stream.read(&mut buffer[..most]).await {
            Ok(length @ 1..) => {
                *left = left.saturating_sub(length as u64);
                Heard::Bytes(length)
            }
            Ok(0) | Err(_) => Heard::Closed,
        }
    }
}

/// Ends the program as the agent ended: with its code, or by its signal.
pub(crate) fn end_as(exit: Exit) -> ExitCode {
    match exit {
        Exit::Code(code) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        Exit::Signal(signal) => {
            let no_core = Rlimit {
                current: Some(0),
                maximum: Some(0),
            };
            // The agent's core is the interesting one; without this there are just two.
            setrlimit(Resource::Core, no_core).ok();
            signal_hook::low_level::emulate_default_handler(signal).ok();
            // Not a signal that ends a program here: what a shell would say.
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
    }
}

const PASSED_ON: [Signal; 6] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
];
