//! The loop around the machine: reads and writes bytes, keeps the clock.

use std::{io, time::Instant};

use bytes::{Buf, BufMut, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time,
};
use towline_protocol::LineDecoder;

use super::{Difference, Output, Replay, Report};

impl Replay {
    /// Plays over a stream, to the end.
    pub async fn run(self, stream: impl AsyncRead + AsyncWrite) -> Report {
        let (reader, writer) = tokio::io::split(stream);
        self.run_split(reader, writer, |_| {}).await
    }

    /// Plays over two streams, and tells of each difference when it is found.
    pub async fn run_split(
        mut self,
        reader: impl AsyncRead,
        writer: impl AsyncWrite,
        mut observe: impl FnMut(&Difference),
    ) -> Report {
        let mut reader = std::pin::pin!(reader);
        let mut decoder = LineDecoder::default();
        let mut buffer = vec![0; PIECE].into_boxed_slice();
        let mut lines = Lines::new(Box::pin(writer));
        let mut found = Vec::new();
        let mut withheld = 0;
        let mut is_open = true;
        self.start(now());
        loop {
            while lines.has_room() {
                match self.poll_output() {
                    Some(Output::Send(line)) => lines.push(&line),
                    Some(Output::Close) => lines.close(),
                    Some(Output::Found(difference)) => {
                        observe(&difference);
                        if found.len() < Report::MOST_DIFFERENCES {
                            found.push(difference);
                        } else {
                            withheld += 1;
                        }
                    }
                    None => break,
                }
            }
            if self.end().is_some() && lines.is_idle() {
                return self.report(found, withheld);
            }
            // What is left to write when all is over does not wait for ever either.
            let due = match self.poll_timeout() {
                Some(due) => Some(due.into()),
                None => time::Instant::now().checked_add(self.timeout),
            };
            tokio::select! {
                // Nothing more is taken in while the other side does not take what it gets.
                read = reader.read(&mut buffer), if is_open && lines.has_room() => match read {
                    Ok(length @ 1..) => {
                        let mut piece = &buffer[..length];
                        while let Some(line) = decoder.next_line(&mut piece) {
                            self.handle_line(line, now());
                        }
                    }
                    Ok(0) | Err(_) => {
                        is_open = false;
                        if let Some(line) = decoder.finish() {
                            self.handle_line(line, now());
                        }
                        self.handle_close(now());
                    }
                },
                written = lines.write(), if !lines.is_idle() => if let Err(error) = written {
                    lines.forget();
                    self.handle_broken(error.to_string());
                },
                () = until(due) => {
                    if self.end().is_some() {
                        lines.forget();
                    }
                    self.handle_timeout(now());
                }
            }
        }
    }
}

/// Lines on their way out. Its future may be dropped at any time.
struct Lines<W> {
    /// Nothing once it is closed: only a drop ends a pipe.
    writer: Option<W>,
    waiting: BytesMut,
    is_flushed: bool,
    closing: bool,
}

impl<W: AsyncWrite + Unpin> Lines<W> {
    fn new(writer: W) -> Self {
        Self {
            writer: Some(writer),
            waiting: BytesMut::new(),
            is_flushed: true,
            closing: false,
        }
    }

    fn push(&mut self, line: &str) {
        if self.writer.is_none() {
            return;
        }
        self.waiting.put_slice(line.as_bytes());
        self.waiting.put_u8(b'\n');
    }

    fn close(&mut self) {
        self.closing = true;
    }

    /// Whether nothing is left to do.
    fn is_idle(&self) -> bool {
        self.writer.is_none() || self.waiting.is_empty() && self.is_flushed && !self.closing
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < PIECE
    }

    /// Gives up: the other side takes nothing.
    fn forget(&mut self) {
        self.waiting.clear();
        self.writer = None;
    }

    async fn write(&mut self) -> io::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        if !self.waiting.is_empty() {
            let written = writer.write(&self.waiting).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.waiting.advance(written);
            self.is_flushed = false;
        } else if !self.is_flushed {
            writer.flush().await?;
            self.is_flushed = true;
        } else {
            writer.shutdown().await?;
            self.writer = None;
        }
        Ok(())
    }
}

/// Waits until then; for ever if there is no such time.
async fn until(due: Option<time::Instant>) {
    match due {
        Some(due) => time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn now() -> Instant {
    time::Instant::now().into_std()
}

/// How much is read at once, and how much may wait to be written.
const PIECE: usize = 64 << 10;
