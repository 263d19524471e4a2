//! The lines that are on their way to the host.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
};
use towline_protocol::{Frame, ToHost};

use crate::Signal;

/// Lines that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pieces: VecDeque<Bytes>,
    size: usize,
}

/// With more than this on its way, the agent does nothing that makes more.
const ENOUGH: usize = 1 << 20;

impl Outbox {
    /// Sends a line.
    pub(super) fn push(&mut self, line: ToHost) {
        self.push_raw(Frame::encode(line).bytes().clone());
    }

    /// Sends a line as it is.
    pub(super) fn push_raw(&mut self, line: Bytes) {
        self.size += line.len() + 1;
        self.pieces.push_back(line);
        self.pieces.push_back(Bytes::from_static(b"\n"));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether the host is so far behind that it is better to wait for it.
    pub(super) fn is_full(&self) -> bool {
        self.size > ENOUGH
    }

    /// Writes some of it. Nothing is lost when the future is dropped.
    pub(super) async fn write(
        &mut self,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        self.gather();
        let Some(first) = self.pieces.front_mut() else {
            return output.flush().await;
        };
        let written = output.write(first).await?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        first.advance(written);
        self.size -= written;
        if first.is_empty() {
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            output.flush().await?;
        }
        Ok(())
    }

    /// Writes all there is, as long as somebody reads.
    pub(super) async fn write_all(&mut self, output: &mut (impl AsyncWrite + Unpin)) {
        while !self.is_empty() {
            if self.write(output).await.is_err() {
                return;
            }
        }
    }

    /// Small pieces are written together.
    fn gather(&mut self) {
        if self.pieces.len() < 2 || self.pieces[0].len() > GATHERED {
            return;
        }
        let mut gathered = Vec::with_capacity(GATHERED.min(self.size));
        while let Some(piece) = self.pieces.front()
            && (gathered.is_empty() || gathered.len() + piece.len() <= GATHERED)
        {
            gathered.extend_from_slice(piece);
            self.pieces.pop_front();
        }
        self.pieces.push_front(gathered.into());
    }
}

/// Waits until all that was written has left, or for the signal that comes first. Where nobody holds the other end there
/// is nothing to wait for; who holds it and does not read can still say that it is enough. There is no turn any more that
/// an interrupt could be about.
pub(super) async fn flushed(
    output: &mut (impl AsyncWrite + Unpin),
    signals: &mut mpsc::Receiver<Signal>,
) -> Result<(), Signal> {
    loop {
        tokio::select! {
            biased;
            _ = output.flush() => return Ok(()),
            Some(signal) = signals.recv() => match signal {
                Signal::Interrupt => {}
                Signal::Terminate | Signal::Hangup => return Err(signal),
            },
        }
    }
}

const GATHERED: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, BufWriter, duplex};

    use super::*;

    #[tokio::test]
    async fn the_last_line_is_waited_for_and_a_signal_ends_the_wait() {
        let (tell, mut signals) = mpsc::channel(2);
        let (near, mut far) = duplex(1);
        let mut output = BufWriter::new(near);
        output.write_all(b"the last line").await.unwrap();

        // Nobody reads.
        tell.try_send(Signal::Interrupt).unwrap();
        tell.try_send(Signal::Terminate).unwrap();
        let flushed_so_far = flushed(&mut output, &mut signals).await;
        assert_eq!(flushed_so_far, Err(Signal::Terminate));

        let mut read = [0; 13];
        let (written, heard) = tokio::join!(
            flushed(&mut output, &mut signals),
            far.read_exact(&mut read)
        );
        assert_eq!((written, heard.unwrap()), (Ok(()), 13));
        assert_eq!(&read, b"the last line");

        output.write_all(b"for nobody").await.unwrap();
        drop(far);
        assert_eq!(flushed(&mut output, &mut signals).await, Ok(()));
    }
}
