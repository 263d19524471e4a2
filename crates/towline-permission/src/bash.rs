//! Command lines: what a line would do, and whether that may be done.

mod against;
mod harmless;
mod hidden;
mod located;
mod moved;
mod pattern;
mod question;
mod reach;
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
    tool,
};
use located::{Located, located};
use question::Question;
pub use reach::Looks;
pub(crate) use reach::looks;
use shell::{Command, Script};
use touch::Touched;
use word::Variables;

/// The paths that a command line touches, as far as they can be known.
pub(crate) fn paths(policy: &Policy, line: &str) -> Vec<String> {
    let script = shell::parse(line, &variables(policy));
    // What a command of no known kind is given may be a file that it must not read.
    let all_of_them = path::forbids_some(policy);
    let mut found: Vec<String> = located(policy, &script)
        .into_iter()
        .flat_map(|located| {
            let others = if all_of_them {
                located.all_paths(policy)
            } else {
                Vec::new()
            };
            located
                .touched
                .into_iter()
                .map(|(_, path)| path)
                .chain(others)
        })
        .collect();
    // Where the shell is, a link may have come since it went there.
    found.push(policy.places.current.clone());
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
        let mut decision = self.verdict();
        if decision.parts.is_empty() && decision.verdict != Verdict::Allow && !self.script.is_broken
        {
            let parts = self.located.iter().take(MOST_PARTS);
            decision.parts = parts.map(|located| self.explained(located)).collect();
        }
        decision
    }

    fn verdict(&self) -> Decision {
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

    /// What is decided where no rule stands against it.
    fn ordinary(&self) -> Decision {
        let is_auto = self.policy.mode == PermissionMode::Auto;
        if let Some(entry) = tool::wide(self.policy, &Behavior::Allow, "Bash").filter(|_| !is_auto)
        {
            return match self
                .first_protected()
                .or_else(|| self.written_through_link())
            {
                Some(question) => question.decision(self),
                None if self.script.in_background => self.background(),
                None => Decision::allow(Reason::Rule(entry.clone())),
            };
        }
        // A hook may lift a question about what is unclear, and not this one.
        let protected = self.first_protected();
        let unclear = question::unclear(self);
        if let (Some(question), Some(unclear)) = (&protected, &unclear) {
            return Decision {
                reason: question.reason(),
                ..unclear.clone()
            };
        }
        if let Some(question) = unclear {
            return question;
        }
        if let Some(target) = self.led_away() {
            let words = format!("the shell's directory is a link to {target} now");
            return Decision::ask(Reason::Safety(words)).suggest(Vec::new());
        }
        if let Some(question) = protected.or_else(|| self.path_question()) {
            return question.decision(self);
        }
        if let Some(path) = self.moved_meanwhile() {
            let words = format!("the line puts something else at {path} before it touches it");
            return Decision::ask(Reason::Other(words)).suggest(Vec::new());
        }
        if self.script.in_background {
            return self.background();
        }
        if let Some(question) = question::unaccepted(self) {
            return question;
        }
        self.parts()
    }

    /// Where the shell's directory leads, if it is inside by its words and a link has taken its place that leads out: a command
    /// without a path looks there.
    fn led_away(&self) -> Option<&'c str> {
        let current = &self.policy.places.current;
        let target = self.facts.links.get(current)?;
        let leads_out =
            path::is_inside(self.policy, current) && !path::is_inside(self.policy, target);
        leads_out.then_some(target)
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

    /// A link that leads out of the project: the rule for all commands was not given for that place.
    fn written_through_link(&self) -> Option<Question<'c>> {
        self.writes().find_map(
            |(located, touched, path)| match self.check(Access::Write, path) {
                PathVerdict::Outside {
                    target: Some(target),
                } => Some(Question::through_link(
                    located.command,
                    touched,
                    path,
                    target,
                )),
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
        self.located
            .iter()
            .find_map(|located| self.path_question_of(located))
    }

    fn path_question_of(&self, located: &'c Located<'c>) -> Option<Question<'c>> {
        let climbs = located.bases.len() > 1
            && located.touched.iter().any(|(touched, _)| {
                touched.word.known().starts_with("..") && located.command.words[0].known() != "cd"
            });
        if climbs {
            // Where that leads depends on whether the change of directory worked.
            return Some(Question::read_detour(located.command));
        }
        located
            .touched
            .iter()
            .find_map(|(touched, path)| match touched.access {
                Access::Read => self.read_question(located.command, touched, path),
                Access::Write => self.write_question(located.command, touched, path),
            })
            .or_else(|| self.question_of_reach(located))
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
        if touched.is_redirect && touched.word.has_glob {
            return Some(Question::unknown_file(command));
        }
        if path::has_detour(touched.word.known()) {
            return Some(Question::read_detour(command));
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
        if path::has_detour(touched.word.known()) && self.accepts_edits() {
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
                // Which files a glob stands for is not known.
                let accepted = self.accepts_edits()
                    && !touched.word.has_glob
                    && !question::is_flagged_copy(command);
                let by_rule = !touched.is_redirect
                    && !touched.word.has_glob
                    && rules::allowing(self.policy, command).is_some();
                (!accepted && !by_rule).then(|| Question::write_inside(command, touched, path))
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
        decision.suggestions = suggest::for_commands(missing).map(|update| vec![update]);
        decision
    }

    /// What a command of the line would be by itself.
    fn explained(&self, located: &'c Located<'c>) -> Part {
        let command = located.command;
        let rule = |behavior: &Behavior| rules::against(self.policy, command, behavior);
        let forbidden =
            rule(&Behavior::Deny).or_else(|| self.forbidden_path(std::slice::from_ref(located)));
        let (verdict, reason) = if let Some(entry) = forbidden {
            (Verdict::Deny, Reason::Rule(entry.clone()))
        } else if let Some(entry) = rule(&Behavior::Ask) {
            (Verdict::Ask, Reason::Rule(entry.clone()))
        } else if let Some(question) = self.path_question_of(located) {
            (Verdict::Ask, question.in_words())
        } else {
            return self.part(command);
        };
        Part {
            command: command.text.clone(),
            verdict,
            reason,
        }
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
        let raw = |place: usize| command.words.get(place).map_or("", |word| &word.raw);
        let is_plain = match raw(0) {
            "timeout" => wrapper::is_duration(raw(1)),
            "time" | "nice" | "nohup" | "stdbuf" | "noglob" => false,
            "command" => raw(1) != "-p",
            "[" | "hostname" => command.assignments.is_empty() && !command.has_here_document,
            _ => true,
        };
        let words = wrapper::plain(command).filter(|_| is_plain);
        !command.has_expansion && words.is_some_and(harmless::only_reads)
    }
}

/// More parts of a line than these are not explained.
const MOST_PARTS: usize = 50;

/// The name of a command, whatever it is wrapped in.
fn name_of(command: &Command) -> &str {
    let words = wrapper::plain(command).unwrap_or(&command.words);
    words.first().map_or("", |word| word.known())
}
