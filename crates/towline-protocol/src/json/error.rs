//! [`DecodeError`]: what was wrong with a line, and where.

use std::{borrow::Cow, fmt};

/// A line that could not be read: what was expected, in which field, at which byte.
///
/// ```
/// use towline_protocol::{ToHost, Wire};
///
/// let error = ToHost::from_json(r#"{"type":"control_cancel_request","request_id":[]}"#).unwrap_err();
/// assert_eq!(error.to_string(), "expected a string or a number in `request_id` at byte 46");
/// assert_eq!(error.offset(), 46);
/// assert!(!error.is_syntax());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Fault>);

#[derive(Clone, PartialEq, Eq)]
struct Fault {
    problem: Cow<'static, str>,
    path: String,
    offset: usize,
    syntax: bool,
}

impl DecodeError {
    /// The line is not JSON.
    #[cold]
    pub(crate) fn syntax(problem: impl Into<Cow<'static, str>>, offset: usize) -> Self {
        Self::new(problem.into(), offset, true)
    }

    /// The line is JSON, but not the message it says it is.
    #[cold]
    pub(crate) fn shape(problem: impl Into<Cow<'static, str>>, offset: usize) -> Self {
        Self::new(problem.into(), offset, false)
    }

    fn new(problem: Cow<'static, str>, offset: usize, syntax: bool) -> Self {
        Self(Box::new(Fault {
            problem,
            path: String::new(),
            offset,
            syntax,
        }))
    }

    /// Adds the field the error happened in, from the inside out.
    #[cold]
    pub(crate) fn within(mut self, field: &str) -> Self {
        let path = &mut self.0.path;
        if !path.is_empty() && !path.starts_with('[') {
            path.insert(0, '.');
        }
        path.insert_str(0, field);
        self
    }

    /// Counts from the start of the line, where a part of it was read by itself.
    #[cold]
    pub(crate) fn shifted(mut self, start: usize) -> Self {
        self.0.offset += start;
        self
    }

    /// Adds the place in an array, from the inside out.
    #[cold]
    pub(crate) fn at_item(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// The byte of the line at which reading stopped, counted from 0.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The field in which it stopped, such as `message.content[0].text`; empty at the top.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Whether the line is no JSON at all, rather than a message of the wrong shape.
    pub fn is_syntax(&self) -> bool {
        self.0.syntax
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            problem,
            path,
            offset,
            ..
        } = &*self.0;
        if path.is_empty() {
            write!(f, "{problem} at byte {offset}")
        } else {
            write!(f, "{problem} in `{path}` at byte {offset}")
        }
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodeError({self})")
    }
}

impl std::error::Error for DecodeError {}
