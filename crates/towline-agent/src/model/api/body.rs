//! The body of a request (pure). Messages go in as they stand in the history: their text is copied, never parsed, but for
//! the few at the end that get a mark for the prompt cache.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use towline_protocol::Json;

use super::super::{
    Request, Thinking, USUAL_DISPLAY,
    catalogue::{self, ThinkingKind},
    retry::Form,
};

/// The body, as JSON.
pub(super) fn write(request: &Request, form: Form) -> Bytes {
    let pieces = [&request.system, &request.messages, &request.tools];
    let size: usize = pieces
        .into_iter()
        .flatten()
        .map(|piece| piece.as_str().len() + 1)
        .sum();
    let mut body = Body(Vec::with_capacity(size + 1024));
    body.0.push(b'{');
    body.value("model", &request.model);
    body.value("max_tokens", &request.max_tokens.max(1));
    body.list("system", &marked_last(&request.system));
    body.list("messages", &marked_messages(&request.messages));
    body.list("tools", &marked_last(&request.tools));
    if let Some(thinking) = thinking(request, form) {
        body.value("thinking", &thinking);
    }
    if let Some(effort) = request.effort.as_ref().filter(|_| !form.plain) {
        body.value("output_config", &json!({"effort": effort}));
    }
    if !request.session_id.is_empty() {
        // The API wants one opaque string here, which the real CLI fills with JSON.
        let user = json!({"session_id": request.session_id}).to_string();
        body.value("metadata", &json!({"user_id": user}));
    }
    body.value("stream", &!form.whole);
    body.0.push(b'}');
    body.0.into()
}

/// The `anthropic-beta` header.
pub(super) fn betas(request: &Request, form: Form) -> String {
    let mut names = Vec::new();
    if !form.plain {
        names.extend(request.effort.as_ref().map(|_| EFFORT));
        names.extend(has_budget(request).then_some(INTERLEAVED_THINKING));
    }
    for name in &request.betas {
        let name = name.trim();
        let can_be_sent = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        if can_be_sent && !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(",")
}

/// Whether there is something in the request that an API may not know.
pub(super) fn can_be_plainer(request: &Request, form: Form) -> bool {
    !form.plain && (request.effort.is_some() || has_budget(request))
}

/// Models that think within a budget think between tool calls only if they are told to.
fn has_budget(request: &Request) -> bool {
    matches!(request.thinking, Thinking::Budget(_))
}

impl Request {
    /// The same for another model, as far as that one can do it.
    pub(crate) fn for_model(&self, model: &str) -> Self {
        let facts = catalogue::facts(model);
        let max_tokens = self.max_tokens.min(facts.max_output_tokens);
        let thinking = match (facts.thinking, self.thinking) {
            (ThinkingKind::Always, _) => Thinking::Adaptive,
            (ThinkingKind::Never, _) | (_, Thinking::Disabled) => Thinking::Disabled,
            (ThinkingKind::Adaptive, _) => Thinking::Adaptive,
            (ThinkingKind::Budget, Thinking::Budget(tokens)) => {
                Thinking::Budget(tokens.min(max_tokens.saturating_sub(1)))
            }
            (ThinkingKind::Budget, Thinking::Adaptive) => {
                Thinking::Budget(max_tokens.saturating_sub(1))
            }
        };
        let messages = if facts.generation.takes_system_messages() {
            self.messages.clone()
        } else {
            self.messages.iter().map(from_user).collect()
        };
        Self {
            model: model.to_owned(),
            messages,
            max_tokens,
            thinking,
            effort: facts
                .effort
                .map(|usual| self.effort.as_deref().unwrap_or(usual).to_owned()),
            ..self.clone()
        }
    }
}

/// A budget has a least size, and must leave room for an answer. What is shown of the thoughts is said to models that
/// think as they like, and to others if somebody asked for it (CLI 2.1.325).
fn thinking(request: &Request, form: Form) -> Option<serde_json::Value> {
    let asked = request.thinking_display.as_deref();
    let (mut thinking, display) = match request.thinking {
        Thinking::Adaptive => (
            json!({"type": "adaptive"}),
            Some(asked.unwrap_or(USUAL_DISPLAY)),
        ),
        Thinking::Disabled => (json!({"type": "disabled"}), None),
        Thinking::Budget(tokens) => {
            let tokens = tokens.min(request.max_tokens.saturating_sub(1));
            if tokens < LEAST_BUDGET {
                return None;
            }
            (json!({"type": "enabled", "budget_tokens": tokens}), asked)
        }
    };
    if let Some(display) = display.filter(|_| !form.plain) {
        thinking["display"] = display.into();
    }
    Some(thinking)
}

/// A message as it stands, looked at without a tree of it.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: &'a RawValue,
    #[serde(borrow)]
    content: &'a RawValue,
}

