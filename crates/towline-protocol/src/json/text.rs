//! [`Text`]: a string that shares the line it was read from.

use std::{borrow::Borrow, fmt, ops::Deref};

use bytes::Bytes;
use bytestring::ByteString;

/// A UTF-8 string, cheap to clone: most often a share of the line it came from.
///
/// ```
/// use towline_protocol::Text;
///
/// let text = Text::from("plan");
/// assert_eq!(text, "plan");
/// assert!(text.starts_with("pl"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(ByteString);

impl Text {
    /// The empty string.
    pub const fn new() -> Self {
        Self(ByteString::new())
    }

    /// A string that lives as long as the program.
    pub const fn from_static(text: &'static str) -> Self {
        Self(ByteString::from_static(text))
    }

    /// Takes bytes that must be UTF-8, without copying them.
    ///
    /// # Errors
    /// Gives the place of the first byte that is not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Result<Self, std::str::Utf8Error> {
        ByteString::try_from(bytes).map(Self)
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes behind it, shared.
    pub fn bytes(&self) -> &Bytes {
        self.0.as_bytes()
    }

    /// A copy with memory of its own. A share keeps the whole line in memory, and all that was read with it: too much for
    /// what is kept long after the line is gone.
    ///
    /// ```
    /// use towline_protocol::Text;
    ///
    /// let text = Text::from("plan");
    /// assert_eq!(text.detached(), text);
    /// assert_ne!(text.detached().as_ptr(), text.as_ptr());
    /// ```
    #[must_use]
    pub fn detached(&self) -> Self {
        Self::from(self.as_str())
    }

    /// A share of this text; `part` must lie inside it.
    pub(crate) fn share(&self, part: &str) -> Self {
        if part.is_empty() {
            Self::new()
        } else {
            Self(self.0.slice_ref(part))
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
