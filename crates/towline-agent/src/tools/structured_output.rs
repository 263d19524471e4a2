//! `StructuredOutput`: the answer itself, as JSON of a form that the host gives (`--json-schema`, `initialize.jsonSchema`).
//!
//! It is no tool like the others: its input is the host's schema, and a good call ends the turn.

use std::{fmt, sync::Arc};

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{Change, Outcome};

/// The name of the tool.
pub(crate) const NAME: &str = "StructuredOutput";

/// What the answer must look like: a JSON Schema that was found right.
///
/// ```
/// use serde_json::json;
/// use towline_agent::AnswerForm;
///
/// let form = AnswerForm::new(json!({"type": "object", "required": ["n"]}))?;
/// assert_eq!(form.schema()["required"], json!(["n"]));
///
/// let wrong = AnswerForm::new(json!({"type": "banana"})).unwrap_err();
/// assert!(wrong.to_string().contains("banana"));
/// # Ok::<(), towline_agent::BadSchema>(())
/// ```
#[derive(Clone)]
pub struct AnswerForm {
    schema: Arc<Value>,
    validator: Arc<Validator>,
}

/// Why something is no JSON Schema, or none that can be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSchema(String);

impl AnswerForm {
    /// The form that a schema asks for. A reference to anything outside the schema is not followed.
    ///
    /// # Errors
    /// When it is no JSON Schema, or refers to something that is not in it.
    pub fn new(schema: Value) -> Result<Self, BadSchema> {
        if !schema.is_object() {
            return Err(BadSchema("an object is expected".to_owned()));
        }
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            let at = error.instance_path().to_string();
            BadSchema(match at.as_str() {
                "" => error.to_string(),
                at => format!("{at}: {error}"),
            })
        })?;
        Ok(Self {
            schema: Arc::new(schema),
            validator: Arc::new(validator),
        })
    }

    /// The schema, as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// What the tool is for, to the model.
    pub(crate) const DESCRIPTION: &str = "Gives the final answer, as data of the form that was asked for. Call it exactly \
        once, at the end, with the whole answer; words beside it are not read.";

    /// Takes the model's answer. A good one ends the turn.
    pub(crate) fn take(&self, answer: &Value) -> Outcome {
        let mut wrong = self.validator.iter_errors(answer).peekable();
        if wrong.peek().is_some() {
            let wrong: Vec<String> = wrong
                .take(MOST_ERRORS)
                .map(|error| in_words(&error))
                .collect();
            let wrong = wrong.join(", ");
            return Outcome::error(format!("Output does not match required schema: {wrong}"));
        }
        Outcome {
            changes: vec![Change::Answer(Box::new(answer.clone()))],
            ..Outcome::new(TAKEN, Value::from(TAKEN))
        }
    }
}

impl fmt::Debug for AnswerForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerForm").field(&self.schema).finish()
    }
}

impl PartialEq for AnswerForm {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

/// What is wrong and where, in the words of CLI 2.1.325 where it has them: models were taught with those.
fn in_words(error: &ValidationError<'_>) -> String {
    let words = match error.kind() {
        ValidationErrorKind::Type {
            kind: TypeKind::Single(kind),
        } => format!("must be {kind}"),
        ValidationErrorKind::Type {
            kind: TypeKind::Multiple(kinds),
        } => {
            let kinds: Vec<String> = kinds
                .iter()
                .map(|kind: JsonType| kind.to_string())
                .collect();
            format!("must be {}", kinds.join(","))
        }
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            format!("must have required property '{property}'")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => format!(
            "must NOT have additional properties ({})",
            unexpected.join(", ")
        ),
        ValidationErrorKind::Enum { options } => {
            format!("must be equal to one of the allowed values: {options}")
        }
        _ => error.to_string(),
    };
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "root" } else { &place };
    let words: String = words.chars().take(LONGEST).collect();
    format!("{place}: {words}")
}

const TAKEN: &str = "Structured output provided successfully";
/// An answer can be wrong everywhere; the first few say enough.
const MOST_ERRORS: usize = 20;
/// An error may quote the whole answer.
const LONGEST: usize = 500;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What the model reads of an answer of this form.
    fn check(schema: Value, answer: Value) -> String {
        let outcome = AnswerForm::new(schema).unwrap().take(&answer);
        let taken = outcome.changes == [Change::Answer(Box::new(answer))];
        assert_eq!(taken, outcome.is_error.is_none(), "{outcome:?}");
        outcome.content.text().to_string()
    }

    #[test]
    fn an_answer_of_the_form_is_taken_and_any_other_is_told_what_is_wrong() {
        let form = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "of": {"type": ["string", "null"]}, "c": {"enum": ["a", "b"]}},
            "required": ["n"],
            "additionalProperties": false,
        });
        for (answer, expected) in [
            (json!({"n": 5}), TAKEN),
            (json!({"n": 5, "of": null, "c": "a"}), TAKEN),
            (
                json!({"n": "x"}),
                "Output does not match required schema: /n: must be integer",
            ),
            (
                json!({}),
                "Output does not match required schema: root: must have required property 'n'",
            ),
            (
                json!({"n": 1, "m": 2}),
                "Output does not match required schema: root: must NOT have additional properties (m)",
            ),
            (
                json!({"n": 1, "c": "z"}),
                "Output does not match required schema: /c: must be equal to one of the allowed values: [\"a\",\"b\"]",
            ),
            (
                json!(null),
                "Output does not match required schema: root: must be object",
            ),
        ] {
            assert_eq!(check(form.clone(), answer.clone()), expected, "{answer}");
        }
        assert_eq!(check(json!({}), json!({"anything": 1})), TAKEN);
        let of = check(form, json!({"n": 1, "of": 2}));
        assert!(
            of.starts_with("Output does not match required schema: /of: must be "),
            "{of}"
        );
    }

    #[test]
    fn an_answer_that_is_wrong_everywhere_is_told_in_few_words() {
        let form = json!({"items": {"type": "integer"}});
        let answer: Value = (0..10_000)
            .map(|_| Value::from("long ".repeat(200)))
            .collect();
        assert!(check(form, answer).len() < MOST_ERRORS * (LONGEST + 50));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (schema, words) in [
            (json!([]), "an object is expected"),
            (json!(true), "an object is expected"),
            (json!({"type": "banana"}), "banana"),
            (json!({"properties": 5}), "/properties"),
            (json!({"$ref": "#/nope"}), "nope"),
            // Nothing is ever fetched.
            (
                json!({"$ref": "http://127.0.0.1:9/schema.json"}),
                "127.0.0.1",
            ),
            (json!({"$ref": "file:///etc/hostname"}), "hostname"),
        ] {
            let error = AnswerForm::new(schema.clone()).unwrap_err().to_string();
            assert!(error.contains(words), "{schema}: {error}");
        }
    }
}
