//! The lines that are on their way to the host.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use towline_protocol::{Frame, ToHost};

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

const GATHERED: usize = 64 << 10;
