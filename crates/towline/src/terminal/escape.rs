//! Makes characters visible that would move the cursor, start an escape sequence, turn the writing direction or hide.

use std::fmt::Write;

/// The text on one line, harmless to a terminal.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        push_escaped(&mut shown, character);
    }
    shown
}

/// Appends one character as itself, or as an escape if a terminal should not see it.
pub(super) fn push_escaped(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        risky if is_risky(risky) => {
            write!(shown, "\\u{{{:x}}}", u32::from(risky)).expect("a string takes any text");
        }
        harmless => shown.push(harmless),
    }
}

fn is_risky(character: char) -> bool {
    // Joiners (U+200C, U+200D) stay: scripts and emoji need them.
    character.is_control()
        || matches!(
            character,
            '\u{ad}' // soft hyphen
            | '\u{61c}' // Arabic letter mark
            | '\u{180e}' // Mongolian vowel separator
            | '\u{200b}' // zero width space
            | '\u{200e}'..='\u{200f}' // direction marks
            | '\u{2028}'..='\u{202e}' // line separators, direction embeddings and overrides
            | '\u{2060}'..='\u{206f}' // invisible operators, direction isolates
            | '\u{feff}' // byte order mark
            | '\u{fff9}'..='\u{fffb}' // annotations
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        insta::assert_snapshot!(
            escaped("a\u{1b}[2J\r\n\tb\u{9b}31m \u{202e}c 👩\u{200d}🚀 é\u{7f}"),
            @r"a\u{1b}[2J\r\n\tb\u{9b}31m \u{202e}c 👩‍🚀 é\u{7f}"
        );
    }
}
