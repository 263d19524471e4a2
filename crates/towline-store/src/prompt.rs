//! What a person asked first: the prompt that stands for a session without a title. Pure.

use towline_protocol::{Block, Content, transcript::UserRecord};

/// What one record has to say about how the session began.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A prompt.
    Prompt(String),
    /// A slash command, for when there is no prompt.
    Command(String),
}

/// The prompt in a record, on one line and shortened. Nothing for tool results and for what the CLI wrote itself.
pub(crate) fn opening(record: &UserRecord) -> Option<Opening> {
    if record.is_meta == Some(true) || record.is_compact_summary == Some(true) {
        return None;
    }
    let content = record.message.content.as_option()?;
    let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
    if content.blocks().iter().any(is_result) {
        return None;
    }
    let mut command = None;
    for text in texts(content) {
        let line = text.replace('\n', " ");
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = between(line, "<command-name>", "</command-name>") {
            command.get_or_insert_with(|| name.to_owned());
        } else if !is_made_by_the_cli(line) {
            return Some(Opening::Prompt(shortened(line)));
        }
    }
    command.map(Opening::Command)
}

fn texts(content: &Content) -> impl Iterator<Item = &str> {
    let whole = match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Blocks(_) | Content::Object(_) => None,
    };
    let blocks = content.blocks().iter().filter_map(|block| match block {
        Block::Text(block) => Some(block.text.as_str()),
        _ => None,
    });
    whole.into_iter().chain(blocks)
}

fn is_made_by_the_cli(line: &str) -> bool {
    let interrupted = line
        .strip_prefix("[Request interrupted by user")
        .is_some_and(|rest| rest.contains(']'));
    let wrapped = |tag: &str| {
        let inside = line
            .strip_prefix('<')
            .and_then(|rest| rest.strip_prefix(tag));
        inside.is_some_and(|rest| rest.starts_with('>') && rest.ends_with(&format!("</{tag}>")))
    };
    MADE_BY_THE_CLI.iter().any(|start| line.starts_with(start))
        || interrupted
        || wrapped("ide_opened_file")
        || wrapped("ide_selection")
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// How long a prompt may be in a list, in characters; the official SDKs cut there too.
const LONGEST: usize = 200;

const MADE_BY_THE_CLI: [&str; 4] = [
    "<local-command-stdout>",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &str, expected: Option<&Opening>) {
        use towline_protocol::{Wire, transcript::Record};

        let line = format!(r#"{{"type":"user",{fields}}}"#);
        let Record::User(record) = Record::from_json(line.clone()).unwrap() else {
            panic!("{line} is no user record");
        };
        assert_eq!(opening(&record).as_ref(), expected, "{line}");
    }

    #[test]
    fn a_prompt_is_what_a_person_typed() {
        let prompt = |text: &str| Opening::Prompt(text.to_owned());
        check(
            r#""message":{"content":" two\nlines "}"#,
            Some(&prompt("two lines")),
        );
        check(
            r#""message":{"content":[{"type":"text","text":""},{"type":"text","text":"b"}]}"#,
            Some(&prompt("b")),
        );
        check(
            r#""message":{"content":"<command-name>/usage</command-name> x"}"#,
            Some(&Opening::Command("/usage".to_owned())),
        );
        check(
            r#""message":{"content":"<ide_selection>x</ide_selection> and more"}"#,
            Some(&prompt("<ide_selection>x</ide_selection> and more")),
        );
        for none in [
            r#""isMeta":true,"message":{"content":"x"}"#,
            r#""isCompactSummary":true,"message":{"content":"x"}"#,
            r#""message":{"content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"x"}]}"#,
            r#""message":{"content":"<local-command-stdout>x</local-command-stdout>"}"#,
            r#""message":{"content":"[Request interrupted by user for tool use]"}"#,
            r#""message":{"content":"<ide_opened_file>x\ny</ide_opened_file>"}"#,
            r#""message":{"content":"  "}"#,
            r#""message":{}"#,
        ] {
            check(none, None);
        }
    }

    #[test]
    fn a_long_prompt_is_cut_by_characters() {
        assert_eq!(shortened(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(shortened(&"é".repeat(201)), format!("{}…", "é".repeat(200)));
        let spaced = format!("{} {}", "a".repeat(199), "b".repeat(9));
        assert_eq!(shortened(&spaced), format!("{}…", "a".repeat(199)));
    }
}
