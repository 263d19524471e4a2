//! Where the commands of a line run, and which paths that makes.

use super::{
    name_of,
    shell::{Command, Script},
    touch::{self, Touched},
    word::Word,
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
        let current = bases.last().cloned().unwrap_or_default();
        let touched: Vec<(Touched, String)> = touch::touched(command)
            .into_iter()
            .flat_map(|touched| {
                let paths = as_opened(touched.word.known(), &current, home);
                paths.map(move |path| (touched.clone(), path))
            })
            .collect();
        let moves = name_of(command) == "cd";
        let target = touched.iter().find(|(touched, _)| !touched.is_redirect);
        let target = target.map_or_else(|| home.clone(), |(_, path)| path.clone());
        all.push(Located {
            command,
            touched,
            bases: bases.clone(),
        });
        if moves && bases.len() < MOST_BASES {
            bases.push(target);
        }
    }
    all
}

/// More changes of directory than this in one line are not followed.
const MOST_BASES: usize = 16;

impl Located<'_> {
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
