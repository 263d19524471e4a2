//! Command lines: what a line would do, and whether that may be done.

mod harmless;
mod hidden;
mod pattern;
mod question;
mod rules;
mod shell;
mod suggest;
#[cfg(test)]
mod tests;
mod touch;
mod word;
mod wrapper;

use towline_protocol::{Behavior, PermissionMode};

use crate::{
    call::{Call, Facts},
    decision::{Decision, Part, Reason, Verdict},
    path::{self, Access, PathVerdict},
    policy::Policy,
    rule::Entry,
};
use question::Question;
use shell::{Command, Place, Script};
use touch::Touched;
use word::Variables;

/// The paths that a command line touches, as far as they can be known.
pub(crate) fn paths(policy: &Policy, line: &str) -> Vec<String> {
    let script = shell::parse(line, &variables(policy));
    let mut found: Vec<String> = located(policy, &script)
        .into_iter()
        .flat_map(|located| located.touched)
        .map(|(_, path)| path)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Decides about a command line, before the mode in which nobody is asked and before what hooks allow.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    let Some(line) = call.text("command") else {
        return Decision::ask(Reason::Other("there is no command".to_owned())).suggest(Vec::new());
    };
    let script = shell::parse(line, &variables(policy));
    let located = located(policy, &script);
    let case = Case {
        policy,
        facts,
        line: line.trim(),
        script: &script,
        located: &located,
    };
    case.decide()
}

fn variables(policy: &Policy) -> Variables {
    Variables::of(&policy.places.home, &policy.places.current)
}

/// A command and the paths it touches, absolute.
struct Located<'s> {
    command: &'s Command,
    touched: Vec<(Touched, String)>,
    /// Where it may run: `cd` may have failed, or may have been in a branch that was not taken.
    bases: Vec<String>,
}

/// Follows `cd` through a script to say where each command runs.
fn located<'s>(policy: &Policy, script: &'s Script) -> Vec<Located<'s>> {
    let home = &policy.places.home;
    let mut bases = vec![policy.places.current.clone()];
    let mut all = Vec::new();
    for command in &script.commands {
        let current = bases.last().cloned().unwrap_or_default();
        let touched: Vec<(Touched, String)> = touch::touched(command)
            .into_iter()
            .map(|touched| {
                let path = path::absolute(touched.word.known(), &current, home);
                (touched, path)
            })
            .collect();
        let moves = command
            .words
            .first()
            .is_some_and(|word| word.known() == "cd");
        let target = touched.iter().find(|(touched, _)| !touched.is_redirect);
        let target = target.map_or_else(|| home.clone(), |(_, path)| path.clone());
        all.push(Located {
            command,
            touched,
            bases: bases.clone(),
        });
        if moves && bases.len() < MOST_BASES {
            bases.push(target);
        }
    }
    all
}

/// More changes of directory than this in one line are not followed.
const MOST_BASES: usize = 16;

/// A line and everything that is known of it.
struct Case<'c> {
    policy: &'c Policy,
    facts: &'c Facts,
    line: &'c str,
    script: &'c Script,
    located: &'c [Located<'c>],
}

impl<'c> Case<'c> {
    fn decide(&self) -> Decision {
        if let Some(entry) = self.forbidden() {
            return Decision::deny(Reason::Rule(entry.clone()));
        }
        if let Some(words) = self.forbidden_inside() {
            return Decision::ask(Reason::Safety(words)).suggest(Vec::new());
        }
        if let Some(asked) = self.asked_by_rule() {
            return asked;
        }
        if let Some(danger) = self.dangerous_removal() {
            return Decision::ask(Reason::Safety(danger)).suggest(Vec::new());
        }
        let decision = if self.policy.mode == PermissionMode::BypassPermissions {
            Decision::allow(Reason::Mode(PermissionMode::BypassPermissions))
        } else {
            self.ordinary()
        };
        if decision.verdict == Verdict::Allow
            && let Some(words) = self.may_slip_past()
        {
            return Decision::ask(Reason::Safety(words)).suggest(Vec::new());
        }
        decision
    }

