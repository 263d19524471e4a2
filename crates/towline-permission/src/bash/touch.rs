//! Which paths a command touches, and how.

use super::{
    harmless,
    shell::Command,
    word::Word,
    wrapper::{self, base_name},
};
use crate::path::Access;

/// A path that a command touches.
#[derive(Clone, Debug)]
pub(crate) struct Touched {
    /// How.
    pub(crate) access: Access,
    /// As it stands in the command; nothing is known of what it will be if it has no value.
    pub(crate) word: Word,
    /// Whether it is a redirection.
    pub(crate) is_redirect: bool,
}

/// Programs that change files and that editing without questions covers.
pub(crate) fn is_file_command(name: &str) -> bool {
    matches!(
        name,
        "mkdir" | "touch" | "rm" | "rmdir" | "mv" | "cp" | "sed"
    )
}

/// The paths of a command whose name is known, redirections included.
pub(crate) fn touched(command: &Command) -> Vec<Touched> {
    let redirects = command.redirects.iter().map(|redirect| Touched {
        access: if redirect.writes {
            Access::Write
        } else {
            Access::Read
        },
        word: redirect.target.clone(),
        is_redirect: true,
    });
    let words = wrapper::plain(command).unwrap_or(&command.words);
    redirects.chain(touched_by(words)).collect()
}

