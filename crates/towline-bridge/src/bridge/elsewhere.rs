//! Looks for what was said elsewhere in a session whose agent does not run here, page by page.

use std::ops::ControlFlow;

use tokio::sync::mpsc;
use towline_protocol::{SessionId, dialect::pocket::BridgeId};

use crate::{Library, hub::Elsewhere};

use super::FromAgent;

/// Tells the hub what was said elsewhere, and then that this was all.
pub(super) async fn look(
    library: Library,
    session: BridgeId,
    last_seq: u64,
    agent_session_id: SessionId,
    events: mpsc::Sender<FromAgent>,
) {
    let (reader, id) = (events.clone(), session.clone());
    let give = move |lines| {
        let found = FromAgent::Elsewhere(id.clone(), Elsewhere::Lines(lines));
        match reader.blocking_send(found) {
            Ok(()) => ControlFlow::Continue(()),
            // Without the bridge there is nobody to tell.
            Err(_) => ControlFlow::Break(()),
        }
    };
    let looked = library.said_elsewhere(&session, last_seq, agent_session_id, give);
    if let Err(error) = looked.await {
        // The agent may know of a session that is not where it is looked for.
        tracing::debug!(%error, "what was said elsewhere cannot be read");
    }
    let done = FromAgent::Elsewhere(session, Elsewhere::Done);
    events.send(done).await.ok();
}
