//! [`Questions`]: what was asked under which id, so that an answer can be shown with its question. Pure and bounded.

use std::collections::{HashMap, VecDeque};

use towline_protocol::{ControlRequest, ToAgent, ToHost};

use super::super::{
    message::Message,
    row::{Reading, Row},
};

/// The latest questions of a trace, by id.
#[derive(Default)]
pub(crate) struct Questions {
    subtypes: HashMap<String, String>,
    /// The oldest first, to be forgotten first.
    order: VecDeque<String>,
}

impl Questions {
    /// Remembers the question, if the row is one.
    pub(crate) fn learn(&mut self, row: &Row) {
        let Reading::Message { message, .. } = &row.reading else {
            return;
        };
        if let Message::ToHost(ToHost::ControlRequest(request) | ToHost::CallbackRequest(request))
        | Message::ToAgent(ToAgent::ControlRequest(request)) = message
        {
            self.remember(request);
        }
    }

    /// What was asked under an id.
    pub(crate) fn subtype(&self, id: &str) -> Option<&str> {
        self.subtypes.get(id).map(String::as_str)
    }

    fn remember(&mut self, request: &ControlRequest) {
        let Some(id) = request.request_id.as_ref().map(ToString::to_string) else {
            return;
        };
        let subtype = request.request.kind();
        if id.len() + subtype.len() > LONGEST {
            return;
        }
        let known = self.subtypes.insert(id.clone(), subtype.to_owned());
        if known.is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.subtypes.remove(&oldest);
        }
    }
}

const MOST: usize = 1000;
/// An id or subtype may be as long as a line; no sane one is.
const LONGEST: usize = 300;
