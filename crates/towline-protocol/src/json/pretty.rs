//! JSON with line breaks and two blanks a level. It moves the tokens of a checked text apart and changes none of them.

use super::quoted_end;

/// The text, which must be one JSON value, laid out for people.
pub(super) fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut rest = text.trim_start();
    let mut just_opened = false;
    while let Some(first) = rest.chars().next() {
        let closes = matches!(first, '}' | ']');
        if closes {
            depth = depth.saturating_sub(1);
        }
        // An empty list or object stays on its line.
        if just_opened != closes {
            new_line(&mut out, depth);
        }
        just_opened = matches!(first, '{' | '[');
        let end = match first {
            '"' => quoted_end(rest.as_bytes(), 1).unwrap_or(rest.len()),
            '{' | '[' | '}' | ']' | ',' | ':' => 1,
            _ => rest.find(ENDS_A_WORD).unwrap_or(rest.len()),
        };
        out.push_str(&rest[..end]);
        match first {
            '{' | '[' => depth += 1,
            ',' => new_line(&mut out, depth),
            ':' => out.push(' '),
            _ => {}
        }
        rest = rest[end..].trim_start();
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

const ENDS_A_WORD: &[char] = &[',', ':', '}', ']', ' ', '\n', '\r', '\t'];