    /// A rule that forbids a command of the line, or a path that one touches.
    fn forbidden(&self) -> Option<&'c Entry> {
        let by_command = || {
            self.script
                .commands
                .iter()
                .find_map(|command| rules::against(self.policy, command, &Behavior::Deny))
        };
        rules::tool_wide(self.policy, &Behavior::Deny)
            .or_else(by_command)
            .or_else(|| rules::against_line(self.policy, self.line, &Behavior::Deny))
            .or_else(|| self.forbidden_path(self.located))
    }

    fn forbidden_path(&self, located: &[Located<'_>]) -> Option<&'c Entry> {
        let home = &self.policy.places.home;
        for located in located {
            for (touched, _) in &located.touched {
                for base in &located.bases {
                    let path = path::absolute(touched.word.known(), base, home);
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

    fn check(&self, access: Access, path: &str) -> PathVerdict<'c> {
        path::check(self.policy, self.facts, access, path)
    }

    /// A forbidden command in the script of a `bash -c`.
    fn forbidden_inside(&self) -> Option<String> {
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
    fn asked_by_rule(&self) -> Option<Decision> {
        if let Some(entry) = rules::tool_wide(self.policy, &Behavior::Ask) {
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
    fn dangerous_removal(&self) -> Option<String> {
        let places = &self.policy.places;
        for located in self.located {
            let is_removal = wrapper::readings(located.command)
                .into_iter()
                .any(|words| matches!(wrapper::base_name(words[0].known()), "rm" | "rmdir"));
            if !is_removal {
                continue;
            }
            let words = wrapper::readings(located.command).into_iter().flatten();
            for word in words.filter(|word| !word.raw.starts_with('-')) {
                let path = path::absolute(word.known(), &places.current, &places.home);
                let is_at_root = path.matches('/').count() == 1 && word.known().starts_with('/');
                if path == places.home || is_at_root {
                    return Some(format!("removal of {path}"));
                }
                let is_above =
                    |inner: &str| inner == path || inner.starts_with(&format!("{path}/"));
                let is_path = word.known().starts_with(['/', '.', '~']);
                if is_path && (is_above(&places.current) || is_above(&places.project)) {
                    return Some(format!(
                        "removal of {path}, the working directory or one above it"
                    ));
                }
            }
        }
        None
    }

    /// Why a rule that forbids something may be walked around by this line, which else would run without a question.
    fn may_slip_past(&self) -> Option<String> {
        let forbids_paths = path::forbids_some(self.policy);
        if (rules::forbids_some(self.policy) || forbids_paths)
            && hidden::hides_commands(self.script)
        {
            return Some(
                "it can start a command that a rule forbids, without its being seen".to_owned(),
            );
        }
        if !forbids_paths {
            return None;
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
                // `@file`, `if=file`, `HEAD:file`.
                let inner = value.rsplit(['=', '@', ':']).next().unwrap_or(value);
                for text in [value, inner] {
                    if word.has_glob && self.any_base(located, text, path::may_match_forbidden) {
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
        self.any_base(located, text, |_, path| {
            matches!(self.check(Access::Read, path), PathVerdict::Denied(_))
        })
    }

    fn holds_forbidden(&self, located: &Located<'_>, text: &str) -> bool {
        self.any_base(located, text, path::may_hold_forbidden)
    }

    /// Whether something is true of a path, wherever the command runs.
    fn any_base(
        &self,
        located: &Located<'_>,
        text: &str,
        is_true: impl Fn(&Policy, &str) -> bool,
    ) -> bool {
        let home = &self.policy.places.home;
        located
            .bases
            .iter()
            .any(|base| is_true(self.policy, &path::absolute(text, base, home)))
    }

    /// What is decided where no rule stands against it.
    fn ordinary(&self) -> Decision {
        let is_auto = self.policy.mode == PermissionMode::Auto;
        if let Some(entry) = rules::tool_wide(self.policy, &Behavior::Allow).filter(|_| !is_auto) {
            return match self.first_protected() {
                Some(question) => question.decision(self),
                None if self.script.in_background => self.background(),
                None => Decision::allow(Reason::Rule(entry.clone())),
            };
        }
        if let Some(question) = question::unclear(self) {
            return question;
        }
        if let Some(question) = self.first_protected().or_else(|| self.path_question()) {
            return question.decision(self);
        }
        if self.script.in_background {
            return self.background();
        }
        if let Some(question) = question::unaccepted(self) {
            return question;
        }
        self.parts()
    }

    fn background(&self) -> Decision {
        Decision::ask(Reason::Safety(
            "what runs in the background goes on after it was looked at".to_owned(),
        ))
    }

    fn first_protected(&self) -> Option<Question<'c>> {
        self.writes().find_map(
            |(located, touched, path)| match self.check(Access::Write, path) {
                PathVerdict::Protected => Some(Question::protected(located.command, touched, path)),
                _ => None,
            },
        )
    }

    fn writes(&self) -> impl Iterator<Item = (&'c Located<'c>, &'c Touched, &'c str)> {
        self.located.iter().flat_map(|located| {
            let writes = located
                .touched
                .iter()
                .filter(|(touched, _)| touched.access == Access::Write);
            writes.map(move |(touched, path)| (located, touched, path.as_str()))
        })
    }

    /// The first path that is asked about.
    fn path_question(&self) -> Option<Question<'c>> {
        for located in self.located {
            for (touched, path) in &located.touched {
                let question = match touched.access {
                    Access::Read => self.read_question(located.command, touched, path),
                    Access::Write => self.write_question(located.command, touched, path),
                };
                if question.is_some() {
                    return question;
                }
            }
        }
        None
    }

    fn read_question(
        &self,
        command: &'c Command,
        touched: &'c Touched,
        path: &str,
    ) -> Option<Question<'c>> {
        if touched.is_redirect && path == "/dev/null" {
            return None;
        }
        match self.check(Access::Read, path) {
            // A copy or a move is asked about as a whole.
            PathVerdict::Outside { .. } if matches!(name_of(command), "cp" | "mv") => None,
            PathVerdict::Outside { target } => Some(Question::read_outside(command, path, target)),
            _ => None,
        }
    }

    fn write_question(
        &self,
        command: &'c Command,
        touched: &'c Touched,
        path: &str,
    ) -> Option<Question<'c>> {
        if has_detour(touched.word.known()) && self.policy.mode == PermissionMode::AcceptEdits {
            return Some(Question::detour(
                command,
                touched,
                &self.policy.places.current,
            ));
        }
        match self.check(Access::Write, path) {
            PathVerdict::Protected => Some(Question::protected(command, touched, path)),
            PathVerdict::Outside {
                target: Some(target),
            } => Some(Question::through_link(command, touched, path, target)),
            PathVerdict::Outside { target: None } => Some(Question::write(command, touched, path)),
            PathVerdict::Inside | PathVerdict::Asked(_) | PathVerdict::Denied(_) => {
                let accepted = self.accepts_edits();
                let by_rule =
                    !touched.is_redirect && rules::allowing(self.policy, command).is_some();
                (!accepted && !by_rule).then(|| Question::write(command, touched, path))
            }
            PathVerdict::Allowed(_) => None,
        }
    }

    /// Each command must be allowed, or do nothing but read.
    fn parts(&self) -> Decision {
        let parts: Vec<Part> = self
            .script
            .commands
            .iter()
            .map(|command| self.part(command))
            .collect();
        let missing: Vec<&Command> = self
            .script
            .commands
            .iter()
            .zip(&parts)
            .filter(|(_, part)| part.verdict != Verdict::Allow)
            .map(|(command, _)| command)
            .collect();
        let mut decision = match (&missing[..], &parts[..]) {
            ([], [part]) => Decision::allow(part.reason.clone()),
            ([], []) => Decision::allow(Reason::Harmless),
            ([], _) => Decision::allow(Reason::Parts),
            _ => match rules::allowing_line(self.policy, self.line) {
                Some(entry) => Decision::allow(Reason::Rule(entry.clone())),
                None => self.needs_approval(&missing, parts.len()),
            },
        };
        decision.parts = parts;
        decision
    }

    fn needs_approval(&self, missing: &[&Command], all: usize) -> Decision {
        let reason = if all == 1 {
            Reason::Other("this command needs approval".to_owned())
        } else {
            Reason::Parts
        };
        let mut decision = Decision::ask(reason);
        decision.suggestions = question::approval(self.policy, missing);
        decision
    }

    fn part(&self, command: &Command) -> Part {
        let reason = if let Some(entry) = rules::allowing(self.policy, command) {
            Ok(Reason::Rule(entry.clone()))
        } else if self.only_reads(command) {
            Ok(Reason::Harmless)
        } else if self.accepts_edits() && question::is_accepted_edit(command) {
            Ok(Reason::Mode(self.policy.mode.clone()))
        } else {
            Err(Reason::Other("this command needs approval".to_owned()))
        };
        let (verdict, reason) = match reason {
            Ok(reason) => (Verdict::Allow, reason),
            Err(reason) => (Verdict::Ask, reason),
        };
        Part {
            command: command.text.clone(),
            verdict,
            reason,
        }
    }

    /// Whether files inside of the working directories are changed without a question.
    fn accepts_edits(&self) -> bool {
        matches!(
            self.policy.mode,
            PermissionMode::AcceptEdits | PermissionMode::Auto
        )
    }

    fn only_reads(&self, command: &Command) -> bool {
        let is_timed = command
            .words
            .first()
            .is_some_and(|word| matches!(word.known(), "timeout" | "time"));
        let words = match wrapper::plain(command) {
            Some(words) if is_timed => words,
            _ => &command.words[..],
        };
        command.assignments.is_empty() && harmless::only_reads(words)
    }
}

/// The name of a command, whatever it is wrapped in.
fn name_of(command: &Command) -> &str {
    let words = wrapper::plain(command).unwrap_or(&command.words);
    words.first().map_or("", |word| word.known())
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

/// `a/../b`: what `..` leads to depends on whether `a` is a link.
fn has_detour(path: &str) -> bool {
    let mut behind_name = false;
    path.split('/').any(|part| match part {
        "" | "." => false,
        ".." => behind_name,
        _ => {
            behind_name = true;
            false
        }
    })
}
