//! Where the commands of a line run, and which paths that makes.

use super::{
    shell::{Command, Script},
    touch::{self, Touched},
    word::Word,
    wrapper,
};
use crate::{path, policy::Policy};

/// A command and the paths it touches, absolute.
pub(super) struct Located<'s> {
    pub(super) command: &'s Command,
    pub(super) touched: Vec<(Touched, String)>,
    /// Where it may run: `cd` may have failed, or may have been in a branch that was not taken.
    pub(super) bases: Vec<String>,
}

/// Follows `cd` through a script to say where each command runs.
pub(super) fn located<'s>(policy: &Policy, script: &'s Script) -> Vec<Located<'s>> {
    let home = &policy.places.home;
    let mut bases = vec![policy.places.current.clone()];
    let mut all = Vec::new();
    for command in &script.commands {
        let mut touched = Vec::new();
        for one in touch::touched(command) {
            let mut paths = Vec::new();
            // From where all changes of directory together lead, first: that is the one to talk of.
            let readings = bases.iter().rev();
            for path in readings.flat_map(|base| as_opened(one.word.known(), base, home)) {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            touched.extend(paths.into_iter().map(|path| (one.clone(), path)));
        }
        all.push(Located {
            command,
            touched,
            bases: bases.clone(),
        });
        for destination in destinations(command) {
            follow(&mut bases, destination, home);
        }
    }
    all
}

/// Adds the directories that a change of directory leads to, from each where it may begin. The last one is that to which all
/// lead together.
fn follow(bases: &mut Vec<String>, destination: &str, home: &str) {
    for base in bases.clone() {
        let mut paths: Vec<String> = as_opened(destination, &base, home).collect();
        paths.reverse();
        for path in paths {
            if let Some(place) = bases.iter().position(|known| *known == path) {
                bases.remove(place);
            }
            if bases.len() < MOST_BASES {
                bases.push(path);
            }
        }
    }
}

/// The words that say where a command changes the directory to; home without one.
fn destinations(command: &Command) -> impl Iterator<Item = &str> {
    let readings = wrapper::readings(command).into_iter();
    let changes = readings.filter(|words| matches!(words[0].known(), "cd" | "pushd" | "chdir"));
    changes.map(|words| {
        let mut words = words[1..].iter();
        let mut plain = words.clone().filter(|word| !word.is_flag());
        let behind_dashes = words.find(|word| word.known() == "--").and(words.next());
        behind_dashes.or(plain.next()).map_or("~", Word::known)
    })
}

/// More directories than these are not followed; a line with so many is [not known](Located::is_lost).
const MOST_BASES: usize = 16;

impl Located<'_> {
    /// Whether the command may run in a directory that is not known.
    pub(super) fn is_lost(&self) -> bool {
        self.bases.len() >= MOST_BASES
    }

    /// The paths that a word may be, wherever the command runs.
    pub(super) fn readings(&self, policy: &Policy, text: &str) -> impl Iterator<Item = String> {
        let home = &policy.places.home;
        self.bases
            .iter()
            .flat_map(move |base| as_opened(text, base, home))
    }

    /// Everything in the command that may be a path.
    pub(super) fn all_paths(&self, policy: &Policy) -> Vec<String> {
        let words = self.command.words.iter().skip(1).map(Word::known);
        let parts = words.flat_map(|word| [word, file_in(word)]);
        let targets = self
            .command
            .redirects
            .iter()
            .map(|redirect| redirect.target.known());
        parts
            .chain(targets)
            .flat_map(|text| self.readings(policy, text))
            .collect()
    }
}

/// A path as the words say it, and as the system reads it where that may differ: behind a link `..` leads to where the link
/// led, which is for the caller to find out.
fn as_opened(text: &str, base: &str, home: &str) -> impl Iterator<Item = String> + use<> {
    let read_by_system = path::has_detour(text).then(|| path::joined(text, base, home));
    std::iter::once(path::absolute(text, base, home)).chain(read_by_system)
}

/// The file in `@file`, `if=file` or `HEAD:file`.
pub(super) fn file_in(word: &str) -> &str {
    word.rsplit(['=', '@', ':']).next().unwrap_or(word)
}
