//! A connection that can be reset on purpose, and that knows when all was handed to the kernel.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
};

/// The socket, as hyper gets it.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    line: Line,
}

/// What a response may ask of its connection.
#[derive(Clone, Debug)]
pub(super) struct Line {
    reset: Arc<AtomicBool>,
    /// Counts flushes.
    flushes: Arc<watch::Sender<u64>>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        let line = Line {
            reset: Arc::default(),
            flushes: Arc::default(),
        };
        Self { stream, line }
    }

    pub(super) fn line(&self) -> Line {
        self.line.clone()
    }
}

impl Line {
    /// The connection ends with a reset instead of an orderly end.
    pub(super) fn reset_at_end(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }

    /// Waits until what was written so far is with the kernel. Only to be awaited from the body of a response: hyper
    /// writes and flushes whenever the body has nothing for it.
    pub(super) async fn flushed(&self) {
        let mut flushes = self.flushes.subscribe();
        flushes.borrow_and_update();
        // The sender lives as long as we do, so this cannot fail.
        flushes.changed().await.ok();
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.line.flushes.send_modify(|count| *count += 1);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.line.reset.load(Ordering::Relaxed) {
            // Closing with nothing to linger for is what sends a reset.
            self.stream.set_zero_linger().ok();
        }
    }
}
