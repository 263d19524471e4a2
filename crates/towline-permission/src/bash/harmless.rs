//! Which commands only read.
//!
//! A table, not a guess: a program that is not in it, or a flag that is not, needs approval.

use super::{hidden::is_find_action, word::Word};

/// Whether a command does nothing but read. Which files, and whether those may be read, is another question.
pub(crate) fn only_reads(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let Some(name) = name.value.as_deref() else {
        return false;
    };
    let arguments: Vec<&str> = arguments.iter().map(Word::known).collect();
    if FREE.contains(&name) {
        return true;
    }
    match name {
        "cd" => arguments.len() <= 1,
        "pwd" | "whoami" | "groups" | "hostname" | "locale" | "nproc" | "arch" | "uptime"
        | "cal" | "help" => arguments.iter().all(|word| word.starts_with('-')),
        "date" => arguments.iter().all(|word| {
            word.starts_with('+')
                || (word.starts_with('-') && !word.starts_with("-s") && !word.starts_with("--set"))
        }),
        "uniq" => arguments.iter().all(|word| word.starts_with('-')),
        "sort" => all_flags(
            &arguments,
            "bdfghiMnRrVcCmsuz",
            &["-k", "-t", "-S"],
            &["--reverse", "--unique", "--numeric-sort"],
        ),
        "tree" => !arguments
            .iter()
            .any(|word| word.starts_with("-o") || word.starts_with("--output")),
        "man" => arguments.len() == 1 && !arguments[0].starts_with('-'),
        "ps" => {
            arguments
                .iter()
                .all(|word| word.starts_with('-') && !word.contains(['e', 'E']) || is_number(word))
                || arguments == ["-ef"]
                || arguments == ["aux"]
                || arguments == ["-e"]
        }
        "pgrep" | "ss" | "tput" | "lsof" | "netstat" => !arguments.iter().any(|word| {
            word.starts_with("-K")
                || word.starts_with("--kill")
                || word.starts_with("-D")
                || *word == "-F"
        }),
        "ip" => {
            matches!(
                arguments.first().copied(),
                Some("addr" | "a" | "address" | "link" | "route" | "r")
            ) && arguments.len() <= 2
                && !arguments.iter().any(|word| {
                    matches!(
                        *word,
                        "add" | "del" | "set" | "flush" | "change" | "replace"
                    )
                })
        }
        "fd" | "fdfind" => !arguments.iter().any(|word| {
            is_find_action(word) || word.starts_with("--exec") || word.starts_with("-x")
        }),
        "find" => !arguments.iter().any(|word| is_find_action(word)),
        "rg" => !arguments.iter().any(|word| {
            word.starts_with("--pre")
                || *word == "-z"
                || *word == "--search-zip"
                || word.starts_with("--hostname-bin")
        }),
        "sed" => prints_only(&arguments),
        "jq" => {
            !arguments.iter().any(|word| {
                matches!(
                    *word,
                    "-f" | "--from-file"
                        | "-L"
                        | "--rawfile"
                        | "--slurpfile"
                        | "--args"
                        | "--jsonargs"
                ) || word.starts_with("--from-file")
                    || word.starts_with("-L")
            }) && !arguments.iter().any(|word| {
                contains_word(word, "env")
                    || contains_word(word, "ENV")
                    || word.contains("input_filename")
                    || word.contains("include")
                    || word.contains("import")
            })
        }
        "git" => git(&arguments),
        "docker" => matches!(
            arguments.first().copied(),
            Some("ps" | "images" | "logs" | "inspect")
        ),
        "node" | "python" | "python3" => {
            matches!(arguments[..], ["--version" | "-v" | "-V"])
                && !(name == "node" && arguments == ["-V"])
        }
        "history" => arguments.is_empty() || is_number(arguments[0]),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn contains_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

/// Whether all flags are known: bundled letters, flags with a value behind them, long ones.
fn all_flags(arguments: &[&str], letters: &str, with_value: &[&str], long: &[&str]) -> bool {
    arguments
        .iter()
        .filter(|word| word.len() > 1 && word.starts_with('-'))
        .all(|word| {
            with_value.contains(word)
                || long.contains(word)
                || !word.starts_with("--")
                    && word[1..].chars().all(|letter| letters.contains(letter))
        })
}

/// `sed -n` with nothing but `p`.
fn prints_only(arguments: &[&str]) -> bool {
    let mut scripts = 0;
    let mut quiet = false;
    for argument in arguments {
        match *argument {
            "-n" | "--quiet" | "--silent" => quiet = true,
            "-E" | "-r" => {}
            flag if flag.starts_with('-') => return false,
            script if scripts == 0 => {
                scripts += 1;
                let is_print = |part: &str| {
                    part.trim().strip_suffix('p').is_some_and(|lines| {
                        lines
                            .split(',')
                            .all(|line| is_number(line) || line == "$" || line.is_empty())
                    })
                };
                if !script.split(';').all(is_print) {
                    return false;
                }
            }
            _ => {}
        }
    }
    quiet && scripts == 1
}

/// What of git only reads. A flag before the subcommand changes what git is.
fn git(arguments: &[&str]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else {
        return false;
    };
    // A file that is written, or a program that is started.
    let is_bad = |word: &&str| {
        [
            "--output",
            "--ext-diff",
            "--textconv",
            "--exec",
            "-O",
            "--open-files-in-pager",
            "--upload-pack",
            "--receive-pack",
            "--no-index",
        ]
        .iter()
        .any(|flag| word.starts_with(flag))
    };
    if rest.iter().any(is_bad) {
        return false;
    }
    let only_flags = || rest.iter().all(|word| word.starts_with('-'));
    match *subcommand {
        "status" | "log" | "diff" | "show" | "blame" | "ls-files" | "rev-parse" | "rev-list"
        | "describe" | "shortlog" | "grep" | "for-each-ref" | "cat-file" | "merge-base" => true,
        "reflog" => rest.is_empty() || rest[0] == "show" || rest[0].starts_with('-'),
        "branch" => {
            only_flags()
                && !rest.iter().any(|word| {
                    matches!(*word, "-d" | "-D" | "-m" | "-M" | "-c" | "-C" | "-f" | "-u")
                        || word.starts_with("--delete")
                        || word.starts_with("--move")
                        || word.starts_with("--copy")
                        || word.starts_with("--edit")
                        || word.starts_with("--set")
                        || word.starts_with("--unset")
                        || word.starts_with("--force")
                })
        }
        "tag" => rest.is_empty() || matches!(rest[0], "-l" | "--list" | "-n"),
        "remote" => {
            rest.is_empty()
                || rest == ["-v"]
                || rest == ["--verbose"]
                || rest.len() == 2 && rest[0] == "get-url"
        }
        "stash" => matches!(rest.first().copied(), Some("list" | "show")),
        "worktree" => rest == ["list"],
        "config" => rest.len() == 2 && rest[0] == "--get",
        _ => false,
    }
}

/// Programs that only read whatever is behind them.
const FREE: &[&str] = &[
    "[",
    "base64",
    "basename",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "free",
    "grep",
    "head",
    "hexdump",
    "id",
    "ls",
    "md5sum",
    "nl",
    "od",
    "paste",
    "printf",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "tsort",
    "type",
    "uname",
    "unexpand",
    "wc",
    "which",
];
