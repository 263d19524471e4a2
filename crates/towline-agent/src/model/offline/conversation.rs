//! What the conversation is about: the last prompt, and what has been done since (pure).

use towline_protocol::{Block, Content, Json, ModelMessage, Role, Wire};

/// The conversation, as far as it matters for what comes next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    /// What the person said last.
    pub(super) prompt: String,
    /// The tool calls since then.
    pub(super) calls: Vec<Call>,
    /// Whether nothing was answered before.
    pub(super) is_new: bool,
    /// Whether it was about a plan already when the person spoke.
    pub(super) is_planning: bool,
    /// Whether it is now.
    notes_plan: bool,
}

/// A tool call, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The tool.
    pub(super) tool: String,
    /// What it gave; nothing if that is not known.
    pub(super) result: Option<String>,
    /// Whether it failed.
    pub(super) is_error: bool,
}

impl Conversation {
    /// What cannot be read is passed over.
    pub(super) fn read(messages: &[Json]) -> Self {
        let mut found = Self {
            is_new: true,
            ..Self::default()
        };
        let mut ids: Vec<String> = Vec::new();
        for message in messages {
            let Ok(message) = ModelMessage::from_json(message.text().clone()) else {
                continue;
            };
            let content = message.content.into_option();
            let content = content.unwrap_or_else(|| Content::from(""));
            match message.role {
                Some(Role::Assistant) => {
                    found.is_new = false;
                    for block in content.blocks() {
                        if let Block::ToolUse(call) = block {
                            ids.push(call.id.to_string());
                            found.calls.push(Call {
                                tool: call.name.to_string(),
                                result: None,
                                is_error: false,
                            });
                        }
                    }
                }
                Some(Role::User) => {
                    found.take_results(&content, &ids);
                    let (prompt, notes) = said(&content);
                    if !prompt.is_empty() {
                        found.prompt = prompt;
                        found.is_planning = found.notes_plan;
                        found.calls.clear();
                        ids.clear();
                    }
                    found.take_notes(&notes);
                }
                _ => found.take_notes(&content.text()),
            }
        }
        found
    }

    fn take_results(&mut self, content: &Content, ids: &[String]) {
        for block in content.blocks() {
            let Block::ToolResult(result) = block else {
                continue;
            };
            let place = ids
                .iter()
                .position(|id| *id == *result.tool_use_id.as_str());
            if let Some(call) = place.and_then(|place| self.calls.get_mut(place)) {
                let content = result.content.as_option();
                call.result = Some(
                    content
                        .map(|content| content.text().to_string())
                        .unwrap_or_default(),
                );
                call.is_error = result.is_error.as_option().copied().unwrap_or(false);
            }
        }
    }

    /// Notes of the agent say when planning begins and ends, once each. Those that come after a call count for the next
    /// prompt alone: they would change the steps in the middle.
    fn take_notes(&mut self, notes: &str) {
        let notes = notes.to_lowercase();
        if notes.contains("plan mode is on") {
            self.notes_plan = true;
        } else if notes.contains("planning is over") {
            self.notes_plan = false;
        }
        if self.calls.is_empty() {
            self.is_planning = self.notes_plan;
        }
    }
}

/// What the person said, and what the agent put beside it.
fn said(content: &Content) -> (String, String) {
    let mut prompt = Vec::new();
    let mut notes = String::new();
    let mut sort = |text: &str| {
        let text = text.trim();
        if text.starts_with("<system-reminder>") || text.starts_with("[Request interrupted") {
            notes.push_str(text);
        } else if !text.is_empty() {
            prompt.push(text.to_owned());
        }
    };
    match content {
        Content::Text(text) => sort(text),
        Content::Object(_) => {}
        Content::Blocks(blocks) => {
            for block in blocks {
                if let Block::Text(block) = block {
                    sort(&block.text);
                }
            }
        }
    }
    (prompt.join("\n"), notes)
}