impl<'a> Message<'a> {
    fn read(message: &'a Json) -> Option<Self> {
        serde_json::from_str(message.as_str()).ok()
    }
}

/// The messages, the last block of the last two that are not the model's marked: the newest for the next call, the one
/// before so that this call finds what the last one left.
fn marked_messages(messages: &[Json]) -> Vec<Cow<'_, str>> {
    let mut texts: Vec<Cow<'_, str>> = messages
        .iter()
        .map(|message| message.as_str().into())
        .collect();
    let mut left = MARKED_MESSAGES;
    for (message, text) in messages.iter().zip(&mut texts).rev() {
        if left == 0 {
            break;
        }
        let Some(read) = Message::read(message) else {
            continue;
        };
        if read.role.get() == r#""assistant""# {
            continue;
        }
        left -= 1;
        if let Some(marked) = marked_content(message.as_str(), read.content) {
            *text = marked.into();
        }
    }
    texts
}

/// The message with a mark on the last block of its content. Nothing if there is no place for one.
fn marked_content(message: &str, content: &RawValue) -> Option<String> {
    let place = place_of(content.get(), message)?;
    if content.get().starts_with('"') {
        if content.get() == r#""""# {
            return None;
        }
        let block = format!(r#"[{{"type":"text","text":{},{MARK}}}]"#, content.get());
        return Some(spliced(message, place, &block));
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let last = blocks.last()?.get();
    let marked = marked(last)?;
    Some(spliced(message, place_of(last, message)?, &marked))
}

/// The blocks, the last one marked.
fn marked_last(blocks: &[Json]) -> Vec<Cow<'_, str>> {
    let mut texts: Vec<Cow<'_, str>> = blocks.iter().map(|block| block.as_str().into()).collect();
    if let (Some(text), Some(block)) = (texts.last_mut(), blocks.last())
        && let Some(marked) = marked(block.as_str())
    {
        *text = marked.into();
    }
    texts
}

/// The object with a mark. Nothing if it has one, or cannot have one: the API takes none on thinking and empty texts.
fn marked(block: &str) -> Option<String> {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(block).ok()?;
    let is = |field: &str, value: &str| fields.get(field).is_some_and(|raw| raw.get() == value);
    if fields.is_empty()
        || fields.contains_key("cache_control")
        || is("text", r#""""#)
        || is("type", r#""thinking""#)
        || is("type", r#""redacted_thinking""#)
    {
        return None;
    }
    let inside = block.trim_end().strip_suffix('}')?;
    Some(format!("{inside},{MARK}}}"))
}

/// The message as if the user had said it, where it is the system's.
fn from_user(message: &Json) -> Json {
    let told = || {
        let role = Message::read(message)?.role.get();
        let place = (role == r#""system""#).then(|| place_of(role, message.as_str()))??;
        Json::new(spliced(message.as_str(), place, r#""user""#)).ok()
    };
    told().unwrap_or_else(|| message.clone())
}

/// Where a part lies in the text that it was borrowed from.
fn place_of(part: &str, whole: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let place = start..start.checked_add(part.len())?;
    (whole.get(place.clone()) == Some(part)).then_some(place)
}

fn spliced(text: &str, place: Range<usize>, new: &str) -> String {
    [&text[..place.start], new, &text[place.end..]].concat()
}

/// An object while it is written.
struct Body(Vec<u8>);

impl Body {
    fn key(&mut self, key: &str) {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn value(&mut self, key: &str, value: &impl serde::Serialize) {
        self.key(key);
        serde_json::to_writer(&mut self.0, value)
            .expect("strings, numbers and trees have a JSON form, and memory takes all");
    }

    /// A list that is not empty; the API wants an empty one to be left out.
    fn list(&mut self, key: &str, items: &[Cow<'_, str>]) {
        if items.is_empty() {
            return;
        }
        self.key(key);
        for (index, item) in items.iter().enumerate() {
            self.0.push(if index == 0 { b'[' } else { b',' });
            self.0.extend_from_slice(item.as_bytes());
        }
        self.0.push(b']');
    }
}

const MARK: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// With the system prompt's and the tools' these are all the marks that the API takes.
const MARKED_MESSAGES: usize = 2;

/// The API takes no smaller one.
const LEAST_BUDGET: u64 = 1_024;

const EFFORT: &str = "effort-2025-11-24";
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";

#[cfg(test)]
mod tests;
