//! The signals that end a scripted API.

use std::fs;

use anyhow::Context;
use tokio::signal::unix::{self, SignalKind, signal};

/// The signals that we listen to.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    /// Nothing where we were started to ignore it.
    hangup: Option<unix::Signal>,
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// From the keyboard: everybody at the terminal got it.
    Interrupt,
    /// That we end, also because the terminal is gone.
    End,
}

impl Signals {
    /// From now on these signals do not end the program.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
        let hangup = SignalKind::hangup();
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: if is_ignored(hangup) {
                None
            } else {
                Some(listen(hangup)?)
            },
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Heard {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Heard::Interrupt,
            _ = self.terminate.recv() => Heard::End,
            _ = hangup => Heard::End,
        }
    }
}

/// Whether we were started with a signal ignored, as `nohup` does. Linux says so; elsewhere nobody does.
fn is_ignored(kind: SignalKind) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}
