//! Values that stay text: [`Json`] for bodies this crate does not own, [`Number`] for numbers that may be either kind.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{DecodeError, Leaves, Reader, Text};

/// A valid JSON value kept as its text: tool inputs, tool results, configurations.
///
/// ```
/// use towline_protocol::Json;
///
/// let json = Json::new(r#"{"command":"ls"}"#)?;
/// assert_eq!(json.parse::<serde_json::Value>()?["command"], "ls");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Text);

impl Json {
    /// Takes text that must be one JSON value.
    ///
    /// # Errors
    /// Says where the text stops being JSON.
    pub fn new(text: impl Into<Text>) -> Result<Self, DecodeError> {
        let text = text.into();
        let mut reader = Reader::new(&text);
        reader.skip_value()?;
        reader.end()?;
        Ok(Self(text))
    }

    /// Makes the JSON of any serialisable value.
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map with keys that are no strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The value `{}`.
    pub const fn empty_object() -> Self {
        Self(Text::from_static("{}"))
    }

    /// Text that a reader or writer of this crate has already found to be one value.
    pub(crate) fn from_checked(text: Text) -> Self {
        Self(text)
    }

    /// The text of the value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared.
    pub fn text(&self) -> &Text {
        &self.0
    }

    /// A copy with memory of its own; see [`Text::detached`].
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(self.0.detached())
    }

    /// Reads the value into a type of the caller's.
    ///
    /// # Errors
    /// When the value does not have the shape of `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Walks over all that is in the value, without making a tree of it.
    ///
    /// ```
    /// use towline_protocol::{Json, Leaf};
    ///
    /// let input = Json::new(r#"{"command":"ls","timeout":[5]}"#)?;
    /// let texts = input.leaves().filter(|leaf| matches!(leaf, Leaf::Text(_)));
    /// assert_eq!(texts.collect::<Vec<_>>(), [Leaf::Text("ls".into())]);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn leaves(&self) -> Leaves<'_> {
        Leaves::new(self)
    }

    /// The same value with two blanks a level, as files that people read have it. Strings and numbers stay as they are
    /// written.
    ///
    /// ```
    /// use towline_protocol::Json;
    ///
    /// let json = Json::new(r#"{"a": [1.50, "x, y"], "b": {}}"#)?;
    /// let expected = "{\n  \"a\": [\n    1.50,\n    \"x, y\"\n  ],\n  \"b\": {}\n}";
    /// assert_eq!(json.pretty(), expected);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub fn pretty(&self) -> String {
        super::pretty::pretty(&self.0)
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.trim_start().starts_with('{')
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.0.trim() == "null"
    }
}

impl Default for Json {
    fn default() -> Self {
        Self(Text::from_static("null"))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(String::from(Box::<str>::from(raw)).into()))
    }
}

/// A number that is written sometimes as an integer and sometimes as a fraction, such as a cost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(pub(crate) serde_json::Number);

impl Number {
    /// The number as a float; every JSON number has one.
    pub fn as_f64(&self) -> f64 {
        self.0.as_f64().unwrap_or(f64::NAN)
    }

    /// The number as a whole one, if it is one and not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }
}

impl Default for Number {
    fn default() -> Self {
        Self(0.into())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.into())
    }
}

impl From<f64> for Number {
    /// A float that JSON cannot hold (infinite, not a number) becomes 0.
    fn from(value: f64) -> Self {
        serde_json::Number::from_f64(value)
            .map(Self)
            .unwrap_or_default()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
