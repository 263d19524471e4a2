//! Why ours asks about a line that the real CLI runs: the first class that a line belongs to.

use super::setting::{SETTINGS, Setting};

/// A reason, and whether it is the one for a line under a setting.
struct Class {
    name: &'static str,
    holds: fn(&Setting, &str) -> bool,
}

/// The class of a line that ours is stricter about.
pub(crate) fn class(setting: usize, line: &str) -> &'static str {
    let setting = &SETTINGS[setting];
    let mut classes = CLASSES.iter();
    let class = classes.find(|class| (class.holds)(setting, line));
    class.map_or("no class", |class| class.name)
}

const CLASSES: &[Class] = &[
    Class {
        name: "a rule forbids something, and the line may do it unseen",
        holds: |setting, _| !setting.deny.is_empty(),
    },
    Class {
        name: "a variable that the line sets may be exported, and an index or a loop variable evaluated",
        holds: |_, line| sets_variable(line),
    },
    Class {
        name: "any word of a program that reads may be a file: those outside are asked about",
        holds: |_, line| names_outside(line),
    },
    Class {
        name: "the program reaches another machine",
        holds: |_, line| line.contains("ls-remote"),
    },
    Class {
        name: "sed changes a file in place, by a text that may write other files",
        holds: |_, line| line.contains("sed ") && line.contains("-i"),
    },
    Class {
        name: "the grammar may read the line otherwise than the shell does",
        holds: |_, line| MISREAD.iter().any(|piece| line.contains(piece)),
    },
    Class {
        name: "the table has no form of the program with these words",
        holds: |_, line| line.split_whitespace().any(is_unknown_form),
    },
    Class {
        name: "a plan is not carried out by a command that no rule allows",
        holds: |setting, _| setting.mode == "plan",
    },
];

/// A value for a flag, which may not take one, and a program that says nothing without a word.
fn is_unknown_form(word: &str) -> bool {
    word.starts_with("--") && word.contains('=') || ["man", "xargs", "-v", "ps"].contains(&word)
}

/// Beginnings of what the engine does not trust the grammar with.
const MISREAD: &[&str] = &[
    "\\\n", "\n\\", "! !", "<&-", "<<", "$((", "[ ", "{FOO}", "{HOME}", "{PWD}", "{i}", "{x}",
];

fn sets_variable(line: &str) -> bool {
    let is_name = |text: &str| {
        let name = text.split('[').next().unwrap_or_default();
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let words = line.split([' ', '\n', ';', '(', '{']);
    line.contains("for ")
        || words
            .filter_map(|word| word.split_once('='))
            .any(|(name, _)| is_name(name))
}

fn names_outside(line: &str) -> bool {
    [
        "/srv", "/etc", "/proc", " /", "=/", "~", "..", "link", "cd -",
    ]
    .iter()
    .any(|piece| line.contains(piece))
}
