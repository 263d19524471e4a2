//! `@path` in a memory file. Pure.

/// The paths that a text imports, in its order. What stands in code is no import, nor is an address such as
/// `ann@example.org`.
pub(super) fn in_text(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if mark == open => fence = None,
            (None, None) => in_line(line, &mut found),
            (Some(_), _) => {}
        }
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

fn fence_mark(line: &str) -> Option<char> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find(|mark| {
        line.chars()
            .take_while(|character| character == mark)
            .count()
            >= 3
    })
}

fn in_line(line: &str, found: &mut Vec<String>) {
    // Every second piece between backticks is code; behind a lonely one nothing is.
    let pieces: Vec<&str> = line.split('`').collect();
    let is_balanced = pieces.len() % 2 == 1;
    for (index, piece) in pieces.iter().enumerate() {
        let is_code = index % 2 == 1 && (is_balanced || index + 1 < pieces.len());
        if is_code {
            continue;
        }
        let mut before = if index == 0 { ' ' } else { '`' };
        let mut rest = *piece;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            if character == '@' && before.is_whitespace() {
                let path = path_at_start(rest);
                if is_path(&path) {
                    found.push(path);
                }
            }
            before = character;
        }
    }
}

/// The characters up to the next blank; one behind a backslash belongs to the path.
fn path_at_start(text: &str) -> String {
    let mut path = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&' ') => {
                characters.next();
                path.push(' ');
            }
            blank if blank.is_whitespace() => break,
            other => path.push(other),
        }
    }
    // What ends a sentence is no part of a path.
    path.trim_end_matches([',', ';', ':', ')', '.', '!', '?'])
        .to_owned()
}

fn is_path(path: &str) -> bool {
    let first = path.chars().next();
    first.is_some_and(|first| first.is_alphanumeric() || "./~_-".contains(first))
}

/// More than anybody imports into one file.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn imports_are_words_that_begin_with_an_at_sign_outside_of_code() {
        let cases: &[(&str, &[&str])] = &[
            ("@a.md", &["a.md"]),
            ("see @docs/a.md and @./b.md.", &["docs/a.md", "./b.md"]),
            ("- @~/notes.md\n\t@/etc/x", &["~/notes.md", "/etc/x"]),
            ("(@a.md)", &[]),
            ("ann@example.org, @, @@ @#x", &[]),
            ("`@a.md` @b.md `x @c.md`", &["b.md"]),
            ("a ` alone, @b.md", &["b.md"]),
            ("```\n@a.md\n```\n@b.md", &["b.md"]),
            ("~~~sh\n@a.md\n```\n@b.md\n~~~\n@c.md", &["c.md"]),
            ("```\n@never-closed.md", &[]),
            ("@my\\ file.md x", &["my file.md"]),
            ("@é.md", &["é.md"]),
            ("", &[]),
        ];
        for (text, paths) in cases {
            assert_eq!(in_text(text), *paths, "{text:?}");
        }
    }
}
