//! [`Names`]: ids as small numbers, so that a link costs four bytes and an id is held once.

use std::collections::HashMap;

use uuid::Uuid;

/// An id that has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

impl Name {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The ids seen so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Id, Name>,
    ids: Vec<Id>,
}

/// An id: nearly always a UUID, which needs a third of its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    Uuid(u128),
    Other(Box<str>),
}

impl Id {
    fn new(text: &str) -> Self {
        match Uuid::try_parse(text) {
            // Only the usual spelling, so that two spellings stay two ids.
            Ok(uuid) if uuid.as_hyphenated().encode_lower(&mut [0; 36]) == text => {
                Self::Uuid(uuid.as_u128())
            }
            _ => Self::Other(text.into()),
        }
    }
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        let id = Id::new(text);
        if let Some(name) = self.numbers.get(&id) {
            return *name;
        }
        let next = u32::try_from(self.ids.len()).expect("memory ends before 4 billion ids");
        let name = Name(next);
        self.ids.push(id.clone());
        self.numbers.insert(id, name);
        name
    }

    pub(crate) fn find(&self, text: &str) -> Option<Name> {
        self.numbers.get(&Id::new(text)).copied()
    }

    pub(crate) fn text(&self, name: Name) -> String {
        match &self.ids[name.index()] {
            Id::Uuid(uuid) => Uuid::from_u128(*uuid).to_string(),
            Id::Other(text) => text.to_string(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}