/// The paths that the words of a command name.
pub(crate) fn touched_by(words: &[Word]) -> Vec<Touched> {
    let Some((name, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let name = base_name(name.known());
    // `--from-file=/x`, `-f/x`: a file all the same.
    let in_flags = arguments
        .iter()
        .filter(|word| word.is_flag())
        .filter_map(path_in_flag);
    let in_flags: Vec<Word> = in_flags.collect();
    let (mut read, mut written) = match name {
        "cp" | "mv" => (Vec::new(), in_flags),
        "echo" | "printf" | "sed" => (Vec::new(), Vec::new()),
        _ if harmless::only_reads(words) => (in_flags, Vec::new()),
        _ => (Vec::new(), Vec::new()),
    };
    let plain = operands(arguments);
    match name {
        "touch" | "mkdir" | "rm" | "rmdir" | "tee" => written.extend(plain),
        "mv" | "cp" => {
            let has_target = arguments
                .iter()
                .any(|word| begins(word, &["-t", "--target"]));
            let sources = plain.len().saturating_sub(usize::from(!has_target));
            read.extend_from_slice(&plain[..sources]);
            written.extend(plain);
        }
        "sed" => {
            // Behind a long flag CLI 2.1.325 takes the first word for a file too.
            let is_long = |word: &Word| word.known().starts_with("--");
            let has_script = arguments
                .iter()
                .any(|word| begins(word, SCRIPT_FLAGS) || is_long(word));
            let files = plain.get(usize::from(!has_script)..).unwrap_or_default();
            read.extend_from_slice(files);
            let in_place = arguments
                .iter()
                .any(|word| begins(word, &["-i", "--in-place"]));
            if in_place || !harmless::only_reads(words) {
                written.extend_from_slice(files);
            }
        }
        _ => read.extend(read_by(words, name, &plain)),
    }
    let touched = |access: Access| {
        move |word| Touched {
            access,
            word,
            is_redirect: false,
        }
    };
    let read = read.into_iter().map(touched(Access::Read));
    read.chain(written.into_iter().map(touched(Access::Write)))
        .collect()
}

/// The files that a program reads, of what it is given.
fn read_by(words: &[Word], name: &str, plain: &[Word]) -> Vec<Word> {
    let arguments = &words[1..];
    match name {
        _ if READERS.contains(&name) => plain.to_vec(),
        "cd" if plain.is_empty() => vec![Word::literal("~")],
        "cd" => plain.to_vec(),
        "git" => {
            let subcommand = plain.first().map_or("", Word::known);
            let is_search = subcommand == "grep";
            let files = plain.get(1 + usize::from(is_search)..).unwrap_or_default();
            let is_path =
                |word: &&Word| is_search || subcommand == "diff" && word.known().contains('/');
            files.iter().filter(is_path).cloned().collect()
        }
        "grep" | "egrep" | "fgrep" | "rg" | "jq" | "awk" => {
            let has_pattern = arguments.iter().any(|word| begins(word, SCRIPT_FLAGS));
            plain
                .get(usize::from(!has_pattern)..)
                .unwrap_or_default()
                .to_vec()
        }
        "find" => {
            let is_option =
                |word: &&Word| FIND_OPTIONS.contains(&word.known()) || begins(word, &["-O"]);
            let is_path = |word: &&Word| !word.known().starts_with(['-', '(', '!']);
            let paths = arguments.iter().skip_while(is_option).take_while(is_path);
            let named = arguments
                .windows(2)
                .filter(|pair| FIND_FILES.contains(&pair[0].known()));
            paths.chain(named.map(|pair| &pair[1])).cloned().collect()
        }
        _ if NO_PATHS.contains(&name) => Vec::new(),
        // Of a program that is allowed to run because it only reads, any word may be the file.
        _ if harmless::only_reads(words) => plain.to_vec(),
        _ => Vec::new(),
    }
}

/// Programs that open no file by the words that they are given.
const NO_PATHS: &[&str] = &[
    "[", "arch", "basename", "cal", "date", "dirname", "docker", "echo", "expr", "false", "free",
    "groups", "help", "history", "hostname", "id", "ip", "locale", "man", "netstat", "node",
    "nproc", "pgrep", "printf", "ps", "pwd", "python", "python3", "seq", "sleep", "ss", "test",
    "tput", "tr", "true", "type", "uname", "uptime", "which", "whoami",
];

fn begins(word: &Word, flags: &[&str]) -> bool {
    flags.iter().any(|flag| word.known().starts_with(flag))
}

/// Programs that read whatever they are given.
const READERS: &[&str] = &[
    "base64",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "expand",
    "file",
    "fmt",
    "fold",
    "head",
    "hexdump",
    "ls",
    "man",
    "md5sum",
    "nl",
    "numfmt",
    "od",
    "paste",
    "pr",
    "rev",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "tsort",
    "unexpand",
    "uniq",
    "wc",
];

/// Flags that bring the pattern or the script, so that all operands are files.
const SCRIPT_FLAGS: &[&str] = &["-e", "-f", "--regexp", "--file", "--expression"];

/// What may stand in front of the paths of `find`.
const FIND_OPTIONS: &[&str] = &["-L", "-H", "-P", "-D", "exec", "all", "tree", "stat"];

/// Tests of `find` that name a file.
const FIND_FILES: &[&str] = &[
    "-anewer",
    "-cnewer",
    "-files0-from",
    "-ipath",
    "-newer",
    "-path",
    "-samefile",
    "-wholename",
];

/// The path in the value of a flag: whatever stands behind `=`, or what looks like one directly behind the letter.
fn path_in_flag(flag: &Word) -> Option<Word> {
    let text = flag.known();
    if let Some((_, value)) = text.split_once('=') {
        return Some(Word::literal(value));
    }
    let value = &text[text.find(['/', '~', '.'])?..];
    Some(Word::literal(value))
}

/// What is no flag; everything behind `--`.
fn operands(arguments: &[Word]) -> Vec<Word> {
    let end = arguments.iter().position(|word| word.known() == "--");
    let (before, behind) = arguments.split_at(end.unwrap_or(arguments.len()));
    let before = before.iter().filter(|word| !word.is_flag());
    before.chain(behind.iter().skip(1)).cloned().collect()
}

/// Whether a command walks through directories and follows the links in them.
pub(crate) fn follows_links(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let flags: &[&str] = match base_name(name.known()) {
        "grep" | "egrep" | "fgrep" => &["-R", "--dereference-recursive"],
        "find" => &["-L", "-follow"],
        "fd" | "fdfind" | "rg" => &["-L", "--follow"],
        "tree" => &["-l"],
        "du" => &["-L", "--dereference"],
        "ls" => &["-L", "--dereference"],
        "diff" => &["-r", "--recursive"],
        _ => return false,
    };
    has_flag(arguments, flags)
}

/// Whether one of the flags is there, by itself or among others in one word.
fn has_flag(arguments: &[Word], flags: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let text = word.known();
        flags.iter().any(|flag| {
            text == *flag
                || flag.len() == 2
                    && text.starts_with('-')
                    && !text.starts_with("--")
                    && text[1..].contains(&flag[1..])
                || flag.len() > 2 && text.len() > 4 && flag.starts_with(text)
        })
    })
}

/// Whether a command reads a whole tree of files, or files by another name: what it touches does not show in its words.
pub(crate) fn reads_trees(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let has = |flags: &[&str]| has_flag(arguments, flags);
    match base_name(name.known()) {
        "grep" | "egrep" | "fgrep" | "zgrep" => has(&["-r", "-R", "--recursive"]),
        "rg" | "ag" | "ack" | "tar" | "zip" | "rsync" | "scp" | "7z" | "cpio" => true,
        "cp" => has(&["-r", "-R", "-a", "--recursive", "--archive"]),
        "diff" => has(&["-r", "--recursive"]),
        "git" => arguments.first().is_some_and(|word| word.known() == "grep"),
        _ => false,
    }
}
