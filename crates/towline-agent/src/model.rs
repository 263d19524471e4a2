//! The model: a request goes in, events come out. Only what is below here talks to the Messages API.
//!
//! A [`Model`] is the Messages API over HTTP, or the offline responder that needs no account. Both give the same events:
//! those of the API's own stream, and what happened around it.

mod api;
pub(crate) mod catalogue;
pub(crate) mod cost;
mod failure;
pub(crate) mod files;
mod offline;
mod retry;

use tokio::sync::mpsc::Sender;
use towline_protocol::{Json, StreamEvent, Text};

pub use catalogue::knows_model;

use crate::config::{ModelOptions, Provider};

/// Who answers.
#[derive(Debug)]
pub(crate) enum Model {
    /// The Messages API.
    Api(Box<api::Api>),
    /// The responder that needs no account.
    Offline(offline::Offline),
}

impl Model {
    /// Nothing is read or connected before the first call.
    pub(crate) fn new(provider: &Provider, options: &ModelOptions) -> Self {
        match provider {
            Provider::Api(api) => {
                let fallback = options.fallback.as_deref();
                let fallback = fallback.map(|name| catalogue::resolve(Some(name)).to_owned());
                Self::Api(Box::new(api::Api::new(api.clone(), fallback)))
            }
            Provider::Offline => Self::Offline(offline::Offline::default()),
        }
    }

    /// Calls the model. The events end with `Done` or `Failed`.
    ///
    /// Dropping the future, or the receiver, is the interrupt: it ends the request at once.
    pub(crate) async fn call(&self, request: Request, events: Sender<ModelEvent>) {
        let answer = async {
            match self {
                Self::Api(api) => api.call(request, &events).await,
                Self::Offline(offline) => offline.call(&request, &events).await,
            }
        };
        tokio::select! {
            biased;
            () = events.closed() => {}
            () = answer => {}
        }
    }
}

/// One call of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The model's full name.
    pub(crate) model: String,
    /// The system prompt, as blocks.
    pub(crate) system: Vec<Json>,
    /// The conversation so far, each message as it stands in the request. They share their bytes with the history.
    pub(crate) messages: Vec<Json>,
    /// The tools that are offered, as they stand in the request.
    pub(crate) tools: Vec<Json>,
    /// The most it may write.
    pub(crate) max_tokens: u64,
    /// How it thinks.
    pub(crate) thinking: Thinking,
    /// What is shown of that: `summarized`, `omitted`, …; nothing for what is usual.
    pub(crate) thinking_display: Option<String>,
    /// How hard it tries: `low`, `medium`, `high`, …
    pub(crate) effort: Option<String>,
    /// Beta features, as in `--betas`.
    pub(crate) betas: Vec<String>,
    /// The session, for the request's metadata.
    pub(crate) session_id: String,
}

/// What CLI 2.1.325 wants to be shown of thoughts: all of them, as they come.
pub(crate) const USUAL_DISPLAY: &str = "updates";

/// How the model thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// As much as it wants.
    #[default]
    Adaptive,
    /// At most so many tokens.
    Budget(u64),
    /// Not at all.
    Disabled,
}

/// What happens during a call, in this order: any number of `Retry`, `Fallback`, `Stream`; at the end one `Done` or
/// `Failed`.
#[derive(Clone, Debug)]
pub(crate) enum ModelEvent {
    /// A try failed, and there will be another. What was streamed before no longer counts.
    Retry(Retry),
    /// The model is overloaded, another one goes on. What was streamed before no longer counts.
    Fallback {
        /// The model that was asked for.
        from: String,
        /// The model that answers.
        to: String,
    },
    /// The stream was no use, and the answer came in one piece instead. What was streamed before no longer counts; the
    /// events that follow are made from the whole message.
    Whole,
    /// An event of the API's stream.
    Stream {
        /// What it says.
        event: Box<StreamEvent>,
    },
    /// An answer begins.
    Answering {
        /// The id of the API's request, from the answer's headers.
        request_id: Option<Text>,
    },
    /// The message is complete.
    Done {
        /// The id of the API's request, from the answer's headers.
        request_id: Option<Text>,
    },
    /// There will be no answer.
    Failed(ApiError),
}

/// A try that failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Retry {
    /// Which one, from 1.
    pub(crate) attempt: u64,
    /// How many there will be.
    pub(crate) max_retries: u64,
    /// How long until the next.
    pub(crate) delay_ms: u64,
    /// What went wrong.
    pub(crate) error: ApiError,
}

/// Why the API gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    /// The HTTP status; nothing where no answer came.
    pub(crate) status: Option<u16>,
    /// The API's name for it, such as `overloaded_error`.
    pub(crate) kind: Option<String>,
    /// What the protocol calls it: `authentication_failed`, `rate_limit`, `server_error`, …
    pub(crate) name: &'static str,
    /// The agent's own name for it (`api_error`), where it has one: `connection_failed`.
    pub(crate) code: Option<&'static str>,
    /// For a person: what happened and what to do.
    pub(crate) message: String,
    /// The id of the API's request, from the answer's headers.
    pub(crate) request_id: Option<String>,
}
