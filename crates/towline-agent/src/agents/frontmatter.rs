//! A Markdown file that begins with YAML between two lines of `---` (pure).

use saphyr::{LoadableYamlNode as _, YamlOwned};

/// A file with its frontmatter.
#[derive(Debug)]
pub(super) struct Document<'a> {
    fields: Vec<(String, YamlOwned)>,
    /// What follows the frontmatter.
    pub(super) body: &'a str,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Document<'_>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (head, body) = split(text).ok_or("it does not begin with a frontmatter between `---`")?;
    if !is_shallow(head) {
        return Err("its frontmatter is nested too deeply".to_owned());
    }
    let fields = fields(head).or_else(|error| {
        // `description: Use it so: …` is no YAML, and people write it all the same.
        fields(&quoted(head)).map_err(|_| format!("its frontmatter is not YAML: {error}"))
    })?;
    Ok(Document { fields, body })
}

impl Document<'_> {
    /// A field that is text, or can be taken as such.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = &self.fields.iter().find(|(field, _)| field == name)?.1;
        let text = value.as_str().map(ToOwned::to_owned);
        text.or_else(|| Some(value.as_integer()?.to_string()))
    }

    /// A field that is a list, or text with commas.
    pub(super) fn list(&self, name: &str) -> Option<Vec<String>> {
        let value = &self.fields.iter().find(|(field, _)| field == name)?.1;
        if let Some(items) = value.as_sequence() {
            let items = items.iter().filter_map(|item| item.as_str());
            return Some(items.map(ToOwned::to_owned).collect());
        }
        Some(outside_parentheses(value.as_str()?))
    }
}

/// What stands between commas; a comma inside parentheses belongs to a rule.
fn outside_parentheses(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts.map(ToOwned::to_owned).collect()
}

fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest
        .strip_prefix("\r\n")
        .or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn fields(head: &str) -> Result<Vec<(String, YamlOwned)>, String> {
    let documents = YamlOwned::load_from_str(head).map_err(|error| error.to_string())?;
    let Some(document) = documents.into_iter().next() else {
        return Ok(Vec::new());
    };
    let fields = document.as_mapping().ok_or("fields are expected")?;
    let fields = fields
        .iter()
        .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone())));
    Ok(fields.collect())
}

/// The same with every plain value of a line in quotation marks.
fn quoted(head: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((name, value)) if !name.starts_with([' ', '-', '#']) && !is_marked(value.trim()) => {
            format!("{name}: '{}'\n", value.trim().replace('\'', "''"))
        }
        _ => format!("{line}\n"),
    };
    head.lines().map(line).collect()
}

/// Whether a value has a form of its own already.
fn is_marked(value: &str) -> bool {
    value.is_empty() || value.starts_with(['\'', '"', '[', '{', '|', '>', '&', '*', '!'])
}

/// Whether a reader that goes down into what is nested comes back: it is called with what a stranger wrote.
fn is_shallow(head: &str) -> bool {
    let mut depth = 0_usize;
    let is_flat = head.chars().all(|character| {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth < DEEPEST
    });
    let indents =
        |line: &str| line.len() - line.trim_start_matches([' ', '\t', '-', '?', ':']).len();
    is_flat && head.lines().all(|line| indents(line) < DEEPEST)
}

const DEEPEST: usize = 64;
