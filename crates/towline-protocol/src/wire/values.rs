//! The values that objects are made of: strings, numbers, raw JSON, lists and maps.

use std::collections::{HashMap, hash_map::Entry};

use super::{Parts, Result, Unnamed};
use crate::json::{Json, Number, Reader, Text, Writer};

impl Parts for Text {
    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.text()
    }

    fn write(&self, writer: &mut Writer) {
        writer.str(self);
    }
}

impl Parts for bool {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.bool()
    }

    fn write(&self, writer: &mut Writer) {
        writer.raw(if *self { "true" } else { "false" });
    }
}

impl Parts for u64 {
    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.u64()
    }

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.to_string());
    }
}

impl Parts for i64 {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.i64()
    }

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.to_string());
    }
}

impl Parts for Number {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.number()
    }

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.to_string());
    }
}

impl Parts for Json {
    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.json()
    }

    fn write(&self, writer: &mut Writer) {
        // A value given in by a caller may be spread over lines; a protocol line may not.
        match memchr::memchr2(b'\n', b'\r', self.as_str().as_bytes()) {
            None => writer.raw(self.as_str()),
            Some(_) => writer.raw(&self.as_str().replace(['\n', '\r'], " ")),
        }
    }
}

impl<T: Parts> Parts for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut items = Self::new();
        reader.begin_array()?;
        while reader.next_item()? {
            items.push(T::read(reader).map_err(|error| error.at_item(items.len()))?);
        }
        Ok(items)
    }

    fn write(&self, writer: &mut Writer) {
        writer.begin_array();
        for item in self {
            writer.item();
            item.write(writer);
        }
        writer.end_array();
    }

    fn unnamed(&self, found: &mut Unnamed) {
        for item in self {
            found.items(|found| item.unnamed(found));
        }
    }
}

impl<T: Parts> Parts for Box<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        T::read(reader).map(Self::new)
    }

    fn write(&self, writer: &mut Writer) {
        T::write(self, writer);
    }

    fn unnamed(&self, found: &mut Unnamed) {
        T::unnamed(self, found);
    }
}

/// An object whose keys are data: model names, hook events, question texts. Keeps their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T>(Vec<(Text, T)>);

impl<T> Map<T> {
    /// No entries.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.iter()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }

    /// Sets a key, in its old place if it is there already.
    pub fn insert(&mut self, key: impl Into<Text>, value: T) {
        let key = key.into();
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key, value)),
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<Text>, T> FromIterator<(K, T)> for Map<T> {
    /// A key that comes twice keeps its place and gets the later value.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut places = HashMap::<Text, usize>::new();
        let mut kept: Vec<(Text, T)> = Vec::new();
        for (key, value) in entries {
            let key: Text = key.into();
            match places.entry(key.clone()) {
                Entry::Occupied(place) => kept[*place.get()].1 = value,
                Entry::Vacant(place) => {
                    place.insert(kept.len());
                    kept.push((key, value));
                }
            }
        }
        Self(kept)
    }
}

/// The members of an object as they stand, a key that comes twice included.
pub(crate) fn read_entries<T: Parts>(reader: &mut Reader<'_>) -> Result<Vec<(String, T)>> {
    let mut entries = Vec::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = T::read(reader).map_err(|error| error.within(&key))?;
        entries.push((key.into_owned(), value));
    }
    Ok(entries)
}

impl<T: Parts> Parts for Map<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        read_entries(reader).map(Self::from_iter)
    }

    fn write(&self, writer: &mut Writer) {
        writer.begin_object();
        for (key, value) in self.iter() {
            writer.key(key);
            value.write(writer);
        }
        writer.end_object();
    }

    fn unnamed(&self, found: &mut Unnamed) {
        for (_, value) in self.iter() {
            found.field("*", |found| value.unnamed(found));
        }
    }
}

/// A value that may stand alone or in a list of several.
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrMany<T> {
    /// `"x"`
    One(T),
    /// `["x", "y"]`
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values, however they were written.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<T: Parts> Parts for OneOrMany<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        if reader.peek() == b'[' {
            return Vec::read(reader).map(Self::Many);
        }
        T::read(reader).map(Self::One)
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::One(value) => value.write(writer),
            Self::Many(values) => values.write(writer),
        }
    }

    fn unnamed(&self, found: &mut Unnamed) {
        match self {
            Self::One(value) => value.unnamed(found),
            Self::Many(values) => values.unnamed(found),
        }
    }
}

/// A value that is most often a string, and may be anything.
#[derive(Clone, Debug, PartialEq)]
pub enum TextOrJson {
    /// A string.
    Text(Text),
    /// Anything else.
    Json(Json),
}

impl TextOrJson {
    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            Self::Json(_) => None,
        }
    }
}

impl Parts for TextOrJson {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        if reader.peek() == b'"' {
            return reader.text().map(Self::Text);
        }
        reader.json().map(Self::Json)
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Text(text) => text.write(writer),
            Self::Json(json) => json.write(writer),
        }
    }
}
