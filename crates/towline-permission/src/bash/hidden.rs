//! Commands that may do what no rule can see: code in an argument, in a here-document, in a file list.
//!
//! A rule that forbids something is not worth much if `eval` walks around it. Where there is such a rule, these are asked
//! about.

use super::{
    shell::{Command, Script},
    word::Word,
    wrapper::{self, base_name},
};

/// Whether a part of a script can start a command that cannot be seen in it.
pub(crate) fn hides_commands(script: &Script) -> bool {
    is_misread(script)
        || script.commands.iter().any(|command| {
            wrapper::readings(command)
                .into_iter()
                .any(|words| starts_unseen(command, words))
        })
}

/// Whether a script is not read as the shell reads it, or not to its end: a rule may be about what was not seen.
pub(crate) fn is_misread(script: &Script) -> bool {
    script.is_broken
        || script.commands.iter().any(|command| {
            let readings = wrapper::readings(command);
            // There may be more than were looked at.
            readings.len() >= wrapper::MOST_READINGS || readings.into_iter().any(is_split_later)
        })
}

/// `env -S`, which reads a command from a text.
fn is_split_later(words: &[Word]) -> bool {
    let (name, arguments) = words.split_first().unzip();
    name.is_some_and(|name| base_name(name.known()) == "env")
        && arguments
            .unwrap_or_default()
            .iter()
            .any(|word| splits_its_text(word.known()))
}

fn starts_unseen(command: &Command, words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    if name.value.is_none() || name.has_glob || name.known().is_empty() {
        // What its name is shows when it runs.
        return true;
    }
    let name = base_name(name.known());
    match name {
        "eval" | "coproc" | "busybox" | "toybox" | "parallel" | "chroot" | "trap" | "alias"
        | "ssh" | "su" | "script" | "expect" => !arguments.is_empty(),
        "source" | "." => true,
        "find" | "fd" | "fdfind" => arguments.iter().any(|word| is_find_action(word.known())),
        _ if is_shell(name) => runs_code(command, arguments, &["-c"]),
        _ if is_interpreter(name) => runs_code(
            command,
            arguments,
            &["-c", "-e", "-E", "-r", "-p", "--eval", "--print", "eval"],
        ),
        "awk" | "gawk" | "mawk" | "nawk" => true,
        _ => false,
    }
}

/// Whether a flag of `env` has it read a command from a text: `-S`, or a long form that is not spelled out.
fn splits_its_text(flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(long) => long.starts_with('s'),
        None => flag.starts_with('-') && flag.contains('S'),
    }
}

/// Whether the code is on the line, or comes in by the input.
fn runs_code(command: &Command, arguments: &[Word], flags: &[&str]) -> bool {
    let is_code = |word: &Word| {
        let text = word.known();
        let bundled = text.len() > 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.ends_with('c');
        flags
            .iter()
            .any(|flag| text == *flag || flag.len() == 2 && text.starts_with(flag))
            || bundled
    };
    let has_file = arguments
        .iter()
        .any(|word| !word.is_flag() && !word.raw.is_empty());
    arguments.iter().any(is_code)
        || !has_file
            && (command.has_here_document || command.in_pipe || !command.redirects.is_empty())
}

/// The script of `bash -c 'script'`, if that is what a command is and it can be known.
pub(crate) fn inner_script<'c>(words: &[&'c Word]) -> Option<&'c str> {
    let (name, arguments) = words.split_first()?;
    if !is_shell(base_name(name.known())) {
        return None;
    }
    let flag = arguments.iter().position(|word| {
        word.is_flag() && !word.known().starts_with("--") && word.known().ends_with('c')
    })?;
    arguments.get(flag + 1)?.value.as_deref()
}

pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "ash"
    )
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        name,
        "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "ruby"
            | "perl"
            | "php"
            | "lua"
            | "luajit"
            | "tclsh"
            | "Rscript"
            | "osascript"
            | "pwsh"
            | "guile"
    )
}

/// What makes `find` do more than find.
pub(crate) fn is_find_action(argument: &str) -> bool {
    matches!(
        argument,
        "-exec"
            | "-execdir"
            | "-ok"
            | "-okdir"
            | "-delete"
            | "-fprint"
            | "-fprint0"
            | "-fprintf"
            | "-fls"
            | "-x"
            | "-X"
            | "--exec"
            | "--exec-batch"
    )
}
