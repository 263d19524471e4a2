//! What the responder says and does next (pure).

use serde::Deserialize;
use serde_json::Value;
use towline_protocol::Json;

use super::{
    conversation::{Call, Conversation},
    script::{self, Step},
};

/// One answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// Its blocks. A call can only be the last one.
    pub(super) parts: Vec<Part>,
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Words.
    Text(String),
    /// Thoughts.
    Thinking(String),
    /// A tool call.
    Call {
        /// The tool.
        tool: &'static str,
        /// Its input.
        input: Value,
    },
}

impl Part {
    /// About how long it is.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Thinking(text) => text.len(),
            Self::Call { tool, input } => tool.len() + input.to_string().len(),
        }
    }
}

impl Reply {
    /// The answer to a conversation, with the tools that are offered.
    pub(super) fn to(conversation: &Conversation, tools: &[Json]) -> Self {
        let offered: Vec<String> = tools.iter().filter_map(name).collect();
        let steps = script::steps(&conversation.prompt, conversation.is_planning);
        let mut reply = Self::default();
        let mut words = Words::default();
        if conversation.is_new {
            words.add(INTRODUCTION);
        }
        if let Some(last) = conversation.calls.last() {
            words.add(&gave(last));
        }
        let mut done = conversation.calls.len();
        for step in steps {
            match step {
                Step::Call { verb, tools } => {
                    let known = tools
                        .iter()
                        .find(|(tool, _)| offered.iter().any(|name| name == tool));
                    match known {
                        Some(_) if done > 0 => done -= 1,
                        Some((tool, input)) => {
                            words.flush(&mut reply);
                            let input = input.clone();
                            reply.parts.push(Part::Call { tool, input });
                            return reply;
                        }
                        None if done > 0 => {}
                        None => words.add(&not_offered(verb, &tools)),
                    }
                }
                // What was said before a call is not said again behind it.
                _ if done > 0 => {}
                Step::Think(thought) => {
                    words.flush(&mut reply);
                    reply.parts.push(Part::Thinking(thought));
                }
                Step::Say(text) => words.add(&text),
                Step::Unknown => words.add(&script::guide()),
            }
        }
        words.flush(&mut reply);
        if reply.parts.is_empty() {
            reply.parts.push(Part::Text("Done.".to_owned()));
        }
        reply
    }

    /// Why the answer ends.
    pub(super) fn stop_reason(&self) -> &'static str {
        match self.parts.last() {
            Some(Part::Call { .. }) => "tool_use",
            _ => "end_turn",
        }
    }
}

/// Words that become one block.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, words: &str) {
        self.0.push(words.to_owned());
    }

    fn flush(&mut self, reply: &mut Reply) {
        let words = std::mem::take(&mut self.0);
        if !words.is_empty() {
            reply.parts.push(Part::Text(words.join("\n\n")));
        }
    }
}

/// What a call gave, in words.
fn gave(call: &Call) -> String {
    let tool = &call.tool;
    match (&call.result, call.is_error) {
        (None, _) => format!("{tool} gave no result."),
        (Some(result), true) => format!("{tool} failed: {}", shortened(result)),
        (Some(result), false) if result.trim().is_empty() => format!("{tool} gave nothing."),
        (Some(result), false) => format!("{tool} gave:\n{}", shortened(result)),
    }
}

fn not_offered(verb: &str, tools: &[(&str, Value)]) -> String {
    let names: Vec<_> = tools.iter().map(|(tool, _)| *tool).collect();
    format!(
        "I cannot {verb}: the tool {} is not offered here.",
        names.join(" or ")
    )
}

fn name(tool: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    tool.parse::<Named>().ok().map(|tool| tool.name)
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST_RESULT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n… (and more)", &text[..end]),
    }
}

const INTRODUCTION: &str = "I am Towline's offline responder: no model, no account. I do what simple words say, with the real tools.";

/// Characters of a result that are said again.
const LONGEST_RESULT: usize = 2_000;
