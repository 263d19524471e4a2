//! `Grep`: files by what is in them, with ripgrep's own crates.

mod print;

use std::{
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::{WalkBuilder, overrides::Override, types::TypesBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use towline_files::{Ignored, Kind};

use self::print::{Page, Printer};
use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    search::{self, Found, Patience, Patient},
};

/// Searches in files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// What to look for: a regular expression
    pattern: String,
    /// The file or directory to look in; where the shell is if left out
    #[serde(rename = "path")]
    _path: Option<PathBuf>,
    /// Which files, such as `*.rs` or `*.{ts,tsx}`
    glob: Option<String>,
    /// What to show: lines, the files that have any (if left out), or how many each has
    output_mode: Option<OutputMode>,
    /// How many lines to show before each match
    #[serde(rename = "-B")]
    before: Option<f64>,
    /// How many lines to show after each match
    #[serde(rename = "-A")]
    after: Option<f64>,
    /// How many lines to show around each match
    #[serde(rename = "-C")]
    around: Option<f64>,
    /// The same as `-C`
    context: Option<f64>,
    /// Whether lines have numbers; they do if left out
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Whether capital and small letters are the same
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Whether to show only what matches of each line
    #[serde(rename = "-o")]
    only_matching: Option<bool>,
    /// Which files, by ripgrep's name for their kind, such as `rust` or `js`
    #[serde(rename = "type")]
    kind: Option<String>,
    /// How many lines or files to show, 0 for all; 250 if left out
    head_limit: Option<f64>,
    /// How many lines or files to leave out before that
    offset: Option<f64>,
    /// Whether a match may span lines, and a dot matches their ends
    multiline: Option<bool>,
}

/// What is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

impl Tool for Grep {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = "Searches in files for a regular expression (the syntax of ripgrep). Files that \
        .gitignore names and binary files are left out. What was changed last comes first. Narrow a search with path, glob \
        or type, and see more of it with head_limit and offset.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.search(place, interrupt)).await
    }
}

impl Grep {
    fn search(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let page = self.page()?;
        let mode = self.output_mode.unwrap_or_default();
        let patience = Patience::new(interrupt);
        let target = place.target()?;
        let Ok(status) = towline_files::status(&target.real) else {
            return Err(Outcome::error(format!(
                "Path does not exist: {}. Note: your current working directory is {}.",
                target.words.display(),
                place.current.display()
            )));
        };
        let is_directory = status.kind == Kind::Directory;
        let walk = self.walk(&target.real, is_directory)?;
        let Some(matcher) = self.matcher()? else {
            return Ok(Printer::new(mode, page).outcome());
        };
        let Some((mut files, _)) = search::files(place, target, &walk, &patience) else {
            return Err(patience.in_words());
        };
        files.sort_by(|one, other| {
            other
                .modified
                .cmp(&one.modified)
                .then_with(|| one.real.as_path().cmp(other.real.as_path()))
        });

        let mut printer = Printer::new(mode, page);
        printer.numbers = self.numbers.unwrap_or(true);
        printer.only_matching = self
            .only_matching
            .unwrap_or_default()
            .then(|| matcher.clone());
        printer.apart = mode == OutputMode::Content && self.lines_around() != (0, 0);
        printer.named = is_directory;
        let mut searcher = self.searcher(mode);
        for Found { real, words, .. } in files {
            if patience.is_over() {
                return Err(patience.in_words());
            }
            // What cannot be read, or is too large for a match over several lines, is left out, as ripgrep does.
            let Ok(opened) = towline_files::open(&real) else {
                continue;
            };
            printer.begin(search::shown(place, &words));
            let reader = Patient {
                inner: opened.file,
                patience: patience.clone(),
            };
            let searched: io::Result<()> = searcher.search_reader(&matcher, reader, &mut printer);
            drop(searched);
            printer.end();
        }
        if patience.is_over() {
            return Err(patience.in_words());
        }
        Ok(printer.outcome())
    }

