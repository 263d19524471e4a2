//! Backslashes before blanks and dollars before quotes, where the grammar may read otherwise than the shell.
//!
//! Before it looks for words the shell takes a backslash and the end of the line behind it away, so that `-ex\` and `ec` in the
//! next line are `-exec`; and a blank behind a backslash is a letter. The grammar sees two words there, or a comment that the
//! shell does not see.

use tree_sitter::Node;

use super::{MOST_WORDS, Opaque, kind::Kind, walk::Walk};

impl Walk<'_> {
    /// Makes a question of each such place: neither what allows nor what forbids has seen it as the shell will. A line that goes on
    /// between two words is read as the shell does.
    pub(super) fn joined_words(&mut self, root: Node<'_>) {
        // Few lines have either.
        let has_some = self.line.as_bytes().contains(&b'\\') || self.line.contains("$\"");
        if self.script.is_broken || !has_some {
            return;
        }
        let mut places = places(self.line).enumerate();
        let joins = |(count, place)| match (count, place) {
            (MOST_WORDS.., _) => Some(Opaque::Unknown),
            (_, Place::Translated(at)) => self.opens_text(root, at).then_some(Opaque::EscapedText),
            (_, Place::Backslash(at)) => self.joins_words(root, at),
            // Behind another one it is a letter of a word.
            (_, Place::Letter(at)) => matches!(self.surroundings(root, at), Surroundings::Between)
                .then_some(Opaque::Unknown),
        };
        if let Some(what) = places.find_map(joins) {
            self.script.is_broken = true;
            self.opaque(what);
        }
    }

    /// Whether a dollar and a quote begin a text that is to be translated: in the middle of a word the grammar takes the dollar for
    /// a letter. In a text the quote is its end.
    fn opens_text(&self, root: Node<'_>, at: usize) -> bool {
        let mut node = root.descendant_for_byte_range(at, at + 1);
        while let Some(inner) = node {
            match inner.kind() {
                "string" | "raw_string" | "ansi_c_string" | "heredoc_body" | "comment" => {
                    return false;
                }
                "command_substitution" | "process_substitution" => return true,
                _ => node = inner.parent(),
            }
        }
        true
    }

    fn joins_words(&self, root: Node<'_>, at: usize) -> Option<Opaque> {
        let (before, behind) = (&self.line[..at], &self.line[at + 1..]);
        let is_end_of_line = behind.starts_with('\n');
        if self.data.iter().any(|data| data.contains(&at)) {
            return None;
        }
        match (self.surroundings(root, at), is_end_of_line) {
            (Surroundings::Letters, _) | (Surroundings::Word, false) => None,
            (Surroundings::Between, false) => Some(Opaque::EscapedBlank),
            (Surroundings::Word, true) => Some(Opaque::JoinedWord),
            (Surroundings::Between, true) => {
                let behind = &behind[1..];
                let is_before_blank = behind.is_empty() || behind.starts_with([' ', '\t', '\n']);
                let splits = is_before_blank || is_behind_blank(before);
                (!splits).then_some(Opaque::JoinedWord)
            }
        }
    }

    fn surroundings(&self, root: Node<'_>, at: usize) -> Surroundings {
        let mut node = root.descendant_for_byte_range(at, at + 1);
        while let Some(inner) = node {
            match (inner.kind(), Kind::of_node(inner)) {
                ("raw_string" | "comment", _) => return Surroundings::Letters,
                ("command_substitution" | "process_substitution", _) => break,
                ("heredoc_body", _)
                | (_, Some(Kind::Word | Kind::Unparsed | Kind::Data | Kind::Expansion)) => {
                    return Surroundings::Word;
                }
                _ => node = inner.parent(),
            }
        }
        Surroundings::Between
    }
}

/// Where the grammar sees a backslash.
#[derive(Clone, Copy, Debug)]
enum Surroundings {
    /// In a text in which it is a letter like others.
    Letters,
    /// In a word, or in what the shell expands.
    Word,
    /// Between two words.
    Between,
}

/// A place that the grammar may read in another way.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A backslash before a blank or the end of a line.
    Backslash(usize),
    /// The same behind another backslash.
    Letter(usize),
    /// A dollar before a double quote.
    Translated(usize),
}

/// All such places.
fn places(line: &str) -> impl Iterator<Item = Place> {
    // Where the last backslash that takes the meaning of the next character stands.
    let mut escape = None;
    line.match_indices(['\\', '$'])
        .filter_map(move |(at, found)| {
            let next = line.as_bytes().get(at + 1).copied().unwrap_or(b'\n');
            if found == "$" {
                return (next == b'"').then_some(Place::Translated(at));
            }
            let is_escaped = at > 0 && escape == Some(at - 1);
            escape = (!is_escaped).then_some(at);
            let is_at_blank = matches!(next, b' ' | b'\t' | b'\n');
            is_at_blank.then_some(if is_escaped {
                Place::Letter(at)
            } else {
                Place::Backslash(at)
            })
        })
}

/// Whether a text ends with a blank that ends its last word.
fn is_behind_blank(text: &str) -> bool {
    let words = text.trim_end_matches([' ', '\t', '\n']);
    let escapes = words.bytes().rev().take_while(|byte| *byte == b'\\');
    words.is_empty() || words.len() < text.len() && escapes.count().is_multiple_of(2)
}
