//! The statements and commands of a tree.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
};

use tree_sitter::Node;

use super::{Command, DEEPEST, MOST_WORDS, Opaque, Place, Redirect, Script, kind::Kind};
use crate::bash::{
    word::{self, Variables, Word},
    wrapper,
};

/// The walk over the tree of a line.
pub(super) struct Walk<'l> {
    pub(super) line: &'l str,
    pub(super) script: Script,
    pub(super) variables: Variables,
    pub(super) depth: usize,
    pub(super) words: usize,
    /// The nodes at which something runs or is replaced, as far as the walk has been there.
    pub(super) seen: HashSet<usize, BuildHasherDefault<IdHasher>>,
    /// Where text stands that is data, although its nodes look as if they ran.
    pub(super) data: Vec<Range<usize>>,
    /// Lines that this one is a part of.
    pub(super) level: usize,
}

/// Hashes ids of nodes, which are addresses: no line can choose them.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, id: usize) {
        // The highest bits tell the places in a table apart.
        self.0 = (self.0 ^ id as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
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
            return self.give_up();
        }
        self.depth += 1;
        match Kind::of_node(node) {
            Some(Kind::Command) => {
                self.command(node, place, in_pipe, (Vec::new(), Vec::new()));
            }
            Some(Kind::Redirected) => self.redirected(node, place, in_pipe),
            Some(Kind::Pipeline) => self.parts(node, place, true),
            Some(Kind::Subshell) => self.compound(node, Opaque::Subshell, Place::Subshell, in_pipe),
            Some(Kind::Group) => self.compound(node, Opaque::Group, deeper(place), in_pipe),
            Some(Kind::Function) => self.compound(node, Opaque::Function, deeper(place), in_pipe),
            Some(Kind::Case) => self.compound(node, Opaque::Case, deeper(place), in_pipe),
            Some(Kind::Assignment) => {
                self.assignment(node, true);
            }
            Some(Kind::Assignments) => self.compound(node, Opaque::Assignments, place, in_pipe),
            Some(Kind::For) => self.loop_over(node, place, in_pipe),
            Some(Kind::Expansion | Kind::Word | Kind::Unparsed) => {
                self.word(node);
            }
            Some(Kind::Parts) => self.parts(node, place, in_pipe),
            Some(Kind::Data) => {}
            None => self.compound(node, Opaque::Unknown, Place::Substitution, in_pipe),
        }
        self.depth -= 1;
    }

    /// Looks at nothing any more: each further level would be looked at again for each of those above.
    pub(super) fn give_up(&mut self) {
        self.script.is_broken = true;
        self.words = MOST_WORDS + 1;
    }

    /// A statement that is a question by itself, whatever is in it.
    fn compound(&mut self, node: Node<'_>, what: Opaque, place: Place, in_pipe: bool) {
        self.opaque(what);
        self.parts(node, place, in_pipe);
    }

    fn parts(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
        self.saw(node);
        self.children(node, place, in_pipe);
    }

    pub(super) fn saw(&mut self, node: Node<'_>) {
        self.seen.insert(node.id());
    }

    /// `for` sets a variable to values that are not known; `select` asks a person for one.
    fn loop_over(&mut self, node: Node<'_>, place: Place, in_pipe: bool) {
        if node.child(0).is_some_and(|word| word.kind() == "select") {
            self.opaque(Opaque::Menu);
        }
        if let Some(name) = node.child_by_field_name("variable") {
            self.opaque(Opaque::Assignments);
            self.variables.set(self.text(name), None);
        }
        self.parts(node, place, in_pipe);
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
        self.saw(node);
        let mut cursor = node.walk();
        let mut redirects = Vec::new();
        let mut words = Vec::new();
        let mut here = false;
        let mut body = None;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    here |= child.kind() != "file_redirect";
                    self.redirection(child, place, &mut redirects, &mut words);
                }
                _ => body = Some(child),
            }
        }
        let before = self.script.commands.len();
        match body {
            Some(body) if Kind::of_node(body) == Some(Kind::Command) => {
                self.command(body, place, in_pipe, (redirects, words));
            }
            Some(body) => {
                // Only a simple command has words behind a redirection.
                self.script.is_broken |= !words.is_empty();
                self.statement(body, place, in_pipe);
                match self.script.commands[before..].last_mut() {
                    Some(last) => last.redirects.extend(redirects),
                    None => self.bare_redirects(node, place, redirects),
                }
            }
            None => {
                self.script.is_broken |= !words.is_empty();
                self.bare_redirects(node, place, redirects);
            }
        }
        if here && let Some(last) = self.script.commands[before..].last_mut() {
            last.has_here_document = true;
        }
    }

    fn redirection(
        &mut self,
        node: Node<'_>,
        place: Place,
        redirects: &mut Vec<Redirect>,
        words: &mut Vec<Word>,
    ) {
        match node.kind() {
            "file_redirect" => {
                redirects.extend(self.redirect(node));
                // The grammar takes the words behind the file for more files; they belong to the command.
                let mut cursor = node.walk();
                let files = node.children_by_field_name("destination", &mut cursor);
                let behind: Vec<Node<'_>> = files.skip(1).collect();
                self.script.is_broken |= behind.iter().any(|word| self.is_of_redirection(*word));
                let behind: Vec<Word> = behind.into_iter().map(|word| self.word(word)).collect();
                if !behind.is_empty() {
                    self.opaque(Opaque::Unknown);
                }
                words.extend(behind);
            }
            "heredoc_redirect" => self.here_document(node, place, redirects),
            _ => {
                // Most programs with a table of flags are asked about with a glob there (CLI 2.1.325).
                let mut cursor = node.walk();
                let mut words = node.named_children(&mut cursor);
                if words.any(|word| word::has_glob(word, self.line)) {
                    self.opaque(Opaque::Unknown);
                }
                self.words_in(node);
            }
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

    /// A command, with the redirections around it and the words behind them.
    fn command(
        &mut self,
        node: Node<'_>,
        place: Place,
        in_pipe: bool,
        (redirects, words_behind): (Vec<Redirect>, Vec<Word>),
    ) {
        self.saw(node);
        let mut command = Command {
            redirects,
            place,
            in_pipe,
            ..Command::default()
        };
        let mut pieces: Vec<&str> = Vec::new();
        let mut from = node.start_byte();
        let is_test = node.kind() == "test_command";
        if is_test && is_misread_test(node, self.text(node)) {
            self.script.is_broken = true;
        }
        let mut word_end = None;
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            self.script.is_broken |= self.ends_between(end, child);
            end = child.end_byte();
            match child.kind() {
                "variable_assignment" if command.words.is_empty() => {
                    let assigned = self.assignment(child, false);
                    command.assignments.extend(assigned);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    pieces.push(self.line.get(from..child.start_byte()).unwrap_or_default());
                    from = child.end_byte();
                    command.has_here_document |= child.kind() != "file_redirect";
                    let (redirects, words) = (&mut command.redirects, &mut command.words);
                    self.redirection(child, place, redirects, words);
                }
                "command_name" => {
                    let name = child.named_child(0).unwrap_or(child);
                    self.script.is_broken |= self.is_of_redirection(name);
                    let word = self.word(name);
                    // A word of the language where the name of a program stands: the grammar has misread it.
                    self.script.is_broken |= RESERVED.contains(&word.raw.as_str());
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
        for word in &words_behind {
            command.text.push(' ');
            command.text.push_str(&word.raw);
        }
        command.words.extend(words_behind);
        self.add(command);
    }

    /// Whether a word is the number of a redirection right behind it.
    fn is_of_redirection(&self, word: Node<'_>) -> bool {
        let behind = self.line.as_bytes().get(word.end_byte());
        let is_number = self.text(word).bytes().all(|byte| byte.is_ascii_digit());
        is_number && matches!(behind, Some(b'<' | b'>'))
    }

    /// Whether a line ends in front of a part of a command, which has ended there: before a backslash the grammar takes the end of
    /// a line for a blank.
    fn ends_between(&self, end: usize, part: Node<'_>) -> bool {
        let gap = self.line.get(end..part.start_byte()).unwrap_or_default();
        word::has_bare(gap, &['\n'])
    }

    /// Adds a command to the script; variables alone are none.
    fn add(&mut self, command: Command) {
        if command.words.is_empty()
            && command.redirects.is_empty()
            && !command.assignments.is_empty()
        {
            // Only variables, after all.
            let is_safe = |(name, value): &(String, Word)| wrapper::is_safe_assignment(name, value);
            if !command.assignments.iter().all(is_safe) {
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
        self.saw(node);
        let target = node.child_by_field_name("name")?;
        let name = match target.child_by_field_name("name") {
            Some(name) => {
                self.subscript(target);
                self.text(name)
            }
            None => self.text(target),
        };
        let value = match node.child_by_field_name("value") {
            Some(value) => self.word(value),
            None => Word::literal(""),
        };
        // It may be exported, and change what later commands do.
        if stays && !wrapper::is_safe_assignment(name, &value) {
            self.opaque(Opaque::Assignments);
        }
        if stays {
            self.variables.set(name, value.value.clone());
        }
        Some((name.to_owned(), value))
    }

    /// `NAME[index]`. The shell evaluates the index, and a name in it, and what that name holds: any of them may run a
    /// command.
    fn subscript(&mut self, node: Node<'_>) {
        let index = node.child_by_field_name("index");
        let is_number = |index: Node<'_>| {
            let text = self.text(index);
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !index.is_some_and(is_number) {
            self.opaque(Opaque::Subscript);
        }
        self.words_in(node);
    }

    fn redirect(&mut self, node: Node<'_>) -> Option<Redirect> {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|child| !child.is_named())
            .map_or("", |child| child.kind());
        // `<&-` closes a file that a later command may want.
        if operator.ends_with('-') {
            self.opaque(Opaque::Unknown);
        }
        let target = node.child_by_field_name("destination")?;
        let sign = node
            .child(0)
            .map_or(node.start_byte(), |sign| sign.end_byte());
        self.script.is_broken |= self.ends_between(sign, target);
        let is_copy = operator.ends_with('&');
        let target = self.word(target);
        if is_copy && target.raw.ends_with('-') {
            self.opaque(Opaque::Unknown);
        }
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
        let mut is_data = false;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "heredoc_start" => {
                    let start = self.text(child);
                    is_data = start.contains(['\'', '"', '\\']);
                    if !is_data || start.contains('$') {
                        self.opaque(Opaque::HereDocument);
                    }
                }
                "heredoc_body" if is_data => self.data.push(child.byte_range()),
                "heredoc_body" => self.words_in(child),
                "heredoc_end" => {}
                "file_redirect" => {
                    self.opaque(Opaque::HereDocument);
                    redirects.extend(self.redirect(child));
                }
                // What follows on the first line: `<<EOF | sort`, `<<EOF && next`.
                _ => {
                    self.opaque(Opaque::HereDocument);
                    // Words there belong to the command in front.
                    let kind = Kind::of_node(child);
                    self.script.is_broken |=
                        matches!(kind, Some(Kind::Word | Kind::Expansion | Kind::Unparsed));
                    self.statement(child, place, true);
                }
            }
        }
    }
}

/// Words that are no names of programs, unless they are quoted.
const RESERVED: &[&str] = &[
    "!", "{", "}", "[[", "if", "then", "else", "elif", "fi", "case", "esac", "for", "select",
    "while", "until", "do", "done", "function",
];

/// Whether a test of `[` has a redirection in it, which the grammar takes for a comparison; or is a word that begins with a bracket.
fn is_misread_test(node: Node<'_>, text: &str) -> bool {
    let behind = text.trim_start_matches('[');
    if !behind.starts_with(char::is_whitespace) {
        return true;
    }
    let mut open = vec![node];
    while let Some(inner) = open.pop() {
        if !text.starts_with("[[") && !inner.is_named() && inner.kind().contains(['<', '>']) {
            return true;
        }
        let mut cursor = inner.walk();
        open.extend(inner.children(&mut cursor));
    }
    false
}

fn deeper(place: Place) -> Place {
    if place == Place::Line {
        Place::Block
    } else {
        place
    }
}
