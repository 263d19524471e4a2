//! Commands that start other commands: `timeout 9 just build`, `sudo shred it`.
//!
//! There are two ways to look through them. For what is allowed only those count that change nothing, in the forms that
//! are surely understood. For what is forbidden everything counts that might start the rest of the line.

use super::{shell::Command, word::Word};

/// The words of a command without what may stand in front of an allowed one; nothing if something else does.
pub(crate) fn plain(command: &Command) -> Option<&[Word]> {
    let is_safe = |(name, value): &(String, Word)| is_safe_assignment(name, value);
    if !command.assignments.iter().all(is_safe) {
        return None;
    }
    let mut words = &command.words[..];
    while let Some(rest) = unwrapped(words) {
        words = rest;
    }
    Some(words)
}

/// Whether a variable changes nothing but looks.
pub(crate) fn is_safe_variable(name: &str) -> bool {
    SAFE_VARIABLES.contains(&name)
}

/// Whether it changes nothing but looks, with this value: one bare word that leads nowhere else.
pub(crate) fn is_safe_assignment(name: &str, value: &Word) -> bool {
    let text = value.raw.as_str();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
    // `TZ=Europe/Berlin` has a slash.
    let is_path =
        text.contains("..") || text.contains('/') && (name != "TZ" || text.starts_with('/'));
    is_safe_variable(name) && !text.is_empty() && text.chars().all(is_plain) && !is_path
}

/// What a harmless wrapper starts.
fn unwrapped(words: &[Word]) -> Option<&[Word]> {
    let (name, mut rest) = words.split_first()?;
    match name.known() {
        "timeout" => {
            while let Some(flag) = rest.first().filter(|word| word.is_flag()) {
                rest = &rest[1..];
                match flag.known().split('=').next()? {
                    "-k" | "-s" => rest = rest.get(1..)?,
                    "--kill-after" | "--signal" if flag.known().contains('=') => {}
                    "--kill-after" | "--signal" => rest = rest.get(1..)?,
                    "--preserve-status" | "--foreground" | "--verbose" | "-v" => {}
                    _ => return None,
                }
            }
            let duration = rest.first()?;
            is_duration(&duration.raw).then_some(&rest[1..])
        }
        "time" | "nohup" | "builtin" | "noglob" => Some(rest),
        "command" => match rest.first()?.raw.as_str() {
            "-p" => Some(&rest[1..]),
            flag if flag.starts_with('-') => None,
            _ => Some(rest),
        },
        "nice" => match rest.first()?.raw.as_str() {
            "-n" => rest.get(2..),
            flag if flag.starts_with('-') => None,
            _ => Some(rest),
        },
        "stdbuf" => {
            let is_flag = |word: &Word| {
                let letters = word.raw.as_bytes();
                letters.len() > 2 && letters[0] == b'-' && b"ioe".contains(&letters[1])
            };
            while rest.first().is_some_and(is_flag) {
                rest = &rest[1..];
            }
            Some(rest)
        }
        _ => None,
    }
    .filter(|rest| rest.first().is_some_and(|word| !word.is_flag()))
}

pub(crate) fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    !number.is_empty()
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The ways to read a command in which something forbidden may be found: as it is, and what it starts.
pub(crate) fn readings(command: &Command) -> Vec<&[Word]> {
    let mut found: Vec<&[Word]> = Vec::new();
    let mut open = vec![&command.words[..]];
    while let Some(words) = open.pop() {
        if words.is_empty() || found.len() >= MOST_READINGS {
            continue;
        }
        found.push(words);
        let name = base_name(words[0].known());
        if STARTERS.contains(&name) {
            let own = usize::from(STARTERS_WITH_WORD.contains(&name));
            open.extend(starts(&words[1..], own));
        }
    }
    found
}

/// Where the command may begin that a wrapper starts: behind its flags and what may belong to them.
fn starts(words: &[Word], mut own: usize) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut behind_flag = false;
    for (place, word) in words.iter().enumerate() {
        let text = word.known();
        if text.starts_with('-') {
            behind_flag = true;
            continue;
        }
        found.push(&words[place..]);
        // A variable, a duration, a priority, a mask.
        let number = text.trim_start_matches(['+', '.']);
        let is_own = text.contains('=')
            || number.starts_with(|c: char| c.is_ascii_digit())
            || matches!(number, "inf" | "infinity");
        if !behind_flag && !is_own {
            if own == 0 {
                break;
            }
            own -= 1;
        }
        behind_flag = false;
    }
    found
}

/// The name of a program without the way to it.
pub(crate) fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Variables that change nothing but looks.
const SAFE_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "CI",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GCC_COLORS",
    "GO111MODULE",
    "GOARCH",
    "GOEXPERIMENT",
    "GOOS",
    "GREP_COLOR",
    "LINES",
    "LS_COLORS",
    "NODE_ENV",
    "NO_COLOR",
    "PYTEST_DEBUG",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIME_STYLE",
    "TZ",
];

/// Programs that start another one.
const STARTERS: &[&str] = &[
    "at",
    "batch",
    "builtin",
    "bundle",
    "bwrap",
    "caffeinate",
    "capsh",
    "catchsegv",
    "chpst",
    "chrt",
    "command",
    "cpulimit",
    "dbus-run-session",
    "do",
    "doas",
    "elif",
    "else",
    "entr",
    "env",
    "exec",
    "fakeroot",
    "faketime",
    "firejail",
    "flock",
    "gdb",
    "if",
    "ionice",
    "linux32",
    "linux64",
    "ltrace",
    "nice",
    "nocache",
    "noglob",
    "nohup",
    "npx",
    "nsenter",
    "numactl",
    "perf",
    "pipenv",
    "pkexec",
    "poetry",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "rtkit",
    "run0",
    "runcon",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "setuidgid",
    "sg",
    "softlimit",
    "ssh",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-inhibit",
    "systemd-run",
    "taskset",
    "then",
    "time",
    "timeout",
    "torify",
    "torsocks",
    "tsp",
    "unbuffer",
    "unshare",
    "until",
    "uv",
    "valgrind",
    "watch",
    "while",
    "xargs",
    "xvfb-run",
];

/// Those with a word of their own in front of the command: the file that is locked, a subcommand, a user.
const STARTERS_WITH_WORD: &[&str] = &[
    "at",
    "bundle",
    "faketime",
    "flock",
    "perf",
    "pipenv",
    "poetry",
    "runcon",
    "setarch",
    "setuidgid",
    "sg",
    "ssh",
    "taskset",
    "uv",
];

pub(crate) const MOST_READINGS: usize = 64;
