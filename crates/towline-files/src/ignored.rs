//! [`Ignored`]: which files of a walk the ignore files of its folders hide, read through handles.
//!
//! The walker of `ignore` opens these files by their paths and reads them to the end. A link to a device, which a clone can
//! bring, would be read until the memory is full, and a pipe would be waited for without an end. So the walker reads none
//! of them: here only plain files count, without links, up to a bound, and what they say is given to its filter.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::{Directory, RealPath};

/// The rules that ignore files of folders have for a walk's entries. It follows the walk: folders above the last entry are kept.
///
/// ```
/// use towline_files::Ignored;
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().canonicalize()?;
/// std::fs::create_dir(folder.join(".git"))?;
/// std::fs::write(folder.join(".gitignore"), "*.log\n")?;
/// let mut ignored = Ignored::default();
/// assert!(ignored.look(&folder.join("a.log"), false).is_ignore());
/// assert!(ignored.look(&folder.join("a.txt"), false).is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Ignored {
    reads_ignore: bool,
    everywhere: Option<Gitignore>,
    /// The folders down to the one of the last entry.
    chain: Vec<(PathBuf, Arc<Rules>)>,
}

/// The rules of a folder, over those of the folders above it.
#[derive(Debug, Default)]
struct Rules {
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The rules of git above it are those of another repository.
    is_top: bool,
    in_repository: bool,
    /// How many lines count from here up.
    lines: usize,
    above: Option<Arc<Self>>,
}

impl Ignored {
    /// Has `.ignore` files count too, in repositories and outside of them.
    #[must_use]
    pub fn with_ignore_files(mut self) -> Self {
        self.reads_ignore = true;
        self
    }

    /// Has rules count below all others, in repositories: those of the person.
    #[must_use]
    pub fn with_everywhere(mut self, rules: Gitignore) -> Self {
        self.everywhere = Some(rules);
        self
    }

    /// Tells what is said of a path without links, of the folder that it is in, and of those above.
    pub fn look(&mut self, path: &Path, is_directory: bool) -> Match<()> {
        let Some(folder) = path.parent() else {
            return Match::None;
        };
        let rules = self.rules(folder);
        let everywhere = self.everywhere.as_ref().filter(|_| rules.in_repository);
        let everywhere = everywhere.map(|rules| said(rules, path, is_directory));
        let found = rules.look(path, is_directory);
        found.or(everywhere.unwrap_or(Match::None))
    }

    fn rules(&mut self, folder: &Path) -> Arc<Rules> {
        while self
            .chain
            .pop_if(|(known, _)| !folder.starts_with(known))
            .is_some()
        {}
        let known = self.chain.last().map(|(known, _)| known.clone());
        let is_new = |folder: &&Path| known.as_deref() != Some(*folder);
        let new: Vec<&Path> = folder.ancestors().take_while(is_new).collect();
        for folder in new.into_iter().rev() {
            let above = self.chain.last().map(|(_, rules)| Arc::clone(rules));
            let rules = self.read(folder, above);
            self.chain.push((folder.to_owned(), rules));
        }
        let last = self.chain.last().map(|(_, rules)| Arc::clone(rules));
        last.unwrap_or_default()
    }

    /// The rules of a folder; those above it where it has none of its own.
    fn read(&self, folder: &Path, above: Option<Arc<Rules>>) -> Arc<Rules> {
        let before = above.as_deref();
        let mut rules = Rules {
            in_repository: before.is_some_and(|above| above.in_repository),
            lines: before.map_or(0, |above| above.lines),
            ..Rules::default()
        };
        // Where the path leads through a link by now, nothing is read.
        if let Ok(directory) = Directory::open(&RealPath::as_it_stands(folder)) {
            let lines = &mut rules.lines;
            if self.reads_ignore {
                rules.ignore = read(&directory, IGNORE, folder, lines);
            }
            rules.git = read(&directory, GIT_IGNORE, folder, lines);
            rules.is_top = [".git", ".jj"]
                .iter()
                .any(|name| directory.status(name.as_ref()).is_ok());
            rules.in_repository |= rules.is_top;
            let info = shared(&directory, folder).and_then(|git| git.directory(INFO.as_ref()).ok());
            rules.exclude = info.and_then(|info| read(&info, EXCLUDE, folder, lines));
        }
        let is_empty = rules.ignore.is_none() && rules.git.is_none() && rules.exclude.is_none();
        match above {
            Some(above) if is_empty && !rules.is_top => above,
            above => Arc::new(Rules { above, ..rules }),
        }
    }
}

