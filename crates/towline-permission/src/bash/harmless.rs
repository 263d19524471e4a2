//! Which commands only read.
//!
//! A table, not a guess: a program that is not in it, or a flag that is not, needs approval.

use super::{
    hidden::is_find_action,
    word::{Word, may_evaluate},
};

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
    if FLAGS_ONLY.contains(&name) {
        return arguments.iter().all(|word| word.starts_with('-'));
    }
    if let Some((_, bad)) = EXCEPT.iter().find(|(known, _)| *known == name) {
        return !arguments.iter().any(|word| is_one_of(word, bad));
    }
    match name {
        "[" | "test" => !may_evaluate(&arguments.join(" ")),
        "cd" => arguments.len() <= 1,
        "date" => date(&arguments),
        "docker" => matches!(
            arguments.first(),
            Some(&("ps" | "images" | "logs" | "inspect"))
        ),
        "fd" | "fdfind" => !arguments
            .iter()
            .any(|word| is_one_of(word, &["-x", "-X", "--exec"])),
        "find" => !arguments.iter().any(|word| is_find_action(word)),
        "git" => git(&arguments),
        "hostname" => matches!(
            arguments[..],
            [] | ["-f" | "-s" | "-d" | "-i" | "-I" | "--fqdn"]
        ),
        "history" => arguments.iter().all(|word| is_number(word)),
        "ip" => arguments == ["addr"],
        "jq" => !arguments.iter().any(|word| reaches_out_of_jq(word)),
        "man" => !arguments.is_empty() && !arguments.iter().any(|word| word.starts_with('-')),
        "node" => matches!(arguments[..], ["--version" | "-v"]),
        "ps" => matches!(arguments[..], [] | ["-e" | "-ef" | "aux"] | ["-p", _]),
        "pwd" | "whoami" | "arch" => arguments.is_empty(),
        "python" | "python3" => arguments == ["--version"],
        "sed" => prints_only(&arguments),
        "sort" => arguments.iter().all(|word| is_sort_argument(word)),
        _ => false,
    }
}

/// Whether an argument is one of some flags, in a bundle, with its value attached, or cut short.
fn is_one_of(argument: &str, flags: &[&str]) -> bool {
    if argument.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        return name.len() > 2
            && flags
                .iter()
                .any(|flag| flag.starts_with(name) || name.starts_with(flag) && flag.len() > 2);
    }
    let Some(letters) = argument.strip_prefix(['-', '+']) else {
        return false;
    };
    flags
        .iter()
        .filter(|flag| flag.len() == 2)
        .any(|flag| letters.contains(&flag[1..]))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A format, a time to show, or a flag that is known.
fn date(arguments: &[&str]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-u" | "-R" | "-I" => {}
            "-d" | "-r" => {
                rest.next();
            }
            format if format.starts_with('+') => {}
            _ => return false,
        }
    }
    true
}

/// A file, or a flag that is known. `-k` and `-t` only with what belongs to them behind a blank.
fn is_sort_argument(word: &str) -> bool {
    const LETTERS: &str = "bdfghiMnRrVcCmsuz";
    match word.strip_prefix('-') {
        None | Some("" | "k" | "t" | "S" | "-reverse" | "-unique" | "-numeric-sort") => true,
        Some(letters) => letters.chars().all(|letter| LETTERS.contains(letter)),
    }
}

/// Flags and words of jq that read other files, or the environment.
fn reaches_out_of_jq(argument: &str) -> bool {
    let flags = [
        "-f",
        "--from-file",
        "-L",
        "--rawfile",
        "--slurpfile",
        "--args",
        "--jsonargs",
    ];
    let words = ["env", "ENV", "include", "import"];
    is_one_of(argument, &flags)
        || argument
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

/// What of git only reads. A flag before the subcommand changes what git is.
fn git(arguments: &[&str]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else {
        return false;
    };
    let is_bad = |word: &&str| is_one_of(word, GIT_FLAGS);
    if rest.iter().any(is_bad) {
        return false;
    }
    match *subcommand {
        "branch" => match rest {
            ["--contains" | "--merged" | "--no-merged", ..] => rest.len() <= 2,
            _ => rest.iter().all(|word| GIT_BRANCH_FLAGS.contains(word)),
        },
        "config" => rest.len() == 2 && rest[0] == "--get",
        "reflog" => rest
            .first()
            .is_none_or(|first| *first == "show" || first.starts_with('-')),
        "remote" => matches!(rest, [] | ["-v" | "--verbose"]),
        "stash" => matches!(rest.first(), Some(&("list" | "show"))),
        "tag" => matches!(rest, [] | ["-l" | "--list", ..]),
        "worktree" => rest == ["list"],
        subcommand => GIT_READERS.contains(&subcommand),
    }
}

/// Subcommands of git that only read.
const GIT_READERS: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// What makes them write a file, start a program, or look elsewhere.
const GIT_FLAGS: &[&str] = &[
    "--exec",
    "--ext-diff",
    "--filters",
    "--no-index",
    "--open-files-in-pager",
    "--output",
    "--receive-pack",
    "--textconv",
    "--upload-pack",
    "-O",
];

const GIT_BRANCH_FLAGS: &[&str] = &[
    "--all",
    "--list",
    "--no-color",
    "--remotes",
    "--show-current",
    "--verbose",
    "-a",
    "-l",
    "-r",
    "-v",
    "-vv",
];

/// Programs that only read whatever is behind them.
const FREE: &[&str] = &[
    "cal",
    "groups",
    "help",
    "numfmt",
    "pr",
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
    "tr",
    "true",
    "tsort",
    "type",
    "uname",
    "unexpand",
    "wc",
    "which",
];

/// Programs that only read as long as they get nothing but flags.
const FLAGS_ONLY: &[&str] = &["locale", "nproc", "uniq", "uptime"];

/// Programs that only read, but for some flags.
const EXCEPT: &[(&str, &[&str])] = &[
    ("base64", &["-o", "--output"]),
    (
        "file",
        &[
            "-C",
            "--compile",
            "-f",
            "--files-from",
            "-m",
            "--magic-file",
            "-S",
            "-z",
            "-Z",
        ],
    ),
    ("lsof", &["-D", "+D"]),
    ("netstat", &["-F"]),
    ("printf", &["-v"]),
    ("pgrep", &["--signal"]),
    ("rg", &["--pre", "--search-zip", "--hostname-bin", "-z"]),
    ("ss", &["-K", "--kill", "-D", "--diag", "-F", "--filter"]),
    ("tput", &["-S"]),
    ("tree", &["-o", "--output", "-R"]),
];
