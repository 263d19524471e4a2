//! Submodules: shown by the commit that is recorded and the commit that is checked out, and by nothing else.
//!
//! git would open the repository of each, read its configuration and, unless told not to, run `git status` in it. Here
//! git is told to leave them alone, and only `HEAD` of each is read.

use std::{collections::BTreeMap, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc};

use super::{ProjectError, git::Git, large::quoted};
use crate::access::Roots;

/// Submodules of a project whose commit is another one than what the index has.
#[derive(Debug, Default)]
pub(super) struct Submodules {
    changed: Vec<Change>,
    left_out: bool,
}

#[derive(Debug)]
struct Change {
    /// Its path from the folder of all files.
    name: Vec<u8>,
    old: String,
    new: String,
}

impl Submodules {
    /// Finds them, and has git leave them alone from now on.
    pub(super) async fn set_aside(git: &Git, roots: &Arc<Roots>) -> Result<Self, ProjectError> {
        let recorded = recorded(git).await?;
        let mut names: Vec<u8> = Vec::new();
        let mut conflicts: Vec<u8> = Vec::new();
        for (name, commit) in &recorded {
            names.extend(name.iter().chain(b"\0"));
            if commit.is_in_conflict {
                let none = "0".repeat(commit.id.len());
                let lines = format!("0 {none} 0\t\0160000 {} 0\t", commit.id);
                for line in lines.split('\0') {
                    conflicts.extend(line.bytes().chain(name.iter().copied()).chain([0]));
                }
            }
        }
        if !conflicts.is_empty() {
            replace(git, &conflicts).await?;
        }
        if !names.is_empty() {
            git.leave_alone(&names).await?;
        }
        let mut submodules = Self {
            left_out: recorded.len() > MOST_LOOKED_AT,
            ..Self::default()
        };
        for (name, commit) in recorded.into_iter().take(MOST_LOOKED_AT) {
            let folder = git.work_tree().join(Path::new(OsStr::from_bytes(&name)));
            match git.head_of(&folder, roots).await {
                Ok(Some(new)) if new != commit.id => submodules.changed.push(Change {
                    name,
                    old: commit.id,
                    new,
                }),
                Err(error @ ProjectError::TooSlow { .. }) => return Err(error),
                // One that is not there, not checked out or not readable has no other commit.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(submodules)
    }

    /// Puts the commits that are checked out into the index: then git itself compares them with a commit.
    pub(super) async fn stage(&mut self, git: &Git) -> Result<(), ProjectError> {
        let mut lines: Vec<u8> = Vec::new();
        let mut names: Vec<u8> = Vec::new();
        for change in self.changed.drain(..) {
            lines.extend(format!("160000 {} 0\t", change.new).bytes());
            lines.extend(change.name.iter().chain(b"\0"));
            names.extend(change.name.iter().chain(b"\0"));
        }
        if lines.is_empty() {
            return Ok(());
        }
        replace(git, &lines).await?;
        git.leave_alone(&names).await
    }

    /// The part of a diff about them, by names from a folder.
    pub(super) fn to_diff(&self, git: &Git) -> String {
        let mut diff = String::new();
        for Change { name, old, new } in &self.changed {
            let name = git.name_from_here(name);
            let (before, after) = (quoted("a/", &name), quoted("b/", &name));
            let (old_short, new_short) = (short(old), short(new));
            diff.push_str(&format!(
                "diff --git {before} {after}\nindex {old_short}..{new_short} 160000\n--- {before}\n+++ {after}\n\
                 @@ -1 +1 @@\n-Subproject commit {old}\n+Subproject commit {new}\n"
            ));
        }
        diff
    }

    /// Whether there are more than were looked at.
    pub(super) fn left_out(&self) -> bool {
        self.left_out
    }
}

/// Whether the index of a work tree has submodules.
pub(super) async fn has_any(git: &Git) -> Result<bool, ProjectError> {
    Ok(!recorded(git).await?.is_empty())
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

#[derive(Debug)]
struct Commit {
    id: String,
    is_in_conflict: bool,
}

/// The commits in the index; in a conflict, one of ours.
async fn recorded(git: &Git) -> Result<BTreeMap<Vec<u8>, Commit>, ProjectError> {
    let list = ["ls-files", "--stage", "--full-name", "-z", "--", "."];
    let listed = git.records(&list, b"160000 ", MOST_BYTES).await?;
    if listed.truncated {
        // git would look into those that are left out.
        return Err(ProjectError::Unusable(format!(
            "{} has too many submodules",
            git.directory().display()
        )));
    }
    let mut recorded = BTreeMap::new();
    for record in listed.bytes.split(|byte| *byte == 0) {
        let Some(tab) = record.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let (head, name) = (&record[..tab], &record[tab + 1..]);
        let mut words = head.split(|byte| *byte == b' ').skip(1);
        let (Some(id), Some(stage)) = (words.next(), words.next()) else {
            continue;
        };
        let is_better = stage == b"2" || !recorded.contains_key(name);
        if is_better {
            let commit = Commit {
                id: String::from_utf8_lossy(id).into_owned(),
                is_in_conflict: stage != b"0",
            };
            recorded.insert(name.to_vec(), commit);
        }
    }
    Ok(recorded)
}

async fn replace(git: &Git, lines: &[u8]) -> Result<(), ProjectError> {
    git.run_at_top(&["update-index", "-z", "--index-info"], lines, MOST_BYTES)
        .await?;
    Ok(())
}

const MOST_BYTES: u64 = 4 << 20;
const MOST_LOOKED_AT: usize = 200;
/// How many letters of a commit's name stand for it.
const SHORT: usize = 7;
