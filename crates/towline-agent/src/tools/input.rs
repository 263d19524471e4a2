//! Inputs of calls: the schema that is offered to the model, and the check against it before a call is read.
//!
//! Every issue is listed, in the words and in the data that hosts know from the real CLI (2.1.325): one line each for
//! the model, a list of objects for `tool_use_result`.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::{Outcome, Tool};

/// The schema of a tool's input: plain, with everything in place, and closed.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    simplify(&mut schema);
    schema
}

/// Checks an input and gives it back as it is meant: numbers and booleans that came as strings are such, and what the
/// tool assumes is filled in.
pub(super) fn normalised<T: Tool>(input: &Value) -> Result<Value, Outcome> {
    let mut input = input.clone();
    let mut issues = Vec::new();
    visit(&schema::<T>(), &mut input, &[], &mut issues);
    if issues.is_empty() {
        T::normalise(&mut input);
        Ok(input)
    } else {
        Err(refusal(T::NAME, issues))
    }
}

/// Reads an input.
pub(super) fn read<T: Tool>(input: &Value) -> Result<T, Outcome> {
    let input = normalised::<T>(input)?;
    // What a schema does not say, such as a number that is too large.
    T::deserialize(&input).map_err(|error| {
        let text = format!(
            "InputValidationError: {} failed due to the following issue:\n{error}",
            T::NAME
        );
        Outcome {
            data: Box::new(Value::String(text.clone())),
            ..Outcome::misuse(text)
        }
    })
}

/// Takes out what only a generator of code needs, and what an absent field needs no word for.
fn simplify(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    for noise in ["$schema", "title", "format"] {
        fields.remove(noise);
    }
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            fields.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    simplify_choice(fields);
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(simplify);
        fields.insert("additionalProperties".into(), Value::Bool(false));
    }
    if let Some(items) = fields.get_mut("items") {
        simplify(items);
    }
}

/// A choice of words is an `enum`; a choice between something and nothing is that something.
fn simplify_choice(fields: &mut Map<String, Value>) {
    for name in ["anyOf", "oneOf"] {
        let Some(Value::Array(mut choices)) = fields.remove(name) else {
            continue;
        };
        choices.retain(|choice| choice["type"] != "null");
        choices.iter_mut().for_each(simplify);
        let words: Vec<Value> = choices
            .iter()
            .filter_map(|choice| choice.get("const").cloned())
            .collect();
        if words.len() == choices.len() {
            fields.insert("type".into(), "string".into());
            fields.insert("enum".into(), Value::Array(words));
        } else if let [Value::Object(only)] = choices.as_mut_slice() {
            for (key, value) in std::mem::take(only) {
                fields.entry(key).or_insert(value);
            }
        } else {
            fields.insert(name.into(), Value::Array(choices));
        }
    }
}

/// What is wrong with an input, as it stands in the data.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Issue {
    Type {
        expected: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<&'static str>,
        code: &'static str,
        path: Vec<Value>,
        message: String,
        #[serde(skip)]
        received: &'static str,
    },
    Choice {
        code: &'static str,
        values: Vec<Value>,
        path: Vec<Value>,
        message: String,
    },
    Unexpected {
        code: &'static str,
        keys: Vec<String>,
        path: Vec<Value>,
        message: String,
    },
}

fn visit(schema: &Value, value: &mut Value, path: &[Value], issues: &mut Vec<Issue>) {
    if let Some(choices) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        return visit_choice(choices, value, path, issues);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        if !values.contains(value) {
            issues.push(wrong_choice(values, path));
        }
        return;
    }
    let Some(expected) = schema.get("type").and_then(Value::as_str) else {
        return;
    };
    convert(expected, value);
    match (expected, &mut *value) {
        ("object", Value::Object(fields)) => visit_fields(schema, fields, path, issues),
        ("array", Value::Array(items)) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter_mut().enumerate() {
                    visit(schema, item, &below(path, index), issues);
                }
            }
        }
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_)) => {}
        ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => {}
        ("integer", Value::Number(_)) => issues.push(wrong_type("int", "number", path)),
        ("integer", other) => issues.push(wrong_type("number", kind_of(other), path)),
        (_, other) => issues.push(wrong_type(expected, kind_of(other), path)),
    }
}

fn visit_fields(
    schema: &Value,
    fields: &mut Map<String, Value>,
    path: &[Value],
    issues: &mut Vec<Issue>,
) {
    let empty = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&empty);
    let required: Vec<&str> = match &schema["required"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let optional = known.keys().map(String::as_str);
    let optional = optional.filter(|name| !required.contains(name));
    for name in required.iter().copied().chain(optional) {
        let (Some(schema), path) = (known.get(name), below(path, name)) else {
            continue;
        };
        match fields.get_mut(name) {
            Some(value) => visit(schema, value, &path, issues),
            None if required.contains(&name) => {
                let expected = schema["type"].as_str().unwrap_or("object");
                let expected = if expected == "integer" {
                    "number"
                } else {
                    expected
                };
                issues.push(wrong_type(expected, MISSING, &path));
            }
            None => {}
        }
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        let unknown = fields.keys().filter(|name| !known.contains_key(*name));
        let keys: Vec<String> = unknown.cloned().collect();
        if !keys.is_empty() {
            let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
            let plural = if keys.len() == 1 { "" } else { "s" };
            issues.push(Issue::Unexpected {
                code: "unrecognized_keys",
                keys,
                path: path.to_vec(),
                message: format!("Unrecognized key{plural}: {}", quoted.join(", ")),
            });
        }
    }
}

