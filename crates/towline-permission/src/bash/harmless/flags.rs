//! Flags of programs of which only some flags are known to leave everything as it is.
//!
//! The list of a program has its flags apart by blanks: `--all` takes no value, `-n#` takes a number as its next word, `-n+`
//! in the same word too, `--color=` takes a text, `--abbrev?` takes a number or nothing, `--pretty*` a text or nothing. `-#`
//! stands for a number as a flag.

use crate::bash::word::Word;

/// The operands of a call, if each flag in it is in the list and has the value that it needs. `None` otherwise.
pub(super) fn operands<'w>(list: &str, arguments: &'w [Word]) -> Option<Vec<&'w str>> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        // A glob may become anything, a flag too.
        let text = word.value.as_deref().filter(|_| !word.has_glob)?;
        match text {
            "--" => {
                operands.extend(rest.map(Word::known));
                return Some(operands);
            }
            "-" => operands.push(text),
            _ if text.starts_with('-') => {
                let needs = flag(list, text)?;
                if needs != Value::None && !needs.takes(rest.next()?.known()) {
                    return None;
                }
            }
            _ => operands.push(text),
        }
    }
    Some(operands)
}

/// The value that a flag needs.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    None,
    Number,
    Text,
}

impl Value {
    fn takes(self, text: &str) -> bool {
        match self {
            Self::None => false,
            Self::Number => is_number(text),
            Self::Text => !text.starts_with('-'),
        }
    }
}

/// The value that a flag needs in the next word. `None` where the flag, or its value in the same word, is not in the list.
fn flag(list: &str, text: &str) -> Option<Value> {
    if let Some((name, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
        let is_right = match find(list, name)? {
            '#' | '?' => is_number(value),
            '=' | '*' => !value.starts_with('-'),
            _ => false,
        };
        return is_right.then_some(Value::None);
    }
    match find(list, text) {
        Some('#' | '+') => return Some(Value::Number),
        Some('=') => return Some(Value::Text),
        Some(_) => return Some(Value::None),
        None if text.starts_with("--") => return None,
        None => {}
    }
    // `-n5`, or `-5` where that is in the list as `-#`; else several letters in one word.
    let (letter, value) = text.split_at(
        text.char_indices()
            .nth(2)
            .map_or(text.len(), |(place, _)| place),
    );
    let is_count = is_number(&text[1..]) && find(list, "-") == Some('#');
    let has_value = is_number(value) && matches!(find(list, letter), Some('+' | '?'));
    let is_bundle = text[1..]
        .chars()
        .all(|letter| find(list, &format!("-{letter}")) == Some(' '));
    (is_count || has_value || is_bundle).then_some(Value::None)
}

/// How a flag is marked in the list; a blank for one that takes no value.
fn find(list: &str, name: &str) -> Option<char> {
    list.split_ascii_whitespace()
        .find_map(|known| match known.strip_prefix(name)? {
            "" => Some(' '),
            "#" => Some('#'),
            "+" => Some('+'),
            "=" => Some('='),
            "?" => Some('?'),
            "*" => Some('*'),
            _ => None,
        })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
