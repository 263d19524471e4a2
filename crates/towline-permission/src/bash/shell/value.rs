//! The words of a tree, and what they are when the line runs.

use tree_sitter::Node;

use super::{DEEPEST, MOST_WORDS, Opaque, Place, kind::Kind, walk::Walk};
use crate::bash::word::{self, Word};

impl<'l> Walk<'l> {
    /// Whatever words, and commands in them, are below a node.
    pub(super) fn words_in(&mut self, node: Node<'_>) {
        if self.depth >= DEEPEST {
            return self.give_up();
        }
        self.depth += 1;
        match Kind::of_node(node) {
            Some(Kind::Expansion | Kind::Word | Kind::Unparsed) => {
                self.word(node);
            }
            Some(Kind::Parts) => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.words_in(child);
                }
            }
            Some(Kind::Data) => {}
            _ => self.statement(node, Place::Substitution, false),
        }
        self.depth -= 1;
    }

    /// A word and what it is when it runs, as far as that is known.
    pub(super) fn word(&mut self, node: Node<'_>) -> Word {
        let raw = self.text(node);
        // `{name}` before a redirection is no word, and a word with `=` in front is the place of a program to some shells.
        if word::is_file_variable(raw) || raw.starts_with('=') {
            self.opaque(Opaque::Unknown);
            self.script.is_broken |= !raw.starts_with('=');
        }
        self.words += 1;
        if self.words > MOST_WORDS {
            self.script.is_broken = true;
            return Word::new("", None, false);
        }
        let mut value = self.value(node, false);
        // What an expansion makes of it stays unknown.
        if value.is_some()
            && !matches!(node.kind(), "process_substitution" | "arithmetic_expansion")
        {
            value = word::unquote(raw).or(value);
        }
        if word::is_other_home(raw) {
            self.opaque(Opaque::Variable);
            value = None;
        }
        if value.is_none() && self.script.opaque.is_empty() {
            // Nothing said why; then it is not known why.
            self.opaque(Opaque::Variable);
        }
        Word::new(raw, value, word::has_glob(node, self.line))
    }

    /// The value of a word; commands in it are taken in on the way.
    fn value(&mut self, node: Node<'_>, quoted: bool) -> Option<String> {
        if self.depth >= DEEPEST {
            self.give_up();
            return None;
        }
        self.depth += 1;
        let value = self.value_of(node, quoted);
        self.depth -= 1;
        value
    }

    fn value_of(&mut self, node: Node<'_>, quoted: bool) -> Option<String> {
        let text = self.text(node);
        if Kind::of_node(node) == Some(Kind::Expansion) {
            self.saw(node);
        }
        match node.kind() {
            "word" | "extglob_pattern" | "regex" | "test_operator" | "special_variable_name" => {
                if word::has_escaped_blank(text) {
                    self.opaque(Opaque::EscapedBlank);
                }
                // The grammar has taken two words for one.
                self.script.is_broken |= word::has_bare(text, &[' ', '\t', '\n']);
                if word::has_brace_expansion(text) {
                    self.opaque(Opaque::BraceExpansion);
                    return None;
                }
                Some(word::unescape(text))
            }
            "number" | "variable_name" => Some(text.to_owned()),
            "string_content" => Some(word::unescape_quoted(text)),
            "raw_string" => Some(text.trim_matches('\'').to_owned()),
            "brace_expression" => {
                self.opaque(Opaque::BraceExpansion);
                None
            }
            "ansi_c_string" | "translated_string" => {
                self.opaque(Opaque::EscapedText);
                None
            }
            "simple_expansion" => {
                let name = text.trim_start_matches('$');
                let known = self.variables.get(name).cloned();
                if !known.as_ref().is_some_and(|known| known.is_safe) {
                    self.opaque(Opaque::Variable);
                }
                known.and_then(|known| known.value)
            }
            "expansion" => {
                self.opaque(Opaque::BracedVariable);
                // CLI 2.1.325 gives up at a command in there, and asks where a rule forbids anything.
                self.script.is_broken |= text.contains("$(") || text.contains('`');
                self.children(node, Place::Substitution, false);
                None
            }
            "command_substitution" => {
                if let Some(quoted_text) = self.quoted_text(node).filter(|_| quoted) {
                    self.data.push(node.byte_range());
                    return Some(quoted_text.to_owned());
                }
                // In backticks the shell takes backslashes away before it reads the command.
                self.script.is_broken |= text.starts_with('`') && text.contains('\\');
                self.opaque(if quoted {
                    Opaque::QuotedSubstitution
                } else {
                    Opaque::Substitution
                });
                self.children(node, Place::Substitution, false);
                None
            }
            "process_substitution" => {
                self.opaque(Opaque::ProcessSubstitution);
                self.children(node, Place::Substitution, false);
                None
            }
            "arithmetic_expansion" => Some(self.number(node)),
            "string" => self.joined(node, true),
            "concatenation" => {
                let joined = self.joined(node, false);
                if word::has_brace_expansion(text) {
                    self.opaque(Opaque::BraceExpansion);
                    return None;
                }
                joined
            }
            _ if node.named_child_count() == 0 => Some(text.to_owned()),
            _ => {
                self.children(node, Place::Substitution, false);
                None
            }
        }
    }

    /// `$((1 + 2))`: numbers alone are a number; a name is a variable.
    fn number(&mut self, node: Node<'_>) -> String {
        let is_plain = |c: char| c.is_ascii_digit() || " +-*/%()<>=!&|^~?:,$".contains(c);
        if !self.text(node).chars().all(is_plain) {
            self.opaque(Opaque::Variable);
        }
        self.children(node, Place::Substitution, false);
        "0".to_owned()
    }

    /// The parts of a word, one after the other.
    fn joined(&mut self, node: Node<'_>, quoted: bool) -> Option<String> {
        let mut cursor = node.walk();
        let mut whole = Some(String::new());
        let mut end = node.start_byte() + usize::from(quoted);
        for child in node.named_children(&mut cursor) {
            // Blanks between the parts of a string belong to no node.
            let between = self.line.get(end..child.start_byte()).unwrap_or_default();
            end = child.end_byte();
            if child.kind() == "arithmetic_expansion" {
                self.opaque(Opaque::Variable);
            }
            let value = self.value(child, quoted);
            whole = whole
                .zip(value)
                .map(|(whole, value)| whole + &word::unescape_quoted(between) + &value);
        }
        let rest = self.line.get(end..node.end_byte() - usize::from(quoted));
        whole.map(|whole| whole + &word::unescape_quoted(rest.unwrap_or_default()))
    }

    /// `"$(cat <<'EOF' … EOF)"`: a way to quote a long text.
    fn quoted_text(&self, node: Node<'_>) -> Option<&'l str> {
        let inside = self.text(node).strip_prefix("$(")?.strip_suffix(')')?;
        let rest = inside.trim_start().strip_prefix("cat <<")?;
        let (rest, is_indented) = match rest.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (first, body) = rest.trim_start_matches(' ').split_once('\n')?;
        let word = first.trim_end().strip_prefix('\'')?.strip_suffix('\'')?;
        // Anything else on that line would be a part of the command.
        if word.is_empty()
            || !word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        // The document ends where its word stands alone, and that must be the end of it all.
        let mut lines = body.lines();
        let ends = |line: &str| {
            word == if is_indented {
                line.trim_start_matches('\t')
            } else {
                line
            }
        };
        let is_whole = lines.by_ref().any(ends) && lines.all(|line| line.trim().is_empty());
        is_whole.then_some(body)
    }
}
