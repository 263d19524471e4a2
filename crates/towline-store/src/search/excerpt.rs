//! [`Excerpt`]: the words around a place in a text. Pure.

use std::ops::Range;

/// A place in a text with some words before and behind it.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let query = SearchQuery::new(Pattern::words("token has")?);
/// let Excerpt { before, hit, after } = session.search(query).next().unwrap()?.excerpt;
/// assert_eq!(format!("{before}[{hit}]{after}"), "The [token has] expired.");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// What stands before it; begins with `…` if it is cut there.
    pub before: String,
    /// What was looked for.
    pub hit: String,
    /// What stands behind it; ends with `…` if it is cut there.
    pub after: String,
}

impl Excerpt {
    /// The words around `place`, which must lie on characters of the text.
    pub(super) fn around(text: &str, place: Range<usize>) -> Self {
        let start = text.floor_char_boundary(place.start.saturating_sub(AROUND));
        let end = text.ceil_char_boundary(text.len().min(place.end.saturating_add(AROUND)));
        let hit_end = text.floor_char_boundary(place.end.min(place.start + LONGEST_HIT));
        let mut before = text[start..place.start].to_owned();
        if start > 0 {
            // From the next whole word, if there is one near.
            let word = before.find(char::is_whitespace).unwrap_or(0);
            before.replace_range(..word, "…");
        }
        let mut hit = text[place.start..hit_end].to_owned();
        let mut after = String::new();
        if hit_end < place.end {
            hit.push('…');
        } else {
            after.push_str(&text[place.end..end]);
            if end < text.len() {
                let word = after.rfind(char::is_whitespace).unwrap_or(after.len());
                after.replace_range(word.., "…");
            }
        }
        Self { before, hit, after }
    }
}

/// The bytes shown on each side.
const AROUND: usize = 80;
/// The bytes shown of a pattern that matches much.
const LONGEST_HIT: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, word: &str, expected: [&str; 3]) {
        let start = text.find(word).unwrap();
        let Excerpt { before, hit, after } = Excerpt::around(text, start..start + word.len());
        assert_eq!([&*before, &*hit, &*after], expected);
    }

    #[test]
    fn an_excerpt_is_cut_between_words() {
        check("say hello now", "hello", ["say ", "hello", " now"]);
        check("hello", "hello", ["", "hello", ""]);
        let long = format!("{}hello {}", "one two ".repeat(30), "drei vier ".repeat(30));
        let before = format!("… two {}", "one two ".repeat(9));
        let after = format!(" {}drei…", "drei vier ".repeat(7));
        check(&long, "hello", [&before, "hello", &after]);
    }

    #[test]
    fn characters_of_many_bytes_are_never_cut() {
        let text = format!("{}x{}", "日".repeat(100), "語".repeat(100));
        check(
            &text,
            "x",
            [
                &format!("…{}", "日".repeat(27)),
                "x",
                &format!("{}…", "語".repeat(27)),
            ],
        );
        let Excerpt { hit, after, .. } = Excerpt::around(&text, 0..text.len());
        assert_eq!((hit.len(), &*after), (400 + "…".len(), ""));
    }
}
