//! Pace: agents write at a steady rate, and every viewer tells how late each piece is.

use tokio::task::{JoinHandle, spawn_local};
use towline_bench_bridge::piece::Pieces;

use crate::{
    Result,
    burst::{SIZE, Spent},
    server::{Server, Session},
    viewer::{Checker, Faults, watch},
};

/// How much goes on.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub sessions: usize,
    /// Of each session.
    pub viewers: usize,
    /// Pieces of each session.
    pub a_second: usize,
    pub seconds: usize,
}

/// What a round gave.
#[derive(Debug, Default)]
pub struct Round {
    /// How late half and 99 % of the pieces were at most, in milliseconds.
    pub p50: f64,
    pub p99: f64,
    /// How many arrived.
    pub pieces: usize,
    pub faults: Faults,
    /// What the server took of the processors, in seconds.
    pub server: f64,
    /// What this client took.
    pub client: f64,
}

/// Sessions with their viewers, ready to begin.
#[derive(Debug)]
pub struct Audience {
    sessions: Vec<Session>,
    viewers: Vec<JoinHandle<Result<Checker>>>,
    load: Load,
}

impl Audience {
    /// Begins all sessions and opens all viewers.
    pub async fn gather(server: &Server, load: Load) -> Result<Self> {
        let pieces = Pieces::new(SIZE).ok_or("no such pieces")?;
        let (mut sessions, mut viewers) = (Vec::new(), Vec::new());
        for number in 0..load.sessions {
            let session = server.begin(number).await?;
            for _ in 0..load.viewers {
                let checker = Checker::new(pieces.clone(), (load.a_second * load.seconds) as u64);
                viewers.push(watch(server, &session, checker).await?);
            }
            sessions.push(session);
        }
        Ok(Self {
            sessions,
            viewers,
            load,
        })
    }

    /// Lets all agents speak, and waits until everyone has seen it or gave up. The sessions are left to end with the
    /// server.
    pub async fn listen(self, server: &std::rc::Rc<Server>) -> Result<Round> {
        let spent = Spent::now(server)?;
        let prompt = format!("rate {} {} {SIZE}", self.load.a_second, self.load.seconds);
        let mut said = Vec::new();
        for session in &self.sessions {
            let (server, session, prompt) = (server.clone(), session.clone(), prompt.clone());
            // The peer answers only at the end.
            said.push(spawn_local(
                async move { server.say(&session, &prompt).await },
            ));
        }
        let mut round = Round::default();
        let mut late = Vec::new();
        for viewer in self.viewers {
            let checker = viewer.await??;
            round.faults = round.faults.and(checker.faults());
            late.extend(checker.late);
        }
        for said in said {
            said.await??;
        }
        (round.server, round.client) = spent.since(server)?;
        late.sort_unstable();
        let at = |share: f64| {
            let place = (late.len() as f64 * share) as usize;
            late.get(place.min(late.len().saturating_sub(1)))
                .map_or(f64::INFINITY, |micros| f64::from(*micros) / 1000.0)
        };
        (round.p50, round.p99, round.pieces) = (at(0.5), at(0.99), late.len());
        Ok(round)
    }
}
