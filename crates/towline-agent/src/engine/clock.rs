//! How long things take, for the result of a turn.

use std::time::{Duration, Instant};

/// The times of one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    started: Instant,
    request: Option<Instant>,
    first_event: Option<Instant>,
    first_text: Option<Instant>,
    asked: Option<Instant>,
    /// When the first request was sent, by the calendar.
    pub(super) request_wall_ms: Option<u64>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            request: None,
            first_event: None,
            first_text: None,
            asked: None,
            request_wall_ms: None,
        }
    }

    /// The model is called.
    pub(super) fn request(&mut self, wall_ms: u64) {
        let now = Instant::now();
        self.asked = Some(now);
        self.request.get_or_insert(now);
        self.request_wall_ms.get_or_insert(wall_ms);
    }

    /// Something came from the model; how long it took since it was called.
    pub(super) fn event(&mut self) -> u64 {
        let now = Instant::now();
        self.first_event.get_or_insert(now);
        self.asked.map_or(0, |asked| millis(now - asked))
    }

    /// A block came from the model.
    pub(super) fn text(&mut self) {
        self.first_text.get_or_insert_with(Instant::now);
    }

    /// The model is done; how long it took since it was called.
    pub(super) fn answered(&mut self) -> Duration {
        self.asked
            .take()
            .map_or(Duration::ZERO, |asked| asked.elapsed())
    }

    pub(super) fn since_start(&self) -> u64 {
        millis(self.started.elapsed())
    }

    pub(super) fn until_request(&self) -> Option<u64> {
        self.since(self.request)
    }

    pub(super) fn until_first_event(&self) -> Option<u64> {
        self.since(self.first_event)
    }

    pub(super) fn until_first_text(&self) -> Option<u64> {
        self.since(self.first_text)
    }

    fn since(&self, moment: Option<Instant>) -> Option<u64> {
        moment.map(|moment| millis(moment - self.started))
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
