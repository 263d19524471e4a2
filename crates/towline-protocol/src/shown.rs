//! Text for people: makes characters visible that control, hide or reorder others. It owns the list of them; how long a
//! line may be and what is quoted is decided by the callers.
//!
//! The list follows Unicode's default ignorable code points, and the formats, controls, private characters and spaces that
//! show as something else than they are. The bridge's page has the same one, from its browser.

use std::fmt::Write;

/// The text on one line, with the characters spelled out that would not be seen as what they are.
///
/// Emoji keep their joiners and variants: those are seen in how they look. Anywhere else a joiner is spelled out, since it
/// would make two names look the same.
///
/// ```
/// use towline_protocol::escaped;
///
/// assert_eq!(escaped("rm \u{202e}txt.sh\u{1b}[2J\n"), r"rm \u{202e}txt.sh\u{1b}[2J\n");
/// assert_eq!(escaped("👩\u{200d}🚀 r\u{200d}m"), "👩\u{200d}🚀 r\\u{200d}m");
/// ```
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (character, is_seen) in marked(text) {
        if is_seen {
            shown.push(character);
        } else {
            push_escape(&mut shown, character);
        }
    }
    shown
}

/// The characters of a text, each with whether it is seen as what it is.
pub fn marked(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = Before::Other;
    let mut characters = text.chars().peekable();
    std::iter::from_fn(move || {
        let character = characters.next()?;
        let (is_seen, after) = match (character, before) {
            (JOINER, Before::Emoji | Before::WholeEmoji) => {
                let joins = characters.peek().copied().is_some_and(is_emoji);
                (joins, Before::Other)
            }
            ('\u{fe0e}' | '\u{fe0f}', Before::Emoji) => (true, Before::WholeEmoji),
            ('\u{1f3fb}'..='\u{1f3ff}', Before::Emoji) => (true, Before::WholeEmoji),
            ('\u{fe0f}', Before::Key) => (characters.peek() == Some(&KEYCAP), Before::Other),
            ('#' | '*' | '0'..='9', _) => (true, Before::Key),
            (mark, Before::Marks(count)) if is_stacked(mark) => {
                (count < MOST_MARKS, Before::Marks(count.saturating_add(1)))
            }
            (mark, _) if is_stacked(mark) => (true, Before::Marks(1)),
            (other, _) if is_emoji(other) => (true, Before::Emoji),
            (other, _) => (!is_hidden(other), Before::Other),
        };
        before = after;
        Some((character, is_seen))
    })
}

/// The character before another one, as far as that changes how the other is seen.
#[derive(Clone, Copy)]
enum Before {
    /// It can have a colour of skin or a variant, and be joined.
    Emoji,
    /// It has one, and can be joined.
    WholeEmoji,
    /// It can become the picture of a key.
    Key,
    /// It is a mark over another one, the last of so many.
    Marks(u8),
    Other,
}

/// Appends the escape of a character.
pub fn push_escape(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        other => {
            write!(shown, "\\u{{{:x}}}", u32::from(other)).expect("a string takes any text");
        }
    }
}

/// Whether a character by itself controls or reorders others, shows as nothing, or looks like the space of the keyboard.
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    character.is_control()
        || character.is_whitespace() // no-break and other spaces, line separators
        || matches!(
            character,
            '\u{ad}' // soft hyphen
            | '\u{34f}' // combining grapheme joiner
            | '\u{61c}' // Arabic letter mark
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{17b4}'..='\u{17b5}' // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}' // Mongolian variants and vowel separator
            | '\u{200b}'..='\u{200f}' // zero width, direction marks
            | '\u{2028}'..='\u{202e}' // line separators, direction embeddings and overrides
            | '\u{2060}'..='\u{206f}' // invisible operators, direction isolates
            | '\u{2800}' // the Braille pattern without dots
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' // private use
            | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}'..='\u{ffff}' // no characters
            | '\u{fe00}'..='\u{fe0f}' // variants
            | '\u{feff}' // byte order mark
            | '\u{fff0}'..='\u{fffb}' // annotations
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // layout of signs
            | '\u{e0000}'..='\u{e0fff}' // tags, more variants
        )
}

fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | '\u{24c2}' | '\u{25aa}'..='\u{25fe}'
            | '\u{2600}'..='\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b55}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
            | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}'
    )
}

