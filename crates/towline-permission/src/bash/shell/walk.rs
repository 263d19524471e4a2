//! The statements and commands of a tree.

use tree_sitter::Node;

use super::{Command, DEEPEST, MOST_WORDS, Opaque, Place, Redirect, Script};
use crate::bash::word::{self, Variables, Word};

/// The walk over the tree of a line.
pub(super) struct Walk<'l> {
    pub(super) line: &'l str,
    pub(super) script: Script,
    pub(super) variables: Variables,
    pub(super) depth: usize,
    pub(super) words: usize,
}

impl<'l> Walk<'l> {
    pub(super) fn text(&self, node: Node<'_>) -> &'l str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn opaque(&mut self, what: Opaque) {
        self.script.opaque.push(what);
    }

    pub(super) fn statement(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
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
            "variable_assignments" => {
                self.opaque(Opaque::Assignments);
                self.children(node, place, in_pipe);
            }
            "for_statement" => {
                if let Some(name) = node.child_by_field_name("variable") {
                    let name = self.text(name);
                    if word::changes_commands(name) {
                        self.opaque(Opaque::Assignments);
                    }
                    self.variables.set(name, None);
                }
                self.children(node, place, in_pipe);
            }
            "comment" | "variable_name" | "heredoc_body" | "heredoc_end" => {}
            kind if word::is_word(kind) => {
                self.word(node);
            }
            _ => self.children(node, place, in_pipe),
        }
        self.depth -= 1;
    }

    pub(super) fn children(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
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
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    here |= child.kind() != "file_redirect";
                    self.redirection(child, place, &mut redirects);
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

    fn redirection(&mut self, node: Node<'_>, place: Place, redirects: &mut Vec<Redirect>) {
        match node.kind() {
            "file_redirect" => redirects.extend(self.redirect(node)),
            "heredoc_redirect" => self.here_document(node, place, redirects),
            _ => self.words_in(node),
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
                    command.has_here_document |= child.kind() != "file_redirect";
                    self.redirection(child, place, &mut command.redirects);
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
                        command.has_expansion |= word::may_evaluate(self.text(child));
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
            let names: Vec<String> = command
                .assignments
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            if names.iter().any(|name| word::changes_commands(name)) {
                self.opaque(Opaque::Assignments);
            }
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
        if stays && word::changes_commands(name) {
            self.opaque(Opaque::Assignments);
        }
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
                "file_redirect" => {
                    self.opaque(Opaque::HereDocument);
                    redirects.extend(self.redirect(child));
                }
                // What follows on the first line: `<<EOF | sort`, `<<EOF && next`.
                _ => {
                    self.opaque(Opaque::HereDocument);
                    self.statement(child, place, true);
                }
            }
        }
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
