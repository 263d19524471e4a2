//! Gists of objects that nothing more is known about: their first fields that tell a person something.

use std::fmt::{self, Write};

use towline_protocol::{Json, Map, Text, Wire};

use crate::terminal::Clip;

/// Writes the first short fields of an object, ids last; of another value, the text.
pub(super) fn fields(value: &Text, out: &mut Clip) -> fmt::Result {
    let Some(object) = object(value) else {
        return out.write_str(value);
    };
    let telling = || object.iter().filter(|(name, _)| !is_dull(name));
    let (ids, words): (Vec<_>, Vec<_>) = telling()
        .filter_map(|(name, value)| Some((name, scalar(value)?)))
        .partition(|(name, _)| is_id(name));
    let shown = words.iter().chain(&ids).take(SHOWN_FIELDS);
    for (name, value) in shown {
        out.gap()?;
        write!(out, "{name}={}", start_of(value))?;
    }
    if words.is_empty() && ids.is_empty() {
        // Nothing to read at the top: say at least what there is.
        for (name, _) in telling() {
            out.gap()?;
            out.write_str(name)?;
        }
    }
    Ok(())
}

/// Writes the input of a tool: the field that matters most, or the first ones.
pub(crate) fn tool_input(input: &Json, out: &mut Clip) -> fmt::Result {
    let Some(object) = object(input.text()) else {
        return out.write_str(input.as_str());
    };
    for name in MAIN_INPUTS {
        if let Some(main) = object.get(name).and_then(scalar) {
            return out.write_str(&main);
        }
    }
    fields(input.text(), out)
}

/// Writes a list of strings as a command line is written.
pub(super) fn words(list: &Text, out: &mut Clip) -> fmt::Result {
    match Vec::<Text>::from_json(list.clone()) {
        Ok(words) => joined(&words, " ", out),
        Err(_) => out.write_str(list),
    }
}

/// Writes texts with something between them.
pub(super) fn joined<T: AsRef<str>>(
    texts: impl IntoIterator<Item = T>,
    between: &str,
    out: &mut Clip,
) -> fmt::Result {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            out.write_str(between)?;
        }
        out.write_str(text.as_ref())?;
    }
    Ok(())
}

fn object(value: &Text) -> Option<Map<Json>> {
    // Of a long one, the start of the text is gist enough.
    let is_short = value.len() <= LONGEST_OBJECT;
    is_short
        .then(|| Map::from_json(value.clone()).ok())
        .flatten()
}

/// The value, if it is a string with something in it, a number or a truth value.
fn scalar(value: &Json) -> Option<Text> {
    let text = value.text();
    match text.trim_start().as_bytes().first()? {
        b'"' => Text::from_json(text.clone())
            .ok()
            .filter(|text| !text.is_empty()),
        b'{' | b'[' | b'n' => None,
        _ => Some(text.clone()),
    }
}

fn is_dull(name: &str) -> bool {
    matches!(
        name,
        "type" | "subtype" | "uuid" | "session_id" | "parent_tool_use_id" | "timestamp"
    )
}

fn is_id(name: &str) -> bool {
    let ends = ["_id", "_ids", "Id", "uuid", "uuids"];
    name == "id" || ends.iter().any(|end| name.ends_with(end))
}

fn start_of(text: &str) -> String {
    match text.char_indices().nth(FIELD_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What tells most about a call, for the tools there are.
const MAIN_INPUTS: [&str; 10] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "path",
];
const SHOWN_FIELDS: usize = 5;
const FIELD_CHARACTERS: usize = 60;
const LONGEST_OBJECT: usize = 64 << 10;
