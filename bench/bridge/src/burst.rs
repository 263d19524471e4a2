//! Burst: one agent writes as fast as it is read, ten viewers watch. What each of them has at the end is held against
//! what the agent says that it sent.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use towline_bench_bridge::piece::now;

use crate::{
    Result, process,
    server::Server,
    viewer::{Reader, watch},
};

/// What a round gave.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Text that arrived, over all viewers, in million bytes a second.
    pub megabytes_a_second: f64,
    /// Pieces that did not arrive, over all viewers.
    pub lost: usize,
    /// Viewers whose text is not what was sent.
    pub wrong: usize,
    /// How often a viewer was told that it was too slow, and made good for it.
    pub gaps: usize,
    /// What the server took of the processors, in seconds.
    pub server: f64,
    /// What this client took.
    pub client: f64,
}

/// One round with a session of its own.
pub async fn round(server: &Server, number: usize) -> Result<Round> {
    let session = server.begin(number).await?;
    let mut viewers = Vec::new();
    for _ in 0..VIEWERS {
        let reader = Reader::new(PIECES * SIZE);
        viewers.push(watch(server, &session, reader).await?);
    }
    let copy = server.room().join(format!("sent-{number}"));
    let spent = Spent::now(server)?;
    let began = now();
    let prompt = format!("burst {PIECES} {SIZE} {}", copy.display());
    server.say(&session, &prompt).await?;
    let mut seen = Vec::new();
    for viewer in viewers {
        seen.push(viewer.await??);
    }
    let (in_server, in_client) = spent.since(server)?;
    let sent = sent(&copy).await?;
    server.stop(&session).await?;

    let arrived: usize = seen.iter().map(|reader| reader.text.len()).sum();
    let last = seen.iter().map(|reader| reader.at).max().unwrap_or(0);
    let seconds = last.saturating_sub(began) as f64 / 1e9;
    Ok(Round {
        megabytes_a_second: arrived as f64 / 1e6 / seconds,
        lost: (VIEWERS * sent.len()).saturating_sub(arrived) / SIZE,
        wrong: seen.iter().filter(|reader| reader.text != sent).count(),
        gaps: seen.iter().map(|reader| reader.gaps).sum(),
        server: in_server,
        client: in_client,
    })
}

/// What the agent says that it sent. It may have said everything before it writes that down.
async fn sent(copy: &Path) -> Result<String> {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(copy).unwrap_or_default();
        if text.len() >= PIECES * SIZE {
            return Ok(text);
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{} has {} bytes", copy.display(), text.len()).into());
        }
        sleep(Duration::from_millis(5)).await;
    }
}

/// Processor time that the server and this program had used at some time.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    server: f64,
    client: f64,
}

impl Spent {
    pub fn now(server: &Server) -> Result<Self> {
        Ok(Self {
            server: process::processor_seconds(server.process)?,
            client: process::processor_seconds(std::process::id())?,
        })
    }

    /// What both have used since then, in seconds.
    pub fn since(self, server: &Server) -> Result<(f64, f64)> {
        let now = Self::now(server)?;
        Ok((now.server - self.server, now.client - self.client))
    }
}

/// How many pieces are sent, as deltas.
pub const PIECES: usize = 20_000;
/// How many watch.
pub const VIEWERS: usize = 10;
/// The bytes of a piece.
pub const SIZE: usize = 64;
/// How long the agent may take to write them down.
const PATIENCE: Duration = Duration::from_secs(30);
