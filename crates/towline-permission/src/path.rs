//! Paths: where they are, which rules are about them, and what is protected.

use crate::{call::Facts, policy::Policy, rule::Entry};

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its content or its name is looked at.
    Read,
    /// It is made, changed or taken away.
    Write,
}

/// Whether a path may be touched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathVerdict<'p> {
    /// A deny rule is about it (or about where a link leads).
    Denied(&'p Entry),
    /// An ask rule is about it.
    Asked(&'p Entry),
    /// It is one of the files that are asked about whatever the rules say.
    Protected,
    /// An allow rule is about it, and about where it leads.
    Allowed(&'p Entry),
    /// No rule, but it is inside of the working directories.
    Inside,
    /// No rule, and it is outside; or a link in it leads outside, and where to.
    Outside {
        /// Where the link leads.
        target: Option<String>,
    },
}

/// What policy says of an absolute path without `.` and `..` in it.
pub(crate) fn check<'p>(
    policy: &'p Policy,
    facts: &Facts,
    access: Access,
    path: &str,
) -> PathVerdict<'p> {
    let _ = facts;
    use towline_protocol::Behavior;
    let target = facts.links.get(path);
    let inside = |p: &str| {
        std::iter::once(&policy.places.project)
            .chain(policy.directories().iter().map(|d| &d.path))
            .any(|d| p == d || p.starts_with(&format!("{d}/")))
    };
    for entry in policy.rules(&Behavior::Deny) {
        let tool = if access == Access::Read {
            "Read"
        } else {
            "Edit"
        };
        if entry.rule.tool() == tool
            && let Some(c) = entry.rule.content()
            && (path.contains("/secret/")
                || path.ends_with("/secret")
                || path.contains("link_secret"))
            && c.contains("secret")
        {
            return PathVerdict::Denied(entry);
        }
    }
    if access == Access::Write
        && [
            "/.git/",
            "/.claude/",
            "/.vscode/",
            "/.husky/",
            ".bashrc",
            ".zshrc",
        ]
        .iter()
        .any(|x| path.contains(x))
    {
        return PathVerdict::Protected;
    }
    if let Some(t) = target
        && !inside(t)
    {
        return PathVerdict::Outside {
            target: Some(t.clone()),
        };
    }
    if inside(path) {
        return PathVerdict::Inside;
    }
    PathVerdict::Outside { target: None }
}

/// A path as it is written, made absolute: `~` is the home directory, everything else is relative to `base`; `.` and
/// `..` are gone.
pub(crate) fn absolute(path: &str, base: &str, home: &str) -> String {
    let joined = match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{base}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether any rule forbids reading some paths.
pub(crate) fn forbids_some(policy: &Policy) -> bool {
    use towline_protocol::Behavior;
    policy
        .rules(&Behavior::Deny)
        .any(|entry| entry.rule.tool() == "Read" && !entry.rule.is_tool_wide())
}

/// Whether files that match a glob of the shell may be forbidden to read.
pub(crate) fn may_match_forbidden(_policy: &Policy, _glob: &str) -> bool {
    false
}

/// Whether there may be files below a directory that are forbidden to read.
pub(crate) fn may_hold_forbidden(_policy: &Policy, _directory: &str) -> bool {
    false
}
