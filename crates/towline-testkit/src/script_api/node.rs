//! The tree that a script is before anyone knows what it means: from TOML with lines, from JSON without.
//!
//! Tables keep the order in which they were written. What the keys mean is the business of the reader.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Number;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::ScriptError;

/// A value and the line it stands on.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) line: Option<usize>,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn from_toml(text: &str) -> Result<Self, ScriptError> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| lines.at(span.start));
            ScriptError::new(line, "", format!("not TOML: {}", error.message()))
        })?;
        let line = Some(1);
        let value = lines.table(table.get_ref())?;
        Ok(Self { line, value })
    }

    pub(super) fn from_json(text: &[u8]) -> Result<Self, ScriptError> {
        serde_json::from_slice(text)
            .map_err(|error| ScriptError::new(None, "", format!("not JSON: {error}")))
    }

    /// What kind of value it is, for a person.
    pub(super) fn kind(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => format!("`{value}`"),
            Value::Number(number) => format!("the number {number}"),
            Value::Text(_) => "a string".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(nodes) => {
                let mut list = serializer.serialize_seq(Some(nodes.len()))?;
                for node in nodes {
                    list.serialize_element(node)?;
                }
                list.end()
            }
            Value::Table(entries) => {
                let mut table = serializer.serialize_map(Some(entries.len()))?;
                for (key, node) in entries {
                    table.serialize_entry(key, node)?;
                }
                table.end()
            }
        }
    }
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at).collect())
    }

    /// The number of the line that has the byte, from 1.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Value, ScriptError> {
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts by key; the bytes know the order of the file.
        entries.sort_by_key(|(key, _)| key.span().start);
        let entries = entries.into_iter().map(|(key, value)| {
            let line = self.at(key.span().start);
            let value = self.value(value)?;
            let line = Some(line);
            Ok((key.get_ref().to_string(), Node { line, value }))
        });
        Ok(Value::Table(entries.collect::<Result<_, ScriptError>>()?))
    }

    fn value(&self, spanned: &Spanned<DeValue<'_>>) -> Result<Value, ScriptError> {
        let line = self.at(spanned.span().start);
        let unfit = |text: &str| {
            let problem = format!("`{text}` is no number that JSON can hold");
            ScriptError::new(Some(line), "", problem)
        };
        Ok(match spanned.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Integer(integer) => {
                let number = i64::from_str_radix(integer.as_str(), integer.radix());
                Value::Number(number.map_err(|_| unfit(integer.as_str()))?.into())
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(|| unfit(float.as_str()))?)
            }
            // JSON has no dates; a model would write one as a string.
            DeValue::Datetime(date) => Value::Text(date.to_string()),
            DeValue::Array(array) => {
                let nodes = array.iter().map(|item| {
                    let line = Some(self.at(item.span().start));
                    let value = self.value(item)?;
                    Ok(Node { line, value })
                });
                Value::List(nodes.collect::<Result<_, ScriptError>>()?)
            }
            DeValue::Table(table) => self.table(table)?,
        })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(ValueVisitor)?;
        Ok(Self { line: None, value })
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some((key, node)) = map.next_entry()? {
            if entries.iter().any(|(other, _)| *other == key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
            entries.push((key, node));
        }
        Ok(Value::Table(entries))
    }
}
