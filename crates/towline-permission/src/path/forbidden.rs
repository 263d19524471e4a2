//! What may be forbidden to read, where only a part of a path is known: a directory, or a glob of the shell.
//!
//! Here being wrong costs a question. It never costs a secret: where the two might meet, they do.

use fast_glob::glob_match;
use towline_protocol::Behavior;

use super::{Access, below, pattern::Pattern};
use crate::policy::Policy;

/// Whether any rule forbids to read some paths.
pub(crate) fn forbids_some(policy: &Policy) -> bool {
    patterns(policy).next().is_some()
}

fn patterns(policy: &Policy) -> impl Iterator<Item = &Pattern> {
    policy
        .path_rules()
        .filter(|(entry, pattern)| {
            entry.behavior == Behavior::Deny && pattern.access == Access::Read
        })
        .map(|(_, pattern)| pattern)
}

/// Whether there may be files below a directory that are forbidden to read.
pub(crate) fn may_hold_forbidden(policy: &Policy, directory: &str) -> bool {
    let directory = directory.to_lowercase();
    patterns(policy).any(|pattern| {
        let (root, _) = pattern.root(&policy.places);
        below(&root, &directory).is_some() || below(&directory, &root).is_some()
    })
}

/// Whether files that match an absolute glob of the shell may be forbidden to read.
pub(crate) fn may_match_forbidden(policy: &Policy, glob: &str) -> bool {
    let glob = glob.to_lowercase();
    let names: Vec<&str> = glob.split('/').filter(|name| !name.is_empty()).collect();
    patterns(policy).any(|pattern| {
        let (root, floating) = pattern.root(&policy.places);
        let fixed: Vec<&str> = root.split('/').filter(|name| !name.is_empty()).collect();
        if names.len() < fixed.len() {
            return false;
        }
        let reaches = names
            .iter()
            .zip(&fixed)
            .all(|(glob, name)| may_be(glob, name));
        let inner = &names[fixed.len()..];
        reaches && floating.is_none_or(|name| inner.iter().any(|glob| may_be(glob, name)))
    })
}

/// Whether a name in a glob may stand for a name, or for one that a pattern matches.
fn may_be(glob: &str, name: &str) -> bool {
    let is_hidden = name.starts_with('.') && !glob.starts_with('.');
    let both_special = name.contains(['*', '?', '[']) && glob.contains(['*', '?', '[']);
    glob == name || !is_hidden && (both_special || glob_match(glob, name) || glob_match(name, glob))
}
