//! Memory files: what people want every session to know, in `CLAUDE.md` and its relatives.
//!
//! Read in this order, the more particular later: the organisation's, the user's, then those of every directory from the
//! root down to the working directory (`CLAUDE.md`, `.claude/CLAUDE.md`, `.claude/rules/*.md`, `CLAUDE.local.md`). A
//! file may import others with `@path`, and theirs stand behind it.
//!
//! A project's files come with the project, whoever wrote that: they cannot import what lies outside of it, nor be links
//! to that, unless a person said that they may. The user's own file for the project is held to the same, as with CLI 2.1.325: a clone
//! can bring one along.

mod imports;

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use towline_files::{Kind, RealPath};

use crate::config::MemorySources;

/// What the memory files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The files, in the order in which they count.
    pub(crate) files: Vec<MemoryFile>,
    /// What was left out, and why; for a person.
    pub(crate) left_out: Vec<String>,
}

/// One memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Whose it is.
    pub(crate) kind: MemoryKind,
    /// What it says.
    pub(crate) text: String,
}

/// Whose a memory file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// The organisation's.
    Managed,
    /// The user's, for all projects.
    User,
    /// The project's, for everybody who works on it.
    Project,
    /// The user's, for this project.
    Local,
}

/// Where to look for memory files.
#[derive(Clone, Debug)]
pub(crate) struct MemoryPlaces<'a> {
    /// The organisation's folder.
    pub(crate) managed: &'a Path,
    /// The configuration folder.
    pub(crate) config: &'a Path,
    /// What `~` means.
    pub(crate) user_home: &'a Path,
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// Which of them count.
    pub(crate) sources: MemorySources,
    /// Whether a project's files may import what lies outside of it.
    pub(crate) outside_imports: bool,
}

impl Memory {
    /// Reads all memory files that count. What is not there is not missed.
    pub(crate) fn read(places: &MemoryPlaces<'_>) -> Self {
        let mut reader = Reader {
            memory: Self::default(),
            seen: HashSet::new(),
            room: MOST_IN_ALL,
            user_home: places.user_home,
        };
        reader.add(&places.managed.join(FILE), MemoryKind::Managed, None);
        if places.sources.user {
            reader.add(&places.config.join(FILE), MemoryKind::User, None);
            reader.add_rules(&places.config.join(RULES), MemoryKind::User, None);
        }
        let directories: Vec<&Path> = places.cwd.ancestors().collect();
        for directory in directories.into_iter().rev() {
            // A file above the project is read, but it imports from the project alone, as with CLI 2.1.325.
            let around = (!places.outside_imports).then_some([directory, places.cwd]);
            if places.sources.project {
                let inner = directory.join(".claude");
                reader.add(&directory.join(FILE), MemoryKind::Project, around);
                reader.add(&inner.join(FILE), MemoryKind::Project, around);
                reader.add_rules(&inner.join(RULES), MemoryKind::Project, around);
            }
            if places.sources.local {
                reader.add(&directory.join(LOCAL_FILE), MemoryKind::Local, around);
            }
        }
        reader.memory
    }

    /// What the model is told; nothing if there is no memory.
    pub(crate) fn text(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let mut text = INTRODUCTION.to_owned();
        for file in &self.files {
            let whose = match file.kind {
                MemoryKind::Managed => "rules of the organisation",
                MemoryKind::User => "the user's own, for all projects",
                MemoryKind::Project => "the project's, kept with it",
                MemoryKind::Local => "the user's own, for this project",
            };
            let (path, words) = (file.path.display(), file.text.trim_end());
            // Writing to a string cannot fail.
            write!(text, "\n\n## {path} ({whose})\n\n{words}").ok();
        }
        Some(text)
    }
}

struct Reader<'a> {
    memory: Memory,
    /// The files that were read, by where they really are.
    seen: HashSet<RealPath>,
    /// How many bytes may still be read.
    room: usize,
    user_home: &'a Path,
}

