//! The errors of the Messages API: which status goes with which type, and the body they come in.

use super::Json;

/// An error as the API gives it: as a response of its own, or as the last event of a stream.
#[derive(Clone, Debug)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
}

impl ApiError {
    /// The error that this status stands for.
    pub(super) fn of_status(status: u16) -> Self {
        let known = KINDS.iter().find(|kind| kind.status == status);
        let (kind, message) = known.map_or(("api_error", "scripted error"), |kind| {
            (kind.name, kind.message)
        });
        Self {
            status,
            kind: kind.to_owned(),
            message: message.to_owned(),
        }
    }

    /// The error of this type; a type that is not known counts as a failure of the server.
    pub(super) fn of_kind(name: &str) -> Self {
        let known = KINDS.iter().find(|kind| kind.name == name);
        let (status, message) =
            known.map_or((500, "scripted error"), |kind| (kind.status, kind.message));
        Self {
            status,
            kind: name.to_owned(),
            message: message.to_owned(),
        }
    }

    pub(super) fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::of_status(400).with_message(message)
    }

    /// The body of a response.
    pub(super) fn body(&self, request_id: &str) -> Json {
        Json::object([
            ("type", "error".into()),
            ("error", self.what()),
            ("request_id", request_id.into()),
        ])
    }

    /// The event in a stream.
    pub(super) fn event(&self) -> Json {
        Json::object([("type", "error".into()), ("error", self.what())])
    }

    fn what(&self) -> Json {
        Json::object([
            ("type", self.kind.as_str().into()),
            ("message", self.message.as_str().into()),
        ])
    }
}

struct Kind {
    status: u16,
    name: &'static str,
    message: &'static str,
}

/// As the API's documentation lists them.
const KINDS: &[Kind] = &[
    Kind {
        status: 400,
        name: "invalid_request_error",
        message: "scripted invalid request",
    },
    Kind {
        status: 401,
        name: "authentication_error",
        message: "invalid x-api-key",
    },
    Kind {
        status: 402,
        name: "billing_error",
        message: "scripted billing problem",
    },
    Kind {
        status: 403,
        name: "permission_error",
        message: "scripted lack of permission",
    },
    Kind {
        status: 404,
        name: "not_found_error",
        message: "not found",
    },
    Kind {
        status: 413,
        name: "request_too_large",
        message: "request exceeds the maximum size",
    },
    Kind {
        status: 429,
        name: "rate_limit_error",
        message: "scripted rate limit",
    },
    Kind {
        status: 500,
        name: "api_error",
        message: "internal server error",
    },
    Kind {
        status: 504,
        name: "timeout_error",
        message: "scripted time-out",
    },
    Kind {
        status: 529,
        name: "overloaded_error",
        message: "Overloaded",
    },
];
