//! Carries out a program: sends, waits, holds and cuts, and says in the record how it ended.

use std::{collections::VecDeque, io, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::{Response, body::Frame};

use super::{
    Cut,
    connection::Line,
    exchange::Exchange,
    gates::Passage,
    program::{Program, Step},
    record::End,
};

/// The body of every response.
pub(super) type Body = BoxBody<Bytes, io::Error>;

/// Carries out a program.
///
/// # Errors
/// When the program cuts the connection before the response begins.
pub(super) async fn play(
    program: Program,
    exchange: Exchange,
    line: Line,
) -> io::Result<Response<Body>> {
    let mut before = Play {
        steps: program.before,
        exchange,
        line,
    };
    // Before the head nothing is sent, so that only a cut gives anything.
    if let Some(cut) = before.next().await {
        return Err(cut.err().unwrap_or_else(cut_off));
    }
    let Play {
        mut exchange, line, ..
    } = before;
    let mut response = Response::builder().status(program.status);
    for (name, value) in &program.headers {
        response = response.header(name, value);
    }
    if let Some(length) = program.length {
        response = response.header("content-length", length);
    }
    exchange.set_status(program.status);
    if program.body.is_empty() {
        exchange.end(End::Complete);
    }
    let play = Play {
        steps: program.body,
        exchange,
        line,
    };
    let frames = stream::unfold(play, |mut play| async {
        let chunk = play.next().await?;
        Some((chunk.map(Frame::data), play))
    });
    response
        .body(BodyExt::boxed(StreamBody::new(frames)))
        .map_err(io::Error::other)
}

/// The steps that are left.
#[derive(Debug)]
struct Play {
    steps: VecDeque<Step>,
    exchange: Exchange,
    line: Line,
}

impl Play {
    /// The next bytes; nothing at the end.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Send(bytes) => {
                    if self.steps.is_empty() {
                        self.exchange.end(End::Complete);
                    }
                    return Some(Ok(bytes));
                }
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Hold(gate) => {
                    let shared = Arc::clone(&self.exchange.shared);
                    if shared.gates.pass(&gate).await == Passage::Reset {
                        self.exchange.end(End::Reset);
                        return Some(Err(cut_off()));
                    }
                }
                Step::Cut(Cut::End) => {
                    self.steps.clear();
                    self.exchange.end(End::Cut);
                }
                Step::Cut(how) => {
                    self.cut(how).await;
                    return Some(Err(cut_off()));
                }
            }
        }
        None
    }

    async fn cut(&mut self, how: Cut) {
        // A reset throws away what the kernel does not have yet. Before the head there is nothing, and hyper flushes
        // nothing.
        if self.exchange.entry.status.is_some() {
            self.line.flushed().await;
        }
        if how == Cut::Reset {
            self.line.reset_at_end();
        }
        self.exchange.end(End::Cut);
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "cut off by the script")
}
