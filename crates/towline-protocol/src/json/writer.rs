//! [`Writer`]: compact JSON, one field after the other.

use super::{Text, scan::plain_end};

/// Under which names fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As they were read: what came in as `isError` goes out as `isError`.
    AsRead,
    /// As the real CLI writes them.
    Standard,
}

/// Writes one JSON text.
pub(crate) struct Writer {
    out: String,
    pub(crate) spelling: Spelling,
}

impl Writer {
    pub(crate) fn new(spelling: Spelling) -> Self {
        Self {
            out: String::with_capacity(256),
            spelling,
        }
    }

    pub(crate) fn finish(self) -> Text {
        self.out.into()
    }

    pub(crate) fn begin_object(&mut self) {
        self.out.push('{');
    }

    pub(crate) fn end_object(&mut self) {
        self.out.push('}');
    }

    /// The key of a field; its value must follow.
    pub(crate) fn key(&mut self, name: &str) {
        self.separate('{');
        self.str(name);
        self.out.push(':');
    }

    /// A field whose value is a string.
    pub(crate) fn str_field(&mut self, name: &str, value: &str) {
        self.key(name);
        self.str(value);
    }

    pub(crate) fn begin_array(&mut self) {
        self.out.push('[');
    }

    /// Before every item of an array.
    pub(crate) fn item(&mut self) {
        self.separate('[');
    }

    pub(crate) fn end_array(&mut self) {
        self.out.push(']');
    }

    pub(crate) fn str(&mut self, value: &str) {
        self.out.push('"');
        let mut run = 0;
        loop {
            let end = plain_end(value.as_bytes(), run);
            self.out.push_str(&value[run..end]);
            let Some(byte) = value.as_bytes().get(end) else {
                break;
            };
            match byte {
                b'"' => self.out.push_str("\\\""),
                b'\\' => self.out.push_str("\\\\"),
                b'\n' => self.out.push_str("\\n"),
                b'\r' => self.out.push_str("\\r"),
                b'\t' => self.out.push_str("\\t"),
                0x8 => self.out.push_str("\\b"),
                0xc => self.out.push_str("\\f"),
                control => self.out.push_str(&format!("\\u{control:04x}")),
            }
            run = end + 1;
        }
        self.out.push('"');
    }

    /// Text that is JSON already: a number, a literal, a raw value.
    pub(crate) fn raw(&mut self, json: &str) {
        self.out.push_str(json);
    }

    fn separate(&mut self, open: char) {
        if !self.out.ends_with(open) {
            self.out.push(',');
        }
    }
}
