//! Which paths a command touches, and how.

use super::{
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
    let mut found = Vec::new();
    let Some((name, arguments)) = words.split_first() else {
        return found;
    };
    let mut add = |access: Access, words: &[&Word]| {
        found.extend(words.iter().map(|word| Touched {
            access,
            word: (*word).clone(),
            is_redirect: false,
        }));
    };
    let plain = operands(arguments);
    // `--from-file=/x`, `-f/x`: a file all the same.
    let in_flags: Vec<Word> = arguments
        .iter()
        .filter(|word| word.is_flag())
        .filter_map(path_in_flag)
        .collect();
    let in_flags: Vec<&Word> = in_flags.iter().collect();
    match base_name(name.known()) {
        "cp" | "mv" => add(Access::Write, &in_flags),
        "echo" | "printf" | "sed" => {}
        _ if super::harmless::only_reads(words) => add(Access::Read, &in_flags),
        _ => {}
    }
    match base_name(name.known()) {
        "cat" | "head" | "tail" | "numfmt" | "pr" | "tsort" | "man" | "wc" | "stat" | "file"
        | "strings" | "hexdump" | "od" | "nl" | "md5sum" | "sha1sum" | "sha256sum" | "cut"
        | "paste" | "column" | "fold" | "fmt" | "expand" | "unexpand" | "tac" | "rev" | "sort"
        | "uniq" | "diff" | "cmp" | "comm" | "ls" | "base64" => {
            add(Access::Read, &plain);
        }
        "cd" if plain.is_empty() => add(Access::Read, &[&Word::literal("~")]),
        "cd" => add(Access::Read, &plain),
        "git" => {
            let is_search = plain.first().is_some_and(|word| word.known() == "grep");
            let reads = is_search || plain.first().is_some_and(|word| word.known() == "diff");
            let files = plain.get(1 + usize::from(is_search)..).unwrap_or_default();
            let is_path = |word: &&&Word| is_search || word.raw.contains('/');
            let paths: Vec<&Word> = files.iter().filter(is_path).copied().collect();
            add(Access::Read, if reads { &paths } else { &[] });
        }
        "grep" | "egrep" | "fgrep" | "rg" | "jq" | "awk" => {
            let has_pattern = arguments.iter().any(|word| {
                word.known().starts_with("-e")
                    || word.known().starts_with("-f")
                    || word.known().starts_with("--regexp")
                    || word.known().starts_with("--file")
                    || word.known().starts_with("--expression")
            });
            add(
                Access::Read,
                plain.get(usize::from(!has_pattern)..).unwrap_or_default(),
            );
        }
        "find" => {
            let is_option = |word: &&Word| {
                let text = word.known();
                matches!(
                    text,
                    "-L" | "-H" | "-P" | "-D" | "exec" | "all" | "tree" | "stat"
                ) || text.starts_with("-O")
            };
            let is_path = |word: &&Word| !word.known().starts_with(['-', '(', '!']);
            let paths: Vec<&Word> = arguments
                .iter()
                .skip_while(is_option)
                .take_while(is_path)
                .collect();
            add(Access::Read, &paths);
            let named = arguments.windows(2).filter(|pair| {
                matches!(
                    pair[0].raw.as_str(),
                    "-path"
                        | "-ipath"
                        | "-wholename"
                        | "-newer"
                        | "-anewer"
                        | "-cnewer"
                        | "-samefile"
                        | "-files0-from"
                )
            });
            add(
                Access::Read,
                &named.map(|pair| &pair[1]).collect::<Vec<_>>(),
            );
        }
        "touch" | "mkdir" | "rm" | "rmdir" | "tee" => add(Access::Write, &plain),
        "mv" | "cp" => {
            let is_target = |word: &Word| {
                word.known().starts_with("-t") || word.known().starts_with("--target")
            };
            let sources = plain
                .len()
                .saturating_sub(usize::from(!arguments.iter().any(is_target)));
            add(Access::Read, &plain[..sources]);
            add(Access::Write, &plain);
        }
        "sed" => {
            let in_place = |word: &Word| {
                word.known().starts_with("-i") || word.known().starts_with("--in-place")
            };
            let has_script = arguments.iter().any(|word| {
                word.known().starts_with("-e")
                    || word.known().starts_with("-f")
                    || word.known().starts_with("--regexp")
                    || word.known().starts_with("--file")
                    || word.known().starts_with("--expression")
            });
            let files = plain.get(usize::from(!has_script)..).unwrap_or_default();
            add(Access::Read, files);
            if arguments.iter().any(in_place) || !super::harmless::only_reads(words) {
                add(Access::Write, files);
            }
        }
        _ => {}
    }
    found
}

/// The path in the value of a flag.
fn path_in_flag(flag: &Word) -> Option<Word> {
    let text = flag.known();
    let value = match text.split_once('=') {
        Some((_, value)) => value,
        None => &text[text.find(['/', '~', '.'])?..],
    };
    value
        .contains(['/', '~', '.'])
        .then(|| Word::literal(value))
}

/// What is no flag; everything behind `--`.
fn operands(arguments: &[Word]) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut only_operands = false;
    for word in arguments {
        if !only_operands && word.known() == "--" {
            only_operands = true;
        } else if only_operands || !word.is_flag() {
            found.push(word);
        }
    }
    found
}

/// Whether a command reads a whole tree of files, or files by another name: what it touches does not show in its words.
pub(crate) fn reads_trees(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let has = |flags: &[&str]| {
        arguments.iter().any(|word| {
            let text = word.known();
            flags.iter().any(|flag| {
                text == *flag
                    || flag.len() == 2
                        && text.starts_with('-')
                        && !text.starts_with("--")
                        && text[1..].contains(&flag[1..])
            })
        })
    };
    match base_name(name.known()) {
        "grep" | "egrep" | "fgrep" | "zgrep" => has(&["-r", "-R", "--recursive"]),
        "rg" | "ag" | "ack" | "tar" | "zip" | "rsync" | "scp" | "7z" | "cpio" => true,
        "cp" => has(&["-r", "-R", "-a", "--recursive", "--archive"]),
        "diff" => has(&["-r", "--recursive"]),
        "git" => arguments.first().is_some_and(|word| word.known() == "grep"),
        _ => false,
    }
}
