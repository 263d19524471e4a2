//! Which rules would let a command run the next time.

use towline_protocol::{Behavior, Destination, PermissionMode, PermissionUpdate, RuleValue};

use super::{shell::Command, wrapper};

/// The content of a rule for a command as it is written: its first two words if the second is a subcommand, or else the
/// command itself. Nothing if no rule can name it.
pub(crate) fn content(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some((first, _)) = text.split_once('\n') {
        // No rule has two lines.
        let first = content(first)?;
        let prefix = first.strip_suffix(" *").unwrap_or(&first);
        return Some(format!("{prefix} *"));
    }
    let mut rest = text;
    // Variables that change nothing are not a part of it.
    while let Some((first, behind)) = split_word(rest)
        && let Some((name, value)) = first.split_once('=')
        && wrapper::is_safe_variable(name)
    {
        if value.starts_with(['"', '\'']) {
            return None;
        }
        rest = behind;
    }
    if let Some((first, behind)) = split_word(rest)
        && let Some((second, _)) = split_word(behind)
        && is_subcommand(second)
        && !first.contains('=')
        && !NO_PREFIX.contains(&first)
    {
        return Some(format!("{first} {second} *"));
    }
    // It would be read as another kind of rule.
    (!text.ends_with(":*")).then(|| text.to_owned())
}

fn split_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    Some(text.split_once(char::is_whitespace).unwrap_or((text, "")))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// One update with a rule for each command; nothing if that would be too many, or one has none.
pub(crate) fn for_commands(commands: &[&Command]) -> Option<PermissionUpdate> {
    if commands.len() > MOST {
        return None;
    }
    let mut rules: Vec<RuleValue> = Vec::new();
    for command in commands {
        let rule = RuleValue::content("Bash", content(&command.text)?);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Some(add(rules, Destination::LocalSettings))
}

/// An update with one rule for a whole line.
pub(crate) fn for_line(line: &str) -> Option<PermissionUpdate> {
    let rule = RuleValue::content("Bash", content(line)?);
    Some(add(vec![rule], Destination::LocalSettings))
}

/// An update that lets a directory be read for the session.
pub(crate) fn read_directory(directory: &str) -> PermissionUpdate {
    let content = format!("/{}/**", directory.trim_end_matches('/'));
    add(
        vec![RuleValue::content("Read", content)],
        Destination::Session,
    )
}

/// An update that makes a directory one of the working directories for the session.
pub(crate) fn add_directory(directory: &str) -> PermissionUpdate {
    PermissionUpdate::add_directories(vec![directory.into()], Destination::Session)
}

/// An update to the mode in which files are edited without questions.
pub(crate) fn accept_edits() -> PermissionUpdate {
    PermissionUpdate::set_mode(PermissionMode::AcceptEdits, Destination::Session)
}

fn add(rules: Vec<RuleValue>, destination: Destination) -> PermissionUpdate {
    PermissionUpdate::add_rules(rules, Behavior::Allow, destination)
}

/// How many rules are suggested at once.
const MOST: usize = 5;

/// Whatever stands behind these is another command: two words say nothing of it.
const NO_PREFIX: &[&str] = &[
    "bash", "builtin", "command", "doas", "env", "eval", "exec", "fish", "nice", "noglob", "nohup",
    "sh", "stdbuf", "sudo", "time", "timeout", "xargs", "zsh",
];
