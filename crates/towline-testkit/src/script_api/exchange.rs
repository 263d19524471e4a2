//! One request from the moment it is recorded to its end.

use std::sync::Arc;

use bytes::Bytes;
use hyper::http::request::Parts;

use super::{
    api_error::ApiError,
    desk::Choice,
    record::{End, Kind, Recorded, headers},
    seen::Seen,
    shared::{Shared, State},
};

/// A request on its way. Dropped before its end, the client has left.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    pub(super) entry: Recorded,
}

impl Exchange {
    /// Records a request.
    pub(super) fn begin(shared: &Arc<Shared>, head: &Parts, body: Bytes, kind: Kind) -> Self {
        let mut state = shared.state();
        let entry = entry(&mut state, shared, head, body, kind);
        Self::recorded(shared, state, entry)
    }

    /// Records a request to the model and takes its reply from the script, both in one moment: who is recorded first
    /// is answered first.
    pub(super) fn begin_message(
        shared: &Arc<Shared>,
        head: &Parts,
        body: Bytes,
        seen: &Seen,
    ) -> (Self, Result<Choice, ApiError>) {
        let mut state = shared.state();
        let mut entry = entry(&mut state, shared, head, body, Kind::Message);
        entry.side = seen.side;
        let choice = match state.desk.choose(seen) {
            Some(choice) => {
                entry.reply = Some(choice.name.clone());
                if choice.is_side {
                    entry.kind = Kind::Side;
                }
                Ok(choice)
            }
            None => {
                let why = state.desk.nothing_left(entry.index, seen);
                Err(ApiError::invalid_request(why))
            }
        };
        (Self::recorded(shared, state, entry), choice)
    }

    fn recorded(
        shared: &Arc<Shared>,
        mut state: std::sync::MutexGuard<'_, State>,
        entry: Recorded,
    ) -> Self {
        state.record.add(entry.clone());
        drop(state);
        shared.record_changed();
        let shared = Arc::clone(shared);
        Self { shared, entry }
    }

    /// The status is known; it can be asked for while the response goes on.
    pub(super) fn set_status(&mut self, status: u16) {
        self.entry.status = Some(status);
        self.shared.state().record.update(&self.entry);
        self.shared.record_changed();
    }

    /// Says how it ended; the first to say so is right.
    pub(super) fn end(&mut self, end: End) {
        if self.entry.end.is_none() {
            self.entry.end = Some(end);
            self.shared.ended(&self.entry);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end(End::ClientLeft);
    }
}

fn entry(state: &mut State, shared: &Shared, head: &Parts, body: Bytes, kind: Kind) -> Recorded {
    Recorded {
        index: state.record.next_index(),
        at_ms: shared.now_ms(),
        kind,
        side: None,
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers(&head.headers),
        body,
        refused: None,
        reply: None,
        status: None,
        end: None,
        resets: state.record.resets,
    }
}
