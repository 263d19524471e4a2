//! Paths: where they are, which rules are about them, and what is protected.
//!
//! A path and the place where a link leads are both looked at: what denies must be about one of them, what allows
//! about both.

mod forbidden;
mod pattern;
mod protected;

pub(crate) use forbidden::{forbids_some, may_hold_forbidden, may_match_forbidden};
pub(crate) use pattern::Pattern;
pub(crate) use protected::has_other_name;

use towline_protocol::Behavior;

use self::pattern::Place;
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

/// What policy says of an absolute path without `.` and `..` in it that a command line touches.
///
/// Rules that ask about paths do not reach command lines (CLI 2.1.325): it never gives [`PathVerdict::Asked`].
pub(crate) fn check<'p>(
    policy: &'p Policy,
    facts: &Facts,
    access: Access,
    path: &str,
) -> PathVerdict<'p> {
    check_with(policy, facts, access, path, AskRules::DoNotCount)
}

/// The same of a path that a tool for files touches.
pub(crate) fn check_for_tool<'p>(
    policy: &'p Policy,
    facts: &Facts,
    access: Access,
    path: &str,
) -> PathVerdict<'p> {
    check_with(policy, facts, access, path, AskRules::Count)
}

#[derive(Clone, Copy, PartialEq)]
enum AskRules {
    Count,
    DoNotCount,
}

fn check_with<'p>(
    policy: &'p Policy,
    facts: &Facts,
    access: Access,
    path: &str,
    ask_rules: AskRules,
) -> PathVerdict<'p> {
    let target = facts.links.get(path).map(String::as_str);
    let ends: Vec<&str> = std::iter::once(path).chain(target).collect();
    let places: Vec<Place> = ends
        .iter()
        .map(|end| Place::new(end, &policy.places))
        .collect();
    let mut asked = None;
    let mut allowed: Vec<Option<&Entry>> = vec![None; ends.len()];
    for (entry, pattern) in policy.path_rules() {
        let same_access = pattern.access == access;
        let covers_an_end = || places.iter().any(|place| pattern.covers(place));
        match entry.behavior {
            Behavior::Deny if same_access && covers_an_end() => return PathVerdict::Denied(entry),
            Behavior::Ask if same_access && asked.is_none() && ask_rules == AskRules::Count => {
                asked = covers_an_end().then_some(entry);
            }
            // What may be changed may be looked at by tools; to commands that is not said (CLI 2.1.325).
            Behavior::Allow
                if same_access || access == Access::Read && ask_rules == AskRules::Count =>
            {
                for (place, allowed) in places.iter().zip(&mut allowed) {
                    if allowed.is_none() && pattern.covers(place) {
                        *allowed = Some(entry);
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(entry) = asked {
        return PathVerdict::Asked(entry);
    }
    if access == Access::Write && ends.iter().any(|end| protected::is_protected(end)) {
        return PathVerdict::Protected;
    }
    if let Some(all) = allowed.into_iter().collect::<Option<Vec<_>>>() {
        return PathVerdict::Allowed(all[0]);
    }
    match ends.iter().find(|end| !is_inside(policy, end)) {
        None => PathVerdict::Inside,
        Some(end) => PathVerdict::Outside {
            target: (*end != path).then(|| (*end).to_owned()),
        },
    }
}

/// Whether a deny rule forbids to read a file, by this absolute path. What searches many files asks for each.
///
/// ```
/// use towline_permission::{Behavior, Destination, PermissionMode, Places, Policy, Rule, denies_reading};
///
/// let places = Places { project: "/project".into(), current: "/project".into(), ..Places::default() };
/// let mut policy = Policy::new(PermissionMode::BypassPermissions, places);
/// policy.add(Rule::with_content("Read", "secret/**"), Behavior::Deny, Destination::UserSettings);
/// assert!(denies_reading(&policy, "/project/secret/key.txt"));
/// assert!(!denies_reading(&policy, "/project/notes.txt"));
/// ```
pub fn denies_reading(policy: &Policy, path: &str) -> bool {
    denied(policy, &Facts::default(), Access::Read, path).is_some()
}

/// The deny rule that is about a path, or about where it leads.
pub(crate) fn denied<'p>(
    policy: &'p Policy,
    facts: &Facts,
    access: Access,
    path: &str,
) -> Option<&'p Entry> {
    match check(policy, facts, access, path) {
        PathVerdict::Denied(entry) => Some(entry),
        _ => None,
    }
}

/// Whether a path is in the project or in another working directory.
pub(crate) fn is_inside(policy: &Policy, path: &str) -> bool {
    let others = policy.directories().iter().map(|known| &*known.path);
    std::iter::once(&*policy.places.project)
        .chain(others)
        .any(|directory| below(path, directory).is_some())
}

/// The path from a directory on, empty for the directory itself; nothing if it is not there.
pub(crate) fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(rest),
    }
}

/// The directory that a path is in.
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((parent, _)) => parent,
    }
}

/// A path as it is written, made absolute: `~` is the home directory, everything else is relative to `base`; `.` and
/// `..` are gone.
pub(crate) fn absolute(path: &str, base: &str, home: &str) -> String {
    let joined = joined(path, base, home);
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

/// The same with `.` and `..` as they are written.
pub(crate) fn joined(path: &str, base: &str, home: &str) -> String {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{base}/{path}"),
    }
}

/// `a/../b`: what `..` leads to depends on whether `a` is a link.
pub(crate) fn has_detour(path: &str) -> bool {
    let mut behind_name = false;
    path.split('/').any(|part| match part {
        "" | "." => false,
        ".." => behind_name,
        _ => {
            behind_name = true;
            false
        }
    })
}
