//! A command line as the shell reads it: its commands wherever they stand, and what of it cannot be known before it runs.
//!
//! tree-sitter does the parsing. This walks over its tree once and says what matters for permissions. A tree with an error
//! in it is [broken](Script::is_broken), and nothing is concluded from it that would allow anything.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::word::{self, Variables, Word};

/// A command line, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// All simple commands, in the order they are written, those in substitutions and functions included.
    pub(crate) commands: Vec<Command>,
    /// What cannot be known before it runs; the first one is told.
    pub(crate) opaque: Vec<Opaque>,
    /// The parser did not understand it.
    pub(crate) is_broken: bool,
    /// Something is started with `&`.
    pub(crate) in_background: bool,
}

/// A simple command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command {
    /// As it is written, without redirections and line continuations.
    pub(crate) text: String,
    /// `NAME=value` in front of it.
    pub(crate) assignments: Vec<(String, Word)>,
    /// Its name and arguments.
    pub(crate) words: Vec<Word>,
    /// Where its input comes from and its output goes.
    pub(crate) redirects: Vec<Redirect>,
    /// Whether it runs as a part of the line itself, and not in a substitution, a subshell or a function.
    pub(crate) place: Place,
    /// Whether it is a part of a pipeline.
    pub(crate) in_pipe: bool,
    /// Whether a here-document or here-string is its input.
    pub(crate) has_here_document: bool,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the line, or in a loop or condition in it.
    #[default]
    Line,
    /// In braces, a function or a case.
    Block,
    /// In a subshell.
    Subshell,
    /// In a substitution.
    Substitution,
}

/// A redirection to or from a file.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// Whether it writes.
    pub(crate) writes: bool,
    /// The file.
    pub(crate) target: Word,
}

/// Something that cannot be known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opaque {
    /// `$(…)` or backticks.
    Substitution,
    /// `"…$(…)…"`.
    QuotedSubstitution,
    /// `<(…)`.
    ProcessSubstitution,
    /// `$X`.
    Variable,
    /// `${X}`.
    BracedVariable,
    /// `$'…'`.
    EscapedText,
    /// `{a,b}`.
    BraceExpansion,
    /// `( … )`.
    Subshell,
    /// `{ …; }` or `(( … ))`.
    Group,
    /// `f() { … }`.
    Function,
    /// `case … esac`.
    Case,
    /// A here-document that the shell expands.
    HereDocument,
    /// `a\ b`.
    EscapedBlank,
    /// A blank that only looks like one.
    UnicodeBlank,
}

impl Opaque {
    /// What is said about it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Substitution => "a nested command cannot be checked before it runs",
            Self::QuotedSubstitution => {
                "quoted text with a command in it cannot be checked before it runs"
            }
            Self::ProcessSubstitution => {
                "a command used as a file cannot be checked before it runs"
            }
            Self::Variable => "a variable cannot be checked before it runs",
            Self::BracedVariable => "a variable in braces cannot be checked before it runs",
            Self::EscapedText => "text with escape codes cannot be checked before it runs",
            Self::BraceExpansion => "a brace expansion cannot be checked before it runs",
            Self::Subshell => "a subshell needs approval",
            Self::Group => {
                "a group in braces or double parentheses cannot be checked before it runs"
            }
            Self::Function => "a function definition cannot be checked before it runs",
            Self::Case => "a case statement cannot be checked before it runs",
            Self::HereDocument => "a here-document without quotes is expanded by the shell",
            Self::EscapedBlank => "a blank behind a backslash",
            Self::UnicodeBlank => "a blank that is no ASCII blank",
        }
    }
}

/// Takes a command line apart. `variables` are those whose values are known.
pub(crate) fn parse(line: &str, variables: &Variables) -> Script {
    let mut script = Script::default();
    if line.len() > LONGEST {
        script.is_broken = true;
        return script;
    }
    if line.chars().any(is_unicode_blank) {
        script.opaque.push(Opaque::UnicodeBlank);
    }
    let tree = tree(line);
    let Some(tree) = tree else {
        script.is_broken = true;
        return script;
    };
    let root = tree.root_node();
    script.is_broken = root.has_error();
    let mut walk = Walk {
        line,
        script,
        variables: variables.clone(),
        depth: 0,
        words: 0,
    };
    walk.statement(root, Place::Line, false);
    walk.script
}

