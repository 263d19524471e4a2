//! A JSON value as its text: what a script says goes out in the order in which it was written.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value, kept as compact text.
#[derive(Clone)]
pub(super) struct Json(Box<RawValue>);

impl Json {
    pub(super) fn of(value: &impl Serialize) -> Self {
        // Only maps whose keys are no strings cannot be written, and none of ours has such.
        let text =
            serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(text)
    }

    /// An object with its keys in this order, which `serde_json::json!` does not keep.
    pub(super) fn object(entries: impl AsRef<[(&'static str, Self)]>) -> Self {
        struct Entries<'a>(&'a [(&'static str, Json)]);
        impl Serialize for Entries<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
            }
        }
        Self::of(&Entries(entries.as_ref()))
    }

    pub(super) fn parse(text: &str) -> serde_json::Result<Self> {
        let value: &RawValue = serde_json::from_str(text)?;
        Ok(Self(value.to_owned()))
    }

    /// The text.
    pub(super) fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether it is an object.
    pub(super) fn is_object(&self) -> bool {
        self.as_str().trim_start().starts_with('{')
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::of(&value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::of(&text)
    }
}

impl From<Option<&str>> for Json {
    fn from(text: Option<&str>) -> Self {
        Self::of(&text)
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        Self::of(&number)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
