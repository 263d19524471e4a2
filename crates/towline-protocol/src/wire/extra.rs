//! What a type keeps beside its named fields: [`Extra`] fields, [`Unknown`] kinds, and the list of both.

use super::{Parts, Result, values::read_entries};
use crate::json::{Json, Reader, Spelling, Text, Writer};

/// The fields of an object that its type has no name for, and how the named ones were spelled.
///
/// Empty for most objects, and then no larger than a pointer.
#[derive(Clone, Default, PartialEq)]
pub struct Extra(Option<Box<Kept>>);

#[derive(Clone, Default, PartialEq)]
struct Kept {
    fields: Vec<(Text, Json)>,
    /// Named fields that were `null` where we only ever saw them absent.
    nulls: Vec<&'static str>,
    /// Named fields (standard name, name as read) that came under another spelling.
    spellings: Vec<(&'static str, &'static str)>,
}

impl Extra {
    /// Whether anything had to be kept, were it only a spelling.
    #[inline]
    pub(crate) fn holds_something(&self) -> bool {
        self.0.is_some()
    }

    /// Whether there is no unknown field.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The unknown fields, in the order of the line.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().flat_map(|kept| {
            kept.fields
                .iter()
                .map(|(name, value)| (name.as_str(), value))
        })
    }

    /// The value of one unknown field; the last one if the line had several of that name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.iter()
            .filter(|(known, _)| *known == name)
            .last()
            .map(|(_, value)| value)
    }

    /// Adds a field that will be written behind the named ones.
    pub fn insert(&mut self, name: impl Into<Text>, value: Json) {
        self.kept().fields.push((name.into(), value));
    }

    /// Takes an unknown field out.
    pub fn remove(&mut self, name: &str) {
        if let Some(kept) = &mut self.0 {
            kept.fields.retain(|(known, _)| *known != name);
        }
    }

    #[cold]
    pub(crate) fn keep(&mut self, name: &str, reader: &mut Reader<'_>) -> Result<()> {
        let value = reader.json()?;
        self.insert(name, value);
        Ok(())
    }

    #[cold]
    pub(crate) fn keep_null(&mut self, name: &'static str) {
        self.kept().nulls.push(name);
    }

    #[cold]
    pub(crate) fn respell(&mut self, name: &'static str, spelled: &'static str) {
        let spellings = &mut self.kept().spellings;
        spellings.retain(|(known, _)| *known != name);
        spellings.push((name, spelled));
    }

    /// From now on the named fields are written as the real CLI spells them.
    pub(crate) fn forget_spellings(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.spellings.clear();
        }
    }

    pub(crate) fn was_null(&self, name: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|kept| kept.nulls.contains(&name))
    }

    /// The other name under which a field was read.
    pub(crate) fn spelling(&self, name: &str) -> Option<&'static str> {
        let kept = self.0.as_ref()?;
        kept.spellings
            .iter()
            .find(|(standard, _)| *standard == name)
            .map(|(_, spelled)| *spelled)
    }

    /// The name under which to write a field.
    pub(crate) fn name<'n>(&self, name: &'n str, writer: &Writer) -> &'n str {
        match (writer.spelling, self.spelling(name)) {
            (Spelling::AsRead, Some(spelled)) => spelled,
            _ => name,
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        for (name, value) in self.iter() {
            writer.key(name);
            value.write(writer);
        }
    }

    pub(crate) fn unnamed(&self, found: &mut Unnamed) {
        for (name, _) in self.iter() {
            found.field(name, Unnamed::here);
        }
    }

    fn kept(&mut self) -> &mut Kept {
        self.0.get_or_insert_default()
    }
}

impl std::fmt::Debug for Extra {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A kind of message, block, delta or request that this version does not know, kept whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// What it says it is; nothing if it does not say.
    pub tag: Option<Text>,
    /// All of it.
    pub json: Json,
}

impl Unknown {
    /// What it says it is, or `?`.
    pub fn kind(&self) -> &str {
        self.tag.as_deref().unwrap_or("?")
    }

    #[cold]
    pub(crate) fn read(tag: Option<&str>, reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            tag: tag.map(Text::from),
            json: reader.json()?,
        })
    }

    /// Writes the fields without braces, and without the tag that the enum around has written already.
    pub(crate) fn write_body(&self, outer: Option<&str>, writer: &mut Writer) {
        let fields = read_entries::<Json>(&mut Reader::new(self.json.text())).unwrap_or_default();
        for (name, value) in fields
            .iter()
            .filter(|(name, _)| Some(name.as_str()) != outer)
        {
            writer.key(name);
            value.write(writer);
        }
    }
}

/// Collects the paths that no named field holds.
#[derive(Default)]
pub(crate) struct Unnamed {
    path: String,
    found: Vec<String>,
}

impl Unnamed {
    pub(crate) fn here(&mut self) {
        self.found.push(self.path.clone());
    }

    /// A value that no variant names, such as an unknown block type.
    pub(crate) fn value(&mut self, value: &str) {
        self.found.push(format!("{}={value}", self.path));
    }

    pub(crate) fn field(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        inside(self);
        self.path.truncate(length);
    }

    /// Items share one path: `content[].text`.
    pub(crate) fn items(&mut self, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str("[]");
        inside(self);
        self.path.truncate(length);
    }

    pub(crate) fn into_paths(self) -> Vec<String> {
        self.found
    }
}
