//! Why a command line is asked about, and what would let it run the next time.

use towline_protocol::PermissionMode;

use super::{
    Case, hidden, name_of,
    shell::{Command, Opaque},
    suggest,
    touch::{self, Touched},
    word::Word,
    wrapper,
};
use crate::{
    decision::{Decision, Reason},
    path::{self, Access},
};

/// A path that stands in the way.
pub(super) struct Question<'c> {
    command: &'c Command,
    access: Access,
    reason: Reason,
    /// What is shown as the path.
    blocked: String,
    /// Whose directory is suggested.
    path: String,
    /// What would help, in the order it is suggested; nothing if nothing would.
    helps: Option<&'static [Help]>,
}

/// What may be suggested.
#[derive(Clone, Copy)]
enum Help {
    /// A rule for the line.
    Rule,
    /// The directory.
    Directory,
    /// The mode in which files are edited without questions.
    Mode,
}

impl<'c> Question<'c> {
    pub(super) fn read_outside(command: &'c Command, path: &str, target: Option<String>) -> Self {
        let path = target.unwrap_or_else(|| path.to_owned());
        Self {
            command,
            access: Access::Read,
            reason: Reason::Unknown,
            blocked: path.clone(),
            path,
            helps: Some(&[Help::Rule, Help::Directory]),
        }
    }

    /// Where `..` leads depends on what is a link.
    pub(super) fn read_detour(command: &'c Command) -> Self {
        Self {
            reason: Reason::Other(DETOUR.to_owned()),
            helps: None,
            ..Self::read_outside(command, "", None)
        }
    }

    /// The file of a redirection is any that matches a glob.
    pub(super) fn unknown_file(command: &'c Command) -> Self {
        Self {
            reason: Reason::Other("which file this reads shows when it runs".to_owned()),
            helps: None,
            ..Self::read_outside(command, "", None)
        }
    }

    pub(super) fn write(command: &'c Command, touched: &Touched, path: &str) -> Self {
        Self {
            command,
            access: Access::Write,
            reason: Reason::Unknown,
            blocked: path.to_owned(),
            path: path.to_owned(),
            helps: Some(if touched.is_redirect {
                &[Help::Rule, Help::Directory]
            } else {
                &[Help::Rule, Help::Directory, Help::Mode]
            }),
        }
    }

    /// A file in a working directory.
    pub(super) fn write_inside(command: &'c Command, touched: &Touched, path: &str) -> Self {
        let question = Self::write(command, touched, path);
        if is_flagged_copy(command) {
            return Self {
                helps: Some(&[Help::Rule, Help::Mode]),
                ..question
            };
        }
        question
    }

    pub(super) fn protected(command: &'c Command, touched: &Touched, path: &str) -> Self {
        Self {
            reason: Reason::Safety(format!("{path} is a sensitive file")),
            helps: Some(without_rule(touched)),
            ..Self::write(command, touched, path)
        }
    }

    pub(super) fn through_link(
        command: &'c Command,
        touched: &Touched,
        path: &str,
        target: String,
    ) -> Self {
        let words =
            format!("{path} leads through a link to {target}, outside of the working directories");
        Self {
            reason: Reason::Safety(words),
            blocked: target.clone(),
            path: target,
            helps: Some(without_rule(touched)),
            ..Self::write(command, touched, path)
        }
    }

    pub(super) fn detour(command: &'c Command, touched: &Touched, current: &str) -> Self {
        Self {
            reason: Reason::Other(DETOUR.to_owned()),
            blocked: touched.word.known().to_owned(),
            ..Self::write(command, touched, &format!("{current}/x"))
        }
    }

    pub(super) fn reason(&self) -> Reason {
        self.reason.clone()
    }

    /// Why, for a person.
    pub(super) fn in_words(self) -> Reason {
        match (self.reason, self.access) {
            (Reason::Unknown, Access::Read) => Reason::Other(format!("it reads {}", self.blocked)),
            (Reason::Unknown, Access::Write) => {
                Reason::Other(format!("it writes {}", self.blocked))
            }
            (reason, _) => reason,
        }
    }

