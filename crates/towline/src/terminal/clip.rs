//! [`Clip`]: one line for a terminal, escaped as it is written and cut at a width.

use std::fmt;

use anstyle::Style;
use towline_protocol::{marked, push_escape};
use unicode_width::UnicodeWidthChar;

/// A line that takes text until it is full.
///
/// Writing to a full line is an error, so that whoever formats a long text can stop early.
pub(crate) struct Clip {
    line: String,
    /// The columns there are.
    width: usize,
    /// The columns in use.
    used: usize,
    /// Where to cut so that the mark of the cut still fits.
    fits: usize,
    cut: bool,
    /// Whether colours have to be ended behind a cut.
    styled: bool,
}

impl Clip {
    /// A line of at most `width` columns; of any length if there is none.
    pub(crate) fn new(width: Option<usize>) -> Self {
        Self {
            line: String::new(),
            width: width.unwrap_or(usize::MAX),
            used: 0,
            fits: 0,
            cut: false,
            styled: false,
        }
    }

    /// Writes in a style.
    pub(crate) fn styled(&mut self, style: Style, text: fmt::Arguments<'_>) -> fmt::Result {
        use fmt::Write;

        if self.cut {
            return Err(fmt::Error);
        }
        self.styled |= style != Style::new();
        self.line.push_str(&style.render().to_string());
        self.write_fmt(text)?;
        self.line.push_str(&style.render_reset().to_string());
        Ok(())
    }

    /// Writes a space, unless there is one already.
    pub(crate) fn gap(&mut self) -> fmt::Result {
        if self.line.ends_with(' ') {
            return Ok(());
        }
        fmt::Write::write_str(self, " ")
    }

    /// The line, without a line end.
    pub(crate) fn finish(mut self) -> String {
        if self.cut && self.styled {
            self.line.push_str(&anstyle::Reset.render().to_string());
        }
        self.line
    }

    fn push(&mut self, character: char, is_seen: bool) -> fmt::Result {
        if matches!(character, ' '..='~') {
            // Nearly all of them: one byte, one column.
            self.line.push(character);
            self.used += 1;
        } else {
            let start = self.line.len();
            if is_seen {
                self.line.push(character);
            } else {
                push_escape(&mut self.line, character);
            }
            self.used += self.line[start..].chars().map(columns).sum::<usize>();
        }
        // The second bound is for characters that take no column: they may not make the line endless.
        if self.used > self.width || self.line.len() / LONGEST_COLUMN > self.width {
            self.line.truncate(self.fits);
            if self.width > 0 {
                self.line.push('…');
            }
            self.cut = true;
            return Err(fmt::Error);
        }
        if self.used < self.width {
            self.fits = self.line.len();
        }
        Ok(())
    }
}

impl fmt::Write for Clip {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Err(fmt::Error);
        }
        marked(text).try_for_each(|(character, is_seen)| self.push(character, is_seen))
    }
}

fn columns(character: char) -> usize {
    match character {
        // It can make the character before it one column wider.
        '\u{fe0f}' => 1,
        other => other.width().unwrap_or(0),
    }
}

/// The bytes that one column may take on average, styles included.
const LONGEST_COLUMN: usize = 32;

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn check(width: usize, text: &str, expected: &str) {
        let mut clip = Clip::new(Some(width));
        clip.write_str(text).ok();
        assert_eq!(clip.finish(), expected, "{text} in {width} columns");
    }

    #[test]
    fn a_line_is_cut_at_its_width() {
        check(5, "abcde", "abcde");
        check(5, "abcdef", "abcd…");
        check(5, "日本語", "日本…");
        check(6, "日本語", "日本語");
        check(4, "日本語", "日…");
        check(4, "a\u{301}bcde", "a\u{301}bc…");
        check(6, "ab\ncde", "ab\\nc…");
        check(
            40,
            "a\u{202e}b r\u{200d}m 👩\u{200d}🚀",
            "a\\u{202e}b r\\u{200d}m 👩\u{200d}🚀",
        );
        check(1, "ab", "…");
        check(0, "ab", "");
    }

    #[test]
    fn characters_without_width_do_not_make_it_endless() {
        let mut clip = Clip::new(Some(10));
        clip.write_str(&"\u{301}".repeat(10_000)).ok();
        assert!(clip.finish().len() < 400);
    }

    #[test]
    fn a_cut_ends_the_colours() {
        let bold = Style::new().bold();
        let mut clip = Clip::new(Some(4));
        clip.styled(bold, format_args!("abcd")).unwrap();
        assert!(clip.write_str("e").is_err());
        assert_eq!(clip.finish(), "\u{1b}[1mabc…\u{1b}[0m");
    }
}
