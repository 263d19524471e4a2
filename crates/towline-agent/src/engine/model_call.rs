//! The call of the model that runs, if one does.

use tokio::{sync::mpsc, task::JoinHandle};

use crate::model::{ApiError, ModelEvent};

/// A call of the model; or none.
#[derive(Debug, Default)]
pub(super) struct ModelCall {
    events: Option<mpsc::Receiver<ModelEvent>>,
    task: Option<JoinHandle<()>>,
    /// Whether its last event has come. Its task may go on: a connection that was read to its end can be used again.
    is_over: bool,
}

impl ModelCall {
    /// A call that is made by a task.
    pub(super) fn new(events: mpsc::Receiver<ModelEvent>, task: JoinHandle<()>) -> Self {
        Self {
            events: Some(events),
            task: Some(task),
            is_over: false,
        }
    }

    /// The next event; waits for ever where no model is called. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> ModelEvent {
        if let Some(events) = &mut self.events {
            match events.recv().await {
                Some(event) => {
                    self.is_over = matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_));
                    return event;
                }
                None => self.stop(),
            }
            if !self.is_over {
                // The task broke down, and nothing else would ever end the turn.
                self.is_over = true;
                return ModelEvent::Failed(ApiError::unreadable(
                    "the call of the model broke down; this is a mistake in towline",
                ));
            }
        }
        std::future::pending().await
    }

    /// Forgets it.
    pub(super) fn stop(&mut self) {
        self.events = None;
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_breaks_down_is_a_failed_one_and_a_call_that_is_over_is_silent() {
        let done = || ModelEvent::Done { request_id: None };
        for (events, failures) in [(vec![], 1), (vec![ModelEvent::Whole], 1), (vec![done()], 0)] {
            let (sender, receiver) = mpsc::channel(4);
            let many = events.len();
            let task = tokio::spawn(async move {
                for event in events {
                    sender.send(event).await.unwrap();
                }
                assert!(failures == 0, "broken down");
            });
            let mut call = ModelCall::new(receiver, task);
            for _ in 0..many {
                assert!(!matches!(call.next().await, ModelEvent::Failed(_)));
            }
            for _ in 0..failures {
                assert!(matches!(call.next().await, ModelEvent::Failed(_)));
            }
            let silence = tokio::time::timeout(Duration::from_secs(60), call.next());
            assert!(silence.await.is_err());
        }
    }
}
