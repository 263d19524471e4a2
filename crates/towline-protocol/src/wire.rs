//! How a type is read from a line and written to one, without losing what it has no name for.
//!
//! Types are declared with the macros of [`macros`]; every struct they make has an [`Extra`] beside its named fields.
//! Two rules follow: a field nobody knows is kept and goes back out, and a field read under another spelling goes
//! back out under that spelling ([`Wire::to_json`]) or under the real CLI's ([`Wire::to_standard_json`]).

mod extra;
mod field;
mod macros;
mod object;
mod values;

pub use extra::{Extra, Unknown};
pub use field::Nullable;
pub use values::{Map, OneOrMany, TextOrJson};

pub(crate) use extra::Unnamed;
pub(crate) use field::Field;
pub(crate) use macros::{serde_as_str, wire_enum, wire_ids, wire_name, wire_strings, wire_structs};
pub(crate) use object::{Names, Object};

use crate::json::{DecodeError, Json, Reader, Spelling, Text, Writer};

pub(crate) type Result<T> = std::result::Result<T, DecodeError>;

/// A value of the protocol: what can stand in a line.
///
/// ```
/// use towline_protocol::{Usage, Wire};
///
/// let usage = Usage::from_json(r#"{"input_tokens":3,"new_field":[1]}"#)?;
/// assert_eq!(usage.input_tokens, Some(3));
/// assert_eq!(usage.extra.get("new_field").unwrap().as_str(), "[1]");
/// assert_eq!(usage.to_json().as_str(), r#"{"input_tokens":3,"new_field":[1]}"#);
/// # Ok::<(), towline_protocol::DecodeError>(())
/// ```
#[expect(
    private_bounds,
    reason = "only this crate knows wire field names, so only it implements the trait"
)]
pub trait Wire: Parts {
    /// Reads the value from JSON text.
    ///
    /// # Errors
    /// When the text is not JSON, or is not what it says it is: which field, at which byte.
    fn from_json(text: impl Into<Text>) -> Result<Self> {
        Self::read_whole(&text.into())
    }

    /// Writes the value as it was read: every field, kept spellings included.
    fn to_json(&self) -> Json {
        written(self, Spelling::AsRead)
    }

    /// Writes the value as the real CLI would: every field, in the standard spelling and envelope.
    fn to_standard_json(&self) -> Json {
        written(self, Spelling::Standard)
    }

    /// The paths of everything in the value that no named field holds: unknown fields, kinds and enum values.
    fn unnamed_paths(&self) -> Vec<String> {
        let mut found = Unnamed::default();
        self.unnamed(&mut found);
        found.into_paths()
    }
}

impl<T: Parts> Wire for T {}

/// The private half of [`Wire`].
pub(crate) trait Parts: Sized {
    fn read(reader: &mut Reader<'_>) -> Result<Self>;
    fn write(&self, writer: &mut Writer);
    fn unnamed(&self, _found: &mut Unnamed) {}

    fn read_whole(text: &Text) -> Result<Self> {
        let mut reader = Reader::new(text);
        let value = Self::read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }
}

/// The fields of an object whose braces and tags somebody else writes.
pub(crate) trait Body: Sized {
    /// Reads the object; the keys in `tags` have been looked at already and are passed over.
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self>;
    /// Reads the object into memory of its own. Many are large, and each move of one is a copy.
    fn read_boxed(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Box<Self>> {
        Self::read_body(reader, tags).map(Box::new)
    }
    /// Writes the fields, without braces and tags.
    fn write_body(&self, writer: &mut Writer);
    fn unnamed_body(&self, found: &mut Unnamed);
}

impl<T: Body> Body for Box<T> {
    fn read_body(reader: &mut Reader<'_>, tags: &[&str]) -> Result<Self> {
        T::read_boxed(reader, tags)
    }

    fn write_body(&self, writer: &mut Writer) {
        T::write_body(self, writer);
    }

    fn unnamed_body(&self, found: &mut Unnamed) {
        T::unnamed_body(self, found);
    }
}

fn written(value: &impl Parts, spelling: Spelling) -> Json {
    let mut writer = Writer::new(spelling);
    value.write(&mut writer);
    Json::from_checked(writer.finish())
}
