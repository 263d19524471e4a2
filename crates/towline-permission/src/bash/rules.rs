//! Which rules are about a command.

use towline_protocol::{Behavior, PermissionMode};

use super::{
    hidden,
    pattern::Pattern,
    shell::Command,
    word::Word,
    wrapper::{self, base_name},
};
use crate::{policy::Policy, rule::Entry};

/// The rules about commands that say one thing.
fn about_commands<'p>(
    policy: &'p Policy,
    behavior: &Behavior,
) -> impl Iterator<Item = (&'p Entry, &'p str)> {
    policy
        .rules(behavior)
        .filter(|entry| entry.rule.tool() == "Bash" && !entry.rule.is_tool_wide())
        .filter_map(|entry| entry.rule.content().map(|content| (entry, content)))
}

/// Whether there is any rule that forbids some commands.
pub(crate) fn forbids_some(policy: &Policy) -> bool {
    about_commands(policy, &Behavior::Deny).next().is_some()
}

/// Whether there is any rule that wants some commands asked about.
pub(crate) fn asks_some(policy: &Policy) -> bool {
    about_commands(policy, &Behavior::Ask).next().is_some()
}

/// The rule that forbids a command, or wants it asked about: whatever it is wrapped in.
pub(crate) fn against<'p>(
    policy: &'p Policy,
    command: &Command,
    behavior: &Behavior,
) -> Option<&'p Entry> {
    let mut rules = about_commands(policy, behavior).peekable();
    rules.peek()?;
    let mut texts: Vec<String> = vec![command.text.clone()];
    for words in wrapper::readings(command) {
        let values = join(words.iter().map(Word::known));
        let name = words[0].known();
        if base_name(name) != name {
            let rest = words[1..].iter().map(Word::known);
            texts.push(join(std::iter::once(base_name(name)).chain(rest)));
        }
        texts.push(join(words.iter().map(|word| word.raw.as_str())));
        texts.push(values);
    }
    texts.sort_unstable();
    texts.dedup();
    rules
        .find(|(_, content)| texts.iter().any(|text| Pattern::of(content).matches(text)))
        .map(|(entry, _)| entry)
}

/// The rule that forbids or asks about a whole line.
pub(crate) fn against_line<'p>(
    policy: &'p Policy,
    line: &str,
    behavior: &Behavior,
) -> Option<&'p Entry> {
    about_commands(policy, behavior)
        .find(|(_, content)| matches!(Pattern::of(content), Pattern::Exact(text) if text == line))
        .map(|(entry, _)| entry)
}

/// The rule that allows a command.
pub(crate) fn allowing<'p>(policy: &'p Policy, command: &Command) -> Option<&'p Entry> {
    let mut rules = about_commands(policy, &Behavior::Allow)
        .filter(|(_, content)| policy.mode != PermissionMode::Auto || !is_broad(content))
        .peekable();
    rules.peek()?;
    let (name, arguments) = command.words.split_first()?;
    if name.known().contains(char::is_whitespace) {
        // One word, and not the two that a rule means.
        return None;
    }
    let own =
        join(std::iter::once(name.known()).chain(arguments.iter().map(|word| word.raw.as_str())));
    let assignments = command
        .assignments
        .iter()
        .map(|(name, value)| format!("{name}={}", value.raw));
    let whole = join(assignments.chain([own]));
    // An exact rule does not overlook how a command is written.
    let is_tidy = command
        .text
        .split([' ', '\t', '\n'])
        .all(|part| !part.is_empty())
        && !command.text.contains(['\t', '\n']);
    let started = wrapper::plain(command)
        .and_then(|words| words.split_first())
        .map(|(name, arguments)| {
            join(
                std::iter::once(name.known()).chain(arguments.iter().map(|word| word.raw.as_str())),
            )
        });
    let by_xargs = match &command.words[..] {
        [xargs, name, ..] if xargs.known() == "xargs" && !name.is_flag() => Some(join(
            command.words[1..].iter().map(|word| word.raw.as_str()),
        )),
        _ => None,
    };
    rules
        .find(|(_, content)| {
            let pattern = Pattern::of(content);
            let texts = [Some(&whole), started.as_ref()];
            let matches = texts
                .into_iter()
                .flatten()
                .any(|text| pattern.matches(text));
            match pattern {
                Pattern::Exact(_) => is_tidy && matches,
                Pattern::Prefix(_) => {
                    matches || by_xargs.as_ref().is_some_and(|text| pattern.matches(text))
                }
                _ => matches,
            }
        })
        .map(|(entry, _)| entry)
}

/// The rule that allows a whole line as it is written.
pub(crate) fn allowing_line<'p>(policy: &'p Policy, line: &str) -> Option<&'p Entry> {
    against_line(policy, line, &Behavior::Allow)
}

/// A rule that lets anything run: a shell or an interpreter with anything behind it.
fn is_broad(content: &str) -> bool {
    let name = match Pattern::of(content) {
        Pattern::Prefix(prefix) => prefix,
        Pattern::Glob(pattern) => pattern.trim_end_matches('*').trim_end(),
        _ => return false,
    };
    name.is_empty() || hidden::is_shell(name) || hidden::is_interpreter(name)
}

fn join<T: AsRef<str>>(words: impl Iterator<Item = T>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word.as_ref());
    }
    out
}
