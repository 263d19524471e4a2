//! Compares a recorded line with the live one that belongs to it, field by field.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    ids::{Ids, is_id},
    report::{FieldDifference, excerpt},
};

/// How two lines compare.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Where they differ; the first [`MOST_FIELDS`] places.
    pub(super) fields: Vec<FieldDifference>,
    /// Recorded ids, each with the live one that was in its place.
    pub(super) bound: Vec<(String, String)>,
}

impl Comparison {
    pub(super) fn is_same(&self) -> bool {
        self.fields.is_empty()
    }
}

pub(super) fn compare(recorded: &str, live: &str, ids: &Ids, ignored: &[String]) -> Comparison {
    let mut walk = Walk {
        ids,
        ignored,
        path: Vec::new(),
        bound: HashMap::new(),
        found: Comparison::default(),
    };
    match (serde_json::from_str(recorded), serde_json::from_str(live)) {
        (Ok(recorded), Ok(live)) => walk.value("", &recorded, &live),
        _ if recorded == live => {}
        _ => walk.differ(Some(recorded.to_owned()), Some(live.to_owned())),
    }
    walk.found.bound = walk.bound.into_iter().collect();
    walk.found
}

struct Walk<'a> {
    ids: &'a Ids,
    ignored: &'a [String],
    path: Vec<String>,
    /// What this line tells of ids.
    bound: HashMap<String, String>,
    found: Comparison,
}

impl Walk<'_> {
    /// Compares two values in a field of that name, or in a list in it.
    fn value(&mut self, name: &str, recorded: &Value, live: &Value) {
        match (recorded, live) {
            (Value::Object(recorded), Value::Object(live)) => self.objects(recorded, live),
            (Value::Array(recorded), Value::Array(live)) => self.lists(name, recorded, live),
            (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_))
                if is_time(name) => {}
            _ if is_id(name) && is_plain(recorded) && is_plain(live) => {
                if !self.same_id(recorded, live) {
                    self.differ(Some(recorded.to_string()), Some(live.to_string()));
                }
            }
            (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => {}
            _ if recorded == live => {}
            _ if self.ids.live(&recorded.to_string()) == Some(&*live.to_string()) => {}
            _ => self.differ(Some(recorded.to_string()), Some(live.to_string())),
        }
    }

    fn objects(&mut self, recorded: &Map<String, Value>, live: &Map<String, Value>) {
        for (name, value) in recorded {
            if self.ignored.contains(name) {
                continue;
            }
            self.path.push(name.clone());
            match live.get(name) {
                Some(live) => self.value(name, value, live),
                None => self.differ(Some(value.to_string()), None),
            }
            self.path.pop();
        }
        for (name, value) in live {
            if !recorded.contains_key(name) && !self.ignored.contains(name) {
                self.path.push(name.clone());
                self.differ(None, Some(value.to_string()));
                self.path.pop();
            }
        }
    }

    fn lists(&mut self, name: &str, recorded: &[Value], live: &[Value]) {
        for index in 0..recorded.len().max(live.len()) {
            self.path.push(format!("[{index}]"));
            match (recorded.get(index), live.get(index)) {
                (Some(recorded), Some(live)) => self.value(name, recorded, live),
                (recorded, live) => {
                    self.differ(recorded.map(Value::to_string), live.map(Value::to_string));
                }
            }
            self.path.pop();
        }
    }

    /// Whether the live id may stand for the recorded one; if nothing is known of the two, it does from now on.
    fn same_id(&mut self, recorded: &Value, live: &Value) -> bool {
        let (recorded, live) = (recorded.to_string(), live.to_string());
        if let Some(known) = self.bound.get(&recorded) {
            return *known == live;
        }
        if let Some(known) = self.ids.live(&recorded) {
            return known == live;
        }
        if recorded == live {
            return true;
        }
        if self.ids.is_ours(&recorded) || [&recorded, &live].contains(&&"\"\"".to_owned()) {
            return false;
        }
        // Two recorded ids that are one now are a mistake of the other side, but its answer must still reach it.
        let is_free = self.ids.recorded(&live).is_none();
        self.bound.insert(recorded, live);
        is_free
    }

    fn differ(&mut self, expected: Option<String>, came: Option<String>) {
        if self.found.fields.len() < MOST_FIELDS {
            self.found.fields.push(FieldDifference {
                path: self.path.join(".").replace(".[", "["),
                expected: expected.map(|text| excerpt(&text)),
                came: came.map(|text| excerpt(&text)),
            });
        }
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_))
}

/// Whether a field of that name holds a time, or something else that is new in every run.
fn is_time(name: &str) -> bool {
    matches!(name, "timestamp" | "pid")
        || ["_ms", "Ms", "_at", "_seconds"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// How many places of one line are told.
const MOST_FIELDS: usize = 20;
