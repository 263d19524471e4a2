//! Words of a command line, and the variables in them.

use tree_sitter::Node;

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it is written.
    pub(crate) raw: String,
    /// What it is when the command runs; nothing if that cannot be known.
    pub(crate) value: Option<String>,
    /// Whether the shell looks for files that match it.
    pub(crate) has_glob: bool,
}

impl Word {
    pub(crate) fn new(raw: &str, value: Option<String>, has_glob: bool) -> Self {
        Self {
            raw: raw.to_owned(),
            value,
            has_glob,
        }
    }

    pub(crate) fn literal(text: &str) -> Self {
        Self::new(text, Some(text.to_owned()), false)
    }

    /// Adds a part of the same word.
    pub(crate) fn append(&mut self, part: &Self) {
        self.raw.push_str(&part.raw);
        self.has_glob |= part.has_glob;
        let both = self.value.take().zip(part.value.as_ref());
        self.value = unquote(&self.raw).or_else(|| both.map(|(value, part)| value + part));
    }

    /// Whether it is a flag, however it is written.
    pub(crate) fn is_flag(&self) -> bool {
        self.known().starts_with('-')
    }

    /// What it is, or else how it is written.
    pub(crate) fn known(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.raw)
    }
}

/// Variables whose values are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(Vec<(String, Variable)>);

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) value: Option<String>,
    /// Whether a command with it in may run without a question.
    pub(crate) is_safe: bool,
}

impl Variables {
    /// Those that every shell has.
    pub(crate) fn of(home: &str, current: &str) -> Self {
        let known = |name: &str, value: &str, is_safe: bool| {
            let value = Some(value.to_owned());
            (name.to_owned(), Variable { value, is_safe })
        };
        Self(vec![
            known("HOME", home, true),
            known("PWD", current, false),
        ])
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Variable> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, variable)| variable)
    }

    /// One that the line itself sets: seen through for what is forbidden, and not for what is allowed. One that is set
    /// twice may have either value.
    pub(crate) fn set(&mut self, name: &str, value: Option<String>) {
        let is_new = self.get(name).is_none();
        let variable = Variable {
            value: value.filter(|_| is_new),
            is_safe: false,
        };
        self.0.push((name.to_owned(), variable));
    }
}

/// Whether the shell looks for files that match: a special character outside of quotes.
pub(crate) fn has_glob(node: Node<'_>, line: &str) -> bool {
    let text = line.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "word" | "extglob_pattern" => unquoted(text).any(|c| matches!(c, '*' | '?' | '[')),
        "concatenation" => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .any(|child| has_glob(child, line))
        }
        _ => false,
    }
}

/// The characters that no backslash stands before.
fn unquoted(text: &str) -> impl Iterator<Item = char> {
    let mut escaped = false;
    text.chars().filter(move |c| {
        let is_plain = !escaped && *c != '\\';
        escaped = !escaped && *c == '\\';
        is_plain
    })
}

/// `~name` or `~+`: a home directory that is not known here.
pub(crate) fn is_other_home(raw: &str) -> bool {
    raw.strip_prefix('~')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// `{a,b}` or `{1..3}`.
pub(crate) fn has_brace_expansion(text: &str) -> bool {
    let Some((_, rest)) = text.split_once('{') else {
        return false;
    };
    let Some((inside, _)) = rest.rsplit_once('}') else {
        return false;
    };
    inside.contains(',') || inside.contains("..")
}

/// `a\ b`, which is one word and looks like two.
pub(crate) fn has_escaped_blank(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let hit = escaped && c.is_whitespace() && c != '\n';
        escaped = !escaped && c == '\\';
        hit
    }) || text.ends_with("\\\n")
}

/// Whether a word is a name in braces, which before a redirection says where its file goes.
pub(crate) fn is_file_variable(text: &str) -> bool {
    let name = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter))
}

/// Whether a text without quotes has one of these characters in it that no backslash stands before.
pub(crate) fn has_bare(text: &str, characters: &[char]) -> bool {
    unquoted(text).any(|c| characters.contains(&c))
}

/// A word without its quotes and backslashes, if it has nothing in it that the shell fills in.
///
/// The parser knows where words begin and end; on what is in them the rules of the shell are simpler than its grammar.
pub(crate) fn unquote(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    let mut in_double = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => in_double = !in_double,
            '\'' if !in_double => loop {
                match chars.next()? {
                    '\'' => break,
                    c => out.push(c),
                }
            },
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(next) => {
                    if in_double && !matches!(next, '"' | '\\' | '$' | '`') {
                        out.push('\\');
                    }
                    out.push(next);
                }
                None => out.push('\\'),
            },
            '`' => return None,
            // Alone it is a dollar.
            '$' if chars
                .peek()
                .is_some_and(|next| !matches!(next, ' ' | '"' | '/' | '.' | ',')) =>
            {
                return None;
            }
            _ => out.push(c),
        }
    }
    (!in_double).then_some(out)
}

/// A word without its backslashes.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') | None => {}
            Some(next) => out.push(next),
        }
    }
    out
}

/// Text in double quotes without the backslashes that mean something there.
pub(crate) fn unescape_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(next @ ('"' | '\\' | '$' | '`'))) => {
                out.push(*next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// Whether a test may evaluate what stands in it: a subscript, an expansion, a glob, a number that is a name. A flag where
/// an operand should be may be read as an operator.
pub(crate) fn may_evaluate(test: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-a", "-o",
    ];
    let words: Vec<&str> = test.split_whitespace().collect();
    let is_operand = |before: &str| !matches!(before, "!" | "&&" | "||" | "(");
    let is_binary = |word: &str| matches!(word, "-nt" | "-ot" | "-ef");
    let has_stray_flag = words
        .windows(2)
        .any(|pair| pair[1].starts_with('-') && is_operand(pair[0]) && !is_binary(pair[1]));
    test.contains(['$', '`', '[', '*', '?'])
        || has_stray_flag
        || words.iter().any(|word| NUMBERS.contains(word))
}
