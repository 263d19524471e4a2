//! Files that a line moves and then touches: behind `mv sub d`, a path below `d` leads where one below `sub` led, and not where
//! it led when the line was looked at.

use super::{Case, located::Located, name_of};
use crate::path;

impl Case<'_> {
    /// The path that an earlier command of the line has given another meaning, if a later one touches it.
    pub(super) fn moved_meanwhile(&self) -> Option<String> {
        let mut moved: Vec<String> = Vec::new();
        for located in self.located {
            let paths = located.touched.iter().map(|(_, path)| path.as_str());
            if let Some(path) = paths.clone().find(|path| is_in(&moved, path))
                && !matches!(name_of(located.command), "rm" | "rmdir")
            {
                return Some(path.to_owned());
            }
            if let Some(target) = self.moves_tree(located) {
                moved.push(target);
            }
        }
        None
    }

    /// Where a command puts a directory or a link that was somewhere else.
    fn moves_tree(&self, located: &Located<'_>) -> Option<String> {
        let name = name_of(located.command);
        if !matches!(name, "mv" | "cp" | "ln") {
            return None;
        }
        let mut operands = located
            .command
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.is_flag());
        let target = located
            .readings(self.policy, operands.next_back()?.known())
            .last()?;
        let leads_on = |path: &String| {
            self.facts.directories.contains(path) || self.facts.links.contains_key(path)
        };
        let mut paths = located.touched.iter().map(|(_, path)| path);
        let moves = name == "ln" || paths.any(|path| *path != target && leads_on(path));
        moves.then_some(target)
    }
}

fn is_in(moved: &[String], path: &str) -> bool {
    moved
        .iter()
        .any(|target| path::below(path, target).is_some())
}
