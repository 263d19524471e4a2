//! What the script sees of a request: a `POST /v1/messages` read once, as far as conditions and the echo need it.

use serde::Serialize;
use serde_json::Value;

use super::{Agent, api_error::ApiError, refusals};

/// One request to the model.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) model: String,
    pub(super) streams: bool,
    pub(super) prompt: Option<String>,
    pub(super) messages: usize,
    pub(super) tools: Vec<String>,
    /// The results that the last user message brings.
    pub(super) tool_results: Vec<ToolResult>,
    pub(super) agent: Agent,
    pub(super) side: Option<Side>,
    body: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolResult {
    pub(super) id: String,
    /// The tool that was called, if the request still has the call.
    pub(super) name: Option<String>,
}

/// A request that an agent makes for itself, beside the conversation.
///
/// They come when they like, so they must not use up the replies that a script has for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Asks for a title of the session: no tools, and an output schema of nothing but a title (CLI 2.1.325, in a
    /// terminal and after `generate_session_title`).
    Title,
    /// Asks what the person might type next (CLI 2.1.325, when the host wants prompt suggestions).
    Suggestion,
    /// Asks for at most one token, to see whether the key is good and what its limits are.
    Quota,
}

impl Seen {
    /// Reads a request. `subagent` says whether its headers name a subagent.
    pub(super) fn read(body: &[u8], subagent: bool) -> Result<Self, ApiError> {
        let body = json(body)?;
        let model = model(&body)?.to_owned();
        if !body["max_tokens"].is_u64() {
            return Err(ApiError::invalid_request("max_tokens: Field required"));
        }
        let messages = messages(&body)?;
        let prompt = users(messages).rev().find_map(said);
        Ok(Self {
            streams: body["stream"].as_bool() == Some(true),
            prompt,
            messages: messages.len(),
            tools: names(&body["tools"]),
            tool_results: tool_results(messages),
            agent: if subagent || has_subagent_mark(&body["system"]) {
                Agent::Subagent
            } else {
                Agent::Main
            },
            side: side(&body, messages),
            model,
            body,
        })
    }

    /// Says why the API would refuse it.
    pub(super) fn check(&self) -> Result<(), ApiError> {
        refusals::check(&self.body)
    }

    /// Whether any string of the request has these words.
    pub(super) fn contains(&self, words: &str) -> bool {
        has_string(&self.body, words)
    }

    /// For scripts that want to treat side requests like any other.
    pub(super) fn without_side(mut self) -> Self {
        self.side = None;
        self
    }
}

/// Checks a request that wants its tokens counted: what the model would not be asked is not counted either.
pub(super) fn check_countable(body: &[u8]) -> Result<(), ApiError> {
    let body = json(body)?;
    model(&body)?;
    messages(&body)?;
    refusals::check(&body)
}

fn json(body: &[u8]) -> Result<Value, ApiError> {
    let invalid = |what: &str| ApiError::invalid_request(what);
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| invalid(&format!("the request body is not valid JSON: {error}")))?;
    if body.is_object() {
        Ok(body)
    } else {
        Err(invalid("the request body must be a JSON object"))
    }
}

fn model(body: &Value) -> Result<&str, ApiError> {
    let model = body["model"].as_str();
    model.ok_or_else(|| ApiError::invalid_request("model: Field required"))
}

fn messages(body: &Value) -> Result<&[Value], ApiError> {
    let invalid = |what: &str| ApiError::invalid_request(what);
    let messages = body["messages"].as_array();
    let messages = messages.ok_or_else(|| invalid("messages: Field required"))?;
    if messages.is_empty() {
        return Err(invalid("messages: at least one message is required"));
    }
    for (index, message) in messages.iter().enumerate() {
        let field = |name: &str| invalid(&format!("messages.{index}.{name}: Field required"));
        message["role"].as_str().ok_or_else(|| field("role"))?;
        let content = &message["content"];
        if !content.is_string() && !content.is_array() {
            return Err(field("content"));
        }
    }
    Ok(messages)
}

/// The messages of the user; the CLI puts `system` ones behind and between them (2.1.325).
fn users(messages: &[Value]) -> impl DoubleEndedIterator<Item = &Value> {
    messages.iter().filter(|message| message["role"] == "user")
}

/// What a person said in this message, without what the CLI says to the model in the person's name.
fn said(message: &Value) -> Option<String> {
    if let Some(text) = message["content"].as_str() {
        return is_said(text).then(|| text.to_owned());
    }
    let texts: Vec<_> = texts(&message["content"])
        .filter(|text| is_said(text))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn is_said(text: &str) -> bool {
    !text.trim_start().starts_with("<system-reminder>")
}

fn texts(content: &Value) -> impl Iterator<Item = &str> {
    blocks(content, "text").filter_map(|block| block["text"].as_str())
}

fn blocks<'a>(content: &'a Value, kind: &str) -> impl Iterator<Item = &'a Value> {
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter(move |block| block["type"] == kind)
}

fn names(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().into_iter().flatten();
    let names = tools.filter_map(|tool| tool["name"].as_str());
    names.map(str::to_owned).collect()
}

fn tool_results(messages: &[Value]) -> Vec<ToolResult> {
    let Some(last) = users(messages).next_back() else {
        return Vec::new();
    };
    let called = |id: &str| {
        let calls = messages
            .iter()
            .flat_map(|message| blocks(&message["content"], "tool_use"));
        let call = calls.into_iter().find(|call| call["id"] == id)?;
        call["name"].as_str().map(str::to_owned)
    };
    let results = blocks(&last["content"], "tool_result");
    let ids = results.filter_map(|result| result["tool_use_id"].as_str());
    ids.map(|id| ToolResult {
        id: id.to_owned(),
        name: called(id),
    })
    .collect()
}

/// The CLI says in the first system text whether a subagent asks (2.1.325), beside the header.
fn has_subagent_mark(system: &Value) -> bool {
    texts(system).any(|text| text.contains("cc_is_subagent=true"))
}

fn side(body: &Value, messages: &[Value]) -> Option<Side> {
    let format = &body["output_config"]["format"];
    let schema = format["schema"]["properties"].as_object();
    let wants_title =
        schema.is_some_and(|fields| fields.len() == 1 && fields.contains_key("title"));
    if wants_title && names(&body["tools"]).is_empty() {
        return Some(Side::Title);
    }
    if body["max_tokens"].as_u64().is_some_and(|most| most <= 1) {
        return Some(Side::Quota);
    }
    let last = users(messages).next_back().and_then(said);
    let suggests = last.is_some_and(|text| text.starts_with("[SUGGESTION MODE"));
    suggests.then_some(Side::Suggestion)
}

fn has_string(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(list) => list.iter().any(|value| has_string(value, words)),
        Value::Object(table) => table.values().any(|value| has_string(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
