//! Work that blocks: off the event loop, told when nobody waits any more, and a panic in it is a failed call.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{Outcome, Place};

/// Whether the call was interrupted: its future was dropped.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that has happened already.
    #[cfg(test)]
    pub(super) fn set() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Whether to stop.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` where it may block. Dropping the future sets the interrupt, which `work` is to look at.
pub(super) async fn blocking(work: impl FnOnce(&Interrupt) -> Outcome + Send + 'static) -> Outcome {
    let interrupt = Interrupt::default();
    let _on_drop = SetOnDrop(interrupt.clone());
    let done = tokio::task::spawn_blocking(move || work(&interrupt)).await;
    done.unwrap_or_else(|error| Outcome::error(format!("the tool stopped unexpectedly: {error}")))
}

/// The same for work with what a call has at hand; a refusal is its outcome too.
pub(super) async fn blocking_at(
    place: &Place,
    work: impl FnOnce(&Place, &Interrupt) -> Result<Outcome, Outcome> + Send + 'static,
) -> Outcome {
    let place = place.clone();
    blocking(move |interrupt| work(&place, interrupt).unwrap_or_else(|refusal| refusal)).await
}

struct SetOnDrop(Interrupt);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{Outcome, blocking};

    #[tokio::test]
    async fn a_panic_is_a_failed_call() {
        let outcome = blocking(|_| panic!("torn file")).await;
        assert_eq!(outcome.is_error, Some(true));
        assert!(outcome.content.text().contains("torn file"), "{outcome:?}");
    }

    #[tokio::test]
    async fn work_is_told_that_nobody_waits_any_more() {
        let (started, when_started) = tokio::sync::oneshot::channel();
        let (ended, when_ended) = mpsc::channel();
        let call = tokio::spawn(blocking(move |interrupt| {
            started.send(()).unwrap();
            while !interrupt.is_set() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Outcome::error("interrupted")
        }));
        when_started.await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        when_ended
            .recv_timeout(std::time::Duration::from_secs(10))
            .expect("the work ends after the call was dropped");
    }
}
