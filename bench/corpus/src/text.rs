//! Owns the texts of the corpus: prose, code-like text, pieces of streamed tool
//! input and ids. They hold what real ones do: newlines, tabs, quotes,
//! backslashes and now and then text outside ASCII.

use crate::random::Random;

const WORDS: &[&str] = &[
    "the", "a", "to", "of", "and", "in", "is", "this", "that", "for", "with", "on", "it", "we",
    "file", "test", "error", "line", "value", "stream", "parser", "buffer", "session", "message",
    "because", "should", "returns", "reads", "writes", "fails", "when", "before", "after", "each",
    "token", "request", "response", "handler", "timeout", "process", "output", "input", "now",
    "I'll", "don't", "let's", "check", "update", "remove", "add", "function", "module", "type",
    "settings", "decoding",
];
const BEYOND_ASCII: &[&str] = &[
    "naïve",
    "—",
    "“so”",
    "日本語",
    "🚀",
    "Привет",
    "Ωmega",
    "größer",
    "→",
    "✅",
    "café",
];
const MARKED: &[&str] = &[
    "`cargo`", "\"so\"", "a\\x.rs", "**bold**", "(below)", "C:\\temp", "```\nfn", "1.5x", "100%",
    "\t-", "#42",
];
const NAMES: &[&str] = &[
    "value", "line", "reader", "frame", "session", "count", "index", "state", "config", "result",
    "decode", "encode", "spawn", "next_one", "parse_in", "total", "is_open",
];
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";

fn pick(random: &mut Random, from: &[&'static str]) -> &'static str {
    from[random.between(0, from.len())]
}

/// Cuts `text` to at most `length` bytes without splitting a character.
fn cut(mut text: String, length: usize) -> String {
    text.truncate(text.floor_char_boundary(length));
    text
}

pub fn prose(random: &mut Random, length: usize) -> String {
    let mut text = String::with_capacity(length + 32);
    while text.len() < length {
        match random.between(0, 100) {
            0..2 => text.push_str(pick(random, BEYOND_ASCII)),
            2..5 => text.push_str(pick(random, MARKED)),
            5..7 => text.push_str("\n\n"),
            7..12 => text.push_str(". "),
            _ => text.push_str(pick(random, WORDS)),
        }
        text.push(' ');
    }
    cut(text, length)
}

fn code_line(random: &mut Random) -> String {
    let (a, b, c) = (
        *random.pick(NAMES),
        *random.pick(NAMES),
        *random.pick(NAMES),
    );
    let number = random.between(0, 5000);
    match random.between(0, 12) {
        0 => format!("    let {a} = {b}.{c}({number})?;"),
        1 => format!("    if {a}.{b} != \"{c}\" {{"),
        2 => "    }".to_string(),
        3 => String::new(),
        4 => format!("\tprintf(\"%d: %s\\n\", {a}, {b});"),
        5 => format!("pub fn {a}_{b}({c}: &str) -> Result<u64, Error> {{"),
        6 => format!("        // {}", prose(random, 50).replace('\n', " ")),
        7 => format!("        \"{a}\": {{\"{b}\": {number}, \"{c}\": \"\\u00e9\\t\"}},"),
        8 => format!("test {a}::{b}_{number} ... ok"),
        9 => format!("src/{a}.rs:{number}:17: warning: unused variable: `{b}`"),
        10 => format!("-rw-r--r-- 1 user user {number:>6} Nov 16 00:00 {a}_{c}.json"),
        _ => format!("        self.{a}.push({b}.clone()); // {c} → {number}"),
    }
}

pub fn code(random: &mut Random, length: usize) -> String {
    let mut text = String::with_capacity(length + 128);
    while text.len() < length {
        text.push_str(&code_line(random));
        text.push('\n');
    }
    cut(text, length)
}

/// A window into the JSON text of a tool input, as the model streams it.
pub fn partial_json(random: &mut Random, length: usize) -> String {
    let input = serde_json::json!({
        "file_path": path(random),
        "old_string": code(random, length),
        "description": prose(random, 30),
    });
    let whole = input.to_string();
    let start =
        whole.floor_char_boundary(random.between(0, whole.len() - length.min(whole.len() - 1)));
    cut(whole[start..].to_string(), length)
}

pub fn path(random: &mut Random) -> String {
    format!(
        "/project/src/{}/{}.rs",
        random.pick(NAMES),
        random.pick(NAMES)
    )
}

pub fn command(random: &mut Random) -> String {
    let (a, b) = (*random.pick(NAMES), *random.pick(NAMES));
    match random.between(0, 4) {
        0 => format!(
            "cargo test {a} -- --nocapture 2>&1 | tail -{}",
            random.between(5, 90)
        ),
        1 => format!("grep -rn \"{a}\\.{b}\" src/ | head -20"),
        2 => format!(
            "cd src && sed -n '{}p' {a}.rs && echo \"{b}\"",
            random.between(1, 900)
        ),
        _ => format!(
            "git diff --stat HEAD~{} -- {a}/{b}.rs",
            random.between(1, 9)
        ),
    }
}

/// Each line with its number, as the Read tool shows a file to the model.
pub fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    lines
        .map(|(i, line)| format!("{}\t{line}\n", i + 1))
        .collect()
}

pub fn uuid(random: &mut Random) -> String {
    let hex = random.letters(HEX, 30);
    format!(
        "{}-{}-4{}-a{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..15],
        &hex[15..18],
        &hex[18..]
    )
}

/// An id of the API's kind: a prefix and 22 letters and digits.
pub fn api_id(random: &mut Random, prefix: &str) -> String {
    format!("{prefix}01{}", random.letters(BASE62, 22))
}

pub fn signature(random: &mut Random, length: usize) -> String {
    random.letters(BASE62, length)
}
