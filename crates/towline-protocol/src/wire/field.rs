//! How one field of an object is read and written: required, optional or nullable, told apart by its type.

use super::{Extra, Parts, Result, Unnamed};
use crate::json::{DecodeError, Reader, Writer};

/// A field that the real CLI sometimes leaves out and sometimes writes as `null`.
///
/// A plain `Option` is for fields it only leaves out: then [`Nullable::Null`] cannot be written by mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nullable<T> {
    /// Not in the object.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// A value.
    Value(T),
}

impl<T> Nullable<T> {
    /// The value, if there is one.
    pub fn as_option(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value, if there is one.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<T> From<Option<T>> for Nullable<T> {
    /// Nothing becomes `null`, as the real CLI writes it.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

/// One field of an object.
pub(crate) trait Field: Sized {
    /// The value of a field that is not there; nothing if it must be.
    fn absent() -> Option<Self>;
    fn read_field(name: &'static str, extra: &mut Extra, reader: &mut Reader<'_>) -> Result<Self>;
    fn write_field(&self, name: &'static str, extra: &Extra, writer: &mut Writer);
    fn unnamed_field(&self, name: &str, found: &mut Unnamed);

    fn or_absent(slot: Option<Self>, name: &str, object: usize) -> Result<Self> {
        slot.or_else(Self::absent)
            .ok_or_else(|| DecodeError::shape(format!("missing field `{name}`"), object))
    }
}

impl<T: Parts> Field for T {
    fn absent() -> Option<Self> {
        None
    }

    #[inline]
    fn read_field(
        _name: &'static str,
        _extra: &mut Extra,
        reader: &mut Reader<'_>,
    ) -> Result<Self> {
        T::read(reader)
    }

    fn write_field(&self, name: &'static str, extra: &Extra, writer: &mut Writer) {
        writer.key(extra.name(name, writer));
        self.write(writer);
    }

    fn unnamed_field(&self, name: &str, found: &mut Unnamed) {
        found.field(name, |found| self.unnamed(found));
    }
}

impl<T: Parts> Field for Option<T> {
    fn absent() -> Option<Self> {
        Some(None)
    }

    #[inline]
    fn read_field(name: &'static str, extra: &mut Extra, reader: &mut Reader<'_>) -> Result<Self> {
        if reader.null()? {
            extra.keep_null(name);
            return Ok(None);
        }
        T::read(reader).map(Some)
    }

    fn write_field(&self, name: &'static str, extra: &Extra, writer: &mut Writer) {
        match self {
            Some(value) => value.write_field(name, extra, writer),
            None if extra.was_null(name) => {
                writer.key(extra.name(name, writer));
                writer.raw("null");
            }
            None => {}
        }
    }

    fn unnamed_field(&self, name: &str, found: &mut Unnamed) {
        if let Some(value) = self {
            value.unnamed_field(name, found);
        }
    }
}

impl<T: Parts> Field for Nullable<T> {
    fn absent() -> Option<Self> {
        Some(Self::Absent)
    }

    #[inline]
    fn read_field(
        _name: &'static str,
        _extra: &mut Extra,
        reader: &mut Reader<'_>,
    ) -> Result<Self> {
        if reader.null()? {
            return Ok(Self::Null);
        }
        T::read(reader).map(Self::Value)
    }

    fn write_field(&self, name: &'static str, extra: &Extra, writer: &mut Writer) {
        match self {
            Self::Absent => {}
            Self::Null => {
                writer.key(extra.name(name, writer));
                writer.raw("null");
            }
            Self::Value(value) => value.write_field(name, extra, writer),
        }
    }

    fn unnamed_field(&self, name: &str, found: &mut Unnamed) {
        if let Self::Value(value) = self {
            value.unnamed_field(name, found);
        }
    }
}

/// Reads a field under its standard name.
#[inline]
pub(crate) fn take<F: Field>(
    slot: &mut Option<F>,
    name: &'static str,
    extra: &mut Extra,
    reader: &mut Reader<'_>,
) -> Result<()> {
    if slot.is_some() && extra.spelling(name).is_some() {
        // It came under another spelling already: the first one counts, the second is kept as it is.
        return extra.keep(name, reader);
    }
    *slot = Some(F::read_field(name, extra, reader).map_err(|error| error.within(name))?);
    Ok(())
}

/// Reads a field under one of its other spellings.
#[cold]
pub(crate) fn take_alias<F: Field>(
    slot: &mut Option<F>,
    (name, spelled): (&'static str, &'static str),
    extra: &mut Extra,
    reader: &mut Reader<'_>,
) -> Result<()> {
    if slot.is_some() {
        return extra.keep(spelled, reader);
    }
    *slot = Some(F::read_field(name, extra, reader).map_err(|error| error.within(spelled))?);
    extra.respell(name, spelled);
    Ok(())
}
