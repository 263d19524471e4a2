//! What tools ask the model beside the conversation: what a page says, what the web knows.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::mpsc;
use towline_protocol::{
    Block, Draft, Json, Nullable, RequestId, StreamEvent, Text, Ticket, Usage,
    control::answer::SideQuestionAnswer,
};

use super::{
    Engine,
    control::{plain, value},
};
use crate::{
    Provider,
    history::prompt_blocks,
    model::{Model, ModelEvent, Request, Thinking, cost::merge},
    tools::{SearchAnswer, SearchPart, SearchQuery, SideCall},
};

/// The most that is written in answer to a side call.
const MAX_TOKENS: u64 = 8_192;
/// Follows a question that is asked beside the conversation.
const BESIDE: &str = "(This question stands beside the conversation. Answer it at once and in words, from what you know by \
    now; call no tool, and leave what you are working on as it is.)";
/// How often the API may search for one call.
const MAX_SEARCHES: u64 = 8;

/// What side calls took, until the session counts it: they end in the middle of tools.
#[derive(Clone, Debug, Default)]
pub(super) struct SideUsage(Arc<Mutex<Vec<(String, Usage)>>>);

impl SideUsage {
    fn note(&self, model: String, usage: Usage) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.push((model, usage));
    }

    fn take(&self) -> Vec<(String, Usage)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine {
    /// Counts what side calls took.
    pub(super) fn count_side_calls(&mut self) {
        for (model, usage) in self.side_usage.take() {
            self.session.costs.add(&model, &usage);
        }
    }

    /// How a tool asks the model something.
    pub(super) fn side_question(&self) -> SideCall<String, String> {
        let (model, request) = (Arc::clone(&self.model), self.side_request());
        let spent = self.side_usage.clone();
        SideCall::new(move |prompt: String| {
            let (model, spent) = (Arc::clone(&model), spent.clone());
            let request = with_prompt(request.clone(), &prompt);
            async move {
                let blocks = answer(&model, request, &spent).await?;
                Ok(words(&blocks))
            }
        })
    }

    /// Answers a question of the host from the conversation, which does not hear of it.
    pub(super) fn answer_beside(&mut self, ticket: Ticket, id: Option<RequestId>, question: &str) {
        let line = self.lines().request_started(id);
        self.send(line);
        let mut history = self.session.history.answered();
        let question = format!("{question}\n\n{BESIDE}");
        history.push_user(prompt_blocks(Some(&question.as_str().into())));
        let request = Request {
            messages: history.messages(),
            // The conversation may have calls in it, which the API takes only with the tools they are for.
            ..self.request()
        };
        let (model, spent) = (Arc::clone(&self.model), self.side_usage.clone());
        self.errands.send(ticket, async move {
            let blocks = answer(&model, request, &spent).await.map_err(plain)?;
            let words = words(&blocks);
            let is_mute = words.is_empty();
            value(&SideQuestionAnswer {
                response: Nullable::Value(if is_mute {
                    Text::from_static("(the model answered without words)")
                } else {
                    words.into()
                }),
                synthetic: Some(is_mute),
                ..SideQuestionAnswer::default()
            })
        });
    }

    /// How a tool has the API search the web; the offline responder cannot.
    pub(super) fn side_search(&self) -> Option<SideCall<SearchQuery, SearchAnswer>> {
        if matches!(self.config.provider, Provider::Offline) {
            return None;
        }
        let (model, request) = (Arc::clone(&self.model), self.side_request());
        let spent = self.side_usage.clone();
        Some(SideCall::new(move |query: SearchQuery| {
            let (model, spent) = (Arc::clone(&model), spent.clone());
            let mut request = with_prompt(
                request.clone(),
                &format!("Search the web for: {}", query.query),
            );
            request.tools = search_tool(&query).into_iter().collect();
            async move { Ok(found(&answer(&model, request, &spent).await?)) }
        }))
    }

    fn side_request(&self) -> Request {
        Request {
            model: self.session.model.clone(),
            max_tokens: MAX_TOKENS,
            thinking: Thinking::Disabled,
            session_id: self.session.id.to_string(),
            ..Request::default()
        }
    }
}

fn with_prompt(request: Request, prompt: &str) -> Request {
    let blocks = prompt_blocks(Some(&prompt.into()));
    let mut history = crate::history::History::default();
    history.push_user(blocks);
    Request {
        messages: history.messages(),
        ..request
    }
}

fn search_tool(query: &SearchQuery) -> Option<Json> {
    let mut tool =
        json!({"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES});
    for (key, domains) in [
        ("allowed_domains", &query.allowed_domains),
        ("blocked_domains", &query.blocked_domains),
    ] {
        if !domains.is_empty() {
            tool[key] = json!(domains);
        }
    }
    Json::of(&tool).ok()
}

/// Calls the model and waits for the whole answer.
async fn answer(model: &Model, request: Request, spent: &SideUsage) -> Result<Vec<Block>, String> {
    let (sender, mut events) = mpsc::channel(64);
    let mut name = request.model.clone();
    let call = model.call(request, sender);
    let read = async {
        let mut draft = Draft::default();
        let mut usage = Usage::default();
        while let Some(event) = events.recv().await {
            match event {
                ModelEvent::Stream { event, .. } => {
                    match &*event {
                        StreamEvent::MessageStart(start) => {
                            draft = Draft::default();
                            usage = start.message.usage.as_option().cloned().unwrap_or_default();
                        }
                        StreamEvent::MessageDelta(delta) => {
                            if let Some(more) = delta.usage.as_option() {
                                merge(&mut usage, more);
                            }
                        }
                        _ => {}
                    }
                    draft.handle(&event);
                }
                ModelEvent::Fallback { to, .. } => name = to,
                ModelEvent::Failed(error) => return Err(error.message),
                _ => {}
            }
        }
        spent.note(name, usage);
        Ok(draft
            .blocks()
            .iter()
            .map(towline_protocol::DraftBlock::built)
            .collect())
    };
    let ((), answer) = tokio::join!(call, read);
    answer
}

/// What was said in words.
fn words(blocks: &[Block]) -> String {
    let words = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

/// What the API's own search gave.
fn found(blocks: &[Block]) -> SearchAnswer {
    let mut answer = SearchAnswer::default();
    for block in blocks {
        match block {
            Block::Text(text) => answer.parts.push(SearchPart::Text(text.text.to_string())),
            Block::WebSearchToolResult(result) => {
                answer.searches += 1;
                answer.parts.push(match links(block) {
                    Ok(links) => SearchPart::Links {
                        tool_use_id: result.tool_use_id.to_string(),
                        links,
                    },
                    Err(code) => SearchPart::Text(format!("Web search error: {code}")),
                });
            }
            _ => {}
        }
    }
    answer
}

/// Title and address of each result, or the code of what went wrong.
fn links(block: &Block) -> Result<Vec<(String, String)>, String> {
    let json = towline_protocol::Wire::to_json(block);
    let value: serde_json::Value = json.parse().unwrap_or_default();
    let content = &value["content"];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let Some(results) = content.as_array() else {
        let code = content["error_code"].as_str();
        return Err(code.unwrap_or("the result cannot be read").to_owned());
    };
    let results = results.iter();
    Ok(results
        .filter(|result| result["url"].is_string())
        .map(|result| (text(&result["title"]), text(&result["url"])))
        .collect())
}
