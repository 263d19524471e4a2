//! Which commands only read.
//!
//! A table, not a guess: a program that is not in it, or a flag that is not, needs approval. What the table says was asked
//! of CLI 2.1.325, flag by flag.

mod flags;
mod programs;

use super::{
    hidden::is_find_action,
    word::{Word, may_evaluate},
};
use programs::{PROGRAMS, Program, Words};

/// Whether a command does nothing but read. Which files, and whether those may be read, is another question.
pub(crate) fn only_reads(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    match name.value.as_deref() {
        Some(name @ ("git" | "docker")) => {
            let Some((subcommand, rest)) = arguments.split_first() else {
                return false;
            };
            let name = format!("{name} {}", subcommand.known());
            is_harmless(&name, rest)
        }
        Some(name) => is_harmless(name, arguments),
        None => false,
    }
}

fn is_harmless(name: &str, arguments: &[Word]) -> bool {
    let texts: Vec<&str> = arguments.iter().map(Word::known).collect();
    let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
        return is_exact(name, &texts);
    };
    let operands = match program.flags {
        Some(list) => flags::operands(list, arguments),
        None => Some(texts.clone()),
    };
    let Some(operands) = operands else {
        return false;
    };
    are_fit(program, arguments) && is_harmless_with(name, &texts, &operands)
}

/// Whether the words are of a form that the program takes without a question.
fn are_fit(program: &Program, arguments: &[Word]) -> bool {
    // Where flags are known one by one, nothing may become another one.
    let is_checked = program.flags.is_some() || program.name.starts_with("docker");
    arguments.iter().all(|word| {
        let may_change = is_checked && word.raw.contains('$');
        let has_dollar = word.known().contains('$') || may_change;
        match program.words {
            Words::Any => true,
            Words::Globs => !has_dollar,
            Words::Dollars => !word.has_glob && !may_change,
            Words::Plain => !word.has_glob && !has_dollar,
        }
    })
}

/// Further conditions of some programs.
fn is_harmless_with(name: &str, texts: &[&str], operands: &[&str]) -> bool {
    match name {
        "date" => operands.iter().all(|format| format.starts_with('+')),
        "docker ps" | "docker images" | "docker logs" | "docker inspect" => {
            !texts.iter().any(|word| word.starts_with('~'))
        }
        "find" => !texts.iter().any(|word| is_find_action(word)),
        "git branch" => operands.is_empty() || lists(texts, GIT_BRANCH_LISTS),
        "git reflog" => operands.is_empty() || texts.first() == Some(&"show"),
        "git remote" | "ss" | "uniq" => operands.is_empty(),
        // Words with a plus are flags.
        "lsof" => !texts.iter().any(|word| word.starts_with('+')),
        "stat" => !texts
            .iter()
            .any(|word| is_flag_with(word, 'H') || is_flag_with(word, 'A')),
        "grep" | "egrep" | "fgrep" => !texts.iter().any(|word| word.starts_with("--exclude-from")),
        "base64" => !operands.iter().any(|word| word.starts_with('-')),
        "git tag" => operands.is_empty() || lists(texts, GIT_TAG_LISTS),
        "help" => {
            operands.len() <= 1
                && operands
                    .iter()
                    .all(|word| word.chars().all(char::is_alphanumeric))
        }
        "git diff" => !texts.iter().any(|word| word.starts_with('~')),
        "jq" => {
            !operands.is_empty()
                && !texts.contains(&"-")
                && !texts.contains(&"--")
                // Flags stand in front of the filter.
                && texts.iter().rposition(|word| word.starts_with('-'))
                    < texts.iter().position(|word| *word == operands[0])
                && !texts.iter().any(|word| reaches_out_of_jq(word))
        }
        "man" => {
            operands.len() == 1 && !operands[0].contains('/') && texts.last() == Some(&operands[0])
        }
        "printf" | "which" => !texts.contains(&"-"),
        _ => true,
    }
}

/// Whether a flag in front of all other words makes it a list.
fn lists(texts: &[&str], flags: &[&str]) -> bool {
    texts
        .iter()
        .take_while(|word| word.starts_with('-'))
        .any(|word| flags.contains(word))
}

/// Programs that only read in a few exact forms.
fn is_exact(name: &str, texts: &[&str]) -> bool {
    match name {
        "[" | "test" => is_test(texts),
        "cd" => texts.len() <= 1,
        "git config" => texts.len() == 2 && texts[0] == "--get",
        "git worktree" => texts == ["list"],
        "git stash" => {
            texts == ["list"]
                || texts.first() == Some(&"show")
                    && texts[1..].iter().all(|word| !word.starts_with('-'))
        }
        "history" => texts.iter().all(|word| is_number(word)),
        "hostname" => matches!(texts, [] | ["-f" | "-s" | "-d" | "-i" | "-I" | "--fqdn"]),
        "ip" => texts == ["addr"],
        "node" => matches!(texts, ["--version" | "-v"]),
        "ps" => {
            matches!(texts, ["-e" | "-ef"] | ["-p", _])
                || texts.iter().all(|word| is_known_to_ps(word))
        }
        "pwd" | "whoami" | "arch" => texts.is_empty(),
        "python" | "python3" => texts == ["--version"],
        "sed" => prints_only(texts),
        _ => false,
    }
}

/// Whether a word of `ps` is letters that show no environments of processes, which hold secrets.
fn is_known_to_ps(word: &str) -> bool {
    word.bytes()
        .all(|byte| byte.is_ascii_lowercase() && byte != b'e')
}

/// A test without anything that is evaluated, of a form that is known.
fn is_test(texts: &[&str]) -> bool {
    const OPERATORS: &str = "bcdefghkprstuwxzGLNOSn";
    let is_unary = |word: &str| {
        let letter = word.strip_prefix('-').unwrap_or_default();
        letter.len() == 1 && OPERATORS.contains(letter)
    };
    let is_binary = |word: &str| matches!(word, "=" | "==" | "!=" | "-nt" | "-ot" | "-ef");
    let is_form = match texts.strip_prefix(&["!"]).unwrap_or(texts) {
        [] => true,
        [word] => !word.starts_with('-'),
        [operator, word] => is_unary(operator) && !word.starts_with('-'),
        [one, operator, other] => {
            is_binary(operator) && ![one, other].iter().any(|word| word.starts_with('-'))
        }
        _ => false,
    };
    is_form && !may_evaluate(&texts.join(" "))
}

fn is_flag_with(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words of jq that read other files, or the environment.
fn reaches_out_of_jq(argument: &str) -> bool {
    let words = ["env", "ENV", "include", "import"];
    argument
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| words.contains(&word))
}

/// `sed -n` with nothing but `p`.
fn prints_only(arguments: &[&str]) -> bool {
    let mut script = None;
    let mut is_quiet = false;
    for argument in arguments {
        match *argument {
            "-n" | "--quiet" | "--silent" => is_quiet = true,
            "-E" | "-r" => {}
            flag if flag.starts_with('-') => return false,
            word => {
                script.get_or_insert(word);
            }
        }
    }

    let is_print = |part: &str| {
        let lines = part.trim().strip_suffix('p');
        lines.is_some_and(|lines| lines.is_empty() || lines.split(',').all(is_number))
    };
    is_quiet && script.is_some_and(|script| script.split(';').all(is_print))
}

/// Flags that make `git branch` list branches, with any other word.
const GIT_BRANCH_LISTS: &[&str] = &[
    "-l",
    "--list",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
];

/// The same for `git tag`.
const GIT_TAG_LISTS: &[&str] = &[
    "-l",
    "--list",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--sort",
];
