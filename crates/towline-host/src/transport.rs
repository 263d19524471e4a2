//! What a session runs over: the pipes of a child process, or any pair of streams.

use std::{fmt, io, pin::Pin, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
};

use crate::process::{Exit, Process};

/// The two directions, and the process behind them if it is ours.
pub(crate) struct Transport {
    pub(crate) stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) stderr: Option<Box<dyn AsyncRead + Send + Unpin>>,
    pub(crate) keeper: Option<Keeper>,
}

impl Transport {
    /// The pipes of a child.
    pub(crate) fn process(mut process: Process) -> io::Result<Self> {
        let missing = || io::Error::other("the child has no pipes");
        let stdin = process.stdin.take().ok_or_else(missing)?;
        let stdout = process.stdout.take().ok_or_else(missing)?;
        let stderr = process.stderr.take();
        // A larger pipe means fewer turns between the two processes. The system may say no; then it stays small.
        #[cfg(target_os = "linux")]
        rustix::pipe::fcntl_setpipe_size(&stdout, PIPE).ok();
        Ok(Self {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: stderr.map(|pipe| Box::new(pipe) as _),
            keeper: Some(Keeper::new(process)),
        })
    }

    /// Any two streams: memory, a socket.
    pub(crate) fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            stdin: Box::new(writer),
            stdout: Box::new(reader),
            stderr: None,
            keeper: None,
        }
    }
}

/// Looks after a process, beside whoever reads its output, so that ending one never keeps that from being read.
pub(crate) struct Keeper {
    stop: Option<oneshot::Sender<Stop>>,
    exit: Pin<Box<dyn Future<Output = io::Result<Exit>> + Send>>,
}

/// How to end a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// How long it may take to end by itself.
    pub(crate) patience: Duration,
    /// How long it may take to end once told to.
    pub(crate) grace: Duration,
}

impl Keeper {
    fn new(mut process: Process) -> Self {
        let (stop, stopped) = oneshot::channel();
        let exit = Box::pin(async move {
            tokio::select! {
                exit = process.wait() => exit,
                stop = stopped => {
                    // Without an order the driver is gone; then there is no reason to wait.
                    let stop = stop.unwrap_or(Stop { patience: Duration::ZERO, grace: Duration::ZERO });
                    match tokio::time::timeout(stop.patience, process.wait()).await {
                        Ok(exit) => exit,
                        Err(_) => process.stop(stop.grace).await,
                    }
                }
            }
        });
        Self {
            stop: Some(stop),
            exit,
        }
    }

    /// Orders the end; the first order counts.
    pub(crate) fn stop(&mut self, how: Stop) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            stop.send(how).ok();
        }
    }

    /// Waits for the end, and brings it about once it is ordered. Can be dropped and called again until it has given the
    /// exit.
    pub(crate) async fn exit(&mut self) -> io::Result<Exit> {
        self.exit.as_mut().await
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

/// How much a pipe holds.
pub(crate) const PIPE: usize = 256 << 10;