/// The tree of a line; nothing if it takes too much work to make it.
fn tree(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut steps = 0;
    let mut bound = |_: &ParseState| {
        steps += 1;
        if steps > MOST_STEPS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut bound);
    let mut input = |from: usize, _| line.as_bytes().get(from..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(options))
}

/// After this many hundreds of steps the parser gives up. A word takes three or four steps.
const MOST_STEPS: usize = 500;
/// More words than these are not looked into.
const MOST_WORDS: usize = 5_000;
/// Longer lines are not looked into.
const LONGEST: usize = 1 << 20;
/// Deeper nesting is not looked into: each level is a call of the walk.
const DEEPEST: usize = 100;

fn is_unicode_blank(c: char) -> bool {
    !c.is_ascii()
        && (c.is_whitespace()
            || matches!(
                c,
                '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{180e}'
            ))
}

struct Walk<'l> {
    line: &'l str,
    script: Script,
    variables: Variables,
    depth: usize,
    words: usize,
}

impl<'l> Walk<'l> {
    fn text(&self, node: Node<'_>) -> &'l str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }

    fn opaque(&mut self, what: Opaque) {
        self.script.opaque.push(what);
    }

    fn statement(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
        if self.depth >= DEEPEST || self.words > MOST_WORDS {
            self.script.is_broken = true;
            return;
        }
        self.depth += 1;
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.command(node, place, in_pipe, Vec::new());
            }
            "redirected_statement" => self.redirected(node, place, in_pipe),
            "pipeline" => self.children(node, place, true),
            "subshell" => {
                self.opaque(Opaque::Subshell);
                self.children(node, Place::Subshell, in_pipe);
            }
            "compound_statement" => {
                self.opaque(Opaque::Group);
                self.children(node, deeper(place), in_pipe);
            }
            "c_style_for_statement" => {
                self.opaque(Opaque::Group);
                self.children(node, deeper(place), in_pipe);
            }
            "function_definition" => {
                self.opaque(Opaque::Function);
                self.children(node, deeper(place), in_pipe);
            }
            "case_statement" => {
                self.opaque(Opaque::Case);
                self.children(node, deeper(place), in_pipe);
            }
            "variable_assignment" => {
                self.assignment(node, true);
            }
            "for_statement" => {
                if let Some(name) = node.child_by_field_name("variable") {
                    self.variables.set(self.text(name), None);
                }
                self.children(node, place, in_pipe);
            }
            "comment" | "variable_name" | "heredoc_body" | "heredoc_end" => {}
            "word"
            | "string"
            | "raw_string"
            | "concatenation"
            | "number"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "ansi_c_string"
            | "translated_string"
            | "brace_expression" => {
                self.word(node);
            }
            _ => self.children(node, place, in_pipe),
        }
        self.depth -= 1;
    }

    fn children(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() {
                self.statement(child, place, in_pipe);
            } else if child.kind() == "&" {
                self.script.in_background = true;
            }
        }
    }

    /// A statement with redirections, which belong to its last command.
    fn redirected(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
        let mut cursor = node.walk();
        let mut redirects = Vec::new();
        let mut here = false;
        let mut body = None;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "file_redirect" => redirects.extend(self.redirect(child)),
                "heredoc_redirect" => {
                    here = true;
                    self.here_document(child, place, &mut redirects);
                }
                "herestring_redirect" => {
                    here = true;
                    self.words_in(child);
                }
                _ => body = Some(child),
            }
        }
        let before = self.script.commands.len();
        match body {
            Some(body) if is_simple(body) => self.command(body, place, in_pipe, redirects),
            Some(body) => {
                self.statement(body, place, in_pipe);
                match self.script.commands[before..].last_mut() {
                    Some(last) => last.redirects.extend(redirects),
                    None => self.bare_redirects(node, place, redirects),
                }
            }
            None => self.bare_redirects(node, place, redirects),
        }
        if here && let Some(last) = self.script.commands[before..].last_mut() {
            last.has_here_document = true;
        }
    }

    /// `> file` without a command.
    fn bare_redirects(&mut self, node: Node<'_>, place: Place, redirects: Vec<Redirect>) {
        let text = self.text(node).trim().to_owned();
        self.script.commands.push(Command {
            text,
            redirects,
            place,
            ..Command::default()
        });
    }

    fn command(&mut self, node: Node<'_>, place: Place, in_pipe: bool, redirects: Vec<Redirect>) {
        let mut command = Command {
            redirects,
            place,
            in_pipe,
            ..Command::default()
        };
        let mut pieces: Vec<&str> = Vec::new();
        let mut from = node.start_byte();
        let is_test = node.kind() == "test_command";
        let mut word_end = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" if command.words.is_empty() => {
                    let assigned = self.assignment(child, false);
                    command.assignments.extend(assigned);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    pieces.push(self.line.get(from..child.start_byte()).unwrap_or_default());
                    from = child.end_byte();
                    match child.kind() {
                        "file_redirect" => command.redirects.extend(self.redirect(child)),
                        "heredoc_redirect" => {
                            command.has_here_document = true;
                            self.here_document(child, place, &mut command.redirects);
                        }
                        _ => {
                            command.has_here_document = true;
                            self.words_in(child);
                        }
                    }
                }
                "command_name" => {
                    let name = child.named_child(0).unwrap_or(child);
                    let word = self.word(name);
                    self.script.is_broken |= word.raw == "{";
                    command.words.push(word);
                    word_end = Some(child.end_byte());
                }
                _ if is_test => {
                    if child.is_named() {
                        self.words_in(child);
                    } else if command.words.is_empty() {
                        command.words.push(Word::literal("["));
                    }
                }
                // `export NAME=value`.
                "variable_assignment" => {
                    self.assignment(child, true);
                    command.words.push(Word::literal(self.text(child)));
                }
                _ if child.is_named() => {
                    let word = self.word(child);
                    // A brace that was meant to be a part of the language.
                    self.script.is_broken |= matches!(word.raw.as_str(), "{" | "}");
                    match command.words.last_mut() {
                        // The parser sees two words where the shell sees one.
                        Some(last) if word_end == Some(child.start_byte()) => last.append(&word),
                        _ => command.words.push(word),
                    }
                    word_end = Some(child.end_byte());
                }
                // The word of a declaration, such as `export`; a `-` that is a word.
                _ => {
                    let word = Word::literal(self.text(child));
                    match command.words.last_mut() {
                        Some(last) if word_end == Some(child.start_byte()) => last.append(&word),
                        _ => command.words.push(word),
                    }
                    word_end = Some(child.end_byte());
                }
            }
        }
        pieces.push(self.line.get(from..node.end_byte()).unwrap_or_default());
        let text = pieces.join(" ").replace("\\\n", "");
        command.text = text.trim().to_owned();
        if command.words.is_empty()
            && command.redirects.is_empty()
            && !command.assignments.is_empty()
        {
            // Only variables, after all.
            return;
        }
        self.forget_variables(&command);
        self.script.commands.push(command);
    }

    /// What a command sets is not known.
    fn forget_variables(&mut self, command: &Command) {
        let Some((name, arguments)) = command.words.split_first() else {
            return;
        };
        match name.known() {
            "cd" | "pushd" | "popd" => self.variables.set("PWD", None),
            "read" | "printf" | "mapfile" | "readarray" | "getopts" | "unset" | "local" | "let"
            | "declare" | "typeset" | "export" => {
                for word in arguments {
                    let name = word.raw.split('=').next().unwrap_or_default();
                    if self.variables.get(name).is_some() {
                        self.variables.set(name, None);
                    }
                }
            }
            _ => {}
        }
    }

    /// `NAME=value`, remembered if it stays.
    fn assignment(&mut self, node: Node<'_>, stays: bool) -> Option<(String, Word)> {
        let name = node
            .child_by_field_name("name")
            .map(|name| self.text(name))?;
        let value = match node.child_by_field_name("value") {
            Some(value) => self.word(value),
            None => Word::literal(""),
        };
        if stays {
            self.variables.set(name, value.value.clone());
        }
        Some((name.to_owned(), value))
    }

    fn redirect(&mut self, node: Node<'_>) -> Option<Redirect> {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|child| !child.is_named())
            .map_or("", |child| child.kind());
        let target = node.child_by_field_name("destination")?;
        let is_copy = operator.ends_with('&');
        let target = self.word(target);
        if is_copy
            && target
                .raw
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            return None;
        }
        let writes = operator.contains('>');
        if writes && target.value.as_deref() == Some("/dev/null") {
            return None;
        }
        Some(Redirect { writes, target })
    }

    /// The text of a here-document is data, unless the shell expands it.
    fn here_document(&mut self, node: Node<'_>, place: Place, redirects: &mut Vec<Redirect>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "heredoc_start" => {
                    let start = self.text(child);
                    if !start.contains(['\'', '"', '\\']) {
                        self.opaque(Opaque::HereDocument);
                    }
                }
                "heredoc_body" => self.words_in(child),
                "heredoc_end" => {}
                "file_redirect" => redirects.extend(self.redirect(child)),
                // What follows on the first line: `<<EOF | sort`, `<<EOF && next`.
                _ => self.statement(child, place, true),
            }
        }
    }

    /// Whatever words, and commands in them, are below a node.
    fn words_in(&mut self, node: Node<'_>) {
        if self.depth >= DEEPEST {
            self.script.is_broken = true;
            return;
        }
        self.depth += 1;
        let mut cursor = node.walk();
        if node.named_child_count() == 0 || word::is_word(node.kind()) {
            self.word(node);
        } else {
            for child in node.named_children(&mut cursor) {
                self.words_in(child);
            }
        }
        self.depth -= 1;
    }

    /// A word and what it is when it runs, as far as that is known.
    fn word(&mut self, node: Node<'_>) -> Word {
        let raw = self.text(node);
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
            self.script.is_broken = true;
            return None;
        }
        self.depth += 1;
        let value = self.value_of(node, quoted);
        self.depth -= 1;
        value
    }

    fn value_of(&mut self, node: Node<'_>, quoted: bool) -> Option<String> {
        let text = self.text(node);
        match node.kind() {
            "word" | "extglob_pattern" | "regex" | "test_operator" | "special_variable_name" => {
                if word::has_escaped_blank(text) {
                    self.opaque(Opaque::EscapedBlank);
                }
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
                self.children(node, Place::Substitution, false);
                None
            }
            "command_substitution" => {
                if let Some(quoted_text) = self.quoted_text(node).filter(|_| quoted) {
                    return Some(quoted_text.to_owned());
                }
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
            "arithmetic_expansion" => {
                if text
                    .bytes()
                    .any(|byte| byte.is_ascii_alphabetic() || byte == b'$' && false)
                {
                    self.opaque(Opaque::Variable);
                }
                self.children(node, Place::Substitution, false);
                None.or_else(|| Some("0".to_owned()))
            }
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

    /// The parts of a word, one after the other.
    fn joined(&mut self, node: Node<'_>, quoted: bool) -> Option<String> {
        let mut cursor = node.walk();
        let mut whole = Some(String::new());
        let mut end = node.start_byte() + usize::from(quoted);
        for child in node.named_children(&mut cursor) {
            // Blanks between the parts of a string belong to no node.
            let between = self.line.get(end..child.start_byte()).unwrap_or_default();
            end = child.end_byte();
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
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let (first, body) = rest.trim_start_matches(' ').split_once('\n')?;
        let word = first.trim_end().strip_prefix('\'')?.strip_suffix('\'')?;
        // The document ends where its word stands alone, and that must be the end of it all.
        let mut lines = body.lines();
        let ends = |line: &str| line.trim_start_matches('\t') == word;
        let is_whole = lines.by_ref().any(ends) && lines.all(|line| line.trim().is_empty());
        is_whole.then_some(body)
    }
}

fn is_simple(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "command" | "declaration_command" | "unset_command" | "test_command"
    )
}

fn deeper(place: Place) -> Place {
    if place == Place::Line {
        Place::Block
    } else {
        place
    }
}
