//! [`Filter`]: which rows to show. Pure.

use super::super::row::Row;

/// What a row must be, and what it must have in it.
pub(crate) struct Filter {
    kinds: Vec<String>,
    /// In lower case.
    words: Option<String>,
}

impl Filter {
    pub(crate) fn new(kinds: Vec<String>, words: Option<&str>) -> Self {
        Self {
            kinds,
            words: words.map(str::to_lowercase),
        }
    }

    pub(crate) fn lets_through(&self, row: &Row) -> bool {
        let is_kind = self.kinds.is_empty()
            || self
                .kinds
                .iter()
                .any(|pattern| matches_kind(pattern, &row.kind));
        is_kind
            && self
                .words
                .as_ref()
                .is_none_or(|words| row.raw.to_lowercase().contains(words))
    }
}

/// Whether a kind is the pattern, begins with it up to a `/`, or fits its `*`.
fn matches_kind(pattern: &str, kind: &str) -> bool {
    if pattern.contains('*') {
        return matches_stars(pattern, kind);
    }
    kind.strip_prefix(pattern)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn matches_stars(pattern: &str, kind: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = kind.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    // The leftmost place for each piece leaves the most room for those behind it.
    for piece in pieces {
        let Some((_, behind)) = rest.split_once(piece) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_matched_whole_by_its_type_or_by_stars() {
        for (pattern, kind, expected) in [
            ("user", "user", true),
            ("user", "users", false),
            ("system", "system/init", true),
            ("system/init", "system/init", true),
            ("system/in", "system/init", false),
            ("sys*", "system/init", true),
            ("*/init", "system/init", true),
            ("*/init", "system/init2", false),
            ("*", "", true),
            ("s*e*/i*t", "system/init", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "abab", true),
            ("a*a", "a", false),
            ("c*request", "control_request/interrupt", false),
        ] {
            assert_eq!(matches_kind(pattern, kind), expected, "{pattern} on {kind}");
        }
    }
}
