//! Why the API gave no answer: from a status and a body to an error with its name and its words (pure).
//!
//! Names and short forms are those that hosts know from CLI 2.1.325; longer advice is our own.

use serde_json::Value;

use super::ApiError;

impl ApiError {
    /// An error without an answer of the API.
    pub(crate) fn without_status(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: None,
            kind: None,
            name,
            code: None,
            message: message.into(),
            request_id: None,
        }
    }

    /// There is no key.
    pub(crate) fn not_logged_in() -> Self {
        Self::without_status(
            "authentication_failed",
            "Not logged in · Please run /login, set ANTHROPIC_API_KEY, or try --model offline, which needs no account",
        )
    }

    /// The connection could not be made, or broke.
    pub(crate) fn connection(what: &str, host: &str) -> Self {
        Self {
            code: Some("connection_failed"),
            ..Self::without_status(
                "server_error",
                format!(
                    "API Error: {what} ({host}). Check the network, the proxy and ANTHROPIC_BASE_URL"
                ),
            )
        }
    }

    /// The API answered, and nobody can read the answer.
    pub(crate) fn unreadable(what: &str) -> Self {
        Self::without_status("unknown", format!("API Error: {what}"))
    }

    /// The API answered with an error status.
    pub(crate) fn of_response(status: u16, body: &[u8], context: &Context<'_>) -> Self {
        let said = Said::read(body);
        let name = name(status, said.message.as_deref().unwrap_or_default());
        Self {
            status: Some(status),
            message: words(status, name, &said, context),
            kind: said.kind,
            name,
            code: None,
            request_id: context.request_id.map(str::to_owned).or(said.request_id),
        }
    }

    /// An `error` event in a stream.
    pub(crate) fn of_event(error: &Value) -> Self {
        let said = Said::of(error);
        let message = said.message.as_deref().unwrap_or("the stream broke off");
        Self {
            message: format!("API Error: {}", shortened(message)),
            kind: said.kind,
            ..Self::without_status("server_error", "")
        }
    }

    /// Whether the conversation is longer than the model can take.
    pub(crate) fn is_prompt_too_long(&self) -> bool {
        self.status == Some(400) && self.name == "invalid_request"
    }

    /// Whether a plainer request may help: not where the API says what else is wrong.
    pub(crate) fn is_about_features(&self) -> bool {
        self.name == UNKNOWN
    }

    /// What it is called while there is still hope: nearer to what happened than what it is called in the end.
    pub(crate) fn name_while_retrying(&self) -> &'static str {
        match self.status {
            None => UNKNOWN,
            Some(529) => "overloaded",
            Some(408 | 409) => "server_error",
            Some(_) => self.name,
        }
    }
}

/// What the words are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The model that was asked.
    pub(crate) model: &'a str,
    /// Where the API is.
    pub(crate) host: &'a str,
    /// The id of the request, from the headers.
    pub(crate) request_id: Option<&'a str>,
}

/// What the body of an error says.
#[derive(Debug, Default)]
struct Said {
    kind: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
}

impl Said {
    /// A body that is not the API's, such as a page of a proxy, says nothing.
    fn read(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        Self {
            request_id: body["request_id"].as_str().map(str::to_owned),
            ..Self::of(&body["error"])
        }
    }

    fn of(error: &Value) -> Self {
        Self {
            kind: error["type"].as_str().map(str::to_owned),
            message: error["message"].as_str().map(str::to_owned),
            request_id: None,
        }
    }
}

fn name(status: u16, message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    match status {
        400 if message.contains("credit balance is too low") => "billing_error",
        400 if message.contains("prompt is too long") => "invalid_request",
        401 | 403 => "authentication_failed",
        404 => "model_not_found",
        413 => "invalid_request",
        429 => "rate_limit",
        500.. => "server_error",
        _ => UNKNOWN,
    }
}

fn words(status: u16, name: &str, said: &Said, context: &Context<'_>) -> String {
    let message = said
        .message
        .as_deref()
        .map_or_else(|| "without a reason".to_owned(), shortened);
    let Context { model, host, .. } = context;
    match (status, name) {
        (_, "billing_error") => "Credit balance is too low".to_owned(),
        (400, "invalid_request") => {
            format!("Prompt is too long · {message}. Start a new session, or take out what is long")
        }
        (401, _) => "Invalid API key · Fix external API key".to_owned(),
        (403, _) => format!("Failed to authenticate. API Error: 403 {message}"),
        (404, _) => format!(
            "There's an issue with the selected model ({model}): {host} does not know it, or the key may not use it. \
             Choose another with --model"
        ),
        (413, _) => {
            format!("Request too large: {message}. Remove images, or compact the conversation")
        }
        (429, _) => format!("API Error: Request rejected (429) · {message}"),
        (500.., _) => format!(
            "API Error: {status} {message}. The trouble is at {host} and most often passes: try again in a moment"
        ),
        _ => format!("API Error: {status} {message}"),
    }
}

/// What a server says is not to be trusted with its length.
fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST) {
        None => message.to_owned(),
        Some((end, _)) => format!("{}…", &message[..end]),
    }
}

const UNKNOWN: &str = "unknown";

/// Characters of a message that are shown.
const LONGEST: usize = 2_000;

#[cfg(test)]
mod tests;
