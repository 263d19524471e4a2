//! A command line as the shell reads it: its commands wherever they stand, and what of it cannot be known before it runs.
//!
//! tree-sitter does the parsing. This walks over its tree once and says what matters for permissions. A tree with an error
//! in it is [broken](Script::is_broken), and nothing is concluded from it that would allow anything.

mod joined;
mod kind;
mod unseen;
mod value;
mod walk;

use std::{borrow::Cow, collections::HashSet, ops::ControlFlow};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::word::{Variables, Word};
use walk::Walk;

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
    /// Whether it is a test with something in it that the shell fills in.
    pub(crate) has_expansion: bool,
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
    /// A here-document that the shell expands, or with something behind it on its line.
    HereDocument,
    /// `A=1 B=2` without a command, or a variable that changes what commands do.
    Assignments,
    /// `a\ b`.
    EscapedBlank,
    /// A line that goes on in the next one, in the middle of a word.
    JoinedWord,
    /// A blank that only looks like one.
    UnicodeBlank,
    /// A carriage return, or another control character.
    Control,
    /// `a[…]=1`, where the index is more than a number.
    Subscript,
    /// `select x in …`.
    Menu,
    /// A part of the line that this engine does not know how to read.
    Unknown,
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
            Self::HereDocument => "a here-document without quotes, or with more on its line",
            Self::Assignments => "an assignment cannot be checked before it runs",
            Self::EscapedBlank => "a blank behind a backslash",
            Self::JoinedWord => "a word that goes on in the next line",
            Self::UnicodeBlank => "a blank that is no ASCII blank",
            Self::Control => {
                "a control character is a letter to the shell and may look like a blank"
            }
            Self::Subscript => "the index of an array may run a command",
            Self::Menu => "a menu of `select` cannot be checked before it runs",
            Self::Unknown => "a part of the line that cannot be checked before it runs",
        }
    }
}

/// Takes a command line apart. `variables` are those whose values are known.
pub(crate) fn parse(line: &str, variables: &Variables) -> Script {
    parse_at(line, variables, 0)
}

/// The same for a piece of a line, so many levels down.
fn parse_at(line: &str, variables: &Variables, level: usize) -> Script {
    let mut script = Script::default();
    if line.len() > LONGEST {
        script.is_broken = true;
        return script;
    }
    if !line.is_ascii() && line.chars().any(is_unicode_blank) {
        script.opaque.push(Opaque::UnicodeBlank);
    }
    // Without an early end, so that many bytes are looked at at once.
    if line
        .bytes()
        .fold(false, |found, byte| found | is_control(byte))
    {
        script.opaque.push(Opaque::Control);
        script.is_broken = true;
    }
    let tree = tree(&in_ascii(line));
    let Some(tree) = tree else {
        script.is_broken = true;
        return script;
    };
    let root = tree.root_node();
    script.is_broken |= root.has_error() || has_odd_delimiter(line);
    let mut walk = Walk {
        line,
        script,
        variables: variables.clone(),
        depth: 0,
        words: 0,
        seen: HashSet::default(),
        data: Vec::new(),
        level,
    };
    walk.statement(root, Place::Line, false);
    walk.unseen(root);
    walk.joined_words(root);
    walk.script
}

/// A line of the same length in bytes with nothing beyond ASCII in it.
///
/// The grammar's scanner asks C's `isalpha` and the like about each character, and those may read anywhere for what is
/// beyond ASCII: the process ends. To a shell such a character is a part of a word and of no name, as a dot is.
fn in_ascii(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return line.into();
    }
    let byte = |byte: u8| {
        if byte.is_ascii() {
            char::from(byte)
        } else {
            '.'
        }
    };
    line.bytes().map(byte).collect()
}

/// Whether a here-document ends with anything but a plain word, or one that is quoted as a whole: the grammar looks for the end of
/// others where the shell does not, and [`in_ascii`] makes words beyond ASCII equal.
fn has_odd_delimiter(line: &str) -> bool {
    line.match_indices("<<").any(|(place, found)| {
        let rest = &line[place + found.len()..];
        // A here-string, and the shift of a number.
        if rest.starts_with(['<', '(']) {
            return false;
        }
        let rest = rest.trim_start_matches(['-', ' ', '\t']);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+@%,:!".contains(c);
        let quoted = ['\'', '"'].iter().find_map(|quote| {
            let (word, behind) = rest.strip_prefix(*quote)?.split_once(*quote)?;
            Some((word, behind))
        });
        let (word, behind) = quoted.unwrap_or_else(|| {
            let rest = rest.strip_prefix('\\').unwrap_or(rest);
            rest.split_at(rest.find(|c| !is_plain(c)).unwrap_or(rest.len()))
        });
        let ends = behind.is_empty()
            || behind.starts_with(|c: char| c.is_ascii_whitespace() || ";|&<>()".contains(c));
        word.is_empty() || !word.chars().all(is_plain) || !ends
    })
}

/// The tree of a line in ASCII; nothing if it takes too much work to make it.
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
/// So many texts that the grammar leaves alone are parsed on their own, and so many levels of them.
const MOST_PIECES: usize = 16;
const MOST_LEVELS: usize = 4;

/// To the grammar a carriage return, a form feed and a vertical tab are blanks, behind which a comment may begin; to the shell they
/// are letters.
fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t' && byte != b'\n'
}

fn is_unicode_blank(c: char) -> bool {
    !c.is_ascii()
        && (c.is_whitespace()
            || matches!(
                c,
                '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{180e}'
            ))
}
