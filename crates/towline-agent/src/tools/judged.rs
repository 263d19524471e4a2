//! [`Target`]: what the path of a call is opened as. It is found out once, before the call is decided about.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use towline_files::{RealPath, Resolved};
use towline_permission::{Behavior, Call, Policy, denies_reading, target};

/// The path of a call as it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The path in the model's words, absolute and without `.` and `..`; for messages.
    pub(crate) words: PathBuf,
    /// Where it led when the call was decided about.
    pub(crate) real: RealPath,
}

impl Target {
    /// The target of a call whose paths were resolved. Nothing where it names none, or no path.
    pub(crate) fn among(resolved: &Resolved, policy: &Policy, call: &Call<'_>) -> Option<Self> {
        let words = target(policy, call)?;
        let real = resolved.real.get(&words)?.clone();
        Some(Self {
            words: words.into(),
            real,
        })
    }

    /// The target of a call that was allowed by the host and is not decided about.
    pub(crate) fn of(policy: &Policy, tool: &str, input: &Value) -> Option<Self> {
        let call = Call::new(tool, input);
        let words = target(policy, &call)?;
        let resolved = towline_files::resolve_paths([words.as_str()]);
        Self::among(&resolved, policy, &call)
    }

    /// A path found below the target, in the model's words.
    pub(crate) fn in_words(&self, found: &Path) -> PathBuf {
        match found.strip_prefix(&self.real) {
            Ok(rest) if rest.as_os_str().is_empty() => self.words.clone(),
            Ok(rest) => self.words.join(rest),
            Err(_) => found.to_owned(),
        }
    }
}

/// The files that rules forbid to read: a search leaves them out, whatever allowed it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hidden(Option<Arc<Policy>>);

impl Hidden {
    /// Those of a policy.
    pub(crate) fn by(policy: &Policy) -> Self {
        let mut rules = policy.entries().iter();
        let any =
            rules.any(|entry| entry.behavior == Behavior::Deny && entry.rule.content().is_some());
        Self(any.then(|| Arc::new(policy.clone())))
    }

    /// Whether a file is one of them, by its words or by where it is.
    pub(crate) fn covers(&self, words: &Path, real: &Path) -> bool {
        let Some(policy) = &self.0 else {
            return false;
        };
        let (words, real) = (words.to_string_lossy(), real.to_string_lossy());
        denies_reading(policy, &words) || words != real && denies_reading(policy, &real)
    }
}

#[cfg(test)]
mod tests;
