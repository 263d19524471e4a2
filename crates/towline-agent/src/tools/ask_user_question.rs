//! `AskUserQuestion`: the person chooses. The answers come with the answer to the permission question: by the time this
//! runs they stand in the input, and all that is left is to read them.
//!
//! Every form that a document or the real CLI knows is understood: keyed by the question's text, its header or its
//! index, as a string, as labels with commas, or as a list. The real CLI understands the text alone (traces
//! `control-04_*`) and says that nobody answered otherwise; that is no help to anyone.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Outcome, Place, Tool};

/// Asks the person.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Input")]
pub(crate) struct AskUserQuestion(Input);

/// As it stands on the wire.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// One to four questions.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Question>,
    /// What was answered; filled in by whoever asked.
    #[serde(default)]
    answers: Option<Map<String, Value>>,
    /// What was noted beside the answers.
    #[serde(default)]
    annotations: Option<Map<String, Value>>,
    /// What was said instead of an answer.
    #[serde(default)]
    response: Option<String>,
}

/// A question.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Question {
    /// The question.
    question: String,
    /// A word or two that stand for it, at most 12 characters.
    #[serde(default)]
    header: String,
    /// Two to four choices. "Other" is always there and need not be given.
    #[schemars(length(min = 2, max = 4))]
    options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(default, rename = "multiSelect")]
    multi_select: bool,
}

/// A choice.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Choice {
    /// One to five words.
    label: String,
    /// What it means.
    #[serde(default)]
    description: String,
    /// What is shown beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    /// The same for a terminal (document 004); nobody else is shown it.
    #[serde(default, skip_serializing)]
    #[expect(dead_code, reason = "taken, so that the question is one, and left out")]
    markdown: Option<String>,
}

impl Tool for AskUserQuestion {
    const NAME: &'static str = "AskUserQuestion";
    const DESCRIPTION: &'static str = "Asks the person one to four questions with two to four choices each, where the \
decision is theirs and cannot be found out otherwise. They can always answer in their own words instead. If you \
recommend a choice, put it first.";

    async fn run(self, _place: &Place) -> Outcome {
        let Self(input) = self;
        let text = input.text();
        let mut data = json!({
            "questions": input.questions,
            "answers": input.answers.unwrap_or_default(),
        });
        if let Some(annotations) = input.annotations {
            data["annotations"] = Value::Object(annotations);
        }
        if let Some(response) = input.response {
            data["response"] = Value::String(response);
        }
        Outcome::new(text.as_str(), data)
    }
}

/// What `can_use_tool` shows of a call: only what a question has. The `markdown` of an option is for a terminal alone; its
/// `preview` is for everyone (trace `control-04_ask_option_preview`). An input that cannot be read is shown as it is.
pub(crate) fn input_for_question(input: &Value) -> Value {
    let mut shown = input.clone();
    let questions = shown.get_mut("questions").and_then(Value::as_array_mut);
    for question in questions.into_iter().flatten() {
        let options = question.get_mut("options").and_then(Value::as_array_mut);
        for option in options
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            option.remove("markdown");
        }
    }
    shown
}

/// The input that an answer to the permission question means: what the host changed, over what was asked. A host may send
/// the answers alone (document 000).
pub(crate) fn input_with_answers(asked: &Value, updated: Value) -> Value {
    let Value::Object(mut updated) = updated else {
        return asked.clone();
    };
    if !updated.contains_key("questions")
        && let Some(questions) = asked.get("questions")
    {
        updated.insert("questions".to_owned(), questions.clone());
    }
    Value::Object(updated)
}

impl TryFrom<Input> for AskUserQuestion {
    type Error = String;

    fn try_from(input: Input) -> Result<Self, String> {
        let count = input.questions.len();
        if !(1..=4).contains(&count) {
            return Err(format!(
                "there are {count} questions, and there may be 1 to 4"
            ));
        }
        for question in &input.questions {
            let text = &question.question;
            let count = question.options.len();
            if text.trim().is_empty() {
                return Err("a question has no words".to_owned());
            }
            if !(2..=4).contains(&count) {
                return Err(format!(
                    "the question {text:?} has {count} options, and there may be 2 to 4; nobody was asked"
                ));
            }
            let same = |other: &&Question| other.question == *text;
            if input.questions.iter().filter(same).count() > 1 {
                return Err(format!("the question {text:?} is asked twice"));
            }
        }
        Ok(Self(input))
    }
}

impl Input {
    /// What the model reads.
    fn text(&self) -> String {
        let mut answers = Vec::new();
        let mut is_plain = true;
        for (index, question) in self.questions.iter().enumerate() {
            let Some(answer) = self.answer(index, question) else {
                continue;
            };
            let note = self.note(index, question);
            is_plain &= note.is_empty() && question.offers(&answer);
            answers.push(format!("\"{}\"=\"{answer}\"{note}", question.question));
        }
        let response = self.response.as_deref().unwrap_or_default().trim();
        match (answers.is_empty(), response) {
            (true, "") => "The user did not answer the questions.".to_owned(),
            (true, response) => format!("The user responded: {response}"),
            (false, "") if is_plain => format!(
                "Your questions have been answered: {}. You can now continue with these answers in mind.",
                answers.join(", ")
            ),
            (false, "") => format!("The user answered: {}. {CAREFULLY}", answers.join(", ")),
            (false, response) => format!(
                "The user answered: {}. The user added: {response}\n{CAREFULLY}",
                answers.join(", ")
            ),
        }
    }

    fn answer(&self, index: usize, question: &Question) -> Option<String> {
        let value = question.find(index, self.answers.as_ref()?)?;
        let text = words(value)?;
        (!text.trim().is_empty()).then_some(text)
    }

    /// What was noted beside an answer.
    fn note(&self, index: usize, question: &Question) -> String {
        let annotations = self.annotations.as_ref();
        let note = annotations.and_then(|annotations| question.find(index, annotations));
        let part = |name: &str| {
            let text = note?.get(name)?.as_str()?;
            (!text.is_empty()).then_some(text)
        };
        let mut text = String::new();
        if let Some(preview) = part("preview") {
            text.push_str(&format!(" selected preview:\n{preview}"));
        }
        if let Some(notes) = part("notes") {
            text.push_str(&format!(" notes: {notes}"));
        }
        text
    }
}

impl Question {
    /// What stands under the question's text, else its index, else its header.
    fn find<'a>(&self, index: usize, values: &'a Map<String, Value>) -> Option<&'a Value> {
        let by_header = || values.get(&self.header).filter(|_| !self.header.is_empty());
        values
            .get(&self.question)
            .or_else(|| values.get(&index.to_string()))
            .or_else(by_header)
    }

    /// Whether an answer is made of labels alone.
    fn offers(&self, answer: &str) -> bool {
        let is_label = |text: &str| {
            self.options
                .iter()
                .any(|option| option.label == text.trim())
        };
        is_label(answer) || (self.multi_select && answer.split(',').all(is_label))
    }
}

/// An answer as text; a list as the real CLI joins one.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Array(values) => {
            let words: Vec<_> = values.iter().filter_map(words).collect();
            Some(words.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// An answer in the person's own words may be more than an answer.
const CAREFULLY: &str =
    "Read the answers carefully: they may ask for something else, or for a halt.";
