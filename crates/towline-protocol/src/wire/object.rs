//! [`Object`]: an object that is being read. Which field comes next, under which name, and what nobody has a name for.
//!
//! It is one reader for all types. What a type adds is a list of names and where to put each value, and little code:
//! there are some two hundred types.

use super::{Extra, Field, Result};
use crate::json::{DecodeError, Key, Likely, Reader};

/// What the fields of a type are called.
pub(crate) struct Names {
    /// By the real CLI, in the order in which it writes them.
    pub(crate) standard: &'static [Likely],
    /// By others: a name, and the index of the field it stands for.
    pub(crate) other: &'static [(&'static str, usize)],
}

/// An object that is being read.
pub(crate) struct Object<'t> {
    names: &'static Names,
    /// Fields that say what the object is. They have been looked at already.
    tags: &'t [&'t str],
    tags_met: usize,
    /// Where it begins.
    start: usize,
    /// Which field is expected next.
    expected: usize,
    /// The field that is being read,
    index: usize,
    /// and how it is called here, if not by its standard name.
    spelled: Option<&'static str>,
    extra: Extra,
}

impl<'t> Object<'t> {
    #[inline]
    pub(crate) fn new(names: &'static Names, tags: &'t [&'t str]) -> Self {
        Self {
            names,
            tags,
            tags_met: 0,
            start: 0,
            expected: 0,
            index: 0,
            spelled: None,
            extra: Extra::default(),
        }
    }

    /// Reads up to the first field.
    #[inline(never)]
    pub(crate) fn begin(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        self.start = reader.offset();
        self.tags_met = reader.begin_object()?;
        Ok(())
    }

    /// Which field comes next; nothing behind the last. Reads what has no name here and keeps it.
    ///
    /// Nearly always it is the one that is expected, so that is looked at first, in little code.
    #[inline(never)]
    pub(crate) fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>> {
        match self.names.standard.get(self.expected) {
            Some(key) if reader.takes_key(key) => {
                let index = self.expected;
                self.expected = index + 1;
                Ok(Some(self.found(index, None)))
            }
            _ => self.next_of_all(reader),
        }
    }

    #[inline(never)]
    fn next_of_all(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>> {
        loop {
            match reader.next_key_in(self.names.standard, &mut self.expected)? {
                Key::End => return Ok(None),
                Key::Expected(index) => return Ok(Some(self.found(index, None))),
                Key::Other(key) => {
                    if let Some(index) = self.look_up(&key, reader)? {
                        return Ok(Some(index));
                    }
                }
            }
        }
    }

    /// A key that does not stand where it was expected. Nothing if it is no field.
    fn look_up(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<Option<usize>> {
        if let Some(index) = Likely::find(self.names.standard, key) {
            return Ok(Some(self.found(index, None)));
        }
        if let Some((spelled, index)) = self.names.other.iter().find(|(other, _)| *other == key) {
            return Ok(Some(self.found(*index, Some(spelled))));
        }
        if self.tags.contains(&key) {
            reader.skip_tag(key, &mut self.tags_met, self.tags)?;
        } else {
            self.extra.keep(key, reader)?;
        }
        Ok(None)
    }

    #[inline]
    fn found(&mut self, index: usize, spelled: Option<&'static str>) -> usize {
        self.index = index;
        self.spelled = spelled;
        index
    }

    /// Reads the value of the field that was found.
    #[inline(never)]
    pub(crate) fn take<F: Field>(
        &mut self,
        slot: &mut F::Slot,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        if (self.spelled.is_some() || self.extra.holds_something()) && self.is_second::<F>(slot) {
            return self.keep_second(reader);
        }
        F::read_field(slot, self, reader).map_err(|error| error.within(self.called()))?;
        if let Some(spelled) = self.spelled {
            self.extra.respell(self.name(), spelled);
        }
        Ok(())
    }

    /// Whether the field came already under another spelling: then the first one counts.
    #[cold]
    fn is_second<F: Field>(&self, slot: &F::Slot) -> bool {
        match self.spelled {
            None => self.extra.spelling(self.name()).is_some(),
            Some(_) => F::is_taken(slot, self.name(), &self.extra),
        }
    }

    #[cold]
    fn keep_second(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        self.extra.keep(self.called(), reader)
    }

    /// The field is `null`, which its type does not say.
    #[cold]
    pub(crate) fn keep_null(&mut self) {
        self.extra.keep_null(self.name());
    }

    /// The error for a field that must be there and is not.
    #[cold]
    pub(crate) fn missing(&self, index: usize) -> DecodeError {
        let name = self.names.standard[index].name();
        DecodeError::shape(format!("missing field `{name}`"), self.start)
    }

    pub(crate) fn into_extra(self) -> Extra {
        self.extra
    }

    fn name(&self) -> &'static str {
        self.names.standard[self.index].name()
    }

    /// The name that the object has for the field.
    #[cold]
    fn called(&self) -> &'static str {
        self.spelled.unwrap_or_else(|| self.name())
    }
}
