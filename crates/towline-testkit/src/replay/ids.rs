//! [`Ids`]: which live id stands for which recorded one, and which ids are ours.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use towline_protocol::{Json, Map, RequestId, Text, ToolUseId, Wire};

use super::{compare::Comparison, key::Key, report::FieldDifference};

/// What is known of ids. Each is held as its JSON text, because some are numbers.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Recorded ids that the other side made up, and what it made up now.
    live: HashMap<String, String>,
    /// The same the other way round.
    recorded: HashMap<String, String>,
    /// Ids in lines that we sent: the other side must give them back as they are.
    ours: HashSet<String>,
}

impl Ids {
    /// What stands for a recorded id.
    pub(super) fn live(&self, recorded: &str) -> Option<&str> {
        self.live.get(recorded).map(String::as_str)
    }

    /// Which recorded id a live one stands for.
    pub(super) fn recorded(&self, live: &str) -> Option<&str> {
        self.recorded.get(live).map(String::as_str)
    }

    pub(super) fn is_ours(&self, recorded: &str) -> bool {
        self.ours.contains(recorded)
    }

    /// Keeps what a comparison found out, and gives the differences.
    pub(super) fn learn(&mut self, comparison: Comparison) -> Vec<FieldDifference> {
        for (recorded, live) in comparison.bound {
            self.recorded.insert(live.clone(), recorded.clone());
            self.live.insert(recorded, live);
        }
        comparison.fields
    }

    /// A recorded line of ours with the ids that the other side knows; the text itself where there are none.
    pub(super) fn told_to_the_other_side(&mut self, line: &Text) -> Text {
        let Ok(json) = Json::new(line.clone()) else {
            return line.clone();
        };
        if let Ok(value) = json.parse() {
            self.claim("", &value);
        }
        match self.rewritten("", &json) {
            Some(rewritten) => rewritten.text().clone(),
            None => line.clone(),
        }
    }

    /// The key of a live line as the recorded one has it.
    pub(super) fn recorded_key(&self, key: &Key) -> Key {
        match key {
            Key::Cancel(id) => Key::Cancel(
                self.recorded(id.to_json().as_str())
                    .and_then(|id| RequestId::from_json(id).ok())
                    .unwrap_or_else(|| id.clone()),
            ),
            Key::Other(kind, Some(parent)) => {
                let recorded = self
                    .recorded(parent.to_json().as_str())
                    .and_then(|id| ToolUseId::from_json(id).ok());
                Key::Other(
                    kind.clone(),
                    Some(recorded.unwrap_or_else(|| parent.clone())),
                )
            }
            other => other.clone(),
        }
    }

    /// Notes the ids of a line that we send, but for those that the other side made.
    fn claim(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.claim(name, value);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.claim(name, item);
                }
            }
            Value::String(_) | Value::Number(_) if is_id(name) => {
                let id = value.to_string();
                if !self.live.contains_key(&id) {
                    self.ours.insert(id);
                }
            }
            _ => {}
        }
    }

    /// The value with live ids in place of recorded ones; nothing if there are none. The rest stays as it was written.
    fn rewritten(&self, name: &str, json: &Json) -> Option<Json> {
        match json.as_str().trim_start().as_bytes().first()? {
            b'{' => {
                let mut fields = Map::<Json>::from_json(json.text().clone()).ok()?;
                let changes: Vec<(Text, Json)> = fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.into(), self.rewritten(name, value)?)))
                    .collect();
                let is_changed = !changes.is_empty();
                for (name, value) in changes {
                    fields.insert(name, value);
                }
                is_changed.then(|| fields.to_json())
            }
            b'[' => {
                let mut items = Vec::<Json>::from_json(json.text().clone()).ok()?;
                let mut is_changed = false;
                for item in &mut items {
                    if let Some(rewritten) = self.rewritten(name, item) {
                        *item = rewritten;
                        is_changed = true;
                    }
                }
                is_changed.then(|| items.to_json())
            }
            b'"' | b'-' | b'0'..=b'9' => {
                let value: Value = json.parse().ok()?;
                let recorded = value.to_string();
                let live = self.live(&recorded)?;
                let is_meant = is_id(name) || value.as_str().is_some_and(stands_alone);
                (is_meant && live != recorded).then(|| Json::new(live).ok())?
            }
            _ => None,
        }
    }
}

/// Whether a field of that name holds an id, or a list of them.
pub(super) fn is_id(name: &str) -> bool {
    let name = name.strip_suffix('s').unwrap_or(name);
    matches!(name, "id" | "uuid")
        || ["_id", "Id", "ID", "_uuid", "Uuid"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Whether a text is known for an id wherever it stands, because no other text is like it.
fn stands_alone(text: &str) -> bool {
    text.len() >= 16 && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn ids_are_known_by_the_names_of_their_fields() {
        for name in [
            "id",
            "uuid",
            "request_id",
            "toolUseID",
            "sessionId",
            "user_message_uuids",
            "hookCallbackIds",
            "preceding_tool_use_ids",
        ] {
            assert!(is_id(name), "{name}");
        }
        for name in [
            "", "ids_of", "valid", "grid", "paid", "s", "identity", "void",
        ] {
            assert!(!is_id(name), "{name}");
        }
    }
}
