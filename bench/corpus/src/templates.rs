//! Owns the recorded lines: reads them from the traces and sorts them into the
//! classes and kinds the corpus is mixed from.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The classes whose shares of the corpus are fixed, see `mix`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    Delta,
    User,
    Control,
    Assistant,
    Rest,
}

#[derive(Deserialize)]
struct Row<'a> {
    dir: &'a str,
    #[serde(borrow)]
    line: &'a RawValue,
}

/// What the CLI wrote, by class and kind, and the same lines byte for byte.
pub struct Templates {
    by_kind: BTreeMap<(Class, &'static str), Vec<Value>>,
    pub distinct_lines: BTreeSet<String>,
}

impl Templates {
    pub fn load(directory: &Path) -> std::io::Result<Self> {
        let mut files: Vec<_> = std::fs::read_dir(directory)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        files.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        });
        // Directories list in no fixed order, the corpus must have one.
        files.sort();
        let mut distinct_lines = BTreeSet::new();
        for file in files {
            for row in std::fs::read_to_string(file)?.lines() {
                let row: Row = serde_json::from_str(row)?;
                // A string stands for a line that was no JSON object.
                if row.dir == "out" && row.line.get().starts_with('{') {
                    distinct_lines.insert(row.line.get().to_string());
                }
            }
        }
        let mut by_kind: BTreeMap<_, Vec<Value>> = BTreeMap::new();
        for line in &distinct_lines {
            let value: Value = serde_json::from_str(line)?;
            if !answers_malformed_request(&value) {
                by_kind.entry(classify(&value)).or_default().push(value);
            }
        }
        Ok(Self {
            by_kind,
            distinct_lines,
        })
    }

    /// The recorded lines of one kind; the mix names only kinds that exist.
    pub fn of(&self, class: Class, kind: &'static str) -> &[Value] {
        self.by_kind
            .get(&(class, kind))
            .unwrap_or_else(|| panic!("no recorded line of kind {class:?}/{kind}"))
    }
}

/// The recordings hold answers to requests whose id was missing or a number. No
/// sane host sends those, so no peer should be measured by the answers.
fn answers_malformed_request(line: &Value) -> bool {
    let response = line.get("response");
    response.is_some_and(|response| !response["request_id"].is_string())
}

fn classify(line: &Value) -> (Class, &'static str) {
    let has = |pointer: &str| line.pointer(pointer).is_some();
    let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    match text("/type") {
        "stream_event" => match text("/event/delta/type") {
            "text_delta" => (Class::Delta, "text"),
            "thinking_delta" => (Class::Delta, "thinking"),
            "input_json_delta" => (Class::Delta, "input_json"),
            "signature_delta" => (Class::Delta, "signature"),
            _ => (Class::Rest, "stream"),
        },
        "user" if text("/message/content/0/type") == "tool_result" => {
            (Class::User, carrier(line).unwrap_or("small"))
        }
        "user" => (Class::User, "prompt"),
        "assistant" => match text("/message/content/0/type") {
            "tool_use" => (Class::Assistant, "tool_use"),
            "thinking" => (Class::Assistant, "thinking"),
            _ => (Class::Assistant, "text"),
        },
        "control_request" => match text("/request/subtype") {
            "can_use_tool" => (Class::Control, "can_use_tool"),
            "hook_callback" => (Class::Control, "hook_callback"),
            _ => (Class::Control, "other"),
        },
        "control_response" if has("/response/response/commands") => (Class::Control, "initialize"),
        "control_response" | "control_cancel_request" => (Class::Control, "other"),
        "result" => (Class::Rest, "result"),
        "system" if text("/subtype") == "init" => (Class::Rest, "init"),
        _ => (Class::Rest, "event"),
    }
}

/// Where a tool result's text appears a second time, in `tool_use_result`.
fn carrier(line: &Value) -> Option<&'static str> {
    let result = line.get("tool_use_result")?;
    let text = line.pointer("/message/content/0/content");
    match result {
        Value::String(_) => Some("error"),
        Value::Array(_) if text?.pointer("/0/text").is_some() => Some("blocks"),
        Value::Object(_) if text?.is_string() => {
            if result.get("stdout").is_some() {
                Some("stdout")
            } else if result
                .pointer("/file/content")
                .is_some_and(Value::is_string)
            {
                Some("file")
            } else if result.get("content").is_some_and(Value::is_string) {
                Some("content")
            } else {
                None
            }
        }
        _ => None,
    }
}