    pub(super) fn decision(self, case: &Case<'_>) -> Decision {
        let Some(helps) = self.helps else {
            return Decision::ask(self.reason);
        };
        let directory = directory_of(case, &self.path);
        // Nobody is to open all of the machine by a keystroke.
        let helps = if directory == "/" && self.access == Access::Read {
            &[]
        } else {
            helps
        };
        let updates = helps.iter().filter_map(|help| match (help, self.access) {
            (Help::Rule, _) => suggest::for_line(case.line),
            (Help::Directory, Access::Read) => Some(suggest::read_directory(&directory)),
            (Help::Directory, Access::Write) => Some(suggest::add_directory(&directory)),
            (Help::Mode, _) => {
                (case.policy.mode != PermissionMode::AcceptEdits).then(suggest::accept_edits)
            }
        });
        let updates = updates.collect();
        if self.command.in_pipe {
            return Decision::ask(Reason::Parts).suggest(updates);
        }
        let decision = Decision::ask(self.reason).blocked_by(self.blocked);
        if case.script.in_background && self.access == Access::Read {
            return decision;
        }
        decision.suggest(updates)
    }
}

fn without_rule(touched: &Touched) -> &'static [Help] {
    if touched.is_redirect {
        &[Help::Directory]
    } else {
        &[Help::Directory, Help::Mode]
    }
}

const DETOUR: &str = "`..` behind a directory may follow a link out of the working directory";

/// A directory itself, or else the one a path is in.
fn directory_of(case: &Case<'_>, path: &str) -> String {
    if case.facts.directories.contains(path) {
        return path.to_owned();
    }
    path::parent(path).to_owned()
}

/// A question about a line that cannot be understood well enough.
pub(super) fn unclear(case: &Case<'_>) -> Option<Decision> {
    let script = case.script;
    let other =
        |words: &str| Some(Decision::ask(Reason::Other(words.to_owned())).suggest(Vec::new()));
    if script.is_broken {
        return other("it is no command line that the parser understands");
    }
    if let Some(opaque) = script.opaque.first() {
        let decision = Decision::ask(Reason::Other(opaque.words().to_owned()));
        return Some(match opaque {
            Opaque::Subshell => decision,
            _ => decision.suggest(Vec::new()),
        });
    }
    for command in &script.commands {
        let readings = wrapper::readings(command);
        if let Some(words) = readings.into_iter().find_map(unclear_command) {
            return other(&words);
        }
    }
    let changes_directory = script.commands.len() > 1
        && script
            .commands
            .iter()
            .any(|command| name_of(command) == "cd");
    if changes_directory {
        if script
            .commands
            .iter()
            .any(|command| name_of(command) == "git")
        {
            return Some(Decision::ask(Reason::Other(
                "git behind a change of directory may start what lies there".to_owned(),
            )));
        }
        if let Some((_, touched, _)) = case.writes().next() {
            return Some(moved_write(case, touched));
        }
        let moves = script
            .commands
            .iter()
            .filter(|command| name_of(command) == "cd");
        if moves.count() > 1 {
            return Some(Decision::ask(Reason::Other(
                "more than one change of directory".to_owned(),
            )));
        }
    }
    None
}

/// Something is written behind a change of directory.
fn moved_write(case: &Case<'_>, touched: &Touched) -> Decision {
    let decision = Decision::ask(Reason::Other(
        "a change of directory before something is written".to_owned(),
    ));
    if touched.is_redirect {
        return decision;
    }
    if case.policy.mode == PermissionMode::AcceptEdits {
        return decision.suggest(Vec::new());
    }
    let rule = suggest::for_line(case.line);
    decision.suggest(rule.into_iter().chain([suggest::accept_edits()]).collect())
}

/// `cp` or `mv` with a flag.
pub(super) fn is_flagged_copy(command: &Command) -> bool {
    let has_flag = command
        .words
        .iter()
        .skip(1)
        .any(|word| word.is_flag() && word.known() != "--");
    has_flag && matches!(name_of(command), "cp" | "mv")
}

/// A question about a form of a file command that is asked about even where files are edited without questions.
pub(super) fn unaccepted(case: &Case<'_>) -> Option<Decision> {
    if case.policy.mode != PermissionMode::AcceptEdits {
        return None;
    }
    case.script.commands.iter().find_map(unaccepted_form)
}

