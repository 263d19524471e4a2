//! Links that a command follows without naming them: on the way to what a glob matches, and below a directory.
//!
//! A look is bounded in entries and in time; what a directory held is kept for the next look, until the directory changes.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use fast_glob::glob_match;

use crate::RealPath;

/// Where the links of a glob or a tree lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Where they lead, without links.
    pub links: Vec<String>,
    /// Whether all of them are known. If not, the look ended at its bound, or the glob is of a form that is not read here.
    pub is_whole: bool,
}

/// Looks for links, and keeps what directories held.
///
/// ```
/// use towline_files::Lookout;
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().canonicalize()?;
/// std::os::unix::fs::symlink("/etc", folder.join("way"))?;
/// let mut lookout = Lookout::default();
/// let tree = lookout.tree(folder.to_str().unwrap());
/// assert!(tree.links.contains(&"/etc".to_owned()));
/// let glob = lookout.glob(folder.join("wa?/passwd").to_str().unwrap());
/// assert_eq!((glob.links, glob.is_whole), (vec!["/etc/passwd".to_owned()], true));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Lookout {
    listed: HashMap<PathBuf, Listed>,
    most_entries: usize,
}

/// The names in a directory, and the time of its last change.
#[derive(Clone, Debug)]
struct Listed {
    changed: SystemTime,
    names: Vec<(PathBuf, Kind)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Directory,
    Link,
    Other,
}

/// The rest of the bound of a look.
struct Budget {
    entries: usize,
    /// When the clock is read next: a look at a few entries does not end because the machine is busy.
    next_reading: usize,
    until: Instant,
}

impl Default for Lookout {
    fn default() -> Self {
        Self::with_most_entries(MOST_ENTRIES)
    }
}

impl Lookout {
    /// One with a bound of its own for the entries of each look.
    pub fn with_most_entries(most_entries: usize) -> Self {
        Self {
            listed: HashMap::new(),
            most_entries,
        }
    }

    /// The links below a directory, and below the directories that these lead to.
    pub fn tree(&mut self, root: &str) -> Reach {
        let mut budget = Budget::new(self.most_entries);
        let mut links = Vec::new();
        let is_whole = self
            .walk(Path::new(root), &mut links, &mut budget)
            .is_some();
        Reach { links, is_whole }
    }

    fn walk(&mut self, root: &Path, links: &mut Vec<String>, budget: &mut Budget) -> Option<()> {
        let start = RealPath::resolve(root).ok()?;
        let mut open = vec![PathBuf::from(start)];
        let mut seen: HashSet<PathBuf> = open.iter().cloned().collect();
        while let Some(directory) = open.pop() {
            for (name, kind) in self.list(&directory, budget)? {
                let path = directory.join(&name);
                let next = match kind {
                    Kind::Other => continue,
                    Kind::Directory => path,
                    Kind::Link => {
                        let real = RealPath::resolve(&path).ok()?;
                        links.push(real.to_string_lossy().into_owned());
                        budget.spend(1)?;
                        real.into()
                    }
                };
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        Some(())
    }

    /// The links on the way to what an absolute glob of the shell matches, those that match included.
    pub fn glob(&mut self, glob: &str) -> Reach {
        let mut budget = Budget::new(self.most_entries);
        let mut links = Vec::new();
        let is_whole = is_simple(glob) && self.expand(glob, &mut links, &mut budget).is_some();
        Reach { links, is_whole }
    }

    fn expand(&mut self, glob: &str, links: &mut Vec<String>, budget: &mut Budget) -> Option<()> {
        let mut found = vec![PathBuf::from("/")];
        for name in glob.split('/').filter(|name| !name.is_empty()) {
            if !name.contains(['*', '?', '[', '{']) {
                found.iter_mut().for_each(|path| path.push(name));
                continue;
            }
            // At its beginning a `!` would turn the pattern around, which the shell does not do.
            let pattern = name
                .strip_prefix('!')
                .map_or_else(|| name.to_owned(), |rest| format!("\\!{rest}"));
            let mut next = Vec::new();
            for directory in found {
                for (name, _) in self.list(&directory, budget)? {
                    if name.to_str().is_none_or(|name| glob_match(&pattern, name)) {
                        next.push(directory.join(name));
                    }
                }
            }
            found = next;
        }
        for path in found {
            budget.spend(1)?;
            let real = RealPath::resolve(&path).ok()?;
            if real.as_path() != path {
                links.push(real.to_string_lossy().into_owned());
            }
        }
        Some(())
    }

    /// The names in a directory, none for anything else. `None` at the end of the budget.
    fn list(&mut self, directory: &Path, budget: &mut Budget) -> Option<Vec<(PathBuf, Kind)>> {
        let Ok(metadata) = fs::metadata(directory) else {
            return Some(Vec::new());
        };
        let changed = metadata.modified().ok()?;
        if let Some(listed) = self
            .listed
            .get(directory)
            .filter(|listed| listed.changed == changed)
        {
            budget.spend(1 + listed.names.len() / CHEAPER)?;
            return Some(listed.names.clone());
        }
        let mut names = Vec::new();
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Some(names),
            Err(_) => return None,
        };
        for entry in entries {
            budget.spend(1)?;
            let entry = entry.ok()?;
            let kind = match entry.file_type().ok()? {
                kind if kind.is_symlink() => Kind::Link,
                kind if kind.is_dir() => Kind::Directory,
                _ => Kind::Other,
            };
            names.push((PathBuf::from(entry.file_name()), kind));
        }
        // A change within the same tick of the file system's clock would not be noticed.
        let is_settled = changed.elapsed().is_ok_and(|age| age > SETTLED);
        if is_settled && self.listed.len() < MOST_LISTED {
            let names = names.clone();
            self.listed
                .insert(directory.to_owned(), Listed { changed, names });
        } else {
            self.listed.remove(directory);
        }
        Some(names)
    }
}

/// Whether the shell reads a glob as this does: no extended pattern, no class, no `**`.
fn is_simple(glob: &str) -> bool {
    !["(", "[:", "[=", "[.", "**"]
        .iter()
        .any(|form| glob.contains(form))
}

impl Budget {
    fn new(entries: usize) -> Self {
        Self {
            entries,
            next_reading: entries.saturating_sub(BETWEEN_READINGS),
            until: Instant::now() + LONGEST,
        }
    }

    fn spend(&mut self, entries: usize) -> Option<()> {
        self.entries = self.entries.checked_sub(entries)?;
        if self.entries > self.next_reading {
            return Some(());
        }
        self.next_reading = self.entries.saturating_sub(BETWEEN_READINGS);
        (Instant::now() < self.until).then_some(())
    }
}

const MOST_ENTRIES: usize = 100_000;
const BETWEEN_READINGS: usize = 1_000;
const LONGEST: Duration = Duration::from_millis(50);
/// Entries that are known already cost less.
const CHEAPER: usize = 16;
const MOST_LISTED: usize = 20_000;
const SETTLED: Duration = Duration::from_secs(2);