/// The first choice that fits; where none does, what is wrong with the first.
fn visit_choice(choices: &Value, value: &mut Value, path: &[Value], issues: &mut Vec<Issue>) {
    let mut first = None;
    for choice in choices.as_array().into_iter().flatten() {
        let (mut tried, mut found) = (value.clone(), Vec::new());
        visit(choice, &mut tried, path, &mut found);
        if found.is_empty() {
            *value = tried;
            return;
        }
        first.get_or_insert(found);
    }
    issues.extend(first.unwrap_or_default());
}

/// Models write `"5"` for `5` and `"true"` for `true`; the real CLI takes both, and so do we where it is plain.
fn convert(expected: &str, value: &mut Value) {
    let whole =
        |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    let converted = match (expected, &*value) {
        ("boolean", Value::String(text)) => text.parse().ok().map(Value::Bool),
        ("number" | "integer", Value::String(text)) if is_number(text) => {
            let number: Option<f64> = text.parse().ok();
            number.and_then(|number| match whole(number) {
                Some(whole) => Some(Value::from(whole)),
                None => Number::from_f64(number).map(Value::Number),
            })
        }
        ("integer", Value::Number(number)) if number.is_f64() => {
            number.as_f64().and_then(whole).map(Value::from)
        }
        _ => None,
    };
    if let Some(converted) = converted {
        *value = converted;
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn wrong_type(expected: &str, received: &'static str, path: &[Value]) -> Issue {
    Issue::Type {
        expected: expected.to_owned(),
        format: (expected == "int").then_some("safeint"),
        code: "invalid_type",
        path: path.to_vec(),
        message: format!("Invalid input: expected {expected}, received {received}"),
        received,
    }
}

fn wrong_choice(values: &[Value], path: &[Value]) -> Issue {
    let quoted: Vec<String> = values.iter().map(Value::to_string).collect();
    Issue::Choice {
        code: "invalid_value",
        values: values.to_vec(),
        path: path.to_vec(),
        message: format!("Invalid option: expected one of {}", quoted.join("|")),
    }
}

fn below(path: &[Value], step: impl Into<Value>) -> Vec<Value> {
    let mut path = path.to_vec();
    path.push(step.into());
    path
}

/// `edits[0].old_string`
fn shown(path: &[Value]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            Value::String(name) if shown.is_empty() => shown.push_str(name),
            Value::String(name) => shown.push_str(&format!(".{name}")),
            index => shown.push_str(&format!("[{index}]")),
        }
    }
    shown
}

fn refusal(tool: &str, mut issues: Vec<Issue>) -> Outcome {
    let data = serde_json::to_string_pretty(&issues).unwrap_or_default();
    let data = format!("InputValidationError: {data}");
    // A stable sort: what is missing, then what is too much, then what is wrong.
    issues.sort_by_key(|issue| match issue {
        Issue::Type {
            received: MISSING, ..
        } => 0,
        Issue::Unexpected { .. } => 1,
        Issue::Type { .. } => 2,
        Issue::Choice { .. } => 3,
    });
    let lines: Vec<String> = issues.iter().flat_map(lines).collect();
    // A wrong choice alone is told as data, as the real CLI does.
    let text = if issues
        .iter()
        .all(|issue| matches!(issue, Issue::Choice { .. }))
    {
        data.clone()
    } else {
        let plural = if lines.len() == 1 { "" } else { "s" };
        format!(
            "InputValidationError: {tool} failed due to the following issue{plural}:\n{}",
            lines.join("\n")
        )
    };
    Outcome {
        data: Box::new(Value::String(data)),
        ..Outcome::misuse(text)
    }
}

fn lines(issue: &Issue) -> Vec<String> {
    match issue {
        Issue::Type {
            path,
            received: MISSING,
            ..
        } => {
            vec![format!(
                "The required parameter `{}` is missing",
                shown(path)
            )]
        }
        Issue::Type {
            path,
            expected,
            received,
            ..
        } if path.is_empty() => {
            vec![format!(
                "The input is expected as `{expected}` but provided as `{received}`"
            )]
        }
        Issue::Type {
            path,
            expected,
            received,
            ..
        } => vec![format!(
            "The parameter `{}` type is expected as `{expected}` but provided as `{received}`",
            shown(path)
        )],
        Issue::Choice { path, message, .. } => {
            vec![format!(
                "The parameter `{}` is wrong: {message}",
                shown(path)
            )]
        }
        Issue::Unexpected { path, keys, .. } => keys
            .iter()
            .map(|key| {
                let name = shown(&below(path, key.as_str()));
                format!("An unexpected parameter `{name}` was provided")
            })
            .collect(),
    }
}

const MISSING: &str = "undefined";

#[cfg(test)]
mod tests;
