//! [`ShortText`]: a string that is held in place if it is short, as ids are.
//!
//! A share of a line costs more than a copy of so little: whoever takes one has to tell all others who have one, twice.
//! And it would keep the whole line in memory.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
};

use arrayvec::ArrayString;

use super::Text;

#[derive(Clone)]
pub(crate) enum ShortText {
    InPlace(ArrayString<SHORT>),
    Shared(Text),
}

impl ShortText {
    /// A part of a line.
    #[inline]
    pub(crate) fn share(line: &Text, part: &str) -> Self {
        match ArrayString::from(part) {
            Ok(short) => Self::InPlace(short),
            Err(_) => Self::Shared(line.share(part)),
        }
    }

    /// A copy with memory of its own.
    pub(crate) fn detached(&self) -> Self {
        Self::from(&**self)
    }
}

impl Deref for ShortText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Self::InPlace(short) => short,
            Self::Shared(long) => long,
        }
    }
}

impl From<&str> for ShortText {
    fn from(text: &str) -> Self {
        match ArrayString::from(text) {
            Ok(short) => Self::InPlace(short),
            Err(_) => Self::Shared(text.into()),
        }
    }
}

impl Default for ShortText {
    fn default() -> Self {
        Self::InPlace(ArrayString::new())
    }
}

impl PartialEq for ShortText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ShortText {}

impl PartialOrd for ShortText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ShortText {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl Hash for ShortText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A UUID has 36 letters, and the ids of the model's API have less.
const SHORT: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_however_it_is_held() {
        let line = Text::from("x".repeat(SHORT + 1) + "é");
        for (length, is_in_place) in [
            (0, true),
            (SHORT, true),
            (SHORT + 1, false),
            (SHORT + 3, false),
        ] {
            let part = &line[..length];
            let held = ShortText::share(&line, part);
            assert_eq!(&*held, part);
            assert_eq!(matches!(held, ShortText::InPlace(_)), is_in_place);
            let detached = held.detached();
            assert_eq!(detached, held);
            assert!(held.is_empty() || detached.as_ptr() != part.as_ptr());
            assert_eq!(format!("{held:?}"), format!("{part:?}"));
        }
        let [short, long] = ["b", "a"].map(|letter| ShortText::from(&*letter.repeat(2 * SHORT)));
        assert!(ShortText::from("a") < long && long < short);
    }
}
