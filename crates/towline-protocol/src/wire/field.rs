//! How one field of an object is read and written: required, optional or nullable, told apart by its type.

use super::{Extra, Object, Parts, Result, Unnamed};
use crate::json::{Reader, Writer};

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
    /// The field while its object is still being read. Not simply an `Option` of it: what may be absent has a value for
    /// that already, and then needs no second one, which would cost space and moves.
    type Slot: Default;

    /// Whether the field has been read.
    fn is_taken(slot: &Self::Slot, name: &str, extra: &Extra) -> bool;
    fn read_field(
        slot: &mut Self::Slot,
        object: &mut Object<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()>;
    /// Whether the object may end now: the field is there, or need not be.
    fn may_end(slot: &Self::Slot) -> bool;
    /// The field, where the object may end.
    fn finish(slot: Self::Slot) -> Self;
    fn write_field(&self, name: &'static str, extra: &Extra, writer: &mut Writer);
    fn unnamed_field(&self, name: &str, found: &mut Unnamed);
}

impl<T: Parts> Field for T {
    type Slot = Option<T>;

    fn is_taken(slot: &Self::Slot, _name: &str, _extra: &Extra) -> bool {
        slot.is_some()
    }

    #[inline]
    fn read_field(
        slot: &mut Self::Slot,
        _object: &mut Object<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        *slot = Some(T::read(reader)?);
        Ok(())
    }

    #[inline]
    fn may_end(slot: &Self::Slot) -> bool {
        slot.is_some()
    }

    #[inline]
    fn finish(slot: Self::Slot) -> Self {
        slot.unwrap_or_else(|| unchecked())
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
    type Slot = Self;

    fn is_taken(slot: &Self::Slot, name: &str, extra: &Extra) -> bool {
        slot.is_some() || extra.was_null(name)
    }

    #[inline]
    fn read_field(
        slot: &mut Self::Slot,
        object: &mut Object<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        if reader.null()? {
            object.keep_null();
            *slot = None;
        } else {
            *slot = Some(T::read(reader)?);
        }
        Ok(())
    }

    #[inline]
    fn may_end(_slot: &Self::Slot) -> bool {
        true
    }

    #[inline]
    fn finish(slot: Self::Slot) -> Self {
        slot
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
    type Slot = Self;

    fn is_taken(slot: &Self::Slot, _name: &str, _extra: &Extra) -> bool {
        !matches!(slot, Self::Absent)
    }

    #[inline]
    fn read_field(
        slot: &mut Self::Slot,
        _object: &mut Object<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        *slot = if reader.null()? {
            Self::Null
        } else {
            Self::Value(T::read(reader)?)
        };
        Ok(())
    }

    #[inline]
    fn may_end(_slot: &Self::Slot) -> bool {
        true
    }

    #[inline]
    fn finish(slot: Self::Slot) -> Self {
        slot
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

/// Never called. Being `extern "C"` it cannot unwind, so that no caller needs code to drop its fields for that.
#[cold]
extern "C" fn unchecked() -> ! {
    unreachable!("a field is finished where its object may end")
}
