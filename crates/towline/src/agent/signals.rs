//! The signals of the process, for the agent. One that it does not heed ends the process all the same.

use std::{future::pending, io, time::Duration};

use tokio::{
    signal::unix::{self, SignalKind, signal},
    sync::mpsc,
    time::Instant,
};
use towline_agent::Signal;

/// The signals that are listened for.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
}

impl Signals {
    /// From now on these signals do not end the program by themselves.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Tells the agent, until somebody has waited long enough for it to end. Gives the exit code then.
    pub(super) async fn tell(mut self, agent: mpsc::Sender<Signal>) -> u8 {
        let mut patience = Patience::default();
        loop {
            let deadline = patience.deadline;
            let signal = tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = self.hangup.recv() => Signal::Hangup,
                code = at(deadline) => return code,
            };
            if let Some(code) = patience.handle(signal, Instant::now()) {
                return code;
            }
            // An agent that takes no more signals is ended by the next one.
            agent.try_send(signal).ok();
        }
    }
}

/// How long the agent gets (pure).
#[derive(Debug, Default)]
struct Patience {
    interrupted: Option<Instant>,
    /// When it is over, and with which exit code.
    deadline: Option<(Instant, u8)>,
}

impl Patience {
    /// A signal came. Gives the exit code if the process is to end now.
    fn handle(&mut self, signal: Signal, now: Instant) -> Option<u8> {
        let code = signal.exit_code();
        if signal == Signal::Interrupt {
            let before = self.interrupted.replace(now);
            let again = before.is_some_and(|before| now.duration_since(before) < MOMENT);
            return again.then_some(code);
        }
        if self.deadline.is_some() {
            return Some(code);
        }
        self.deadline = Some((now + GRACE, code));
        None
    }
}

async fn at(deadline: Option<(Instant, u8)>) -> u8 {
    match deadline {
        None => pending().await,
        Some((time, code)) => {
            tokio::time::sleep_until(time).await;
            code
        }
    }
}

/// Whoever interrupts twice in it wants out.
const MOMENT: Duration = Duration::from_millis(1500);
/// Less than hosts wait before they kill.
const GRACE: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_signal_ends_it() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        for (heard, expected) in [
            (&[(Signal::Interrupt, 0)][..], None),
            (
                &[(Signal::Interrupt, 0), (Signal::Interrupt, 1000)],
                Some(130),
            ),
            (&[(Signal::Interrupt, 0), (Signal::Interrupt, 2000)], None),
            (&[(Signal::Interrupt, 0), (Signal::Terminate, 100)], None),
            (
                &[(Signal::Terminate, 0), (Signal::Terminate, 100)],
                Some(143),
            ),
            (&[(Signal::Terminate, 0), (Signal::Hangup, 100)], Some(129)),
        ] {
            let mut patience = Patience::default();
            let codes = heard
                .iter()
                .map(|(signal, time)| patience.handle(*signal, after(*time)));
            assert_eq!(codes.last().flatten(), expected, "{heard:?}");
        }
    }

    #[test]
    fn an_agent_that_does_not_end_is_left_after_a_while() {
        let mut patience = Patience::default();
        let start = Instant::now();
        assert_eq!(patience.handle(Signal::Terminate, start), None);
        assert_eq!(patience.deadline, Some((start + GRACE, 143)));
    }
}