    fn page(&self) -> Result<Page, Outcome> {
        let whole = |name: &str, value: Option<f64>, otherwise: usize, hint: &str| match value {
            None => Ok(otherwise),
            Some(value) if value >= 0.0 && value.fract() == 0.0 => Ok(value as usize),
            Some(value) => Err(Outcome::misuse(format!(
                "{name} must be a whole number of 0 or more, got {value}.{hint}"
            ))),
        };
        let limit = whole("head_limit", self.head_limit, 250, " Pass 0 for unlimited.")?;
        Ok(Page {
            offset: whole("offset", self.offset, 0, "")?,
            limit: (limit > 0).then_some(limit),
        })
    }

    /// Lines before and after.
    fn lines_around(&self) -> (usize, usize) {
        let lines = |value: Option<f64>| value.map(|value| value.clamp(0.0, MOST_AROUND) as usize);
        let both = lines(self.context).or(lines(self.around));
        let of = |one| both.or(lines(one)).unwrap_or(0);
        (of(self.before), of(self.after))
    }

    fn walk(&self, root: &std::path::Path, is_directory: bool) -> Result<WalkBuilder, Outcome> {
        let mut walk = WalkBuilder::new(root);
        // The walker itself reads no ignore file: one of a project can be a link or a pipe.
        walk.standard_filters(false);
        let mut overrides = Override::empty();
        if let Some(glob) = &self.glob {
            let globs = glob.split_whitespace().flat_map(|glob| {
                let commas: &[char] = if glob.contains('{') { &[] } else { &[','] };
                glob.split(commas).filter(|glob| !glob.is_empty())
            });
            let folder = if is_directory {
                root
            } else {
                root.parent().unwrap_or(root)
            };
            overrides = search::globs(folder, globs)?;
        }
        walk.overrides(overrides.clone());
        let ignored = Mutex::new(Ignored::default().with_ignore_files());
        walk.filter_entry(move |entry| {
            let name = entry.file_name().to_str().unwrap_or_default();
            if entry.depth() == 0 {
                return true;
            }
            let (path, is_directory) = (entry.path(), search::is_directory(entry));
            // What a glob names is searched even where it is ignored, as ripgrep does.
            let is_named = || overrides.matched(path, is_directory).is_whitelist();
            let mut ignored = ignored.lock().unwrap_or_else(PoisonError::into_inner);
            !VERSION_CONTROL.contains(&name)
                && (is_named() || !ignored.look(path, is_directory).is_ignore())
        });
        if let Some(kind) = &self.kind {
            let mut types = TypesBuilder::new();
            let types = types.add_defaults().select(kind);
            walk.types(types.build().map_err(|error| search::rejected(&error))?);
        }
        Ok(walk)
    }

    /// Nothing where the pattern is about the ends of lines, which a search line by line never sees.
    fn matcher(&self) -> Result<Option<RegexMatcher>, Outcome> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(self.ignore_case.unwrap_or_default())
            .multi_line(true)
            .size_limit(MOST_REGEX)
            .dfa_size_limit(MOST_REGEX);
        if self.multiline.unwrap_or_default() {
            builder.dot_matches_new_line(true);
            return builder
                .build(&self.pattern)
                .map(Some)
                .map_err(|error| search::rejected(&error));
        }
        let anywhere = builder
            .build(&self.pattern)
            .map_err(|error| search::rejected(&error))?;
        drop(anywhere);
        Ok(builder
            .line_terminator(Some(b'\n'))
            .build(&self.pattern)
            .ok())
    }

    fn searcher(&self, mode: OutputMode) -> Searcher {
        let (before, after) = if mode == OutputMode::Content {
            self.lines_around()
        } else {
            (0, 0)
        };
        SearcherBuilder::new()
            .line_terminator(LineTerminator::byte(b'\n'))
            .line_number(true)
            .multi_line(self.multiline.unwrap_or_default())
            .before_context(before)
            .after_context(after)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MOST_MEMORY))
            .build()
    }
}

/// Directories that belong to version control.
const VERSION_CONTROL: &[&str] = &[".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// The most lines around a match.
const MOST_AROUND: f64 = 1000.0;

/// The most memory for a pattern.
const MOST_REGEX: usize = 10 << 20;

/// The most memory for a file: for its longest line, or for all of it if matches may span lines.
const MOST_MEMORY: usize = 64 << 20;

#[cfg(test)]
mod tests;
