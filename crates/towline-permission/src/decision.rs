//! [`Decision`]: what may happen, why, and what would make it different.

use towline_protocol::{Behavior, PermissionMode, PermissionUpdate};

use crate::rule::Entry;

/// The decision about a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Whether it runs.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// What to add so that the next call like this one is not asked about; only with a question.
    /// Nothing at all is something else than an empty list: it is what the real CLI leaves out of its question.
    pub suggestions: Option<Vec<PermissionUpdate>>,
    /// The path that stood in the way.
    pub blocked_path: Option<String>,
    /// For a command line: each part of it, and whether it passed.
    pub parts: Vec<Part>,
}

/// What is to happen with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// Why a decision is what it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A rule says so.
    Rule(Entry),
    /// The mode says so.
    Mode(PermissionMode),
    /// A hook says so.
    Hook(Option<String>),
    /// It is outside of the working directories, or leads there.
    WorkingDirectory(String),
    /// It is dangerous whatever the rules say.
    Safety(String),
    /// Parts of a command line have reasons of their own.
    Parts,
    /// It only reads, in a place that may be read.
    Harmless,
    /// Something else, in words.
    Other(String),
    /// No rule, and nothing special: this tool is asked about.
    Unknown,
}

/// One part of a command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its text.
    pub command: String,
    /// Whether it passed.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

impl Decision {
    /// A decision without more to it.
    pub fn new(verdict: Verdict, reason: Reason) -> Self {
        Self {
            verdict,
            reason,
            suggestions: None,
            blocked_path: None,
            parts: Vec::new(),
        }
    }

    /// It runs.
    pub(crate) fn allow(reason: Reason) -> Self {
        Self::new(Verdict::Allow, reason)
    }

    /// A person is asked.
    pub(crate) fn ask(reason: Reason) -> Self {
        Self::new(Verdict::Ask, reason)
    }

    /// It does not run.
    pub(crate) fn deny(reason: Reason) -> Self {
        Self::new(Verdict::Deny, reason)
    }

    /// With suggestions.
    pub(crate) fn suggest(mut self, updates: Vec<PermissionUpdate>) -> Self {
        self.suggestions = Some(updates);
        self
    }

    /// With the path that stood in the way.
    pub(crate) fn blocked_by(mut self, path: impl Into<String>) -> Self {
        self.blocked_path = Some(path.into());
        self
    }
}

impl Reason {
    /// What the real CLI calls it (`decision_reason_type`).
    ///
    /// ```
    /// use towline_permission::Reason;
    ///
    /// assert_eq!(Reason::Safety("it is a start-up file".into()).kind(), Some("safetyCheck"));
    /// assert_eq!(Reason::Unknown.kind(), None);
    /// ```
    pub fn kind(&self) -> Option<&'static str> {
        Some(match self {
            Self::Rule(_) => "rule",
            Self::Mode(_) => "mode",
            Self::Hook(_) => "hook",
            Self::WorkingDirectory(_) => "workingDir",
            Self::Safety(_) => "safetyCheck",
            Self::Parts => "subcommandResults",
            Self::Other(_) => "other",
            Self::Harmless | Self::Unknown => return None,
        })
    }
}

impl From<&Verdict> for Behavior {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}