/// Marks over letters that a font stacks on each other, without an end. Those of scripts that are written with few of them
/// are left out.
fn is_stacked(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{483}'..='\u{489}' // over Latin, Greek, Cyrillic
            | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' // Hebrew
            | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' // Arabic
            | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}'
            | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' // Thai
            | '\u{eb1}' | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ece}' // Lao
            | '\u{f71}'..='\u{f7e}' | '\u{f80}'..='\u{f84}' | '\u{f8d}'..='\u{fbc}' // Tibetan
            | '\u{1ab0}'..='\u{1ace}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}' // over any letter
            | '\u{302a}'..='\u{302f}' | '\u{3099}'..='\u{309a}' // East Asian
            | '\u{a66f}'..='\u{a672}' | '\u{a674}'..='\u{a67d}' | '\u{fe20}'..='\u{fe2f}'
            | '\u{1d165}'..='\u{1d169}' | '\u{1d16d}'..='\u{1d172}' | '\u{1d17b}'..='\u{1d182}' // music
    )
}

/// So many marks stand over one letter in the scripts that stack them; the page has the same figure.
const MOST_MARKS: u8 = 4;
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_as_it_is_is_spelled_out() {
        for (text, expected) in [
            (
                "a\u{1b}[2J\r\n\tb\u{9b}31m\u{7f}\0",
                r"a\u{1b}[2J\r\n\tb\u{9b}31m\u{7f}\u{0}",
            ),
            (
                "\u{202e}a\u{202c}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}",
                r"\u{202e}a\u{202c}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}",
            ),
            (
                "a\u{200b}\u{200c}\u{2060}\u{feff}\u{ad}\u{180e}\u{34f}b",
                r"a\u{200b}\u{200c}\u{2060}\u{feff}\u{ad}\u{180e}\u{34f}b",
            ),
            ("\u{e0041}\u{e01ef}\u{fe01}", r"\u{e0041}\u{e01ef}\u{fe01}"),
            (
                "\u{2028}\u{2029}\u{3164}\u{2800}\u{e000}\u{10ffff}",
                r"\u{2028}\u{2029}\u{3164}\u{2800}\u{e000}\u{10ffff}",
            ),
            ("rm\u{a0}-rf\u{3000}x", r"rm\u{a0}-rf\u{3000}x"),
            ("é 日本 שלום a\u{301} \\ 🚀", "é 日本 שלום a\u{301} \\ 🚀"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn a_stack_of_marks_is_spelled_out_beyond_the_fourth() {
        for (text, expected) in [
            (
                "e\u{301}\u{302}\u{303}\u{304}x",
                "e\u{301}\u{302}\u{303}\u{304}x",
            ),
            (
                "e\u{301}\u{302}\u{303}\u{304}\u{489}\u{20dd}x\u{301}",
                "e\u{301}\u{302}\u{303}\u{304}\\u{489}\\u{20dd}x\u{301}",
            ),
            (
                "ש\u{5b8}\u{5b8}\u{5b8}\u{5b8}\u{5b8}",
                "ש\u{5b8}\u{5b8}\u{5b8}\u{5b8}\\u{5b8}",
            ),
            ("1\u{fe0f}\u{20e3}\u{301}", "1\u{fe0f}\u{20e3}\u{301}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        let stack = "\u{301}".repeat(1_000);
        assert_eq!(escaped(&stack).matches(r"\u{301}").count(), 996);
    }

    #[test]
    fn an_emoji_is_whole_and_its_joiners_are_spelled_out_elsewhere() {
        for emoji in [
            "👩\u{200d}🚀",
            "👩🏽\u{200d}🚀",
            "❤\u{fe0f}",
            "👁\u{fe0f}\u{200d}🗨\u{fe0f}",
            "🇩🇪",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(escaped(emoji), emoji);
        }
        for (text, expected) in [
            ("r\u{200d}m", r"r\u{200d}m"),
            ("👩\u{200d} x", r"👩\u{200d} x"),
            ("👩\u{200d}", r"👩\u{200d}"),
            ("👩\u{fe0f}\u{fe0f}", "👩\u{fe0f}\\u{fe0f}"),
            ("1\u{fe0f}", r"1\u{fe0f}"),
            ("a\u{fe0f}\u{200d}👩", r"a\u{fe0f}\u{200d}👩"),
            ("a\u{fe0f}", r"a\u{fe0f}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