impl Rules {
    /// The nearest rule of each kind counts, and `.ignore` before `.gitignore` before `info/exclude`.
    fn look(&self, path: &Path, is_directory: bool) -> Match<()> {
        let [mut ignore, mut git, mut exclude] = [Match::None, Match::None, Match::None];
        let mut of_git = self.in_repository;
        let mut next = Some(self);
        while let Some(rules) = next {
            let look = |found: Match<()>, rules: &Option<Gitignore>| match rules {
                Some(rules) => found.or(said(rules, path, is_directory)),
                None => found,
            };
            ignore = look(ignore, &rules.ignore);
            if of_git {
                git = look(git, &rules.git);
                exclude = look(exclude, &rules.exclude);
            }
            of_git &= !rules.is_top;
            next = rules.above.as_deref();
        }
        ignore.or(git).or(exclude)
    }
}

fn said(rules: &Gitignore, path: &Path, is_directory: bool) -> Match<()> {
    rules.matched(path, is_directory).map(|_| ())
}

/// The rules in a plain file, as far as it counts.
fn read(directory: &Directory, name: &str, folder: &Path, lines: &mut usize) -> Option<Gitignore> {
    let text = small(directory, name)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if *lines == MOST_LINES {
            break;
        }
        *lines += 1;
        // A line that is no pattern, or no text, hides nothing.
        let line = std::str::from_utf8(line).unwrap_or_default();
        if line.len() <= LONGEST_LINE {
            drop(builder.add_line(None, line));
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// The folder with the settings of a repository whose top this is. A linked work tree has a file that names it; it
/// counts only where the repository knows the work tree, so that the file cannot name any folder.
fn shared(directory: &Directory, folder: &Path) -> Option<Directory> {
    if let Ok(git) = directory.directory(GIT.as_ref()) {
        return Some(git);
    }
    let pointer = small(directory, GIT)?;
    let own = folder.join(path_of(pointer.strip_prefix(b"gitdir:")?));
    let own = RealPath::resolve(&own).ok()?;
    let entry = Directory::open(&own).ok()?;
    let known = own.join(path_of(&small(&entry, "gitdir")?));
    let common = own.join(path_of(&small(&entry, "commondir")?));
    let common = RealPath::resolve(&common).ok()?;
    let is_known = known == folder.join(GIT) && own.parent() == Some(&*common.join("worktrees"));
    is_known.then(|| Directory::open(&common).ok())?
}

fn path_of(line: &[u8]) -> &Path {
    OsStr::from_bytes(line.trim_ascii()).as_ref()
}

/// A plain file that is not too large.
fn small(directory: &Directory, name: &str) -> Option<Vec<u8>> {
    directory.file(name.as_ref()).ok()?.read(LARGEST).ok()?
}

const IGNORE: &str = ".ignore";
const GIT_IGNORE: &str = ".gitignore";
const GIT: &str = ".git";
const INFO: &str = "info";
const EXCLUDE: &str = "exclude";

/// Larger files hide nothing.
const LARGEST: u64 = 1 << 20;

/// How many lines count in a folder and all above it: each takes some kilobytes of memory.
const MOST_LINES: usize = 10_000;

/// No path is longer.
const LONGEST_LINE: usize = 4096;

#[cfg(test)]
mod tests;