fn unaccepted_form(command: &Command) -> Option<Decision> {
    let is_odd = |word: &Word| word.known().is_empty() || word.known().contains('%');
    match name_of(command) {
        name if touch::is_file_command(name) && command.words.iter().any(is_odd) => Some(
            Decision::ask(Reason::Other(
                "a file without a name, or with a variable of another system".to_owned(),
            ))
            .suggest(Vec::new()),
        ),
        "mv" if command.words.iter().any(|word| word.known() == "--") => Some(
            Decision::ask(Reason::Other("a move with flags needs approval".to_owned()))
                .suggest(Vec::new()),
        ),
        "cp" | "mv" if is_flagged_copy(command) => Some(
            Decision::ask(Reason::Other(
                "a copy or a move with flags needs approval".to_owned(),
            ))
            .suggest(Vec::new()),
        ),
        "sed"
            if command.words.iter().any(|word| {
                word.known().starts_with("-i") || word.known().starts_with("--in-place")
            }) =>
        {
            Some(Decision::ask(Reason::Other(
                "sed in place needs approval".to_owned(),
            )))
        }
        _ => None,
    }
}

fn unclear_command(words: &[Word]) -> Option<String> {
    // Wherever it stands in a word.
    let shows_secrets = |word: &Word| {
        let behind = word.known().split_once("/proc/");
        behind.is_some_and(|(_, behind)| behind.contains("/environ"))
    };
    if words.iter().any(shows_secrets) {
        return Some("the environment of a process may hold secrets".to_owned());
    }
    let name = words.first()?.known();
    let second = words.get(1).map_or("", Word::known);
    match name {
        "eval" | "exec" | "source" | "." | "trap" | "alias" | "hash" | "coproc" | "let" => {
            return Some(format!("`{name}` evaluates its arguments as shell code"));
        }
        "ionice" | "setsid" | "chrt" | "watch" | "taskset" | "unshare" | "strace" | "flock" => {
            return Some(format!(
                "what `{name}` starts cannot be checked before it runs"
            ));
        }
        "timeout" if !second.starts_with('-') && !wrapper::is_duration(second) => {
            return Some(format!(
                "the time `{second}` cannot be checked before it runs"
            ));
        }
        "time" if second.starts_with('-') => return Some("`time` with a flag".to_owned()),
        "nice" if second.starts_with('-') && second != "-n" => {
            return Some("`nice` with a bundled flag".to_owned());
        }
        "cd" if words.len() > 2 => {
            return Some("cd with more than one directory".to_owned());
        }
        "find" => {
            let action = words
                .iter()
                .find(|word| hidden::is_find_action(word.known()));
            return action.map(|action| {
                format!(
                    "`{}` of {name} starts commands or changes files",
                    action.raw
                )
            });
        }
        "jq" => {
            let flags = ["-f", "--from-file", "-L", "--rawfile", "--slurpfile"];
            let is_bad = |text: &str| {
                flags
                    .iter()
                    .any(|flag| text == *flag || text.starts_with(&format!("{flag}=")))
            };
            return words
                .iter()
                .any(|word| is_bad(word.known()))
                .then(|| "jq with a flag that reads other files".to_owned());
        }
        _ => {}
    }
    None
}

/// A change of files inside of the working directories, in a form that is surely understood.
pub(super) fn is_accepted_edit(command: &Command) -> bool {
    let Some((name, arguments)) = command.words.split_first() else {
        return false;
    };
    let is_form = match name.known() {
        "touch" => !arguments.iter().any(Word::is_flag),
        "sed" => is_substitution(arguments),
        name => touch::is_file_command(name),
    };
    is_form
        && name.raw == name.known()
        && command.assignments.is_empty()
        && !command.words.iter().any(|word| word.has_glob)
}

/// `sed 's/a/b/g' file`, and no other flag than for the kind of expression.
fn is_substitution(arguments: &[Word]) -> bool {
    let mut rest = arguments;
    while let [flag, behind @ ..] = rest
        && matches!(flag.known(), "-E" | "-r" | "-i")
    {
        rest = behind;
    }
    let Some((script, files)) = rest.split_first() else {
        return false;
    };
    let parts: Vec<&str> = script.known().split('/').collect();
    let ["s", _, _, flags] = parts[..] else {
        return false;
    };
    // `e` runs what comes out, `w` writes it to another file.
    let is_plain = flags
        .chars()
        .all(|flag| matches!(flag, 'g' | 'i' | 'I' | 'p' | '0'..='9'));
    is_plain && !files.iter().any(Word::is_flag)
}