/// The directory of a file, and the project that its imports must be in; anywhere, if nothing.
type Around<'a> = Option<[&'a Path; 2]>;

impl Reader<'_> {
    fn add(&mut self, path: &Path, kind: MemoryKind, around: Around<'_>) {
        self.add_at(path, kind, around, 0);
    }

    /// The files of a folder, in the order of their names.
    fn add_rules(&mut self, folder: &Path, kind: MemoryKind, around: Around<'_>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .take(MOST_FILES)
            .collect();
        paths.sort();
        for path in paths {
            self.add(&path, kind, around);
        }
    }

    fn add_at(&mut self, path: &Path, kind: MemoryKind, around: Around<'_>, depth: usize) {
        // Also ends circles.
        let Ok(real) = RealPath::resolve(path) else {
            return;
        };
        let Ok(status) = towline_files::status(&real) else {
            return;
        };
        if !is_inside(&real, around) {
            if depth > 0 {
                return self.leave_out(path, "it is outside of the project whose file imports it");
            }
            if !is_itself(&real, path, around) {
                return self.leave_out(path, "it is a link that leads out of the project");
            }
        }
        if status.kind != Kind::File || self.seen.contains(&real) {
            return;
        }
        if self.memory.files.len() >= MOST_FILES {
            return self.leave_out(path, "there are too many memory files");
        }
        let text = match read_text(&real, self.room.min(MOST_IN_A_FILE)) {
            Ok(text) => text,
            Err(error) => return self.leave_out(path, &error.to_string()),
        };
        self.seen.insert(real);
        self.room = self.room.saturating_sub(text.len());
        let imports = imports::in_text(&text);
        if !text.trim().is_empty() {
            let path = path.to_owned();
            self.memory.files.push(MemoryFile { path, kind, text });
        }
        if depth == DEEPEST {
            return;
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        for import in imports {
            let import = match import.strip_prefix("~/") {
                Some(rest) => self.user_home.join(rest),
                None => folder.join(import),
            };
            self.add_at(&import, kind, around, depth + 1);
        }
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        if self.memory.left_out.len() < MOST_FILES {
            let note = format!("`{}` is left out: {why}", path.display());
            self.memory.left_out.push(note);
        }
    }
}

fn is_inside(real: &RealPath, around: Around<'_>) -> bool {
    let Some([_, project]) = around else {
        return true;
    };
    let project = RealPath::resolve(project).ok();
    project.is_some_and(|project| project.parent().is_some() && real.starts_with(project))
}

/// Whether a file of a directory is there by its own path: no link below that directory leads to it.
fn is_itself(real: &RealPath, path: &Path, around: Around<'_>) -> bool {
    let Some([directory, _]) = around else {
        return true;
    };
    let Ok(resolved) = RealPath::resolve(directory) else {
        return false;
    };
    let below = path.strip_prefix(directory);
    below.is_ok_and(|below| real.as_path() == resolved.join(below))
}

/// Reads a file of at most so many bytes.
pub(crate) fn read_text(path: &RealPath, most: usize) -> io::Result<String> {
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let bytes = towline_files::open(path)?.read(limit)?;
    let bytes = bytes.ok_or_else(|| io::Error::other("it is too large to be told to the model"))?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

const INTRODUCTION: &str = "\
# Memory

The people you work for left these notes for every session. Follow them; where two disagree, the later one is the more \
particular and counts, but nothing goes over a rule of the organisation.";
const FILE: &str = "CLAUDE.md";
const LOCAL_FILE: &str = "CLAUDE.local.md";
const RULES: &str = "rules";
/// How far imports go; so does the real CLI.
const DEEPEST: usize = 5;
const MOST_FILES: usize = 200;
const MOST_IN_A_FILE: usize = 256 << 10;
const MOST_IN_ALL: usize = 1 << 20;

#[cfg(test)]
mod tests;
