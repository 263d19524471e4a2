//! Links that a command follows without naming them: through a glob, or on a walk through a tree.

use super::{
    Case,
    located::Located,
    question::Question,
    shell,
    touch::{self, Touched},
    variables, wrapper,
};
use crate::{
    call::Reached,
    path::{Access, PathVerdict},
    policy::Policy,
};

/// Globs and trees that a caller looks at before a line is decided, see [`crate::looks`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Globs of the shell, absolute: which links lead to what they match.
    pub globs: Vec<String>,
    /// Directories: which links are below them.
    pub trees: Vec<String>,
}

/// The globs and trees of a line.
pub(crate) fn looks(policy: &Policy, line: &str) -> Looks {
    let script = shell::parse(line, &variables(policy));
    let mut looks = Looks::default();
    for located in super::located::located(policy, &script) {
        let globs = located
            .touched
            .iter()
            .filter(|(touched, _)| is_glob(touched));
        looks.globs.extend(globs.map(|(_, path)| path.clone()));
        looks.trees.extend(trees(policy, &located));
    }
    for paths in [&mut looks.globs, &mut looks.trees] {
        paths.sort_unstable();
        paths.dedup();
        paths.truncate(MOST_LOOKS);
    }
    looks
}

/// More than these of a line are not looked at, and so are asked about.
const MOST_LOOKS: usize = 32;

fn is_glob(touched: &Touched) -> bool {
    touched.word.has_glob && touched.access == Access::Read
}

/// The directories that a command walks through, links followed.
fn trees(policy: &Policy, located: &Located<'_>) -> Vec<String> {
    let mut readings = wrapper::readings(located.command).into_iter();
    if !readings.any(touch::follows_links) {
        return Vec::new();
    }
    let named = located
        .touched
        .iter()
        .filter(|(touched, _)| !touched.is_redirect);
    let mut paths: Vec<String> = named.map(|(_, path)| path.clone()).collect();
    if paths.is_empty() {
        paths.extend(located.readings(policy, "."));
    }
    paths
}

impl<'c> Case<'c> {
    /// The question about a link that a command follows without naming it.
    pub(super) fn question_of_reach(&self, located: &'c Located<'c>) -> Option<Question<'c>> {
        let globs = located
            .touched
            .iter()
            .filter(|(touched, _)| is_glob(touched));
        let globs = globs.map(|(_, path)| self.facts.globs.get(path));
        let trees = trees(self.policy, located);
        let trees = trees.iter().map(|path| self.facts.trees.get(path));
        globs
            .chain(trees)
            .flatten()
            .find_map(|reached| self.question_of(located, reached))
    }

    fn question_of(&self, located: &'c Located<'c>, reached: &Reached) -> Option<Question<'c>> {
        if !reached.is_whole {
            return Some(Question::unknown_file(located.command));
        }
        let mut outside = reached.links.iter().filter(|target| {
            matches!(
                self.check(Access::Read, target),
                PathVerdict::Outside { .. } | PathVerdict::Denied(_)
            )
        });
        let target = outside.next()?;
        Some(Question::read_outside(located.command, target, None))
    }
}
