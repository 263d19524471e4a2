//! What stands against a line: rules that forbid or ask, removals that nobody means, and ways around a rule.

use towline_protocol::Behavior;

use super::{
    Case, hidden,
    located::{Located, file_in, located},
    rules,
    shell::{self, Place, Script},
    touch, variables, wrapper,
};
use crate::{
    decision::{Decision, Reason},
    path::{self, Access, PathVerdict},
    policy::Policy,
    rule::Entry,
    tool,
};

impl<'c> Case<'c> {
    /// A rule that forbids a command of the line, or a path that one touches.
    pub(super) fn forbidden(&self) -> Option<&'c Entry> {
        let mut commands = self.script.commands.iter();
        commands
            .find_map(|command| rules::against(self.policy, command, &Behavior::Deny))
            .or_else(|| rules::against_line(self.policy, self.line, &Behavior::Deny))
            .or_else(|| self.forbidden_path(self.located))
    }

    pub(super) fn forbidden_path(&self, located: &[Located<'_>]) -> Option<&'c Entry> {
        for located in located {
            let own = located.touched.iter().map(|(touched, _)| touched.clone());
            // Also what is read by a command that another one starts.
            let started = wrapper::readings(located.command)
                .into_iter()
                .flat_map(touch::touched_by);
            for touched in own.chain(started) {
                for path in located.readings(self.policy, touched.word.known()) {
                    // Who may not read a file may still be allowed to write it; that is asked about elsewhere.
                    if let PathVerdict::Denied(entry) = self.check(touched.access, &path)
                        && (touched.access == Access::Read || entry.rule.tool() != "Read")
                    {
                        return Some(entry);
                    }
                }
            }
        }
        None
    }

    pub(super) fn check(&self, access: Access, path: &str) -> PathVerdict<'c> {
        path::check(self.policy, self.facts, access, path)
    }

    /// A forbidden command in the script of a `bash -c`.
    pub(super) fn forbidden_inside(&self) -> Option<String> {
        self.inner_scripts().into_iter().find_map(|script| {
            let rule = script
                .commands
                .iter()
                .find_map(|command| rules::against(self.policy, command, &Behavior::Deny))?;
            Some(format!(
                "the rule {} forbids a command in this script",
                rule.rule
            ))
        })
    }

    fn inner_scripts(&self) -> Vec<Script> {
        let mut found = Vec::new();
        for command in &self.script.commands {
            for words in wrapper::readings(command) {
                let words: Vec<_> = words.iter().collect();
                if let Some(inner) = hidden::inner_script(&words) {
                    found.push(shell::parse(inner, &variables(self.policy)));
                }
            }
        }
        found
    }

    /// A question because a rule wants it.
    pub(super) fn asked_by_rule(&self) -> Option<Decision> {
        if let Some(entry) = tool::wide(self.policy, &Behavior::Ask, "Bash") {
            return Some(Decision::ask(Reason::Rule(entry.clone())));
        }
        for command in &self.script.commands {
            let Some(entry) = rules::against(self.policy, command, &Behavior::Ask) else {
                continue;
            };
            let reason = Reason::Rule(entry.clone());
            let is_by_variable = command
                .words
                .first()
                .is_some_and(|word| word.raw.starts_with('$'));
            return Some(if is_by_variable || command.place == Place::Substitution {
                Decision::ask(reason).suggest(Vec::new())
            } else {
                Decision::ask(reason)
            });
        }
        let entry = rules::against_line(self.policy, self.line, &Behavior::Ask)?;
        Some(Decision::ask(Reason::Rule(entry.clone())))
    }

    /// `rm` of something that is never meant.
    pub(super) fn dangerous_removal(&self) -> Option<String> {
        let places = &self.policy.places;
        for located in self.located {
            for words in wrapper::readings(located.command) {
                if !matches!(wrapper::base_name(words[0].known()), "rm" | "rmdir") {
                    continue;
                }
                for word in words[1..].iter().filter(|word| !word.is_flag()) {
                    for path in located.readings(self.policy, word.known()) {
                        // All that is in a directory is as good as the directory.
                        let path = path.strip_suffix("/*").unwrap_or(&path);
                        let is_at_root = path.matches('/').count() <= 1;
                        let is_above = |inner: &str| path::below(inner, path).is_some();
                        if path == places.home || is_at_root {
                            return Some(format!("removal of {path}"));
                        }
                        if is_above(&places.current) || is_above(&places.project) {
                            return Some(format!(
                                "removal of {path}, the working directory or one above it"
                            ));
                        }
                    }
                }
            }
        }
        None
    }

    /// Why a rule that forbids something may be walked around by this line, which else would run without a question.
    pub(super) fn may_slip_past(&self) -> Option<String> {
        let forbids_paths = path::forbids_some(self.policy);
        if (rules::forbids_some(self.policy) || forbids_paths)
            && hidden::hides_commands(self.script)
        {
            return Some(
                "it can start a command that a rule forbids, without its being seen".to_owned(),
            );
        }
        if rules::asks_some(self.policy) && hidden::is_misread(self.script) {
            return Some("a rule wants commands asked about, and this may be one".to_owned());
        }
        if !forbids_paths {
            return None;
        }
        if self.moves_unseen() {
            return Some(
                "a rule forbids to read files, and which directory it goes to is not known"
                    .to_owned(),
            );
        }
        let inner = self.inner_scripts();
        if inner
            .iter()
            .any(|script| self.forbidden_path(&located(self.policy, script)).is_some())
        {
            return Some("a rule forbids to read a file that is named in this script".to_owned());
        }
        self.located
            .iter()
            .find_map(|located| self.may_read_forbidden(located))
    }

    /// Whether a change of directory leads to one that shows only when it runs, or too many do to be followed.
    fn moves_unseen(&self) -> bool {
        if self.located.iter().any(Located::is_lost) {
            return true;
        }
        let moves = self
            .script
            .commands
            .iter()
            .filter(|command| matches!(super::name_of(command), "cd" | "pushd"));
        let mut words = moves.flat_map(|command| command.words.iter().skip(1));
        words.any(|word| word.has_glob || word.value.is_none())
    }

    /// Why a command may read a file that a rule forbids to read, though it is not one that is known to.
    fn may_read_forbidden(&self, located: &Located<'_>) -> Option<String> {
        for words in wrapper::readings(located.command) {
            if reads_nothing(words[0].known()) {
                continue;
            }
            let reads_trees = touch::reads_trees(words);
            if reads_trees && words.len() <= 2 && self.holds_forbidden(located, ".") {
                return Some("there is a file here that a rule forbids to read".to_owned());
            }
            for word in &words[1..] {
                let Some(value) = word.value.as_deref() else {
                    return Some(format!(
                        "{} may be a file that a rule forbids to read",
                        word.raw
                    ));
                };
                for text in [value, file_in(value)] {
                    if word.has_glob && self.is_any(located, text, path::may_match_forbidden) {
                        return Some(format!(
                            "{value} may stand for a file that a rule forbids to read"
                        ));
                    }
                    if self.names_forbidden(located, text) {
                        return Some(format!("{value} names a file that a rule forbids to read"));
                    }
                    let is_flag = value.starts_with('-');
                    if reads_trees && !is_flag && self.holds_forbidden(located, text) {
                        return Some(format!(
                            "there is a file below {value} that a rule forbids to read"
                        ));
                    }
                }
            }
        }
        None
    }

    fn names_forbidden(&self, located: &Located<'_>, text: &str) -> bool {
        self.is_any(located, text, |_, path| {
            matches!(self.check(Access::Read, path), PathVerdict::Denied(_))
        })
    }

    fn holds_forbidden(&self, located: &Located<'_>, text: &str) -> bool {
        self.is_any(located, text, path::may_hold_forbidden)
    }

    /// Whether something is true of a path, wherever the command runs.
    fn is_any(
        &self,
        located: &Located<'_>,
        text: &str,
        is_true: impl Fn(&Policy, &str) -> bool,
    ) -> bool {
        located
            .readings(self.policy, text)
            .any(|path| is_true(self.policy, &path))
    }
}

/// Programs that read none of the files that they are given.
fn reads_nothing(name: &str) -> bool {
    let writes = matches!(name, "rm" | "rmdir" | "mkdir" | "touch" | "tee");
    let takes_words = matches!(
        name,
        "echo" | "printf" | "basename" | "dirname" | "test" | "[" | "seq" | "export"
    );
    writes || takes_words || matches!(name, "true" | "false")
}
